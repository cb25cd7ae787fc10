/** The audit trail: who changed what, when, and what came of it. */

import { html, nothing, type TemplateResult } from "lit-html";
import { repeat } from "lit-html/directives/repeat.js";
import { type AuditEntry, AuditKind } from "../contract/quietcore/v1/audit";
import { signed, worded } from "../parts";
import { count, instant, type State } from "../words";
import { type AuditModel, PAGE } from "./model";

/** Calls that leave entries, as the filter offers them. */
const CALLS = [
  "VariableService/WriteVariables",
  "VariableService/UnforceAll",
  "PartitionService/PausePartition",
  "PartitionService/ResumePartition",
  "PartitionService/RestartPartition",
  "ProgramService/UploadProgram",
  "ProgramService/BuildProgram",
  "ProgramService/DeployProgram",
  "ProgramService/RollBackProgram",
  "ProgramService/DeleteVersion",
  "SiteService/ApplySite",
  "SiteService/UndoSite",
  "QualificationService/StartRun",
  "QualificationService/CancelRun",
  "TraceService/StartTrace",
  "TraceService/StopTrace",
  "TraceService/DeleteTrace",
  "PageService/CreateLink",
];
/** Characters of details that a row shows; its title has more. */
const WHAT_MAX = 160;

export function auditView(model: AuditModel): TemplateResult {
  const { entries, refused, isKnown, isAsking } = model;
  return html`<section aria-labelledby="audit">
    <header class="title">
      <h2 id="audit">Audit trail</h2>
      <p>Each call that changes something: the intention, then the outcome.</p>
    </header>
    ${filters(model)}
    ${refused === null ? nothing : html`<p class="refusal" role="alert">${worded(refused)}</p>`}
    <div class="scroll" tabindex="0" role="group" aria-labelledby="audit">
      <table class="audit">
        <thead>
          <tr>
            <th scope="col" class="number">no</th>
            <th scope="col">time, UTC</th>
            <th scope="col">who</th>
            <th scope="col">call</th>
            <th scope="col">where</th>
            <th scope="col">entry</th>
            <th scope="col">what</th>
          </tr>
        </thead>
        <tbody>
          ${repeat(entries, ({ number }) => number, row)}
        </tbody>
      </table>
      ${
        entries.length === 0
          ? html`<p class="empty" role="status">
              ${!isKnown || isAsking ? "Asking the daemon …" : refused === null ? "None of these entries is so." : nothing}
            </p>`
          : nothing
      }
    </div>
    ${pages(model)}
  </section>`;
}

function filters(model: AuditModel): TemplateResult {
  const whoChosen = (event: Event) =>
    model.filter({ who: (event.target as HTMLInputElement).value.trim() });
  const callChosen = (event: Event) =>
    model.filter({ call: (event.target as HTMLSelectElement).value });
  return html`<p class="bar">
    <label
      >who
      <input
        type="search"
        class="who"
        maxlength="64"
        autocomplete="off"
        spellcheck="false"
        placeholder="anybody"
        .value=${model.who}
        @change=${whoChosen}
    /></label>
    <label
      >call
      <select class="call" @change=${callChosen}>
        <option value="">all</option>
        ${CALLS.map(
          call =>
            html`<option value=${call} .selected=${call === model.call}>${nameOf(call)}</option>`,
        )}
      </select></label
    >
    <button type="button" ?disabled=${model.isAsking} @click=${() => model.newest()}>Newest</button>
  </p>`;
}

function pages(model: AuditModel): TemplateResult {
  const { from, end, isAsking } = model;
  const last = Math.min(Number(from + PAGE), Number(end));
  return html`<p class="bar pages">
    <button type="button" ?disabled=${!model.hasNewer || isAsking} @click=${() => model.newer()}>
      ← Newer
    </button>
    <span role="status"
      >${end <= 1n ? "no entries" : html`entries ${count(from > 0n ? from : 1n)} to ${count(last - 1)} of ${count(end - 1n)}`}</span
    >
    <button type="button" ?disabled=${!model.hasOlder || isAsking} @click=${() => model.older()}>
      Older →
    </button>
  </p>`;
}

function row(entry: AuditEntry): TemplateResult {
  const { number, at, who, call, site, partition, what, refusal } = entry;
  const role = who?.role === "" ? "" : `, ${who?.role}`;
  const told = what === "null" ? "" : what;
  return html`<tr data-entry=${number}>
    <td class="number">${count(number)}</td>
    <td><time datetime=${at}>${instant(at)}</time></td>
    <td title=${`${who?.program ?? ""} ${who?.via ?? ""}`}>
      ${who?.certificate || who?.user}<small class="aside">${who?.via ?? ""}${role}</small>
    </td>
    <td>${nameOf(call)}</td>
    <td>${site === "" ? nothing : `${site}${partition === "" ? "" : `/${partition}`}`}</td>
    <td>${signed(kindOf(entry.kind))}</td>
    <td class="text">
      ${
        refusal === undefined
          ? html`<code title=${told}>${told.length > WHAT_MAX ? `${told.slice(0, WHAT_MAX)} …` : told}</code>`
          : worded(refusal.sentence)
      }
    </td>
  </tr>`;
}

/** Returns the name of a call without its service. */
function nameOf(call: string): string {
  return call.slice(call.indexOf("/") + 1);
}

function kindOf(kind: AuditKind): State {
  switch (kind) {
    case AuditKind.INTENDED:
      return { word: "intended", sign: "plain" };
    case AuditKind.DONE:
      return { word: "done", sign: "good" };
    case AuditKind.REFUSED:
      return { word: "refused", sign: "warning" };
    case AuditKind.BEGAN:
      return { word: "trail began", sign: "off" };
    case AuditKind.PRUNED:
      return { word: "pruned", sign: "off" };
    default:
      return { word: "unknown", sign: "off" };
  }
}
