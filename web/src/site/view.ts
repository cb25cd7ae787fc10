/** The site at a glance: its figures, its partitions, and what happened. */

import { html, nothing, type TemplateResult } from "lit-html";
import { repeat } from "lit-html/directives/repeat.js";
import { write } from "../address";
import type { Page } from "../app";
import type { Partition } from "../contract/quietcore/v1/partition";
import { figure, signed, worded } from "../parts";
import { allows } from "../session";
import { count, duration, NONE, several, stateOf } from "../words";
import { actionButtons, actionDialog } from "./actions";
import { eventList } from "./events";
import { lineSection } from "./line";
import type { SiteModel } from "./model";

export function siteView(page: Page): TemplateResult {
  const model = page.site;
  if (!model.isKnown) {
    return html`<p class="empty">Asking the daemon …</p>`;
  }
  if (model.name === "") {
    return html`<section class="empty">
      <h2>No site runs on this machine</h2>
      <p>Bring one up with <code>quietcore up SITE.toml</code>; it appears here by itself.</p>
    </section>`;
  }
  return html`
    ${glance(model)}
    ${model.refused === null ? nothing : html`<p class="refusal" role="alert">${worded(model.refused)}</p>`}
    ${partitionTable(page)} ${lineSection(model.partitions, model.events)}
    ${driftList(model.drift)} ${eventList(page)} ${actionDialog(page.actions, page.session.name)}
  `;
}

function glance(model: SiteModel): TemplateResult {
  const { partitions, drift } = model;
  const running = partitions.filter(partition => stateOf(partition).sign === "good").length;
  const worst = partitions.reduce<Partition | undefined>(
    (worst, next) => (next.releaseMaxNs > (worst?.releaseMaxNs ?? 0n) ? next : worst),
    undefined,
  );
  const sum = (of: (partition: Partition) => bigint | number) =>
    partitions.reduce((sum, partition) => sum + BigInt(of(partition)), 0n);
  const drifted = drift.length + partitions.reduce((sum, { drift }) => sum + drift.length, 0);
  const current = model.current;
  return html`<section aria-labelledby="glance">
    <header class="title">
      <h2 id="glance">${model.name}</h2>
      <p>
        ${current?.siteFile ? html`<code>${current.siteFile}</code>` : nothing}
        ${current?.startedBy ? html`started by ${current.startedBy}` : nothing}
      </p>
    </header>
    <dl class="figures">
      ${figure("running", `${running} of ${partitions.length}`, "partitions", running < partitions.length)}
      ${figure("worst release", worst ? duration(worst.releaseMaxNs) : NONE, worst?.name ?? "")}
      ${figure("overruns", count(sum(({ overruns }) => overruns)), "jobs", sum(({ overruns }) => overruns) > 0n)}
      ${figure("missed", count(sum(({ missedCycles }) => missedCycles)), "cycles", sum(({ missedCycles }) => missedCycles) > 0n)}
      ${figure("forced", count(sum(({ forces }) => forces)), "variables", sum(({ forces }) => forces) > 0n)}
      ${figure("drift", count(drifted), "settings", drifted > 0)}
    </dl>
  </section>`;
}

function partitionTable(page: Page): TemplateResult {
  const { partitions } = page.site;
  const mayAct = allows(page.session, "operator");
  return html`<section aria-labelledby="partitions">
    <h3 id="partitions">Partitions</h3>
    <div class="scroll" tabindex="0" role="group" aria-labelledby="partitions">
      <table class="partitions">
        <thead>
          <tr>
            <th scope="col">partition</th>
            <th scope="col">state</th>
            <th scope="col">program</th>
            <th scope="col">backend</th>
            <th scope="col" class="number">CPU</th>
            <th scope="col" class="number">period</th>
            <th scope="col" class="number">cycles</th>
            <th scope="col" class="number">worst release</th>
            <th scope="col" class="number">overruns</th>
            <th scope="col" class="number">missed</th>
            <th scope="col" class="number">forced</th>
            <th scope="col">fieldbus</th>
            <th scope="col" class="number spare">drift</th>
            <th scope="col">control</th>
          </tr>
        </thead>
        <tbody>
          ${repeat(
            partitions,
            ({ name }) => name,
            partition => partitionRow(page, partition, mayAct),
          )}
        </tbody>
      </table>
    </div>
    <p class="note">
      Counters are those of a partition's fastest task since its last reset; overruns are of all its
      tasks.
    </p>
    ${
      mayAct
        ? nothing
        : html`<p id="why-not-act" class="note">
            Pausing, resuming and restarting need the role operator; you are logged in as
            ${page.session.role}.
          </p>`
    }
  </section>`;
}

