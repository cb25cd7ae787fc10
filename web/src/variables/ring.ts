/**
 * Samples of some variables in a ring of fixed size: the time of each and a value for each variable.
 *
 * A sample from the daemon holds only what has changed; the ring keeps every variable's value at
 * every sample, so that any stretch of it can be drawn or exported without looking further back.
 */

export class Ring {
  readonly times: Float64Array;
  readonly columns: Float64Array[];
  #first = 0;
  #length = 0;

  /** A ring for `capacity` samples of `width` variables; NaN stands for no value. */
  constructor(
    readonly capacity: number,
    width: number,
  ) {
    this.times = new Float64Array(capacity);
    this.columns = Array.from({ length: width }, () => new Float64Array(capacity));
  }

  get length(): number {
    return this.#length;
  }

  /** Adds a sample; the oldest one goes where the ring is full. Times never run backwards. */
  push(time: number, values: ArrayLike<number>): void {
    if (this.#length === this.capacity) {
      this.#first = (this.#first + 1) % this.capacity;
      this.#length -= 1;
    }
    const place = this.place(this.#length);
    this.times[place] = Math.max(time, this.#length === 0 ? time : this.lastTime());
    for (const [index, column] of this.columns.entries()) {
      column[place] = values[index] ?? Number.NaN;
    }
    this.#length += 1;
  }

  /** Returns where the sample `index`, from the oldest, lies in the arrays. */
  place(index: number): number {
    return (this.#first + index) % this.capacity;
  }

  time(index: number): number {
    return this.times[this.place(index)] ?? Number.NaN;
  }

  lastTime(): number {
    return this.#length === 0 ? Number.NaN : this.time(this.#length - 1);
  }

  value(column: number, index: number): number {
    return this.columns[column]?.[this.place(index)] ?? Number.NaN;
  }

  /** Returns the index of the first sample at `time` or later; the length if there is none. */
  from(time: number): number {
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.time(middle) < time) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** Returns the number of samples at `time` or before. */
  until(time: number): number {
    let index = this.from(time);
    while (index < this.#length && this.time(index) === time) {
      index += 1;
    }
    return index;
  }

  /** Returns the value that a variable had at `time`: that of the last sample before. */
  at(column: number, time: number): number {
    const index = this.until(time) - 1;
    return index < 0 ? Number.NaN : this.value(column, index);
  }

  /** Returns the least and the greatest value of the samples `from..to`, the earlier one first. */
  extremes(column: number, from: number, to: number): [number, number] {
    const values = this.columns[column] ?? new Float64Array(this.capacity);
    let place = (this.#first + from) % this.capacity;
    let least = values[place] ?? Number.NaN;
    let greatest = least;
    let risesLast = true;
    for (let count = to - from; count > 0; count -= 1) {
      const value = values[place] ?? Number.NaN;
      place = place + 1 === this.capacity ? 0 : place + 1;
      if (value < least || Number.isNaN(least)) {
        least = value;
        risesLast = false;
      }
      if (value > greatest || Number.isNaN(greatest)) {
        greatest = value;
        risesLast = true;
      }
    }
    return risesLast ? [least, greatest] : [greatest, least];
  }
}
