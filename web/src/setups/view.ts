/** How set-ups are chosen, saved under a name, and deleted. */

import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { ref } from "lit-html/directives/ref.js";
import { read, write } from "../address";
import type { Page } from "../app";
import { openModal, shut } from "../modal";
import { NAME_MAX } from "./model";

/** Returns what is shown as an address that names all of it. */
function here({ address, site, variables }: Page): string {
  const { partition } = variables;
  return write({ ...address, site: site.name, partition, around: null, trace: null, run: null });
}

/** Shows the set-ups; the one that is shown is chosen. */
export function setupBar(page: Page): TemplateResult {
  const { setups, go } = page;
  const now = here(page);
  const shown = [...setups.all].find(([, fragment]) => fragment === now)?.[0] ?? "";
  const choose = (event: Event) => {
    const fragment = setups.all.get((event.target as HTMLSelectElement).value);
    if (fragment !== undefined) {
      go(read(fragment));
    }
  };
  return html`<p class="bar setups">
    <label
      >set-up
      <select ?disabled=${setups.all.size === 0} @change=${choose}>
        ${["", ...setups.all.keys()].map(
          name =>
            html`<option value=${name} .selected=${live(name === shown)}>${name || "not saved"}</option>`,
        )}
      </select></label
    >
    <button type="button" @click=${() => setups.ask(shown)}>Save as …</button>
    <button type="button" ?disabled=${shown === ""} @click=${() => setups.remove(shown)}>Delete</button>
  </p>`;
}

/** Asks for the name of a set-up. */
export function setupDialog(page: Page): TemplateResult | typeof nothing {
  const { setups } = page;
  if (setups.name === null) {
    return nothing;
  }
  const save = (event: Event) => {
    event.preventDefault();
    setups.save(here(page));
    if (setups.refused === "") {
      shut(event);
    }
  };
  return html`<dialog aria-labelledby="setup-title" ${ref(openModal)} @close=${() => setups.ask(null)}>
    <form @submit=${save}>
      <h2 id="setup-title">Save the set-up</h2>
      <label class="field"
        >name
        <input
          autofocus
          required
          pattern=".*\\S.*"
          maxlength=${NAME_MAX}
          autocomplete="off"
          .value=${setups.name}
          @input=${(event: Event) => setups.ask((event.target as HTMLInputElement).value)}
      /></label>
      <p class="note">
        The partition, its picked variables and how they are drawn, in this browser.
        ${setups.all.has(setups.name.trim()) ? "The set-up of this name is replaced." : nothing}
      </p>
      ${setups.refused === "" ? nothing : html`<p class="refusal" role="alert">${setups.refused}</p>`}
      <p class="buttons">
        <button type="button" @click=${shut}>Cancel</button>
        <button type="submit" class="main">Save</button>
      </p>
    </form>
  </dialog>`;
}
