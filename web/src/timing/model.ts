/** The timing of one partition: asked for once a second while somebody looks. */

import { ANSWER_MS_MAX, type Calls, failureOf, sentenceOf } from "../calls";
import type { GetTimingResponse } from "../contract/quietcore/v1/timing";

export class TimingModel {
  site = "";
  partition = "";
  timing: GetTimingResponse | null = null;
  /** The daemon's sentence where it refuses to tell, as of a partition that does not run. */
  refused: string | null = null;

  constructor(
    readonly calls: Calls,
    readonly changed: () => void,
  ) {}

  /** Shows another partition; what is known of the one before is forgotten. */
  show(site: string, partition: string): void {
    if (site !== this.site || partition !== this.partition) {
      this.site = site;
      this.partition = partition;
      this.timing = null;
      this.refused = null;
      void this.poll().catch(() => undefined);
    }
  }

  /** Asks the daemon once. Fails only where the daemon itself does not answer. */
  async poll(): Promise<void> {
    const { site, partition } = this;
    if (partition === "") {
      return;
    }
    let timing: GetTimingResponse | null = null;
    let refused: string | null = null;
    try {
      const options = { timeoutMs: ANSWER_MS_MAX };
      timing = await this.calls.partitions.getTiming({ site, partition }, options);
    } catch (error) {
      if (failureOf(error) !== "refused") {
        throw error;
      }
      refused = sentenceOf(error);
    }
    if (site === this.site && partition === this.partition) {
      // A partition that has just stopped keeps its last figures, beside the reason.
      this.timing = timing ?? this.timing;
      this.refused = refused;
      this.changed();
    }
  }
}
