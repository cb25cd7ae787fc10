/** What the plots have in common: their colours, axes and curves. */

import uPlot from "uplot";
import { shortOf } from "./variables/values";

/** Height of a plot in pixels. */
export const HEIGHT = 320;
/** Colours of curves; the curves after them have the same ones, dashed. */
export const COLOURS = 8;
const FONT = "12px system-ui, sans-serif";

/** Returns a colour of the style sheets as it is now, in the dark or the light. */
export function ink(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Returns the look of a curve, by its number. */
export function penOf(index: number): { stroke: string; width: number; dash: number[] } {
  return {
    stroke: ink(`trace-${index % COLOURS}`),
    width: 1.5,
    dash: index < COLOURS ? [] : [6, 4],
  };
}

/**
 * Returns a curve over time. A value holds until the next one, except where there are more points
 * than pixels: steps between those can't be seen, and take a browser most of its time.
 */
export function curve(label: string, index: number, isDense = () => false): uPlot.Series {
  const { stepped, linear } = uPlot.paths;
  const steps = stepped?.({ align: 1 });
  const lines = linear?.();
  const paths: uPlot.Series.PathBuilder = (...of) => (isDense() ? lines : steps)?.(...of) ?? null;
  return { label, ...penOf(index), points: { show: false }, paths };
}

/** Returns an axis, with a name if it lies below the plot. */
export function axisOf(label?: string): uPlot.Axis {
  return {
    stroke: ink("quiet"),
    grid: { stroke: ink("line"), width: 1 },
    ticks: { stroke: ink("line"), width: 1 },
    font: FONT,
    labelFont: FONT,
    values: marks,
    ...(label === undefined ? { size: 72 } : { label, labelSize: 18, size: 30 }),
  };
}

/** Returns the range of an axis: all values with some room, and never none. */
export function padded(_: uPlot, least: number | null, greatest: number | null): [number, number] {
  if (least === null || greatest === null || !Number.isFinite(greatest - least)) {
    return [0, 1];
  }
  const room = (greatest - least) * 0.08 || Math.abs(greatest) * 0.1 || 1;
  return [least - room, greatest + room];
}

/** Returns the marks of an axis, without the last digits of their arithmetic. */
function marks(_: uPlot, splits: number[]): string[] {
  return splits.map(value => shortOf(Number(value.toPrecision(6))));
}

/** Calls `again` whenever a plot has to be made anew: for other colours, or another width. */
export function remake(element: Element, again: () => void): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  new ResizeObserver(again).observe(element);
}
