/** Numbers, times and states as people read them: three digits, a unit, the words of the glossary. */

import { Activity, type Partition } from "./contract/quietcore/v1/partition";
import { Severity } from "./contract/quietcore/v1/site";

/** A narrow space that no line is broken at, between thousands. */
const THIN = "\u202f";
/** A space that no line is broken at, between a number and its unit. */
const SPACE = "\u00a0";
/** What is shown where there is nothing to show. */
export const NONE = "–";

/** Returns a count with its thousands apart, as in "61 234". */
export function count(value: bigint | number): string {
  return value.toString().replace(/\B(?=(\d{3})+$)/g, THIN);
}

/** Returns a duration in three digits with its unit, as in "2.95 µs". */
export function duration(ns: bigint | number): string {
  return scaled(Number(ns), ["ns", "µs", "ms", "s"]);
}

/** Returns a size in three digits with its unit, as in "12.4 kB". */
export function size(bytes: bigint | number): string {
  return scaled(Number(bytes), ["bytes", "kB", "MB", "GB"]);
}

/** Returns a number in three digits with its unit; each unit is a thousand of the one before. */
function scaled(value: number, units: string[]): string {
  if (value < 1_000) {
    return `${value}${SPACE}${units[0]}`;
  }
  const rounded = Number(value.toPrecision(3));
  const index = units.findLastIndex((_, index) => rounded >= 1e3 ** index);
  return `${digits(rounded / 1e3 ** index)}${SPACE}${units[index]}`;
}

/** Returns a time that is waited for, as in "42 s", "3 min 20 s" or "2 h 5 min". */
export function span(ns: bigint): string {
  const seconds = Math.ceil(Number(ns) / 1e9);
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) {
    return `${seconds}${SPACE}s`;
  }
  return minutes < 60
    ? `${minutes}${SPACE}min ${seconds % 60}${SPACE}s`
    : `${Math.floor(minutes / 60)}${SPACE}h ${minutes % 60}${SPACE}min`;
}

/** Returns an instant of RFC 3339 to the second, as people read it. */
export function instant(text: string): string {
  return text.slice(0, 19).replace("T", " ");
}

/** Returns three digits of a number from 1 up, without an exponent. */
function digits(value: number): string {
  const decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
  return value.toFixed(decimals);
}

/** Returns the time of day to the second, in the time zone of the browser. */
export function timeOfDay(at: Date): string {
  return at.toLocaleTimeString("en-GB", { hour12: false });
}

/** A state in a word, and the shape and colour that go with it. */
export interface State {
  word: string;
  sign: "good" | "plain" | "warning" | "fault" | "off";
}

/** Returns the state of a partition. */
export function stateOf(partition: Partition): State {
  switch (partition.activity) {
    case Activity.RUNNING:
      return { word: "running", sign: "good" };
    case Activity.STARTING:
      return { word: "starting", sign: "plain" };
    case Activity.PAUSED:
      return { word: "paused", sign: "off" };
    case Activity.SHED:
      return { word: "shed", sign: "warning" };
    case Activity.FAULT:
      return { word: "fault", sign: "fault" };
    case Activity.WAITING:
      return { word: "waiting", sign: "warning" };
    case Activity.STOPPED:
      return { word: "stopped", sign: "fault" };
    default:
      return { word: "unknown", sign: "off" };
  }
}

/** Returns the weight of an event. */
export function weightOf(severity: Severity): State {
  switch (severity) {
    case Severity.WARNING:
      return { word: "warning", sign: "warning" };
    case Severity.FAULT:
      return { word: "fault", sign: "fault" };
    default:
      return { word: "note", sign: "plain" };
  }
}

/** Returns "1 force", "2 forces". */
export function several(number: number, one: string, more = `${one}s`): string {
  return `${count(number)}${SPACE}${number === 1 ? one : more}`;
}
