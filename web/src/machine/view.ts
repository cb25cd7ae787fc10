/** The machine: its name, its kernel, and the doctor's findings with their remedies. */

import { html, nothing, type TemplateResult } from "lit-html";
import type { Page } from "../app";
import { ANSWER_MS_MAX, type Calls, sentenceOf } from "../calls";
import type { Cpu } from "../contract/quietcore/v1/cpu";
import { type Finding, FindingSeverity, type GetHostResponse } from "../contract/quietcore/v1/host";
import { signed, worded } from "../parts";
import type { State } from "../words";
import { cpuStrip } from "./cpus";
import { driftOf, driftPart } from "./drift";

export class MachineModel {
  host: GetHostResponse | null = null;
  /** CPUs with their owners; null until the daemon has told. */
  cpus: Cpu[] | null = null;
  findings: Finding[] | null = null;
  refused: string | null = null;
  isExamining = false;
  /** True shows findings that are as they should be, too. */
  showsAll = false;

  constructor(
    readonly calls: Calls,
    readonly changed: () => void,
    readonly failed: (error: unknown) => void,
  ) {}

  /** Examines the machine once; a second wish while that goes on is none. */
  async examine(): Promise<void> {
    if (this.isExamining) {
      return;
    }
    this.isExamining = true;
    this.changed();
    try {
      this.host = await this.calls.host.getHost({});
      this.changed();
      this.findings = (await this.calls.host.examineHost({ cpus: "", withReport: false })).findings;
      this.refused = null;
    } catch (error) {
      this.refused = sentenceOf(error);
      this.failed(error);
    }
    this.isExamining = false;
    this.changed();
  }

  /** Asks for the CPUs once. Fails where the daemon does not answer, or refuses. */
  async poll(): Promise<void> {
    this.cpus = (await this.calls.host.listCpus({}, { timeoutMs: ANSWER_MS_MAX })).cpus;
    this.changed();
  }

  showAll(all: boolean): void {
    this.showsAll = all;
    this.changed();
  }
}

export function machineView({ machine: model, site }: Page): TemplateResult {
  const { host, isExamining, refused, cpus } = model;
  return html`<section class="machine" aria-labelledby="machine">
    <header class="title">
      <h2 id="machine">${host?.name ?? "The machine"}</h2>
      <p>${host === null ? nothing : html`kernel <code>${host.kernel}</code>, Quietcore ${host.version}`}</p>
      <button type="button" ?disabled=${isExamining} @click=${() => model.examine()}>
        ${isExamining ? "Examining …" : "Examine again"}
      </button>
    </header>
    ${cpus === null ? nothing : cpuStrip(cpus)}
    ${site.name === "" ? nothing : driftPart(site.name, driftOf(site.drift, site.partitions))}
    <h3>Fitness for real-time work</h3>
    ${refused === null ? nothing : html`<p class="refusal" role="alert">${worded(refused)}</p>`}
    ${model.findings === null ? awaited(model) : findings(model, model.findings)}
  </section>`;
}

function awaited({ isExamining }: MachineModel): TemplateResult {
  return html`<p class="empty" role="status">
    ${isExamining ? "The machine is being examined; comparing its clocks takes some seconds." : nothing}
  </p>`;
}

function findings(model: MachineModel, all: Finding[]): TemplateResult {
  const wrong = all.filter(({ severity }) => severity !== FindingSeverity.OK);
  const shown = (model.showsAll ? [...all] : wrong).sort((a, b) => b.severity - a.severity);
  const asItShouldBe = all.length - wrong.length;
  return html`
    <p class="bar">
      <span>${wrong.length} of ${all.length} findings ask for something</span>
      <label>
        <input
          type="checkbox"
          .checked=${model.showsAll}
          @change=${(event: Event) => model.showAll((event.target as HTMLInputElement).checked)}
        />
        show those that are as they should be (${asItShouldBe})
      </label>
    </p>
    <div class="scroll" tabindex="0" role="group" aria-label="Findings">
      <table class="findings">
        <thead>
          <tr>
            <th scope="col">finding</th>
            <th scope="col">subject</th>
            <th scope="col">read</th>
            <th scope="col">right</th>
            <th scope="col">effect</th>
            <th scope="col">remedy</th>
          </tr>
        </thead>
        <tbody>
          ${shown.map(findingRow)}
        </tbody>
      </table>
      ${shown.length === 0 ? html`<p class="empty">All is as it should be.</p>` : nothing}
    </div>
  `;
}

function findingRow(finding: Finding): TemplateResult {
  const { read, right, effect, fix } = finding;
  return html`<tr>
    <td>${signed(weight(finding.severity))}</td>
    <th scope="row">${finding.subject}<small class="aside">${finding.area}</small></th>
    <td>${worded(read)}</td>
    <td>${worded(right)}</td>
    <td class="text">${worded(effect)}</td>
    <td class="text">${worded(fix)}</td>
  </tr>`;
}

function weight(severity: FindingSeverity): State {
  switch (severity) {
    case FindingSeverity.OK:
      return { word: "right", sign: "good" };
    case FindingSeverity.ADVICE:
      return { word: "advice", sign: "plain" };
    case FindingSeverity.CONFORMANCE:
      return { word: "required", sign: "fault" };
    default:
      return { word: "unknown", sign: "off" };
  }
}