function partitionRow(page: Page, partition: Partition, mayAct: boolean): TemplateResult {
  const { name, hasProgram } = partition;
  const said = remarks(partition);
  const site = page.site.name;
  const to = (view: "variables" | "timing") =>
    write({
      ...page.address,
      view,
      site,
      partition: name,
      picks: [],
      around: null,
      trace: null,
      run: null,
    });
  return html`
    <tr class=${said.length > 0 ? "with-remarks" : ""} data-partition=${name}>
      <th scope="row">
        ${hasProgram ? html`<a href=${to("variables")} title="Its variables">${name}</a>` : name}
      </th>
      <td>${signed(stateOf(partition))}</td>
      <td>${program(partition)}</td>
      <td>${partition.backend}</td>
      <td class="number">${partition.cpu ?? NONE}</td>
      <td class="number">${hasProgram ? duration(partition.periodNs) : NONE}</td>
      <td class="number">${hasProgram ? count(partition.cycles) : NONE}</td>
      <td class="number">
        ${
          hasProgram
            ? html`<a href=${to("timing")} title="Its timing">${duration(partition.releaseMaxNs)}</a>`
            : NONE
        }
      </td>
      ${counter(partition.overruns, hasProgram)} ${counter(partition.missedCycles, hasProgram)}
      ${counter(partition.forces, hasProgram)}
      <td>${fieldbus(partition)}</td>
      ${counter(partition.drift.length, true, "spare")}
      <td class="actions">${actionButtons(partition, site, page.actions, mayAct)}</td>
    </tr>
    ${
      said.length === 0
        ? nothing
        : html`<tr class="remarks">
            <td colspan="14">${said.map(sentence => html`<p>${worded(sentence)}</p>`)}</td>
          </tr>`
    }
  `;
}

function counter(value: bigint | number, has: boolean, more = ""): TemplateResult {
  const text = has ? count(value) : NONE;
  return html`<td class="number ${more}">
    ${has && value > 0 ? html`<strong class="warning">${text}</strong>` : text}
  </td>`;
}

function program({ hasProgram, generation, class: of }: Partition): TemplateResult {
  return hasProgram
    ? html`build ${generation}<small class="aside">${of}</small>`
    : html`<span class="quiet">own system</span>`;
}

function fieldbus({ fieldbus }: Partition): TemplateResult {
  if (fieldbus === undefined) {
    return html`${NONE}`;
  }
  const { state, subdevices, workingCounter, workingCounterExpected, lostFrames } = fieldbus;
  const sound = state === "OP" && workingCounter === workingCounterExpected;
  const lost =
    lostFrames > 0n
      ? html`<small class="aside">${several(Number(lostFrames), "lost frame")}</small>`
      : nothing;
  return html`${signed({ word: `${state} ×${subdevices}`, sign: sound ? "good" : "warning" })}
    <small class="aside" title="working counter: of the last frame / expected"
      >WKC ${workingCounter}/${workingCounterExpected}</small
    >${lost}`;
}

/** Returns what there is to say of a partition, a sentence each. */
function remarks(partition: Partition): string[] {
  const { why, shedBy, restartInNs, restarts, faults, lastFault, drift } = partition;
  const said: string[] = [];
  if (restartInNs > 0n) {
    said.push(`restart in ${duration(restartInNs)}: ${why}`);
  } else if (why !== "") {
    said.push(why);
  }
  if (shedBy !== "") {
    said.push(`held for ${shedBy}, which is more critical and late`);
  }
  if (faults > 0 && lastFault !== why) {
    const often = `${several(faults, "fault")}, ${several(restarts, "restart")}`;
    said.push(`${often} since the site is up; the last fault: ${lastFault}`);
  }
  return [...said, ...drift.map(sentence => `drift: ${sentence}`)];
}

function driftList(drift: string[]): TemplateResult | typeof nothing {
  return drift.length === 0
    ? nothing
    : html`<section aria-labelledby="drift">
        <h3 id="drift">Drift of the machine</h3>
        <ul class="drift">
          ${drift.map(sentence => html`<li>${worded(sentence)}</li>`)}
        </ul>
      </section>`;
}
