/** Traces: how one is started, those that there are, and the curves of one. */

import { html, nothing, type TemplateResult } from "lit-html";
import { repeat } from "lit-html/directives/repeat.js";
import type { Page } from "../app";
import { type Trace, TraceState } from "../contract/quietcore/v1/trace";
import { saveCsv } from "../download";
import { signed, worded } from "../parts";
import { allows } from "../session";
import { count, duration, instant, type State, several } from "../words";
import { Chart } from "./chart";
import { csvOf, isOver, type Shown, type TracesModel } from "./model";

const chart = new Chart();

export function tracesView(page: Page): TemplateResult {
  const { traces: model, session } = page;
  const mayAct = allows(session, "operator");
  return html`<section class="traces" aria-labelledby="traces">
    <header class="title">
      <h2 id="traces">Traces</h2>
      <p>Each cycle of a task around a trigger, recorded by the daemon, whether or not this page is open.</p>
    </header>
    ${form(page, mayAct)}
    ${model.refused === null ? nothing : html`<p class="refusal" role="alert">${worded(model.refused)}</p>`}
    ${table(page, mayAct)} ${model.shown === null ? nothing : picture(model, model.shown)}
  </section>`;
}

function form(page: Page, mayAct: boolean): TemplateResult {
  const { site, address, traces: model } = page;
  const able = site.partitions.filter(({ hasProgram }) => hasProgram);
  const submit = async (event: Event) => {
    event.preventDefault();
    const given = new FormData(event.target as HTMLFormElement);
    const text = (name: string) => String(given.get(name) ?? "").trim();
    const number = await model.start({
      site: site.name,
      partition: text("partition"),
      task: 0,
      variables: text("variables").split(/[\s,]+/),
      every: 1,
      trigger: text("trigger"),
      before: BigInt(text("before")),
      after: BigInt(text("after")),
      windows: Number(text("windows")),
    });
    if (number !== null) {
      page.go({ trace: number });
    }
  };
  const samples = (name: string, label: string, least: number, value: number) =>
    html`<label class="field"
      >${label}<input type="number" name=${name} min=${least} max="1000000" value=${value} required
    /></label>`;
  return html`<form class="bar" aria-label="New trace" @submit=${submit}>
    <label class="field"
      >of<select name="partition">
        ${able.map(
          ({ name }) =>
            html`<option value=${name} .selected=${name === address.partition}>${name}</option>`,
        )}
      </select></label
    >
    <label class="field"
      >variables<input name="variables" required value=${address.picks.join(" ")} placeholder="servo_Y.*"
    /></label>
    <label class="field"
      >trigger<input name="trigger" placeholder="rising servo_Y.torque &gt; 0.5"
    /></label>
    ${samples("before", "cycles before", 0, 0)} ${samples("after", "after", 1, 1000)}
    ${samples("windows", "windows", 1, 1)}
    <button type="submit" class="main" ?disabled=${!mayAct || able.length === 0}>Start</button>
    ${mayAct ? nothing : html`<span class="note">Starting a trace needs the role operator.</span>`}
  </form>`;
}

function table(page: Page, mayAct: boolean): TemplateResult {
  const { traces } = page.traces;
  return html`<div class="scroll" tabindex="0" role="group" aria-labelledby="traces">
    <table>
      <thead>
        <tr>
          <th scope="col" class="number">no</th>
          <th scope="col">partition</th>
          <th scope="col">trigger</th>
          <th scope="col">state</th>
          <th scope="col" class="number">rows</th>
          <th scope="col">started</th>
          <th scope="col">do</th>
        </tr>
      </thead>
      <tbody>
        ${repeat(
          traces,
          ({ number }) => number,
          trace => row(page, trace, mayAct),
        )}
      </tbody>
    </table>
    ${traces.length === 0 ? html`<p class="empty">${page.traces.isKnown ? "No trace is kept." : "Asking the daemon …"}</p>` : nothing}
  </div>`;
}

function stateOf({ state, why }: Trace): State {
  switch (state) {
    case TraceState.ARMED:
      return { word: "armed", sign: "plain" };
    case TraceState.TRIGGERED:
      return { word: "triggered", sign: "good" };
    case TraceState.COMPLETE:
      return { word: "complete", sign: "good" };
    case TraceState.ENDED:
      return { word: `ended: ${why}`, sign: "warning" };
    default:
      return { word: "unknown", sign: "off" };
  }
}

function row({ traces: model, go }: Page, trace: Trace, mayAct: boolean): TemplateResult {
  const { number, site, partition, trigger, rows, startedBy, startedAt } = trace;
  const button = (word: string, act: () => unknown, isUseful = mayAct) =>
    html`<button type="button" aria-label=${`${word} trace ${number}`} ?disabled=${!isUseful} @click=${act}>
      ${word}
    </button>`;
  return html`<tr data-trace=${number} aria-current=${model.number === number ? "true" : nothing}>
    <td class="number">${number}</td>
    <th scope="row">${site}/${partition}</th>
    <td>${trigger === "" ? "at once" : html`<code>${trigger}</code>`}</td>
    <td>${signed(stateOf(trace))}</td>
    <td class="number">${count(rows)}</td>
    <td>${instant(startedAt)} <small class="aside">${startedBy}</small></td>
    <td class="actions">
      ${button("Show", () => go({ trace: number }), true)}
      ${isOver(trace) ? nothing : button("Stop", () => model.stop(number))}
      ${button(model.doomed === number ? "Really delete" : "Delete", () => model.remove(number))}
    </td>
  </tr>`;
}

function picture(model: TracesModel, shown: Shown): TemplateResult {
  const { trace, cycles, lost } = shown;
  const window = Math.min(model.window, Math.max(trace.begun.length - 1, 0));
  const choose = (event: Event) => model.choose(Number((event.target as HTMLSelectElement).value));
  const label = `Trace ${trace.number}`;
  return html`<section aria-label=${label}>
    <header class="title">
      <h3>${label}</h3>
      ${
        trace.begun.length < 2
          ? nothing
          : html`<label
              >window
              <select @change=${choose}>
                ${trace.begun.map(
                  (_, index) =>
                    html`<option value=${index} .selected=${index === window}>${index + 1}</option>`,
                )}
              </select></label
            >`
      }
      <button type="button" ?disabled=${cycles.length === 0} @click=${() => saveCsv(`trace-${trace.number}`, csvOf(shown))}>Save as CSV</button>
      <span role="status"
        >${several(cycles.length, "row")}, ${trace.samplePeriodNs > 0n ? html`one each ${duration(trace.samplePeriodNs)}; ` : nothing}trigger
        in cycle ${count(trace.begun[window]?.triggerCycle ?? 0n)}
        ${lost > 0n ? signed({ word: `${count(lost)} samples lost`, sign: "warning" }) : nothing}</span
      >
    </header>
    ${cycles.length === 0 ? html`<p class="empty">No row yet.</p>` : html`<div class="screen">${chart.show(shown, window)}</div>`}
  </section>`;
}
