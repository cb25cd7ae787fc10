/** Small parts of the page that several views share. */

import { html, nothing, type TemplateResult } from "lit-html";
import type { State } from "./words";

/** Signs beside words, so that no state is told by its colour alone. */
const SHAPES: Record<State["sign"], string> = {
  good: "●",
  plain: "○",
  warning: "▲",
  fault: "■",
  off: "◇",
};

/** Shows a state by its word and its shape. */
export function signed({ word, sign }: State): TemplateResult {
  return html`<span class="state ${sign}"><span aria-hidden="true">${SHAPES[sign]}</span> ${word}</span>`;
}

/** Shows a sentence of the daemon, which has code between backticks. */
export function worded(sentence: string): TemplateResult {
  const parts = sentence.split("`");
  // A backtick without a second one is a backtick.
  if (parts.length % 2 === 0) {
    return html`${sentence}`;
  }
  return html`${parts.map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`))}`;
}

/** Shows a figure of a list of them, with its name and what it counts. */
export function figure(
  name: string,
  value: string,
  of: string,
  stands_out = false,
): TemplateResult {
  return html`<div class=${stands_out ? "figure warning" : "figure"}>
    <dt>${stands_out ? html`<span class="mark" aria-hidden="true">▲</span>` : nothing}${name}</dt>
    <dd>${value} <small>${of}</small></dd>
  </div>`;
}

/** Shows a table that scrolls by itself; a column whose name begins with "#" has numbers. */
export function scrolled(
  label: string,
  columns: string[],
  rows: TemplateResult[],
  empty: string,
): TemplateResult {
  const head = (column: string) =>
    column.startsWith("#")
      ? html`<th scope="col" class="number">${column.slice(1)}</th>`
      : html`<th scope="col">${column}</th>`;
  return html`<div class="scroll" tabindex="0" role="group" aria-label=${label}>
    <table>
      <thead>
        <tr>
          ${columns.map(head)}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
    ${rows.length === 0 ? html`<p class="empty">${empty}</p>` : nothing}
  </div>`;
}
