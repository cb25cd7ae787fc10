/** Programs held, let go on and started anew, after a confirmation. */

import { ANSWER_MS_MAX, type Calls, sentenceOf } from "../calls";
import { RestartKind } from "../contract/quietcore/v1/partition";

export type Action = "pause" | "resume" | "restart";

/** The part of its past that a program keeps when it starts anew. */
export const RESTARTS: [RestartKind, string, string][] = [
  [RestartKind.WARM, "warm", "retained variables keep their values, and forces hold"],
  [RestartKind.COLD, "cold", "retained variables begin anew, too; forces hold"],
  [RestartKind.ORIGIN, "origin", "as after the first start: forces are let go as well"],
];

/** The state of the dialog: what is asked, what is under way, and what came of it. */
export type ActionStage =
  | { is: "asking" }
  | { is: "waiting" }
  | { is: "done"; sentence: string }
  | { is: "refused"; sentence: string };

export class ActionDialog {
  action: Action | null = null;
  site = "";
  partition = "";
  hasFieldbus = false;
  kind = RestartKind.WARM;
  stage: ActionStage = { is: "asking" };

  constructor(
    readonly calls: Calls,
    readonly changed: () => void,
    readonly failed: (error: unknown) => void,
  ) {}

  open(action: Action, site: string, partition: string, hasFieldbus: boolean): void {
    Object.assign(this, { action, site, partition, hasFieldbus });
    this.kind = RestartKind.WARM;
    this.stage = { is: "asking" };
    this.changed();
  }

  close(): void {
    this.action = null;
    this.changed();
  }

  choose(kind: RestartKind): void {
    this.kind = kind;
    this.changed();
  }

  /** Does it, and keeps what came of it. */
  async confirm(): Promise<void> {
    const { action } = this;
    if (action === null || this.stage.is === "waiting") {
      return;
    }
    this.stage = { is: "waiting" };
    this.changed();
    let stage: ActionStage;
    try {
      stage = { is: "done", sentence: await this.#make(action) };
    } catch (error) {
      this.failed(error);
      stage = { is: "refused", sentence: sentenceOf(error) };
    }
    // The dialog may have been closed, and opened for something else, meanwhile.
    if (this.action === action) {
      this.stage = stage;
      this.changed();
    }
  }

  async #make(action: Action): Promise<string> {
    const { site, partition, kind } = this;
    const { partitions } = this.calls;
    const options = { timeoutMs: ANSWER_MS_MAX };
    if (action === "pause") {
      const { wasPaused } = await partitions.pausePartition({ site, partition }, options);
      return wasPaused
        ? `${partition} was held before.`
        : `${partition} is held between two cycles.`;
    }
    if (action === "resume") {
      const { wasPaused } = await partitions.resumePartition({ site, partition }, options);
      return wasPaused ? `${partition} goes on.` : `${partition} was not held; it goes on.`;
    }
    await partitions.restartPartition({ site, partition, kind }, options);
    return `${partition} starts anew.`;
  }
}
