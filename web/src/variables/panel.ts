/** The scope with what is chosen for it: span, rate, pause, cursors, and the file of what it shows. */

import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { INTERVALS_US, SPANS_S } from "../address";
import { saveCsv } from "../download";
import { signed, worded } from "../parts";
import { count, duration, several } from "../words";
import type { VariablesModel } from "./model";
import { swatch } from "./picks";
import { csvOf } from "./recording";

export function scopePanel(variables: VariablesModel): TemplateResult {
  const { scope, recording, refused } = variables;
  const isEmpty = recording.rows.length === 0;
  if (!isEmpty) {
    scope.run();
  }
  return html`<section class="scope" aria-labelledby="scope">
    <header class="title">
      <h3 id="scope">Scope</h3>
      ${isEmpty ? nothing : html`${controls(variables)} ${condition(variables)}`}
    </header>
    ${refused === null ? nothing : html`<p class="refusal" role="alert">${worded(refused)}</p>`}
    ${
      isEmpty
        ? html`<p class="empty">Pick variables to see their values and trends.</p>`
        : html`<div class="screens">
              <div
                class="screen"
                tabindex="0"
                role="application"
                aria-roledescription="scope"
                aria-label="Trends of the picked variables"
                aria-describedby="scope-keys"
                @keydown=${(event: KeyboardEvent) => scope.key(event)}
              >
                ${scope.element}
              </div>
              ${xy(variables)}
            </div>
            ${measured(variables)}`
    }
  </section>`;
}

/** Shows XY, where a variable is chosen that the others are drawn over. */
function xy(variables: VariablesModel): TemplateResult | typeof nothing {
  const { x, picks } = variables;
  const ys = variables.ys();
  return x < 0
    ? nothing
    : html`<figure class="screen xy">
        <figcaption>
          ${ys.map(y => html`${swatch(y)} <code>${picks[y]}</code> `)}
          ${ys.length === 0 ? "Pick another variable to see it" : nothing} over
          <code>${picks[x]}</code>
        </figcaption>
        ${variables.xy.element}
      </figure>`;
}

function controls(variables: VariablesModel): TemplateResult {
  const { scope } = variables;
  const text = (event: Event) => (event.target as HTMLSelectElement).value;
  const isPaused = scope.pausedAt !== null;
  return html`
    <label
      >span
      <select @change=${(event: Event) => variables.go({ spanS: Number(text(event)) })}>
        ${SPANS_S.map(
          span =>
            html`<option value=${span} .selected=${live(span === scope.spanS)}>
              ${span < 60 ? `${span} s` : `${span / 60} min`}
            </option>`,
        )}
      </select></label
    >
    <label
      >sample each
      <select @change=${(event: Event) => variables.go({ intervalUs: Number(text(event)) })}>
        ${INTERVALS_US.map(
          interval =>
            html`<option value=${interval} .selected=${live(interval === variables.intervalUs)}>
              ${interval < 1_000_000 ? `${interval / 1_000} ms` : `${interval / 1_000_000} s`}
            </option>`,
        )}
      </select></label
    >
    <label
      >scale
      <select @change=${(event: Event) => variables.go({ isFitted: text(event) === "own" })}>
        <option value="common" .selected=${live(!scope.isFitted)}>common</option>
        <option value="own" .selected=${live(scope.isFitted)}>each its own</option>
      </select></label
    >
    <label
      >XY over
      <select class="path" @change=${(event: Event) => variables.go({ x: text(event) })}>
        ${["", ...variables.picks].map(
          (path, index) =>
            html`<option value=${path} .selected=${live(index === variables.x + 1)}>
              ${path || "nothing"}
            </option>`,
        )}
      </select></label
    >
    <button type="button" aria-pressed=${isPaused} @click=${() => scope.pause()}>
      ${isPaused ? "Go on" : "Pause"}
    </button>
    <button type="button" @click=${() => save(variables)}>Save as CSV</button>
  `;
}

function condition({ recording, scope }: VariablesModel): TemplateResult {
  const states = [
    scope.pausedAt === null ? null : signed({ word: "paused", sign: "off" }),
    recording.isSilent ? signed({ word: "no cycles come", sign: "warning" }) : null,
    recording.isConsistent ? null : signed({ word: "not of one instant", sign: "warning" }),
    recording.leftOut === 0n
      ? null
      : signed({
          word: `${several(Number(recording.leftOut), "sample")} left out`,
          sign: "warning",
        }),
  ];
  return html`<span class="condition" role="status">${states}</span>
    <span class="quiet" data-cycle=${recording.isConsistent ? recording.cycle : nothing}>cycle ${count(recording.cycle)}</span>`;
}

/** Shows the cursors' distance, or how to set them. */
function measured({ scope, recording }: VariablesModel): TemplateResult {
  const { A, B } = scope.cursors;
  const apart = A === null || B === null ? null : Math.abs(B - A);
  const edge = scope.edge();
  const shown = recording.ring.until(edge) - recording.ring.from(edge - scope.spanS);
  return html`<p class="bar measured">
    ${
      apart === null
        ? nothing
        : html`<output
            >B − A = <b>${duration(Math.round(apart * 1e9))}</b>${
              apart > 0 ? html`, 1/(B − A) = <b>${frequency(1 / apart)}</b>` : nothing
            }</output
          >`
    }
    ${
      A === null && B === null
        ? nothing
        : html`<button type="button" class="plain" @click=${() => scope.clearCursors()}>Clear cursors</button>`
    }
    <span id="scope-keys" class="note"
      >${several(shown, "sample")} in view. Cursors: click, or ← → for A and Shift+← → for B; Space
      pauses, Esc clears.</span
    >
  </p>`;
}

function frequency(hertz: number): string {
  const [size, unit] = hertz >= 1e6 ? [1e6, "MHz"] : hertz >= 1e3 ? [1e3, "kHz"] : [1, "Hz"];
  return `${Number((hertz / size).toPrecision(3))}\u00a0${unit}`;
}

/** Saves the samples in view, as the scope has them now, on the person's machine. */
function save({ scope, recording, partition }: VariablesModel): void {
  const edge = scope.edge();
  const stamp = new Date().toISOString().slice(0, 19).replaceAll(":", "");
  saveCsv(`${partition}-${stamp}`, csvOf(recording, edge - scope.spanS, edge));
}
