/**
 * The dialog in which a change of variables is confirmed, and its outcome told.
 *
 *     closed ── open ──► asking ── confirm ──► waiting ──► done or refused ── close ──► closed
 */

import { type Calls, sentenceOf } from "../calls";
import { ChangeKind, type Effect } from "../contract/quietcore/v1/variable";
import type { Row } from "./recording";

/** Time for an answer: it waits until each task has run once more. */
const ANSWER_MS_MAX = 30_000;

/** A change that a person is asked about. */
export type Wish =
  | { kind: "set" | "force" | "release"; row: Row }
  | { kind: "release all"; forces: number };

export type Stage =
  | { is: "asking" }
  | { is: "waiting" }
  | { is: "done"; cycle: bigint; effects: Effect[] }
  | { is: "refused"; sentence: string };

export class ChangeDialog {
  wish: Wish | null = null;
  stage: Stage = { is: "asking" };
  site = "";
  partition = "";
  value = "";

  constructor(
    readonly calls: Calls,
    readonly changed: () => void,
    readonly failed: (error: unknown) => void,
  ) {}

  open(site: string, partition: string, wish: Wish, value: string): void {
    Object.assign(this, { site, partition, wish, value });
    this.stage = { is: "asking" };
    this.changed();
  }

  close(): void {
    this.wish = null;
    this.changed();
  }

  write(value: string): void {
    this.value = value;
    this.changed();
  }

  /** Makes the change and keeps what came of it. */
  async confirm(): Promise<void> {
    const { wish } = this;
    if (wish === null || this.stage.is === "waiting") {
      return;
    }
    this.stage = { is: "waiting" };
    this.changed();
    try {
      const { cycle, effects } = await this.#make(wish);
      this.#settle(wish, { is: "done", cycle, effects });
    } catch (error) {
      this.failed(error);
      this.#settle(wish, { is: "refused", sentence: sentenceOf(error) });
    }
  }

  #make(wish: Wish): Promise<{ cycle: bigint; effects: Effect[] }> {
    const { site, partition } = this;
    const options = { timeoutMs: ANSWER_MS_MAX };
    if (wish.kind === "release all") {
      return this.calls.variables.unforceAll({ site, partition }, options);
    }
    const kind = { set: ChangeKind.SET, force: ChangeKind.FORCE, release: ChangeKind.UNFORCE }[
      wish.kind
    ];
    const variable = wish.row.path;
    const value = wish.kind === "release" ? undefined : this.value.trim();
    const change = { kind, variable, value, allowNan: false };
    const request = { site, partition, changes: [change], confirm: true };
    return this.calls.variables.writeVariables(request, options);
  }

  #settle(wish: Wish, stage: Stage): void {
    // The dialog may have been closed, and opened for another wish, meanwhile.
    if (this.wish === wish) {
      this.stage = stage;
      this.changed();
    }
  }
}
