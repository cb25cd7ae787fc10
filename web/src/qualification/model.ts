/** The runs of the daemon, which go on without this page, and the verdicts that hold. */

import { ANSWER_MS_MAX, type Calls, sentenceOf } from "../calls";
import type { Connection } from "../connection";
import {
  type Run,
  RunKind,
  type RunProgress,
  RunState,
  type StandingVerdict,
  type StartRunRequest,
} from "../contract/quietcore/v1/qualification";
import { save } from "../download";
import { follow } from "../following";
import { size } from "../words";
import { type Late, lateOf } from "./late";

/** Remarks of a run that are kept, the newest. */
const LINES_MAX = 1_000;
/** The largest file that is held in memory until it is saved. */
const SAVED_BYTES_MAX = 256 * 1024 * 1024;
/** The largest record that is read. */
const READ_BYTES_MAX = 32 * 1024 * 1024;

export class QualificationModel {
  /** The newest first. */
  runs: Run[] = [];
  /** The verdicts, and whether they hold; null until the daemon has compared them. */
  standing: StandingVerdict[] | null = null;
  /** Number of the run that is shown; null for none. */
  number: bigint | null = null;
  /** The run that is shown, with its verdicts and files, once it has ended. */
  ended: Run | null = null;
  lines: string[] = [];
  progress: RunProgress | null = null;
  /** The daemon's sentence where it refuses what was asked, or to show the run. */
  refused: string | null = null;
  unseen: string | null = null;
  /** Number of the run whose cancellation awaits its confirmation. */
  doomed: bigint | null = null;
  /** The late releases of a record of the run that is shown; null until they are asked for. */
  late: Late | null = null;
  /** The file that is fetched, and the bytes that have come. */
  saving: [string, number] | null = null;
  isKnown = false;

  /** The kind that is going to be started, and what is wrong with its fields, by their names. */
  kind = RunKind.QUALIFY;
  wrong: Record<string, string> = {};
  /** The site of a run whose start awaits its confirmation; null for none. */
  sureOf: string | null = null;

  #isSeen = false;
  #named: bigint | null = null;
  #followed: bigint | null = null;
  /** The newest run that had ended when the verdicts were compared. */
  #compared: bigint | null = 0n;
  #stop: () => void = () => undefined;
  #fetching = new AbortController();

  constructor(
    readonly calls: Calls,
    readonly connection: Connection,
    readonly changed: () => void,
    readonly failed: (error: unknown) => void,
  ) {}

  /** The run that is shown, as far as it is known. */
  get shown(): Run | undefined {
    return this.ended ?? this.runs.find(({ number }) => number === this.number);
  }

  /** Shows a run, by its number, while somebody sees it; the newest where none is named. */
  show(named: bigint | null, isSeen: boolean): void {
    this.#named = named;
    if (isSeen && !this.#isSeen) {
      this.#compared = 0n;
      void this.poll().catch(() => undefined);
    }
    this.#isSeen = isSeen;
    this.#follow();
  }

  /** Ends the stream of the run, and what is fetched of it. */
  close(): void {
    this.#fetching.abort();
    this.show(null, false);
  }

  /** Changes what the form says. */
  fill(change: Partial<Pick<this, "kind" | "wrong" | "sureOf">>): void {
    Object.assign(this, change);
    this.changed();
  }

