/** The frame around all views: who is logged in, which site, whether the daemon answers. */

import { html, nothing, type TemplateResult } from "lit-html";
import { type View, write } from "./address";
import type { Page } from "./app";
import { auditView } from "./audit/view";
import { machineView } from "./machine/view";
import { signed } from "./parts";
import { qualificationView } from "./qualification/view";
import type { NoSession } from "./session";
import { siteView } from "./site/view";
import { timingView } from "./timing/view";
import { tracesView } from "./traces/view";
import { variablesView } from "./variables/view";
import { timeOfDay } from "./words";

const VIEWS: [View, string][] = [
  ["site", "Site"],
  ["variables", "Variables"],
  ["traces", "Traces"],
  ["timing", "Timing"],
  ["qualification", "Qualification"],
  ["machine", "Machine"],
  ["audit", "Audit"],
];

const SHOWN: Record<View, (page: Page) => TemplateResult> = {
  site: siteView,
  variables: variablesView,
  traces: tracesView,
  timing: timingView,
  qualification: qualificationView,
  machine: machineView,
  audit: page => auditView(page.audit),
};

export function frame(page: Page): TemplateResult {
  const { address } = page;
  return html`
    <a class="skip" href="#content" @click=${skip}>Skip to the content</a>
    <header class="top">
      <h1>Quietcore</h1>
      <nav aria-label="Views">
        ${VIEWS.map(
          ([view, word]) => html`<a
            href=${write({ ...address, view, around: null })}
            aria-current=${address.view === view ? "page" : nothing}
            >${word}</a
          >`,
        )}
      </nav>
      ${sites(page)}
      <p class="whether-live" role="status">${whetherLive(page)}</p>
      <p class="who">
        ${page.session.name}, ${page.session.role}
        <button type="button" class="plain" @click=${page.logOut}>Log out</button>
      </p>
    </header>
    ${lost(page)}
    <main id="content" tabindex="-1" class=${page.connection.isLost ? "stale" : ""}>
      ${SHOWN[address.view](page)}
    </main>
  `;
}

function skip(event: Event): void {
  // The fragment names the view, so the link must not change it.
  event.preventDefault();
  document.getElementById("content")?.focus();
}

function sites({ site, go }: Page): TemplateResult | typeof nothing {
  if (site.sites.length === 0) {
    return nothing;
  }
  const choose = (event: Event) =>
    go({ site: (event.target as HTMLSelectElement).value, partition: "", picks: [] });
  return html`<label class="site"
    >site
    <select @change=${choose}>
      ${site.sites.map(
        ({ name }) => html`<option value=${name} .selected=${name === site.name}>${name}</option>`,
      )}
    </select></label
  >`;
}

function whetherLive({ connection }: Page): TemplateResult | typeof nothing {
  if (connection.isLost) {
    return signed({ word: "no answer", sign: "fault" });
  }
  return connection.lastAnswer === null ? nothing : signed({ word: "live", sign: "good" });
}

function lost({ connection }: Page): TemplateResult | typeof nothing {
  if (!connection.isLost) {
    return nothing;
  }
  const { lastAnswer, nextTry } = connection;
  const since = lastAnswer === null ? "" : ` since ${timeOfDay(lastAnswer)}`;
  return html`<div class="banner" role="alert">
    <p>
      <strong>The daemon does not answer${since}.</strong> What is shown is of that time. Programs run
      on without the daemon.${nextTry === null ? nothing : html` Next try at ${timeOfDay(nextTry)}.`}
    </p>
    <button type="button" @click=${() => connection.hurry()}>Try now</button>
  </div>`;
}

/** Sentences for those who have no session, by the reason. */
const WHY: Record<NoSession, string> = {
  none: "You are not logged in.",
  used: "This link was used before, or is too old. A link is good for one log-in.",
  ended: "Your session has ended.",
  unreachable: "The daemon does not answer. Start it with “quietcored”, then log in.",
};

export function entrance(why: NoSession): TemplateResult {
  return html`<main class="entrance">
    <h1>Quietcore</h1>
    <p role=${why === "none" ? nothing : "alert"}>${WHY[why]}</p>
    <p>On the machine, make a link and open it in this browser:</p>
    <pre><code>quietcored link</code></pre>
  </main>`;
}
