/** The events of a site: all that are kept, or those around an instant that another view links to. */

import { html, nothing, type TemplateResult } from "lit-html";
import { repeat } from "lit-html/directives/repeat.js";
import type { Page } from "../app";
import type { Event } from "../contract/quietcore/v1/site";
import { signed, worded } from "../parts";
import { count, NONE, weightOf } from "../words";
import { EVENTS_MAX } from "./model";

/** Time before and after an instant within which events are around it, in milliseconds. */
export const AROUND_MS = 1_000;

/** Returns those events that happened around an instant; all where there is none. */
export function eventsAround(events: Event[], around: number | null): Event[] {
  return around === null
    ? events
    : events.filter(({ at }) => Math.abs(Date.parse(at) - around) <= AROUND_MS);
}

export function eventList({ site, address, go }: Page): TemplateResult {
  const { eventsRefused } = site;
  const { around } = address;
  const events = eventsAround(site.events, around);
  return html`<section aria-labelledby="events">
    <h3 id="events">Events <small>newest first, at most ${EVENTS_MAX}; times are UTC</small></h3>
    ${eventsRefused === null ? nothing : html`<p class="refusal" role="alert">${worded(eventsRefused)}</p>`}
    ${
      around === null
        ? nothing
        : html`<p class="bar" role="status">
            <span
              >within ${AROUND_MS / 1_000} s of
              ${new Date(around).toISOString().slice(0, 23).replace("T", " ")}: ${events.length} of
              ${site.events.length}</span
            >
            <button type="button" @click=${() => go({ around: null })}>Show all</button>
          </p>`
    }
    <div class="scroll events" tabindex="0" role="group" aria-labelledby="events">
      <table>
        <thead>
          <tr>
            <th scope="col">time</th>
            <th scope="col">weight</th>
            <th scope="col">partition</th>
            <th scope="col" class="number">cycle</th>
            <th scope="col">event</th>
            <th scope="col">asked by</th>
          </tr>
        </thead>
        <tbody>
          ${repeat(events, ({ sequence }) => sequence, eventRow)}
        </tbody>
      </table>
      ${events.length === 0 ? html`<p class="empty">${around === null ? "Nothing has happened yet." : "No event is of that time."}</p>` : nothing}
    </div>
  </section>`;
}

/** Returns the time of an event to the millisecond, with its day unless that is today. */
function whenOf(at: string): string {
  const time = at.slice(11, 23).replace("Z", "");
  const today = new Date().toISOString().slice(0, 10);
  return at.startsWith(today) ? time : `${at.slice(5, 10)} ${time}`;
}

function eventRow(event: Event): TemplateResult {
  return html`<tr>
    <td><time datetime=${event.at} title=${event.at}>${whenOf(event.at)}</time></td>
    <td>${signed(weightOf(event.severity))}</td>
    <td>${event.partition}</td>
    <td class="number">${event.cycle === undefined ? NONE : count(event.cycle)}</td>
    <td class="text">${worded(event.text)}</td>
    <td class="quiet">${event.by}</td>
  </tr>`;
}
