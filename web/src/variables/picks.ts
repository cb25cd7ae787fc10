/** The picked variables with their values, their forces, and what may be done to them. */

import { html, nothing, svg, type TemplateResult } from "lit-html";
import { repeat } from "lit-html/directives/repeat.js";
import { signed } from "../parts";
import { COLOURS } from "../plot";
import { count, NONE } from "../words";
import type { Wish } from "./change";
import type { VariablesModel } from "./model";
import type { Row } from "./recording";
import { shortOf, tableText, textOf } from "./values";

export function pickTable(
  variables: VariablesModel,
  mayChange: boolean,
): TemplateResult | typeof nothing {
  const { recording, scope } = variables;
  const { rows } = recording;
  const { A, B } = scope.cursors;
  if (rows.length === 0) {
    return nothing;
  }
  return html`<section aria-labelledby="picks">
    <h3 id="picks">Picked</h3>
    <div class="scroll" tabindex="0" role="group" aria-labelledby="picks">
      <table class="picks">
        <thead>
          <tr>
            <th scope="col">trace</th>
            <th scope="col">variable</th>
            <th scope="col" class="number">value</th>
            ${A === null ? nothing : html`<th scope="col" class="number">at A</th>`}
            ${B === null ? nothing : html`<th scope="col" class="number">at B</th>`}
            ${A === null || B === null ? nothing : html`<th scope="col" class="number">B − A</th>`}
            <th scope="col">held</th>
            <th scope="col">change</th>
            <th scope="col"><span class="hidden">drop</span></th>
          </tr>
        </thead>
        <tbody>
          ${repeat(
            rows,
            ({ path }) => path,
            (row, index) => pickRow(variables, row, index, mayChange),
          )}
        </tbody>
      </table>
    </div>
  </section>`;
}

function pickRow(
  variables: VariablesModel,
  row: Row,
  index: number,
  mayChange: boolean,
): TemplateResult {
  const { path, value, variable } = row;
  const { scope, recording } = variables;
  const { A, B } = scope.cursors;
  const at = (time: number | null) => (time === null ? Number.NaN : recording.ring.at(index, time));
  const cell = (number: number) =>
    html`<td class="number">${Number.isNaN(number) ? NONE : shortOf(number)}</td>`;
  return html`<tr data-variable=${path}>
    <td>
      <label class="trace">
        <input
          type="checkbox"
          aria-label="Draw ${path}"
          .checked=${!scope.hidden.includes(path)}
          @change=${() => variables.hide(path)}
        />${swatch(index)}
      </label>
    </td>
    <th scope="row">
      <code>${path}</code><small class="aside">${variable?.type} ${variable?.role}</small>
    </th>
    <td class="number value" title=${value === null ? nothing : textOf(value)}>
      ${value === null ? NONE : tableText(value)}
    </td>
    ${A === null ? nothing : cell(at(A))} ${B === null ? nothing : cell(at(B))}
    ${A === null || B === null ? nothing : cell(at(B) - at(A))}
    <td>${held(row)}</td>
    <td class="actions">${actions(variables, row, mayChange)}</td>
    <td>
      <button
        type="button"
        class="plain"
        aria-label="Drop ${path}"
        @click=${() => variables.toggle(path)}
      >
        ✕
      </button>
    </td>
  </tr>
    ${owner(variables, row)}`;
}

/** Shows the colour of a variable, by its number. */
export function swatch(index: number): TemplateResult {
  const kind = `trace-${index % COLOURS}${index < COLOURS ? "" : " dashed"}`;
  return html`<svg class=${kind} width="26" height="10" aria-hidden="true">
    ${svg`<line x1="1" y1="5" x2="25" y2="5"></line>`}
  </svg>`;
}

function held({ forced }: Row): TemplateResult {
  return forced
    ? signed({ word: "forced", sign: "warning" })
    : html`<span class="quiet">free</span>`;
}

/** Tells who holds a variable, in a row of its own below it. */
function owner(variables: VariablesModel, { forced, path }: Row): TemplateResult | typeof nothing {
  const { A, B } = variables.scope.cursors;
  const ofCursors = [A !== null, B !== null, A !== null && B !== null].filter(Boolean).length;
  const by = forced ? variables.forcedBy.get(path) : undefined;
  return by === undefined
    ? nothing
    : html`<tr class="remarks">
        <td></td>
        <td colspan=${5 + ofCursors}>forced by ${by.by}, from cycle ${count(by.cycle)}, until it is released</td>
      </tr>`;
}

function actions(variables: VariablesModel, row: Row, mayChange: boolean): TemplateResult {
  const { dialog, site, partition } = variables;
  const isWritable = row.variable?.writable ?? false;
  if (row.variable !== null && !isWritable) {
    return html`<span class="quiet">can't be changed</span>`;
  }
  const value = row.value === null ? "" : textOf(row.value);
  const button = (kind: "set" | "force" | "release", word: string, isUseful: boolean) => {
    const wish: Wish = { kind, row };
    return html`<button
      type="button"
      ?disabled=${!mayChange || !isWritable || !isUseful}
      aria-label="${word} ${row.path}"
      aria-describedby=${mayChange ? nothing : "why-not"}
      @click=${() => dialog.open(site, partition, wish, value)}
    >
      ${word}
    </button>`;
  };
  return html`${button("set", "Set", true)} ${button("force", "Force", true)}
  ${button("release", "Release", row.forced)}`;
}
