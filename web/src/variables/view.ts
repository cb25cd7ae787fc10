/** The variables of a partition: to the left those to pick from, to the right those picked. */

import { html, nothing, type TemplateResult } from "lit-html";
import { repeat } from "lit-html/directives/repeat.js";
import type { Page } from "../app";
import type { Variable } from "../contract/quietcore/v1/variable";
import { signed, worded } from "../parts";
import { allows } from "../session";
import { setupBar, setupDialog } from "../setups/view";
import { several } from "../words";
import type { Wish } from "./change";
import { changeDialog } from "./dialog";
import type { Listing } from "./listing";
import { PICKS_MAX, type VariablesModel } from "./model";
import { scopePanel } from "./panel";
import { pickTable } from "./picks";

export function variablesView(page: Page): TemplateResult {
  const { site, variables, session } = page;
  if (variables.partition === "" || variables.listing === null) {
    return html`<section class="empty">
      <h2>No variables to show</h2>
      <p>
        ${
          site.name === ""
            ? "No site runs on this machine."
            : "No partition of this site has started a program of it; guests with a system of their own have no variables."
        }
      </p>
    </section>`;
  }
  const mayChange = allows(session, "operator");
  return html`
    <div class="columns">
      <section class="browser" aria-labelledby="browser">
        <header class="title">
          <h2 id="browser">Variables</h2>
          ${partitions(page)}
        </header>
        ${setupBar(page)} ${forces(page, mayChange)} ${browser(variables, variables.listing)}
      </section>
      <div class="picked">
        ${scopePanel(variables)} ${pickTable(variables, mayChange)}
      </div>
    </div>
    ${changeDialog(variables.dialog, session.name)} ${setupDialog(page)}
  `;
}

function partitions({ site, variables, go }: Page): TemplateResult {
  const able = site.partitions.filter(({ hasProgram }) => hasProgram);
  const choose = (event: Event) =>
    go({ partition: (event.target as HTMLSelectElement).value, picks: [] });
  return html`<label
    >of
    <select aria-label="Partition" @change=${choose}>
      ${able.map(
        ({ name }) =>
          html`<option value=${name} .selected=${name === variables.partition}>${name}</option>`,
      )}
    </select></label
  >`;
}

/** Tells how many variables are held by force, whoever forced them, and lets them all go. */
function forces({ site, variables, session }: Page, mayChange: boolean): TemplateResult {
  const { partition, dialog } = variables;
  const held = site.partitions.find(({ name }) => name === partition)?.forces ?? 0;
  const wish: Wish = { kind: "release all", forces: held };
  return html`
    <p class="bar forces">
      ${
        held === 0
          ? html`<span class="quiet">no variable is forced</span>`
          : signed({ word: several(held, "forced variable"), sign: "warning" })
      }
      <button
        type="button"
        class="release-all"
        ?disabled=${!mayChange || held === 0}
        aria-describedby=${mayChange ? nothing : "why-not"}
        @click=${() => dialog.open(site.name, partition, wish, "")}
      >
        Release all
      </button>
    </p>
    ${
      mayChange
        ? nothing
        : html`<p id="why-not" class="note">
            Setting and forcing need the role operator; you are logged in as ${session.role}.
          </p>`
    }
  `;
}

function browser(variables: VariablesModel, listing: Listing): TemplateResult {
  const find = (event: Event) => listing.find((event.target as HTMLInputElement).value);
  const isFull = variables.picks.length >= PICKS_MAX;
  return html`
    <label class="field"
      >Filter, with * and ? if you like
      <input
        type="search"
        autocomplete="off"
        spellcheck="false"
        placeholder="servo_P.*"
        .value=${listing.filter}
        @input=${find}
    /></label>
    ${listing.refused === null ? nothing : html`<p class="refusal" role="alert">${worded(listing.refused)}</p>`}
    <div class="scroll list" tabindex="0" role="group" aria-label="Variables that were found">
      <ul>
        ${repeat(
          listing.variables,
          ({ path }) => path,
          variable => choice(variables, variable, isFull),
        )}
      </ul>
      ${
        listing.variables.length === 0 && listing.refused === null && !listing.isAsking
          ? html`<p class="empty">No variable has such a name.</p>`
          : nothing
      }
    </div>
    <p class="bar pages">
      <button
        type="button"
        ?disabled=${listing.page === 1 || listing.isAsking}
        @click=${() => listing.previous()}
      >
        ← Back
      </button>
      <span role="status">page ${listing.page}${listing.hasNext ? "" : ", the last"}</span>
      <button
        type="button"
        ?disabled=${!listing.hasNext || listing.isAsking}
        @click=${() => listing.next()}
      >
        More →
      </button>
    </p>
    ${isFull ? html`<p class="note">${PICKS_MAX} variables are picked; drop one to pick another.</p>` : nothing}
  `;
}

function choice(variables: VariablesModel, variable: Variable, isFull: boolean): TemplateResult {
  const { path, type, role } = variable;
  const isPicked = variables.picks.includes(path);
  return html`<li>
    <label>
      <input
        type="checkbox"
        .checked=${isPicked}
        ?disabled=${isFull && !isPicked}
        @change=${() => variables.toggle(path)}
      />
      <code>${path}</code> <small>${type}, ${role}</small>
    </label>
  </li>`;
}
