/** The run that is shown: its progress while it goes on, then its verdicts and files. */

import { html, nothing, type TemplateResult } from "lit-html";
import {
  type RecordVerdict,
  type Run,
  type RunFile,
  RunKind,
  RunState,
} from "../contract/quietcore/v1/qualification";
import { figure, scrolled, signed, worded } from "../parts";
import { count, duration, instant, NONE, several, size, span } from "../words";
import { latePart } from "./gantt";
import type { QualificationModel } from "./model";
import { kindWord, stateOf, verdictWord } from "./view";

/** Name of the page among the files. */
const REPORT = "report.html";

export function runPart(model: QualificationModel, run: Run, mayAct: boolean): TemplateResult {
  const { number, kind, site, startedAt, startedBy, why } = run;
  const label = `Run ${number}`;
  const goesOn = run.state === RunState.RUNNING;
  return html`<section aria-label=${label} class="traces">
    <header class="title">
      <h3>
        ${label}
        <small>${kindWord(kind)} of ${site}, started ${instant(startedAt)} by ${startedBy}</small>
      </h3>
      <span role="status">${signed(stateOf(run))} ${goesOn ? model.progress?.step : nothing}</span>
      ${run.verdict === "" ? nothing : verdictWord(run.verdict)}
      ${
        goesOn && run.cancelledBy === ""
          ? html`<button type="button" ?disabled=${!mayAct} @click=${() => model.cancel(number)}>
              ${model.doomed === number ? "Really cancel" : "Cancel"}
            </button>`
          : nothing
      }
    </header>
    ${why === "" ? nothing : html`<p class="refusal">${worded(why)}</p>`}
    ${goesOn ? progress(model, run) : results(model, run)}
    <h4>Remarks</h4>
    <div
      class="scroll log"
      tabindex="0"
      role=${goesOn ? "log" : "group"}
      aria-label=${`Remarks of run ${number}`}
    >
      <div>${model.lines.map(line => html`<div>${line || " "}</div>`)}</div>
    </div>
  </section>`;
}

function progress({ progress: told }: QualificationModel, { number, kind }: Run): TemplateResult {
  const bar = html`<progress
    max="1"
    value=${told?.fraction ?? nothing}
    aria-label=${`Progress of run ${number}`}
  ></progress>`;
  if (told === null) {
    return bar;
  }
  const { profile, partitions, step, begun, fraction, leftNs, worstNs } = told;
  const word = kind === RunKind.QUALIFY ? "profile" : "variant";
  return html`${bar}
    <dl class="figures">
      ${figure("done", `${Math.floor(fraction * 100)}\u00a0%`, "of the time")}
      ${figure("left", span(leftNs), "by the plan")}
      ${figure("worst release", worstNs === undefined ? NONE : duration(worstNs), "so far")}
      ${figure(word, profile || NONE, `measurement ${count(begun)}`)}
      ${figure("step", step || NONE, "")}
      ${figure("measured", partitions.join(", ") || NONE, "")}
    </dl>`;
}

function results(model: QualificationModel, { verdicts, files }: Run): TemplateResult {
  const others = files.filter(({ name }) => name !== REPORT);
  const sorted = [...files.filter(({ name }) => name === REPORT), ...others];
  return html`${
    verdicts.length === 0
      ? nothing
      : scrolled(
          "Verdicts of the run",
          ["partition", "profile", "class", "verdict", "because", "#cycles needed", "do"],
          verdicts.map((verdict, index) => verdictRow(model, verdict, isFirst(verdicts, index))),
          "",
        )
  }
    ${model.late === null ? nothing : latePart(model, model.late)}
    <h4>
      Evidence
      <small>${several(files.length, "file")}; the report is a page to open in a browser</small>
    </h4>
    ${scrolled(
      "Files of the run",
      ["file", "#size", "do"],
      sorted.map(file => fileRow(model, file)),
      model.ended === null ? "Asking the daemon …" : "It has left no evidence.",
    )}`;
}

/** Returns true if no verdict before is on the same record: it is judged by several classes. */
function isFirst(verdicts: RecordVerdict[], index: number): boolean {
  return verdicts.findIndex(({ record }) => record === verdicts[index]?.record) === index;
}

function verdictRow(
  model: QualificationModel,
  verdict: RecordVerdict,
  hasLate: boolean,
): TemplateResult {
  const { partition, profile, applicationClass, because, cyclesNeeded, record } = verdict;
  return html`<tr>
    <th scope="row">${partition}</th>
    <td>${profile}</td>
    <td><code>${applicationClass}</code></td>
    <td>${verdictWord(verdict.verdict)}</td>
    <td class="text">${worded(because)}</td>
    <td class="number">${cyclesNeeded === 0n ? NONE : count(cyclesNeeded)}</td>
    <td class="actions">
      ${
        hasLate
          ? html`<button
              type="button"
              aria-label=${`Late releases of ${record}`}
              ?disabled=${model.saving !== null}
              @click=${() => model.explain(record)}
            >
              Late releases
            </button>`
          : nothing
      }
    </td>
  </tr>`;
}

function fileRow(model: QualificationModel, { name, bytes }: RunFile): TemplateResult {
  const { saving } = model;
  const isReport = name === REPORT;
  return html`<tr>
    <th scope="row">${isReport ? html`Report <small>${name}</small>` : name}</th>
    <td class="number">${size(bytes)}</td>
    <td class="actions">
      <button
        type="button"
        class=${isReport ? "main" : ""}
        aria-label=${`Save ${name}`}
        ?disabled=${saving !== null}
        @click=${() => model.save(name)}
      >
        ${saving?.[0] === name ? `${size(saving[1])} …` : "Save"}
      </button>
    </td>
  </tr>`;
}
