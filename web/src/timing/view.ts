/** The timing of a partition: a histogram of each time of each task, and its worst cycles. */

import { html, nothing, type TemplateResult } from "lit-html";
import { write } from "../address";
import type { Page } from "../app";
import type { TaskTiming, TimingClass, WorstCycle } from "../contract/quietcore/v1/timing";
import { worded } from "../parts";
import { count, duration, NONE } from "../words";
import { axisOf, histogramFigure, type Limit } from "./histogram";

export function timingView(page: Page): TemplateResult {
  const { timing: model, site } = page;
  if (model.partition === "") {
    return html`<section class="empty">
      <h2>No timing to show</h2>
      <p>
        ${
          site.name === ""
            ? "No site runs on this machine."
            : "No partition of this site runs a program of it; guests with a system of their own have no cycles to show."
        }
      </p>
    </section>`;
  }
  const { timing } = model;
  return html`<section class="timing" aria-labelledby="timing">
    <header class="title">
      <h2 id="timing">Timing</h2>
      ${partitions(page)} ${timing?.class === undefined ? nothing : classOf(timing.class)}
    </header>
    ${model.refused === null ? nothing : html`<p class="refusal" role="alert">${worded(model.refused)}</p>`}
    ${
      timing === null
        ? html`<p class="empty">${model.refused === null ? "Asking the daemon …" : nothing}</p>`
        : timing.tasks.map(task => taskPart(page, task, timing.class))
    }
  </section>`;
}

function partitions({ site, timing, go }: Page): TemplateResult {
  const able = site.partitions.filter(({ hasProgram }) => hasProgram);
  const choose = (event: Event) => go({ partition: (event.target as HTMLSelectElement).value });
  return html`<label
    >of
    <select aria-label="Partition" @change=${choose}>
      ${able.map(
        ({ name }) =>
          html`<option value=${name} .selected=${name === timing.partition}>${name}</option>`,
      )}
    </select></label
  >`;
}

function classOf({ name, title, latencyNs, jitterNs, jitterDefinition }: TimingClass) {
  if (title === "") {
    return html`<p>class <code>${name}</code> of the site file, whose limits stand there</p>`;
  }
  const limit = latencyNs === undefined ? nothing : html`; release within ${duration(latencyNs)}`;
  const jitter =
    jitterNs === undefined
      ? nothing
      : html`, jitter within ${duration(jitterNs)} <small>(${jitterDefinition})</small>`;
  return html`<p>class <code>${name}</code>${limit}${jitter}</p>`;
}

function taskPart(page: Page, task: TaskTiming, of: TimingClass | undefined): TemplateResult {
  const late: Limit[] = of?.latencyNs ? [{ name: "limit", ns: Number(of.latencyNs) }] : [];
  const period: Limit[] = task.periodNs > 0n ? [{ name: "period", ns: Number(task.periodNs) }] : [];
  const { release, execution, response } = task;
  const all = [release, execution, response].filter(values => values !== undefined);
  const axis = axisOf(all, [...late, ...period]);
  return html`<section class="task" aria-label=${`Task ${task.name}`}>
    <h3>
      Task ${task.name}
      <small>
        ${task.periodNs > 0n ? html`each ${duration(task.periodNs)};` : nothing}
        ${task.sinceNs > 0n ? html`since ${stampOf(task.sinceNs)}, when its process started` : "no release yet"}
      </small>
    </h3>
    <p class="bar counters">
      ${counter("cycles", task.cycles, false)} ${counter("missed", task.missedCycles)}
      ${counter("overruns", task.overruns)} ${counter("watchdog hits", task.watchdogHits)}
      ${counter("migrations", task.migrations)}
    </p>
    <div class="histograms">
      ${release === undefined ? nothing : histogramFigure("release latency", "due until started", release, axis, late)}
      ${execution === undefined ? nothing : histogramFigure("execution time", "started until done", execution, axis, period)}
      ${response === undefined ? nothing : histogramFigure("response time", "due until done", response, axis, period)}
    </div>
    ${worstTable(page, task, of)}
  </section>`;
}

function counter(name: string, value: bigint, stands_out = true): TemplateResult {
  const text = count(value);
  return html`<span
    ><span class="quiet">${name}</span> ${
      stands_out && value > 0n
        ? html`<strong class="warning">▲ ${text}</strong>`
        : html`<b>${text}</b>`
    }</span
  >`;
}

function worstTable(page: Page, task: TaskTiming, of: TimingClass | undefined): TemplateResult {
  const rows: [string, WorstCycle][] = task.worstReleases.map(worst => ["release latency", worst]);
  if (task.worstExecution !== undefined) {
    rows.push(["execution time", task.worstExecution]);
  }
  if (task.worstResponse !== undefined) {
    rows.push(["response time", task.worstResponse]);
  }
  const label = `Worst cycles of ${task.name}`;
  return html`<h4>Worst cycles <small>16 releases, and the longest step</small></h4>
    <div class="scroll" tabindex="0" role="group" aria-label=${label}>
      <table class="worst">
        <thead>
          <tr>
            <th scope="col">what</th>
            <th scope="col" class="number">time</th>
            <th scope="col" class="number">of the limit</th>
            <th scope="col" class="number">until awake</th>
            <th scope="col" class="number">CPU</th>
            <th scope="col" class="number">release</th>
            <th scope="col">when due, UTC</th>
            <th scope="col">events</th>
          </tr>
        </thead>
        <tbody>
          ${rows.map(([what, worst]) => worstRow(page, task, of, what, worst))}
        </tbody>
      </table>
      ${rows.length === 0 ? html`<p class="empty">No cycle yet.</p>` : nothing}
    </div>`;
}

function worstRow(
  page: Page,
  task: TaskTiming,
  of: TimingClass | undefined,
  what: string,
  { release, atNs, valueNs, wakeupNs, cpu }: WorstCycle,
): TemplateResult {
  const limit = what === "release latency" ? (of?.latencyNs ?? 0n) : task.periodNs;
  const part = limit === 0n ? null : Number(valueNs) / Number(limit);
  const share = part === null ? NONE : `${(part * 100).toFixed(part < 0.1 ? 1 : 0)}\u00a0%`;
  const around = Number(atNs / 1_000_000n);
  const address = write({ ...page.address, view: "site", around });
  return html`<tr>
    <th scope="row">${what}</th>
    <td class="number">${duration(valueNs)}</td>
    <td class="number">
      ${part !== null && part > 1 ? html`<strong class="warning">▲ ${share}</strong>` : share}
    </td>
    <td class="number">${wakeupNs === undefined ? NONE : duration(wakeupNs)}</td>
    <td class="number">${cpu ?? NONE}</td>
    <td class="number">${count(release)}</td>
    <td>${stampOf(atNs)}</td>
    <td><a href=${address} aria-label=${`Events around it: release ${release}, ${what}`}>around it</a></td>
  </tr>`;
}

/** Returns an instant to the millisecond, UTC. */
function stampOf(ns: bigint): string {
  return new Date(Number(ns / 1_000_000n)).toISOString().slice(0, 23).replace("T", " ");
}
