/** The buttons that hold a program and start it anew, and their dialog. */

import { html, nothing, type TemplateResult } from "lit-html";
import { ref } from "lit-html/directives/ref.js";
import { Activity, type Partition } from "../contract/quietcore/v1/partition";
import { focus, openModal, shut } from "../modal";
import { worded } from "../parts";
import { type Action, type ActionDialog, RESTARTS } from "./action";

const VERBS: Record<Action, string> = { pause: "Pause", resume: "Resume", restart: "Restart" };

/** Shows the buttons of a partition; those who may not are told why below the table. */
export function actionButtons(
  partition: Partition,
  site: string,
  dialog: ActionDialog,
  mayAct: boolean,
): TemplateResult | typeof nothing {
  const { name, activity, hasProgram, fieldbus } = partition;
  if (!hasProgram) {
    return nothing;
  }
  const hold: Action = activity === Activity.PAUSED ? "resume" : "pause";
  return html`${[hold, "restart" as const].map(
    action => html`<button
      type="button"
      aria-label=${`${VERBS[action]} ${name}`}
      ?disabled=${!mayAct}
      aria-describedby=${mayAct ? nothing : "why-not-act"}
      @click=${() => dialog.open(action, site, name, fieldbus !== undefined)}
    >
      ${VERBS[action]}
    </button>`,
  )}`;
}

/** Shows the dialog; `name` is the person who is logged in. */
export function actionDialog(dialog: ActionDialog, name: string): TemplateResult | typeof nothing {
  const { action, stage, partition } = dialog;
  if (action === null) {
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
    class="action"
    aria-labelledby="action-title"
    aria-describedby="action-what"
    ${ref(openModal)}
    @close=${() => dialog.close()}
  >
    <form @submit=${submit}>
      <h2 id="action-title">${VERBS[action]} ${partition}</h2>
      ${
        stage.is === "done"
          ? html`<p id="action-what" role="status">${stage.sentence}</p>`
          : stage.is === "refused"
            ? html`<p id="action-what" class="refusal" role="alert">Refused: ${worded(stage.sentence)}</p>`
            : asking(dialog, action, name)
      }
      <p class="buttons">
        ${
          isOver
            ? html`<button type="submit" class="main" ${ref(focus)}>Close</button>`
            : html`<button type="button" autofocus @click=${shut}>Cancel</button>
                <button type="submit" class="main" ?disabled=${stage.is === "waiting"}>
                  ${stage.is === "waiting" ? "Waiting …" : VERBS[action]}
                </button>`
        }
      </p>
    </form>
  </dialog>`;
}

function asking(dialog: ActionDialog, action: Action, name: string): TemplateResult {
  const { partition, site, hasFieldbus } = dialog;
  const where = html`<code>${partition}</code> of site <code>${site}</code>`;
  const trail = html`The audit trail has it in your name (${name}).`;
  if (action === "resume") {
    return html`<p id="action-what">The program of ${where} goes on with its next cycle. ${trail}</p>`;
  }
  if (action === "pause") {
    return html`<p id="action-what">
      The program of ${where} is held between two cycles until somebody resumes it.
      ${
        hasFieldbus
          ? "Its fieldbus gets no frames meanwhile, so that drives and outputs fall back as they do without a controller."
          : nothing
      }
      ${trail}
    </p>`;
  }
  return html`<p id="action-what">
      The program of ${where} ends and starts anew, and its outputs with it. ${trail}
    </p>
    <fieldset>
      <legend>What it keeps</legend>
      ${RESTARTS.map(
        ([kind, word, keeps]) => html`<label>
          <input
            type="radio"
            name="restart"
            .checked=${kind === dialog.kind}
            @change=${() => dialog.choose(kind)}
          />
          <b>${word}</b> ${keeps}
        </label>`,
      )}
    </fieldset>`;
}
