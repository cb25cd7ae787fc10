/** The samples of a ring as points to draw: no more than a screen shows, and each spike. */

import type { Ring } from "./ring";

/** Pixels between two samples from which on the steps between them are seen. */
const SEEN = 4;
/** Parts of a curve's height by less than which no point is drawn: half a pixel of the plot. */
const STRAIGHT = 640;

/**
 * A value to draw: null where there is none, which breaks the curve, and undefined where the curve
 * runs straight on.
 */
type Drawn = number | null | undefined;

/** Points to draw: their times, and for each variable a value at each of them. */
export interface Points {
  times: number[];
  columns: Drawn[][];
  /** True if there are so many samples that no step is seen: a curve joins the points directly. */
  isDense: boolean;
}

/**
 * Returns a stretch of the ring as points, thinned where it is dense: at most two points fall on
 * each of `pixels` then, the least and the greatest value of all that lie there, so that no spike is lost.
 *
 * Each variable holds its value between two samples, so the stretch begins with the value that was
 * in force at `begin` and ends with the last one, drawn on to `end`.
 */
export function thin(ring: Ring, begin: number, end: number, pixels: number): Points {
  const first = Math.max(ring.from(begin) - 1, 0);
  const last = ring.until(end);
  const isDense = last - first > pixels / SEEN;
  const points: Points = { times: [], columns: ring.columns.map(() => []), isDense };
  if (!isDense) {
    for (let index = first; index < last; index += 1) {
      addSample(points, ring, Math.max(ring.time(index), begin), index);
    }
  } else {
    addExtremes(points, ring, { first, last }, { begin, end }, pixels);
    points.columns = points.columns.map(straightened);
  }
  if (last > first && ring.time(last - 1) < end) {
    addSample(points, ring, end, last - 1);
  }
  return points;
}

function addSample(points: Points, ring: Ring, time: number, index: number): void {
  points.times.push(time);
  for (const [number, column] of points.columns.entries()) {
    column.push(drawable(ring.value(number, index)));
  }
}

/** Adds two points for each pixel with samples: their extremes, in their order. */
function addExtremes(
  points: Points,
  ring: Ring,
  range: { first: number; last: number },
  span: { begin: number; end: number },
  pixels: number,
): void {
  const step = (span.end - span.begin) / pixels;
  let from = range.first;
  for (let pixel = 1; pixel <= pixels; pixel += 1) {
    const edge = span.begin + pixel * step;
    const to = pixel === pixels ? range.last : Math.min(ring.from(edge), range.last);
    if (to === from && from > range.first) {
      // The value holds.
      addSample(points, ring, edge - step, from - 1);
    }
    if (to > from) {
      const time = Math.max(ring.time(from), span.begin);
      points.times.push(time, Math.max(time, edge - step / 2));
      for (const [number, column] of points.columns.entries()) {
        const [earlier, later] = ring.extremes(number, from, to);
        column.push(drawable(earlier), drawable(later));
      }
      from = to;
    }
  }
}

/**
 * Leaves out the values between which a curve does not differ from a straight line by more than a
 * part of `STRAIGHT` of its height: a browser spends its time on the points of lines.
 */
function straightened(column: Drawn[]): Drawn[] {
  let [least, greatest] = [Infinity, -Infinity];
  for (const value of column) {
    least = Math.min(least, value ?? Infinity);
    greatest = Math.max(greatest, value ?? -Infinity);
  }
  const seen = (greatest - least) / STRAIGHT;
  const drawn: Drawn[] = new Array(column.length).fill(undefined);
  let kept = Number.NaN;
  for (const [index, value] of column.entries()) {
    const isNear = Math.abs((value ?? Number.NaN) - kept) <= seen;
    if (isNear && index < column.length - 1) {
      continue;
    }
    if (index > 0) {
      drawn[index - 1] = column[index - 1];
    }
    drawn[index] = value;
    kept = value ?? Number.NaN;
  }
  return drawn;
}

function drawable(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** A variable's value by the number of the sample; not finite where there is none. */
export type Values = (sample: number) => number;

/** Stretches that a long curve of one variable over another is thinned by. */
const STRETCHES = 1_024;

/**
 * Returns the samples of `first..end` that make the curve of `y` over `x`: all of them or, where
 * that is too many to draw, the extremes of each stretch in both directions, so that no spike is
 * lost, its first gap, and the newest sample.
 */
export function thinXy(x: Values, y: Values, first: number, end: number): number[] {
  const samples = Math.max(end - first, 0);
  if (samples <= STRETCHES * 4) {
    return Array.from({ length: samples }, (_, index) => first + index);
  }
  const size = Math.ceil(samples / STRETCHES);
  const kept: number[] = [];
  for (let from = first; from < end; from += size) {
    kept.push(...turnsOf(x, y, from, Math.min(from + size, end)));
  }
  if (kept.at(-1) !== end - 1) {
    kept.push(end - 1);
  }
  return kept;
}

/** Returns where the samples `from..to` are leftmost, rightmost, lowest, highest, and not at all. */
function turnsOf(x: Values, y: Values, from: number, to: number): number[] {
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  const turns: number[] = [];
  for (let sample = from; sample < to; sample += 1) {
    const [h, v] = [x(sample), y(sample)];
    if (!Number.isFinite(h) || !Number.isFinite(v)) {
      turns[4] ??= sample;
      continue;
    }
    if (h < left) {
      left = h;
      turns[0] = sample;
    }
    if (h > right) {
      right = h;
      turns[1] = sample;
    }
    if (v < low) {
      low = v;
      turns[2] = sample;
    }
    if (v > high) {
      high = v;
      turns[3] = sample;
    }
  }
  // One sample may be several of these, and where nothing is known none is any.
  return [...new Set(turns)].filter(sample => sample >= from).sort((one, other) => one - other);
}
