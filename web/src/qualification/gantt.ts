/** The course of a late release as a Gantt chart: a row for each thread, interrupt or other cause. */

import { html, svg, type TemplateResult } from "lit-html";
import { count, duration, several } from "../words";
import type { Late, LateRelease, Piece } from "./late";
import type { QualificationModel } from "./model";

/** Units of a row's width, and those of the shortest piece, which has to be seen. */
const WIDTH = 1_000;
const LEAST = 2;
/** The most rows of a chart, those that have the most time. */
const ROWS_MAX = 24;

export function latePart(model: QualificationModel, late: Late): TemplateResult {
  const { record, limitNs, above, kept, shown } = late;
  const label = `Late releases of ${record}`;
  const release = kept[shown];
  const choose = (event: Event) => {
    late.shown = Number((event.target as HTMLSelectElement).value);
    model.changed();
  };
  return html`<section aria-label=${label}>
    <header class="title">
      <h4>${label}</h4>
      ${
        release === undefined
          ? html`<p>${noneOf(late)}</p>`
          : html`<label
                >release
                <select aria-label="Release" @change=${choose}>
                  ${kept.map(
                    (one, index) =>
                      html`<option value=${index} .selected=${index === shown}>
                        ${count(one.release)}: ${duration(one.latencyNs)}
                      </option>`,
                  )}
                </select></label
              >
              <p>
                ${several(above, "release")} later than ${duration(limitNs ?? 0)}; this one on CPU
                ${release.cpu}
              </p>`
      }
    </header>
    ${release === undefined ? "" : chart(release)}
  </section>`;
}

/** Returns why there is no release to show. */
function noneOf({ limitNs, above, because }: Late): string {
  if (limitNs === null) {
    return "None was to be explained: the site file has no “explain”.";
  }
  const limit = duration(limitNs);
  return above === 0
    ? `None was later than ${limit}.`
    : `${several(above, "release")} later than ${limit}, none of them explained: ${because}.`;
}

function chart(release: LateRelease): TemplateResult {
  const { course, latencyNs, remarks } = release;
  if (course.length === 0) {
    return html`<p class="empty">It was not traced: it has no order of time.</p>`;
  }
  const rows = new Map<string, Piece[]>();
  for (const piece of course) {
    const key = `${piece.cause} ${piece.what}`;
    rows.set(key, [...(rows.get(key) ?? []), piece]);
  }
  const marks = marksOf(latencyNs);
  const time = (pieces: Piece[]) => pieces.reduce((sum, { ns }) => sum + ns, 0);
  const begin = ([first]: Piece[]) => first?.atNs ?? 0;
  const longest = [...rows.values()].sort((one, other) => time(other) - time(one));
  const drawn = longest.slice(0, ROWS_MAX).sort((one, other) => begin(one) - begin(other));
  const leftOut = rows.size - drawn.length;
  const said = [
    ...remarks,
    ...(leftOut > 0 ? [`${leftOut} causes with less time are left out`] : []),
  ];
  return html`<div class="gantt" role="list" aria-label=${`Course of release ${release.release}`}>
    ${drawn.map(pieces => row(pieces, latencyNs, marks))}
    <div role="listitem">
      <small>since it was due</small>
      <svg>
        ${marks.map(mark => svg`<text x=${`${(mark / latencyNs) * 100}%`} y="12">${duration(mark)}</text>`)}
      </svg>
    </div>
  </div>
    ${said.map(remark => html`<p class="note">${remark}.</p>`)}`;
}

function row(pieces: Piece[], latencyNs: number, marks: number[]): TemplateResult {
  const [first] = pieces;
  const scale = WIDTH / Math.max(latencyNs, 1);
  const name = (first?.cause ?? "").replaceAll("-", " ");
  const told = pieces.map(({ atNs, ns }) => `${duration(ns)} from ${duration(atNs)} on`).join("; ");
  return html`<div role="listitem">
    <span>${first?.what || name} ${first?.what ? html`<small>${name}</small>` : ""}</span>
    <svg viewBox=${`0 0 ${WIDTH} 10`} preserveAspectRatio="none" role="img" aria-label=${told}>
      ${marks.map(mark => svg`<path class="grid" d=${`M${mark * scale} 0v10`} />`)}
      ${pieces.map(
        ({ cause, atNs, ns }) =>
          svg`<rect class=${cause} x=${Math.min(atNs * scale, WIDTH - LEAST)} y="1" height="8"
            width=${Math.max(ns * scale, LEAST)}><title>${`${duration(ns)} from ${duration(atNs)} on`}</title></rect>`,
      )}
    </svg>
  </div>`;
}

/** Returns the times of the axis' marks: multiples of 1, 2 or 5, some five of them. */
export function marksOf(latencyNs: number): number[] {
  const raw = Math.max(latencyNs, 1) / 5;
  const decade = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(factor => factor * decade).find(step => step >= raw) ?? raw;
  return Array.from({ length: Math.floor(latencyNs / step) + 1 }, (_, index) => index * step);
}
