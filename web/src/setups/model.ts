/**
 * Set-ups: views of variables under names, kept by this browser for all who use it.
 *
 * A set-up is an address: site, partition, picks, and how these are drawn. Whatever else is found in
 * the browser's store, of another version or of another program at this port, is left out.
 */

import { read, write } from "../address";

/** The most set-ups that are kept. */
export const SETUPS_MAX = 50;
/** The most characters of a name. */
export const NAME_MAX = 64;
const KEPT_AS = "quietcore-setups";

/** Reads set-ups, name by name with the address of each. */
export function understood(text: string | null): Map<string, string> {
  const setups = new Map<string, string>();
  for (const [name, fragment] of entriesOf(text)) {
    const isSetup = typeof fragment === "string" && read(fragment).view === "variables";
    if (isSetup && name !== "" && name.length <= NAME_MAX && setups.size < SETUPS_MAX) {
      setups.set(name, write({ ...read(fragment), around: null, trace: null, run: null }));
    }
  }
  return setups;
}

function entriesOf(text: string | null): [string, unknown][] {
  try {
    return Object.entries(JSON.parse(text ?? "{}") ?? {});
  } catch {
    return [];
  }
}

export class Setups {
  all = stored();
  /** Name in the dialog's field; null while it is closed. */
  name: string | null = null;
  /** Why it is not saved; empty while nothing speaks against it. */
  refused = "";

  constructor(readonly changed: () => void) {
    // Another tab has kept one, or deleted it.
    addEventListener("storage", () => {
      this.all = stored();
      changed();
    });
  }

  /** Asks for the name of a set-up; with null no longer. */
  ask(name: string | null): void {
    this.name = name;
    this.refused = "";
    this.changed();
  }

  /** Saves an address under the name in the field, in place of one that has this name. */
  save(fragment: string): void {
    this.refused = "";
    const setups = stored().set((this.name ?? "").trim(), fragment);
    if (setups.size > SETUPS_MAX) {
      this.refused = `${SETUPS_MAX} set-ups are kept; delete one first.`;
      this.changed();
    } else {
      this.#store(setups);
    }
  }

  remove(name: string): void {
    const others = stored();
    others.delete(name);
    this.#store(others);
  }

  #store(setups: Map<string, string>): void {
    const sorted = [...setups].sort(([one], [other]) => one.localeCompare(other));
    try {
      localStorage.setItem(KEPT_AS, JSON.stringify(Object.fromEntries(sorted)));
      this.all = new Map(sorted);
    } catch {
      this.refused = "This browser does not let the page keep anything.";
    }
    this.changed();
  }
}

/** Returns the set-ups that are kept; none where the browser keeps nothing, as it says on saving. */
function stored(): Map<string, string> {
  try {
    return understood(localStorage.getItem(KEPT_AS));
  } catch {
    return new Map();
  }
}
