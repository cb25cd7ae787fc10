/** The form that starts a run. It asks once more, since a run loads the machine. */

import { html, nothing, type TemplateResult } from "lit-html";
import { repeat } from "lit-html/directives/repeat.js";
import type { Page } from "../app";
import { FILE_BYTES_MAX, type Field, fieldsOf, KINDS, requestOf, wrongOf } from "./asked";
import type { QualificationModel } from "./model";

export function startForm(page: Page, mayAct: boolean): TemplateResult {
  const { qualification: model, site } = page;
  const { kind } = model;
  const isSure = model.sureOf === site.name;
  const fields = fieldsOf(kind);
  const choose = (event: Event) =>
    model.fill({ kind: Number((event.target as HTMLSelectElement).value), wrong: {} });
  const submit = async (event: Event) => {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const given = new FormData(form);
    const file = given.get("file") as File;
    const text = (name: string) => String(given.get(name) ?? "").trim();
    const wrong = fields.map((field): [string, string] => [
      field[0],
      wrongOf(text(field[0]), field),
    ]);
    const isGiven = file.name !== "";
    const isSound = !isGiven || (file.size > 0 && file.size <= FILE_BYTES_MAX);
    wrong.push(["file", isSound ? "" : "Give a file with a text of 1 MiB at most."]);
    const first = wrong.find(([, sentence]) => sentence !== "");
    model.fill({ wrong: Object.fromEntries(wrong), sureOf: first || isSure ? null : site.name });
    if (first !== undefined) {
      (form.elements.namedItem(first[0]) as HTMLElement).focus();
    } else if (isSure) {
      const number = await model.start(
        file.text().then(toml => requestOf(kind, site.name, isGiven ? toml : null, text)),
      );
      if (number !== null) {
        page.go({ run: number });
      }
    }
  };
  return html`<form
    class="bar"
    aria-labelledby="new-run"
    @submit=${submit}
    @input=${() => model.fill({ sureOf: null })}
  >
    <h3 id="new-run">New run${site.name === "" ? "" : ` of ${site.name}`}</h3>
    <label class="field"
      >kind<select @change=${choose}>
        ${KINDS.map(
          ([value, word, finds]) =>
            html`<option value=${value} .selected=${value === kind}>${word}: ${finds}</option>`,
        )}
      </select></label
    >
    ${repeat(
      fields,
      ([name]) => name,
      field => fieldPart(model, field),
    )}
    ${fieldPart(model, FILE)}
    <p class="bar">
      <button type="submit" class="main" ?disabled=${!mayAct}>
        ${isSure ? "Really start" : "Start"}
      </button>
      <span role="status" class=${isSure ? "warning-text" : "note"}
        >${remark(mayAct, isSure)}</span
      >
    </p>
  </form>`;
}

/** Returns what there is to say before a run is started. */
function remark(mayAct: boolean, isSure: boolean): string {
  if (!mayAct) {
    return "Starting and cancelling need the role engineer.";
  }
  return isSure
    ? "A run loads the machine; programs of sites that run may be late meanwhile."
    : "An empty field means what it shows in grey.";
}

const FILE = ["file", "site file instead, with the probe alone", ""] as const;

function fieldPart(
  model: QualificationModel,
  [name, label, usual]: Field | typeof FILE,
): TemplateResult {
  const wrong = model.wrong[name] ?? "";
  return html`<div class="field">
    <label for=${`run-${name}`}>${label}</label>
    <input
      id=${`run-${name}`}
      name=${name}
      type=${name === "file" ? "file" : "text"}
      accept=".toml"
      placeholder=${usual}
      autocomplete="off"
      spellcheck="false"
      aria-invalid=${wrong === "" ? nothing : "true"}
      aria-describedby=${wrong === "" ? nothing : `wrong-${name}`}
    />
    ${wrong === "" ? nothing : html`<small id=${`wrong-${name}`} class="wrong">${wrong}</small>`}
  </div>`;
}
