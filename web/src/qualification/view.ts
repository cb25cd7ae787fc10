/** Qualification: the verdicts that hold, how a run is started, and those that are kept. */

import { html, nothing, type TemplateResult } from "lit-html";
import { write } from "../address";
import type { Page } from "../app";
import {
  type Run,
  type RunKind,
  RunState,
  type StandingVerdict,
} from "../contract/quietcore/v1/qualification";
import { scrolled, signed, worded } from "../parts";
import { allows } from "../session";
import { instant, NONE, type State } from "../words";
import { KINDS } from "./asked";
import { runPart } from "./run";
import { startForm } from "./start";

export function qualificationView(page: Page): TemplateResult {
  const { qualification: model, session } = page;
  const mayAct = allows(session, "engineer");
  const { standing, refused, runs, shown, isKnown } = model;
  return html`<section class="traces runs" aria-labelledby="qualification">
    <header class="title">
      <h2 id="qualification">Qualification</h2>
      <p>Verdicts on the timing of sites, measured whether or not this page is open.</p>
    </header>
    <h3>Verdicts, and whether they hold for the machine as it is now</h3>
    ${scrolled(
      "Verdicts",
      ["partition", "class", "verdict", "standing", "expired by", "run"],
      (standing ?? []).map(verdict => standingRow(page, verdict)),
      standing === null ? "Comparing with the machine …" : "No verdict yet: qualify the site.",
    )}
    ${startForm(page, mayAct)}
    ${refusal(refused)}
    <h3>Runs</h3>
    ${scrolled(
      "Runs",
      ["#no", "kind", "site", "state", "verdict", "started, UTC", "do"],
      runs.map(run => runRow(page, run)),
      isKnown ? "No run is kept." : "Asking the daemon …",
    )}
    ${shown === undefined ? nothing : runPart(model, shown, mayAct)}
    ${refusal(model.unseen)}
  </section>`;
}

function refusal(sentence: string | null): TemplateResult | typeof nothing {
  return sentence === null
    ? nothing
    : html`<p class="refusal" role="alert">${worded(sentence)}</p>`;
}

function standingRow({ address }: Page, verdict: StandingVerdict): TemplateResult {
  const { site, partition, applicationClass, standing, startedAt, run, expiredBy } = verdict;
  const signs: Record<string, State["sign"]> = { holds: "good", expired: "warning" };
  const changed = expiredBy.map(text => html`<div>${text}</div>`);
  return html`<tr>
    <th scope="row">${site}/${partition}</th>
    <td><code>${applicationClass}</code></td>
    <td>${verdictWord(verdict.verdict)}</td>
    <td>${signed({ word: standing.replace("-", " "), sign: signs[standing] ?? "off" })}</td>
    <td class="text">${changed.length === 0 ? NONE : changed}</td>
    <td>
      <a href=${write({ ...address, run })}>run ${run}</a>
      <small class="aside">${startedAt.slice(0, 10)}</small>
    </td>
  </tr>`;
}

function runRow({ qualification: model, go }: Page, run: Run): TemplateResult {
  const { number, kind, site, startedAt, startedBy, why } = run;
  return html`<tr data-run=${number} aria-current=${model.number === number ? "true" : nothing}>
    <td class="number">${number}</td>
    <td>${kindWord(kind)}</td>
    <th scope="row">${site}</th>
    <td class="text">${signed(stateOf(run))} <small>${worded(why)}</small></td>
    <td>${verdictWord(run.verdict)}</td>
    <td>${instant(startedAt)} <small class="aside">${startedBy}</small></td>
    <td class="actions">
      <button type="button" aria-label=${`Show run ${number}`} @click=${() => go({ run: number })}>
        Show
      </button>
    </td>
  </tr>`;
}

/** Returns the word of a kind. */
export function kindWord(kind: RunKind): string {
  return KINDS.find(([known]) => known === kind)?.[1] ?? "unknown";
}

/** Shows a verdict by its word and its sign. */
export function verdictWord(word: string): TemplateResult | string {
  const signs: Record<string, State["sign"]> = { PASS: "good", FAIL: "fault" };
  return word === "" ? NONE : signed({ word, sign: signs[word] ?? "warning" });
}

/** Returns the state of a run. */
export function stateOf({ state, cancelledBy }: Run): State {
  const by = cancelledBy === "" ? "" : `cancelled by ${cancelledBy}`;
  switch (state) {
    case RunState.RUNNING:
      return by === "" ? { word: "running", sign: "plain" } : { word: by, sign: "warning" };
    case RunState.COMPLETE:
      return { word: "complete", sign: "good" };
    case RunState.INTERRUPTED:
      return { word: by || "interrupted", sign: "warning" };
    case RunState.FAILED:
      return { word: "failed", sign: "fault" };
    default:
      return { word: "unknown", sign: "off" };
  }
}
