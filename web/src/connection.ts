/**
 * The connection to the daemon: whether it answers, since when not, and when it is tried again.
 *
 *     live ── a call is lost ──► lost ── waits, tries, waits longer ──► live
 *
 * One poll tells for all: streams that break wait until it says that the daemon answers again, and
 * then begin anew.
 */

import { failureOf } from "./calls";

/** Time between two polls while all is well. */
const POLL_MS = 1_000;
/** First and longest time between two tries while the daemon does not answer. */
const RETRY_MS_FIRST = 500;
const RETRY_MS_MAX = 8_000;

/** Returns the time to wait before the try after `failed` ones that failed. */
export function retryAfterMs(failed: number): number {
  return Math.min(RETRY_MS_FIRST * 2 ** Math.max(failed - 1, 0), RETRY_MS_MAX);
}

/** Waits; returns at once where `signal` has been raised, or as soon as it is. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
  });
}

export class Connection {
  /** Time of the last answer; null before the first. */
  lastAnswer: Date | null = null;
  /** Tries that failed since the last answer. */
  failed = 0;
  /** Time of the next try while the connection is lost. */
  nextTry: Date | null = null;

  #waiting: (() => void)[] = [];
  #hurry = new AbortController();

  constructor(
    readonly changed: () => void,
    readonly loggedOut: () => void,
  ) {}

  get isLost(): boolean {
    return this.failed > 0;
  }

  /** Asks `poll` again and again until `signal` is raised. */
  async keep(poll: () => Promise<void>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await poll();
        this.#answered();
      } catch (error) {
        this.#failed(error);
      }
      this.#hurry = new AbortController();
      const pause = this.isLost ? retryAfterMs(this.failed) : POLL_MS;
      this.nextTry = this.isLost ? new Date(Date.now() + pause) : null;
      this.changed();
      await sleep(pause, AbortSignal.any([signal, this.#hurry.signal]));
    }
  }

  /** Polls now instead of at the next date. */
  hurry(): void {
    this.#hurry.abort();
  }

  /** Waits until the daemon answers; returns at once while it does. */
  live(): Promise<void> {
    return this.isLost ? new Promise(resolve => this.#waiting.push(resolve)) : Promise.resolve();
  }

  /** Takes note of a stream that broke: the next poll tells whether the daemon is gone. */
  doubt(error: unknown): void {
    if (failureOf(error) === "logged out") {
      this.loggedOut();
    } else {
      this.hurry();
    }
  }

  #answered(): void {
    this.failed = 0;
    this.lastAnswer = new Date();
    for (const resolve of this.#waiting.splice(0)) {
      resolve();
    }
  }

  #failed(error: unknown): void {
    switch (failureOf(error)) {
      case "logged out":
        this.loggedOut();
        break;
      case "lost":
        this.failed += 1;
        break;
      case "refused":
        this.#answered();
    }
  }
}
