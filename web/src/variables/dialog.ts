/** How the dialog of a change looks, and the sentences that say what it does and did. */

import { html, nothing, type TemplateResult } from "lit-html";
import { ref } from "lit-html/directives/ref.js";
import { type Effect, WhyNoEffect } from "../contract/quietcore/v1/variable";
import { focus, openModal, shut } from "../modal";
import { signed, worded } from "../parts";
import { count, several } from "../words";
import type { ChangeDialog, Wish } from "./change";
import type { Row } from "./recording";
import { textOf } from "./values";

const VERBS: Record<Wish["kind"], string> = {
  set: "Set",
  force: "Force",
  release: "Release",
  "release all": "Release all",
};

/** Shows the dialog; `name` is the person who is logged in. */
export function changeDialog(dialog: ChangeDialog, name: string): TemplateResult | typeof nothing {
  const { wish, stage, partition } = dialog;
  if (wish === null) {
    return nothing;
  }
  const isOver = stage.is === "done" || stage.is === "refused";
  const submit = (event: Event) => {
    event.preventDefault();
    if (isOver) {
      shut(event);
    } else {
      void dialog.confirm();
    }
  };
  return html`<dialog
    class="change"
    aria-labelledby="change-title"
    aria-describedby="change-what"
    ${ref(openModal)}
    @close=${() => dialog.close()}
  >
    <form @submit=${submit}>
      <h2 id="change-title">
        ${VERBS[wish.kind]}
        ${wish.kind === "release all" ? html`in ${partition}` : html`<code>${wish.row.path}</code>`}
      </h2>
      ${stage.is === "asking" || stage.is === "waiting" ? asking(dialog, wish, name) : nothing}
      ${
        stage.is === "done"
          ? html`<div id="change-what" role="status">${told(dialog, stage.cycle, stage.effects)}</div>`
          : nothing
      }
      ${
        stage.is === "refused"
          ? html`<p id="change-what" class="refusal" role="alert">Refused: ${worded(stage.sentence)}</p>`
          : nothing
      }
      <p class="buttons">
        ${
          isOver
            ? html`<button type="submit" class="main" ${ref(focus)}>Close</button>`
            : html`<button type="button" @click=${shut}>Cancel</button>
                <button type="submit" class="main" autofocus ?disabled=${stage.is === "waiting"}>
                  ${stage.is === "waiting" ? "Waiting …" : VERBS[wish.kind]}
                </button>`
        }
      </p>
    </form>
  </dialog>`;
}

function asking(dialog: ChangeDialog, wish: Wish, name: string): TemplateResult {
  const { partition, site } = dialog;
  const where = html`<code>${partition}</code> of site <code>${site}</code>`;
  if (wish.kind === "release all") {
    return html`<p id="change-what">
      ${several(wish.forces, "forced variable")} of ${where} let go before the next cycle, whoever
      forced them. Each is then what the program and its inputs make of it.
    </p>`;
  }
  const { row } = wish;
  const old = row.value === null ? "unknown" : textOf(row.value);
  if (wish.kind === "release") {
    return html`<p id="change-what">
      Held at <b>${old}</b> in ${where} until now; let go before the next cycle. It is then what the
      program and its inputs make of it.
    </p>`;
  }
  const value = dialog.value.trim() === "" ? "…" : dialog.value.trim();
  return html`
    ${input(dialog, wish)}
    <p class="from-to"><span>${old}</span> <span aria-label="becomes">→</span> <b>${value}</b></p>
    <p id="change-what">
      ${
        wish.kind === "set"
          ? html`Before the next cycle of ${where} the variable gets this value once. The program may
              write it later.`
          : html`From the next cycle of ${where} on, the variable is held at this value in each cycle,
              in your name (${name}), until somebody releases it: through a crash, a restart and a
              deploy, and when you log out or close this page.`
      }
    </p>
    ${row.forced && wish.kind === "set" ? html`<p class="warning-text">▲ It is held by a force, so that setting it has no effect.</p>` : nothing}
  `;
}

function input(dialog: ChangeDialog, { row }: { row: Row }): TemplateResult {
  const type = row.variable?.type ?? "";
  const write = (event: Event) =>
    dialog.write((event.target as HTMLInputElement | HTMLSelectElement).value);
  if (type === "bool") {
    return html`<label class="field"
      >new value
      <select autofocus @change=${write}>
        ${["false", "true"].map(
          word => html`<option .selected=${dialog.value === word}>${word}</option>`,
        )}
      </select></label
    >`;
  }
  return html`<label class="field"
    >new value, ${type}
    <input
      autofocus
      required
      maxlength="256"
      autocomplete="off"
      spellcheck="false"
      .value=${dialog.value}
      @input=${write}
      @focus=${(event: Event) => (event.target as HTMLInputElement).select()}
    />
  </label>`;
}

/** Tells what a change did, variable by variable. */
function told(dialog: ChangeDialog, cycle: bigint, effects: Effect[]): TemplateResult {
  if (effects.length === 0) {
    return html`<p>Nothing was forced.</p>`;
  }
  return html`
    <ul class="effects">
      ${effects.map(effect => html`<li>${outcome(effect)}</li>`)}
    </ul>
    <p class="note">From cycle ${count(cycle)} of ${dialog.partition}.</p>
  `;
}

function outcome(effect: Effect): TemplateResult {
  const variable = effect.change?.variable ?? "";
  const why = whyNoEffect(effect.withoutEffect);
  if (why !== null) {
    return html`${signed({ word: "no effect", sign: "warning" })} <code>${variable}</code> ${why}`;
  }
  const values = html`${effect.old ?? "unknown"} → <b>${effect.new ?? "as the program writes it"}</b>`;
  return html`${signed({ word: "done", sign: "good" })} <code>${variable}</code> ${values}`;
}

/** Returns the reason in the words of the command line; null where the change has an effect. */
export function whyNoEffect(why: WhyNoEffect): string | null {
  switch (why) {
    case WhyNoEffect.HELD_BY_FORCE:
      return "is held by a force; release it first.";
    case WhyNoEffect.WRITTEN_BY_FIELDBUS:
      return "is written by the fieldbus before each step, so that a value that is set does not stay; force it to hold it.";
    case WhyNoEffect.WRITTEN_BY_PROGRAM:
      return "is as it was before: the program writes it in each cycle, from a channel or by itself, so that a value that is set does not stay; force it to hold it.";
    case WhyNoEffect.NOT_FORCED:
      return "was not forced.";
    default:
      return null;
  }
}
