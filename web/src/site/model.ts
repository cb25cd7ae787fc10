/** The sites of the machine, and the partitions and events of the one that is shown. */

import { ANSWER_MS_MAX, type Calls, failureOf, sentenceOf } from "../calls";
import type { Connection } from "../connection";
import type { Partition } from "../contract/quietcore/v1/partition";
import type { Event, RunningSite } from "../contract/quietcore/v1/site";
import { follow } from "../following";

/** Events that are kept; older ones are forgotten here, `quietcore events` has more. */
export const EVENTS_MAX = 500;

export class SiteModel {
  sites: RunningSite[] = [];
  partitions: Partition[] = [];
  drift: string[] = [];
  /** Newest first. */
  events: Event[] = [];
  /** The daemon's sentence where it refuses to list the partitions or the events. */
  refused: string | null = null;
  eventsRefused: string | null = null;
  /** True once the daemon has answered. */
  isKnown = false;

  #name = "";
  /** The site that is shown in its present life; empty while none is. */
  #life = "";
  #isSeen = false;
  #stop: () => void = () => undefined;

  constructor(
    readonly calls: Calls,
    readonly connection: Connection,
    readonly changed: () => void,
  ) {}

  /** Name of the site that is shown; empty while none runs. */
  get name(): string {
    return this.#name;
  }

  get current(): RunningSite | undefined {
    return this.sites.find(site => site.name === this.#name);
  }

  /** Shows a site; the first one that runs where there is no such site. */
  choose(name: string): void {
    this.#name = name;
    this.#settle();
    this.connection.hurry();
  }

  /**
   * Follows the events while somebody sees them. A browser has six connections to a daemon for all
   * its tabs together, and each stream takes one.
   */
  watch(isSeen: boolean): void {
    if (isSeen !== this.#isSeen) {
      this.#isSeen = isSeen;
      this.#follow();
    }
  }

  /** Ends the stream of events. */
  close(): void {
    this.#isSeen = false;
    this.#stop();
  }

  /** Asks the daemon once. Fails only where the daemon itself does not answer. */
  async poll(): Promise<void> {
    const options = { timeoutMs: ANSWER_MS_MAX };
    this.sites = (await this.calls.sites.listSites({}, options)).sites;
    this.#settle();
    const site = this.#name;
    if (site !== "") {
      try {
        const answer = await this.calls.partitions.listPartitions({ site }, options);
        if (site === this.#name) {
          this.partitions = answer.partitions;
          this.drift = answer.drift;
          this.refused = null;
        }
      } catch (error) {
        if (failureOf(error) === "logged out") {
          throw error;
        }
        this.refused = sentenceOf(error);
      }
    }
    this.isKnown = true;
  }

  /** Settles which site is shown; what is known of another one is forgotten. */
  #settle(): void {
    if (this.current === undefined) {
      this.#name = this.sites[0]?.name ?? "";
    }
    // A site that came down and up again counts its events anew.
    const life = this.#name === "" ? "" : `${this.#name} ${this.current?.pid ?? 0}`;
    if (life !== this.#life) {
      this.#life = life;
      this.partitions = [];
      this.drift = [];
      this.events = [];
      this.refused = null;
      this.eventsRefused = null;
      this.#follow();
    }
  }

  #follow(): void {
    this.#stop();
    this.#stop = () => undefined;
    const site = this.#name;
    if (site === "" || !this.#isSeen) {
      return;
    }
    this.#stop = follow(this.connection, {
      begin: signal =>
        this.calls.sites.watchEvents({ site, since: 0n, pastOnly: false }, { signal }),
      begun: () => {
        this.events = [];
      },
      message: ({ event }) => {
        if (event !== undefined) {
          this.events.unshift(event);
          this.events.length = Math.min(this.events.length, EVENTS_MAX);
          this.changed();
        }
      },
      refused: sentence => {
        this.eventsRefused = sentence;
        this.changed();
      },
    });
  }
}
