/** The fieldbus of a partition as the line that it is: the MainDevice, and its SubDevices in order. */

import { html, nothing, type TemplateResult } from "lit-html";
import type { Fieldbus, Partition } from "../contract/quietcore/v1/partition";
import type { Event } from "../contract/quietcore/v1/site";
import { signed, worded } from "../parts";
import { count, NONE, type State, weightOf } from "../words";

/** SubDevices that are drawn of one line; the count tells of the others. */
const DRAWN_MAX = 64;

/** Shows the lines of all partitions that have one. */
export function lineSection(
  partitions: Partition[],
  events: Event[],
): TemplateResult | typeof nothing {
  const lines = partitions.flatMap(({ name, fieldbus }) =>
    fieldbus === undefined ? [] : [{ name, fieldbus }],
  );
  return lines.length === 0
    ? nothing
    : html`<section class="lines" aria-labelledby="lines">
        <h3 id="lines">Fieldbus</h3>
        ${lines.map(({ name, fieldbus }) => line(name, fieldbus, events))}
        <p class="note">
          The AL state is that of all SubDevices. Below each stands its last event of those that are
          listed here; one without had none.
        </p>
      </section>`;
}

function line(partition: string, fieldbus: Fieldbus, events: Event[]): TemplateResult {
  const { subdevices, workingCounter, workingCounterExpected, lostFrames } = fieldbus;
  const drawn = Math.min(subdevices, DRAWN_MAX);
  const last = lastEvents(partition, events);
  const short = workingCounter !== workingCounterExpected;
  return html`<div class="scroll line" tabindex="0" role="group" aria-label=${`Fieldbus of ${partition}`}>
    <ol>
      <li class="main-device">
        <b>${partition}</b>
        <span class="quiet">MainDevice</span>
        ${signed(stateOfLine(fieldbus))}
        <small
          >WKC ${short ? html`<strong class="warning">▲ ${workingCounter}</strong>` : workingCounter}/${workingCounterExpected},
          lost frames ${lostFrames > 0n ? html`<strong class="warning">▲ ${count(lostFrames)}</strong>` : "0"}</small
        >
      </li>
      ${Array.from({ length: drawn }, (_, position) => subdevice(position, last.get(position)))}
      ${subdevices > drawn ? html`<li class="quiet">and ${subdevices - drawn} more</li>` : nothing}
    </ol>
  </div>`;
}

function subdevice(position: number, event: Event | undefined): TemplateResult {
  const name = /SubDevice \d+ `([^`]+)`/.exec(event?.text ?? "")?.[1];
  return html`<li>
    <b>SubDevice ${position}</b>
    ${name === undefined ? nothing : html`<code>${name}</code>`}
    ${
      event === undefined
        ? html`<span class="quiet">${NONE}</span>`
        : html`${signed(weightOf(event.severity))}
            <small><time datetime=${event.at}>${event.at.slice(11, 19)}</time> ${worded(event.text)}</small>`
    }
  </li>`;
}

function stateOfLine({ state, workingCounter, workingCounterExpected }: Fieldbus): State {
  const sound = state === "OP" && workingCounter === workingCounterExpected;
  return { word: state, sign: sound ? "good" : "warning" };
}

/** Returns the newest event of each SubDevice by its position; `events` has the newest first. */
export function lastEvents(partition: string, events: Event[]): Map<number, Event> {
  const last = new Map<number, Event>();
  for (const event of events) {
    const position = /SubDevice (\d+)/.exec(event.text)?.[1];
    if (event.partition === partition && position !== undefined && !last.has(Number(position))) {
      last.set(Number(position), event);
    }
  }
  return last;
}
