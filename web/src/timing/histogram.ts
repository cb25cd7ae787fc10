/** A histogram on logarithmic axes, with the limits that its values are judged against. */

import { html, type nothing, svg, type TemplateResult } from "lit-html";
import type { LatencyHistogram } from "../contract/quietcore/v1/timing";
import { count, duration, NONE } from "../words";

/** Height of the bars, and of the axis below them, in pixels. */
const BARS = 120;
const AXIS = 22;
/** Height of a bar of one value, so that a single late cycle is seen beside millions. */
const ONE_VALUE = 5;

/** The two ends of the axis, in nanoseconds: powers of ten. */
export interface Axis {
  from: number;
  to: number;
}

/** A limit on the axis. */
export interface Limit {
  name: string;
  ns: number;
}

/** Returns an axis that shows all values and limits. */
export function axisOf(histograms: LatencyHistogram[], limits: Limit[]): Axis {
  const bars = histograms.flatMap(({ bars }) => bars);
  const values = [
    ...bars.flatMap(({ fromNs, toNs }) => [Number(fromNs), Number(toNs)]),
    ...limits.map(({ ns }) => ns * 1.2),
  ].filter(value => value > 0);
  const least = values.length === 0 ? 1e3 : Math.min(...values);
  const greatest = values.length === 0 ? 1e6 : Math.max(...values);
  const from = 10 ** Math.floor(Math.log10(least));
  return { from, to: Math.max(10 ** Math.ceil(Math.log10(greatest)), from * 10) };
}

/** Returns the place of a value on the axis: 0 at its begin, 1 at its end. */
export function placeOf(ns: number, { from, to }: Axis): number {
  const place = Math.log10(Math.max(ns, 1) / from) / Math.log10(to / from);
  return Math.min(Math.max(place, 0), 1);
}

/** Returns the height of a bar: 0 for none, a little for one, `height` for the fullest. */
export function heightOf(values: number, most: number, height: number): number {
  if (values === 0) {
    return 0;
  }
  const part = most > 1 ? Math.log10(values) / Math.log10(most) : 1;
  return ONE_VALUE + part * (height - ONE_VALUE);
}

/** Shows a histogram with its figures. */
export function histogramFigure(
  name: string,
  note: string,
  histogram: LatencyHistogram,
  axis: Axis,
  limits: Limit[],
): TemplateResult {
  const told = `${name}: ${figuresOf(histogram)
    .map(([word, value]) => `${word} ${value}`)
    .join(", ")}`;
  return html`<figure class="histogram" data-histogram=${name}>
    <figcaption><b>${name}</b> <small>${note}</small></figcaption>
    <svg role="img" aria-label=${told} height=${BARS + AXIS}>
      ${gridOf(axis)} ${barsOf(histogram, axis, limits)} ${limits.map(limit => limitLine(limit, axis))}
    </svg>
    <dl>
      ${figuresOf(histogram).map(
        ([word, value]) => html`<div><dt>${word}</dt><dd>${value}</dd></div>`,
      )}
    </dl>
  </figure>`;
}

/** Returns the figures of a histogram; a quantile that too few values lie beyond is none. */
function figuresOf(histogram: LatencyHistogram): [string, string][] {
  const { count: values, minNs, maxNs, p50Ns, p99Ns, p999Ns, p9999Ns } = histogram;
  const shown = (ns: bigint | undefined) => (ns === undefined ? NONE : duration(ns));
  const has = values > 0n;
  return [
    ["values", count(values)],
    ["min", has ? duration(minNs) : NONE],
    ["p50", shown(p50Ns)],
    ["p99", shown(p99Ns)],
    ["p99.9", shown(p999Ns)],
    ["p99.99", shown(p9999Ns)],
    ["max", has ? duration(maxNs) : NONE],
  ];
}

function percent(place: number): string {
  return `${(place * 100).toFixed(3)}%`;
}

function gridOf(axis: Axis): TemplateResult[] {
  const marks: number[] = [];
  for (let ns = axis.from; ns <= axis.to * 1.001; ns *= 10) {
    marks.push(ns);
  }
  return marks.map((ns, index) => {
    const x = percent(placeOf(ns, axis));
    const anchor = index === 0 ? "start" : index === marks.length - 1 ? "end" : "middle";
    return svg`<g class="grid">
      <line x1=${x} x2=${x} y1="0" y2=${BARS + 4} />
      <text x=${x} y=${BARS + 17} text-anchor=${anchor}>${axisWord(ns)}</text>
    </g>`;
  });
}

/** Returns a power of ten as an axis has it, as in "10 µs". */
function axisWord(ns: number): string {
  return duration(Math.round(ns)).replace(/\.0+(?=\u00a0)/, "");
}

function barsOf({ bars }: LatencyHistogram, axis: Axis, limits: Limit[]): TemplateResult[] {
  const most = Math.max(...bars.map(({ count }) => Number(count)), 0);
  const limit = Math.min(...limits.map(({ ns }) => ns));
  return bars
    .filter(({ count }) => count > 0n)
    .map(({ fromNs, toNs, count: values }) => {
      const begin = placeOf(Number(fromNs), axis);
      const width = placeOf(Number(toNs), axis) - begin;
      const height = heightOf(Number(values), most, BARS - 16);
      const title = `${count(values)} from ${duration(fromNs)} to ${duration(toNs)}`;
      return svg`<rect class=${Number(fromNs) >= limit ? "beyond" : "within"}
        x=${percent(begin)} width=${percent(width)}
        y=${BARS - height} height=${height}><title>${title}</title></rect>`;
    });
}

function limitLine({ name, ns }: Limit, axis: Axis): TemplateResult | typeof nothing {
  const place = placeOf(ns, axis);
  const x = percent(place);
  const anchor = place > 0.5 ? "end" : "start";
  return svg`<g class="limit">
    <line x1=${x} x2=${x} y1="0" y2=${BARS} />
    <text x=${x} y="11" dx=${anchor === "end" ? -5 : 5} text-anchor=${anchor}>${name} ${duration(ns)}</text>
  </g>`;
}
