/** The live page: logs in, keeps the connection, and shows the view that the address names. */

import { render } from "lit-html";
import { type Address, read, write } from "./address";
import { AuditModel } from "./audit/model";
import { type Calls, connect, failureOf } from "./calls";
import { Connection } from "./connection";
import { entrance, frame } from "./frame";
import { MachineModel } from "./machine/view";
import { QualificationModel } from "./qualification/model";
import {
  begin,
  credentials,
  end,
  hasToken,
  type NoSession,
  type Session,
  takeToken,
} from "./session";
import { Setups } from "./setups/model";
import { ActionDialog } from "./site/action";
import { SiteModel } from "./site/model";
import { TimingModel } from "./timing/model";
import { TracesModel } from "./traces/model";
import { VariablesModel } from "./variables/model";

/** All that a person who is logged in looks at. */
export interface Page {
  session: Session;
  address: Address;
  connection: Connection;
  site: SiteModel;
  actions: ActionDialog;
  variables: VariablesModel;
  traces: TracesModel;
  timing: TimingModel;
  qualification: QualificationModel;
  machine: MachineModel;
  audit: AuditModel;
  setups: Setups;
  /** Shows another address, and names it in the address bar. */
  go(change: Partial<Address>): void;
  logOut(): void;
}

let frameDue = false;
let draw: () => void = () => undefined;

/** Draws the page again, at the next frame and once however often it is asked for. */
function changed(): void {
  if (!frameDue) {
    frameDue = true;
    requestAnimationFrame(() => {
      frameDue = false;
      draw();
    });
  }
}

async function start(): Promise<void> {
  const session = await begin(takeToken());
  if (typeof session === "string") {
    enter(session);
  } else {
    show(session, connect(credentials));
  }
}

/** Shows how to log in, and why that is needed. */
function enter(why: NoSession): void {
  draw = () => {
    document.title = "Quietcore";
    render(entrance(why), document.body);
  };
  changed();
}

function show(session: Session, calls: Calls): void {
  const over = new AbortController();
  let why: NoSession = "ended";
  // Calls that are under way when the session ends are refused after it, which is nothing new.
  const leave = () => {
    if (over.signal.aborted) {
      return;
    }
    over.abort();
    page.variables.close();
    page.site.close();
    page.qualification.close();
    enter(why);
  };
  const connection = new Connection(changed, leave);
  const failed = (error: unknown) => {
    if (failureOf(error) !== "refused") {
      connection.doubt(error);
    }
  };
  const page: Page = {
    session,
    address: read(location.hash),
    connection,
    site: new SiteModel(calls, connection, changed),
    actions: new ActionDialog(calls, changed, failed),
    variables: new VariablesModel(calls, connection, changed, failed),
    traces: new TracesModel(calls, changed, failed),
    timing: new TimingModel(calls, changed),
    qualification: new QualificationModel(calls, connection, changed, failed),
    machine: new MachineModel(calls, changed, failed),
    audit: new AuditModel(calls, changed, failed),
    setups: new Setups(changed),
    go: change => {
      history.replaceState(null, "", write({ ...page.address, ...change }));
      arrive();
    },
    logOut: () => {
      why = "none";
      void end().then(leave);
    },
  };
  const arrive = () => {
    page.address = read(location.hash);
    if (page.address.site !== "") {
      page.site.choose(page.address.site);
    }
    settle(page);
    changed();
  };
  page.variables.go = page.go;
  window.addEventListener("hashchange", arrive, { signal: over.signal });
  document.addEventListener("visibilitychange", arrive, { signal: over.signal });
  draw = () => {
    document.title = titleOf(page);
    render(frame(page), document.body);
  };
  arrive();
  const poll = async () => {
    await page.site.poll();
    settle(page);
    await watch(page);
  };
  void connection.keep(poll, over.signal);
}

/** Asks once more for what the view that is shown has beside the site. */
async function watch({ address, traces, timing, qualification, machine }: Page): Promise<void> {
  if (document.hidden) {
    return;
  }
  if (address.view === "traces") {
    await traces.poll();
  }
  if (address.view === "timing") {
    await timing.poll();
  }
  if (address.view === "qualification") {
    await qualification.poll();
  }
  if (address.view === "machine") {
    await machine.poll();
  }
}

/** Returns the title, which is all that is seen of a page in another tab. */
function titleOf({ site, connection }: Page): string {
  const name = site.name === "" ? "Quietcore" : `${site.name} – Quietcore`;
  return connection.isLost ? `No answer – ${name}` : name;
}

/** Brings the models of the views to what the address and the running sites say. */
function settle(page: Page): void {
  const { address, site, variables, traces, timing, qualification, machine, audit } = page;
  site.watch(address.view === "site" && !document.hidden);
  qualification.show(address.run, address.view === "qualification" && !document.hidden);
  if (address.view === "machine" && machine.findings === null && machine.refused === null) {
    void machine.examine();
  }
  if (address.view === "machine" && machine.cpus === null) {
    void machine.poll().catch(() => undefined);
  }
  if (address.view === "audit" && !audit.isKnown && !audit.isAsking) {
    void audit.newest();
  }
  if (address.view === "traces") {
    traces.show(address.trace);
  }
  const able = site.partitions.filter(({ hasProgram }) => hasProgram);
  const chosen = able.find(({ name }) => name === address.partition) ?? able[0];
  if (address.view === "timing") {
    timing.show(site.name, chosen?.name ?? "");
  }
  if (address.view === "variables") {
    variables.show(site.name, chosen?.name ?? "", chosen?.generation ?? 0, address);
  }
}

// A link that is opened in this very tab changes the fragment alone.
window.addEventListener("hashchange", () => {
  if (hasToken()) {
    location.reload();
  }
});
void start();
