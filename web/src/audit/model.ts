/** The audit trail by pages, the newest first. */

import { ANSWER_MS_MAX, type Calls, sentenceOf } from "../calls";
import type { AuditEntry, ListEntriesResponse } from "../contract/quietcore/v1/audit";

/** Entries that a page looks at. */
export const PAGE = 100n;
/** The greatest number that is looked for; no trail has as many entries. */
const NUMBER_MAX = 1n << 40n;

export class AuditModel {
  /** The newest first. */
  entries: AuditEntry[] = [];
  who = "";
  call = "";
  /** First number of the page that is shown, and the number behind the trail's last entry. */
  from = 0n;
  end = 0n;
  refused: string | null = null;
  isAsking = false;
  isKnown = false;

  #asked = 0;

  constructor(
    readonly calls: Calls,
    readonly changed: () => void,
    readonly failed: (error: unknown) => void,
  ) {}

  get hasOlder(): boolean {
    return this.from > 0n;
  }

  get hasNewer(): boolean {
    return this.from + PAGE < this.end;
  }

  /** Shows the newest entries. */
  newest(): Promise<void> {
    return this.#ask(async () => {
      this.end = await endOf(since => this.#page(since, 1));
      this.from = this.end > PAGE ? this.end - PAGE : 0n;
    });
  }

  older(): Promise<void> {
    return this.#ask(async () => {
      this.from = this.from > PAGE ? this.from - PAGE : 0n;
    });
  }

  newer(): Promise<void> {
    return this.#ask(async () => {
      this.from += PAGE;
    });
  }

  /** Shows the entries of a person, or of a call; all of either where it is empty. */
  filter(filters: { who?: string; call?: string }): Promise<void> {
    Object.assign(this, filters);
    return this.newest();
  }

  async #ask(move: () => Promise<void>): Promise<void> {
    this.#asked += 1;
    const asked = this.#asked;
    this.isAsking = true;
    this.changed();
    try {
      await move();
      const { entries } = await this.#page(this.from, Number(PAGE));
      if (asked === this.#asked) {
        this.entries = entries.reverse();
        this.refused = null;
      }
    } catch (error) {
      this.refused = sentenceOf(error);
      this.failed(error);
    }
    if (asked === this.#asked) {
      this.isAsking = false;
      this.isKnown = true;
      this.changed();
    }
  }

  #page(since: bigint, pageSize: number): Promise<ListEntriesResponse> {
    const { who, call } = this;
    const request = { since, pageSize, site: "", partition: "", who, call };
    return this.calls.audit.listEntries(request, { timeoutMs: ANSWER_MS_MAX });
  }
}

/**
 * Finds the number behind the last entry by halves: the contract tells pages from the oldest on, and
 * the trail may be years long.
 */
export async function endOf(page: (since: bigint) => Promise<{ next: bigint }>): Promise<bigint> {
  const hasFrom = async (since: bigint) => (await page(since)).next > since;
  let some = -1n;
  let none = 1n;
  while (none < NUMBER_MAX && (await hasFrom(none))) {
    some = none;
    none *= 2n;
  }
  while (none - some > 1n) {
    const middle = (some + none) / 2n;
    if (await hasFrom(middle)) {
      some = middle;
    } else {
      none = middle;
    }
  }
  return none;
}
