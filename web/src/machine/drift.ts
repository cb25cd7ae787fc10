/** Settings of the machine that were set for a site, as far as they are not so any more. */

import { html, type TemplateResult } from "lit-html";
import { signed, worded } from "../parts";
import { several } from "../words";

/** Returns the drift of a site and its partitions, a sentence each with where it is. */
export function driftOf(site: string[], partitions: { name: string; drift: string[] }[]): string[] {
  const own = partitions.flatMap(({ name, drift }) => drift.map(it => `${name}: ${it}`));
  return [...site, ...own];
}

/** Shows the settings that are not as they were set for the site. */
export function driftPart(name: string, drift: string[]): TemplateResult {
  return html`<section aria-labelledby="held">
    <h3 id="held">Settings held for ${name}</h3>
    ${
      drift.length === 0
        ? html`<p>${signed({ word: "all as they were set", sign: "good" })}</p>`
        : html`<p>${signed({ word: several(drift.length, "setting has drifted", "settings have drifted"), sign: "warning" })}</p>
            <ul class="drift">
              ${drift.map(sentence => html`<li>${worded(sentence)}</li>`)}
            </ul>`
    }
  </section>`;
}