  /** Asks the daemon once for its runs, and for verdicts where another run has ended. */
  async poll(): Promise<void> {
    const { runs } = await this.calls.qualification.listRuns({}, { timeoutMs: ANSWER_MS_MAX });
    this.runs = runs;
    this.isKnown = true;
    this.#follow();
    const newest = runs.find(({ state }) => state !== RunState.RUNNING)?.number ?? null;
    if (newest !== this.#compared) {
      this.#compared = newest;
      void this.#try(async () => {
        this.standing = (await this.calls.qualification.listVerdicts({})).verdicts;
      });
    }
    this.changed();
  }

  /** Starts a run and returns its number; null where the daemon refuses. */
  async start(request: Promise<StartRunRequest>): Promise<bigint | null> {
    let number: bigint | null = null;
    this.refused = null;
    await this.#try(async () => {
      const { run } = await this.calls.qualification.startRun(await request);
      number = run?.number ?? null;
      await this.poll();
    });
    return number;
  }

  /** Cancels a run when it is asked for the second time. */
  async cancel(number: bigint): Promise<void> {
    if (this.doomed !== number) {
      this.doomed = number;
      this.changed();
      return;
    }
    this.doomed = null;
    this.refused = null;
    await this.#try(async () => {
      await this.calls.qualification.cancelRun({ number });
      await this.poll();
    });
  }

  /** Fetches a file of the run that is shown, and saves it once it is whole. */
  async save(name: string): Promise<void> {
    await this.#fetch(name, SAVED_BYTES_MAX, async (content, number) => {
      save(`run-${number}-${name.replaceAll("/", "-")}`, content);
    });
  }

  /** Shows the late releases of a record, by its name. */
  async explain(record: string): Promise<void> {
    await this.#fetch(`records/${record}.json`, READ_BYTES_MAX, async content => {
      this.late = lateOf(record, JSON.parse(await content.text()));
    });
  }

  /** Fetches a file of the run that is shown, unless it is too large or another one is fetched. */
  async #fetch(
    name: string,
    most: number,
    use: (content: Blob, number: bigint) => Promise<void>,
  ): Promise<void> {
    const { number } = this;
    if (number === null || this.saving !== null) {
      return;
    }
    this.refused = null;
    this.#fetching = new AbortController();
    const { signal } = this.#fetching;
    const check = (bytes: number) => {
      if (bytes > most) {
        throw new Error(`\`${name}\` has ${size(bytes)}; the page fetches ${size(most)} at most`);
      }
    };
    await this.#try(async () => {
      check(Number(this.ended?.files.find(file => file.name === name)?.bytes ?? 0n));
      const parts: Blob[] = [];
      let come = 0;
      this.saving = [name, come];
      const chunks = this.calls.qualification.fetchFile({ number, name }, { signal });
      for await (const { chunk } of chunks) {
        come += chunk.length;
        check(come);
        // The browser may keep a blob on its disk.
        parts.push(new Blob([chunk as Uint8Array<ArrayBuffer>]));
        this.saving = [name, come];
        this.changed();
      }
      signal.throwIfAborted();
      await use(new Blob(parts), number);
    }, signal);
    this.saving = null;
    this.changed();
  }

  /** Does something, and tells a refusal unless it was given up. */
  async #try(act: () => Promise<void>, givenUp?: AbortSignal): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!givenUp?.aborted) {
        this.refused = sentenceOf(error);
        this.failed(error);
      }
    }
    this.changed();
  }

  #follow(): void {
    const number = this.#isSeen ? (this.#named ?? this.runs[0]?.number ?? null) : null;
    if (number === this.#followed) {
      return;
    }
    this.#stop();
    this.#followed = number;
    if (number === null) {
      return;
    }
    if (number !== this.number) {
      this.#fetching.abort();
      Object.assign(this, { number, ended: null, lines: [], progress: null });
      Object.assign(this, { unseen: null, late: null });
    }
    this.#stop = follow(this.connection, {
      begin: signal => this.calls.qualification.watchRun({ number }, { signal }),
      begun: () => {
        this.lines = [];
      },
      message: ({ content }) => {
        if (content?.$case === "line") {
          this.lines.push(content.value);
          this.lines.splice(0, this.lines.length - LINES_MAX);
        } else if (content?.$case === "progress") {
          this.progress = content.value;
        } else if (content?.$case === "ended") {
          this.ended = content.value;
          this.#stop();
          this.connection.hurry();
        }
        this.changed();
      },
      refused: sentence => {
        this.unseen = sentence;
        this.changed();
      },
    });
  }
}
