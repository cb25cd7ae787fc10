/** The picked variables: their values as they come, and the ring that the scope draws. */

import type {
  Sample,
  SubscribeVariablesResponse,
  Value,
  Variable,
} from "../contract/quietcore/v1/variable";
import { Ring } from "./ring";
import { numberOf } from "./values";

/** Samples that are kept; 65 s at 1 ms. */
export const SAMPLES_MAX = 65_536;

/** A picked variable. */
export interface Row {
  path: string;
  /** Its description and value; null until the daemon has told them. */
  variable: Variable | null;
  value: Value | null;
  forced: boolean;
}

export class Recording {
  rows: Row[] = [];
  ring = new Ring(SAMPLES_MAX, 0);
  /** Samples that the daemon left out because this page was slow. */
  leftOut = 0n;
  /** The circumstances of the last sample. */
  cycle = 0n;
  isSilent = false;
  /** False after a sample whose values are not all of one instant. */
  isConsistent = true;
  /** Start of the ring's times, nanoseconds since 1970. */
  originNs: bigint | null = null;
  /** Time of the daemon's clock, in seconds since the origin, less that of this page. */
  skew = 0;

  /** Rows by the number that samples give them. */
  #numbered: (number | undefined)[] = [];

  /** Records other variables; those that stay keep their trend. */
  pick(paths: string[]): void {
    const before = this.rows.map(({ path }) => path);
    const from = paths.map(path => before.indexOf(path));
    this.rows = paths.map((path, index) => {
      const row = this.rows[from[index] ?? -1];
      return row ?? { path, variable: null, value: null, forced: false };
    });
    const old = this.ring;
    this.ring = new Ring(SAMPLES_MAX, paths.length);
    for (let index = 0; index < old.length; index += 1) {
      const values = from.map(column => (column < 0 ? Number.NaN : old.value(column, index)));
      this.ring.push(old.time(index), values);
    }
    this.#numbered = [];
  }

  /** Forgets what was recorded. */
  clear(): void {
    this.ring = new Ring(SAMPLES_MAX, this.rows.length);
    this.leftOut = 0n;
  }

  /** Ends the trend at `now`: what follows is not known until the stream is begun anew. */
  interrupt(now: number): void {
    if (this.ring.length > 0) {
      this.ring.push(now + this.skew, []);
    }
  }

  /** Takes a message of the subscription; `now` is this page's clock in seconds. */
  take({ content }: SubscribeVariablesResponse, now: number): void {
    if (content?.$case === "variables") {
      this.#takeList(content.value.variables);
    } else if (content?.$case === "sample") {
      this.#takeSample(content.value, now);
    }
  }

  #takeList(variables: Variable[]): void {
    const places = new Map(this.rows.map(({ path }, index) => [path, index]));
    this.#numbered = variables.map(({ path }) => places.get(path));
    for (const [number, variable] of variables.entries()) {
      const row = this.rows[this.#numbered[number] ?? -1];
      if (row !== undefined) {
        row.variable = variable;
      }
    }
    this.skew = Number.NEGATIVE_INFINITY;
  }

  #takeSample(sample: Sample, now: number): void {
    for (const [place, number] of sample.indices.entries()) {
      const row = this.rows[this.#numbered[number] ?? -1];
      const value = sample.values[place];
      if (row !== undefined && value !== undefined) {
        row.value = value;
      }
    }
    if (sample.forcedChanged) {
      const forced = new Set(sample.forced.map(number => this.#numbered[number]));
      for (const [index, row] of this.rows.entries()) {
        row.forced = forced.has(index);
      }
    }
    this.leftOut += sample.leftOut;
    this.cycle = sample.reading?.cycle ?? this.cycle;
    this.isSilent = sample.reading?.silent ?? false;
    this.isConsistent = sample.reading?.consistent ?? true;
    this.originNs ??= sample.readAtNs;
    const time = Number(sample.readAtNs - this.originNs) / 1e9;
    this.skew = Math.max(this.skew, time - now);
    const values = this.rows.map(({ value }) => (value === null ? Number.NaN : numberOf(value)));
    this.ring.push(time, values);
  }
}

/** Returns a stretch of the recording as CSV: a line for each sample, times in UTC. */
export function csvOf(recording: Recording, begin: number, end: number): string {
  const { ring, rows, originNs } = recording;
  const head = ["time", ...rows.map(({ path }) => quoted(path))];
  const lines = [head.join(",")];
  for (let index = ring.from(begin); index < ring.length && ring.time(index) <= end; index += 1) {
    const values = rows.map((_, column) => {
      const value = ring.value(column, index);
      return Number.isNaN(value) ? "" : String(value);
    });
    lines.push([stamp(originNs ?? 0n, ring.time(index)), ...values].join(","));
  }
  return `${lines.join("\r\n")}\r\n`;
}

/** Returns a time as RFC 3339 to the microsecond. */
function stamp(originNs: bigint, seconds: number): string {
  const us = originNs / 1_000n + BigInt(Math.round(seconds * 1e6));
  const whole = new Date(Number(us / 1_000n)).toISOString().slice(0, 19);
  return `${whole}.${String(us % 1_000_000n).padStart(6, "0")}Z`;
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
