/** The variables of one partition: those listed, those picked, and who holds which by force. */

import type { Address } from "../address";
import { type Calls, failureOf } from "../calls";
import type { Connection } from "../connection";
import { type AppliedChange, ChangeKind } from "../contract/quietcore/v1/variable";
import { follow } from "../following";
import { ChangeDialog } from "./change";
import { Listing } from "./listing";
import { Recording } from "./recording";
import { Scope } from "./scope";
import { Xy } from "./xy";

/** The most variables that can be picked: as many as the scope draws. */
export const PICKS_MAX = 16;

export class VariablesModel {
  site = "";
  partition = "";
  listing: Listing | null = null;
  readonly recording = new Recording();
  readonly scope: Scope;
  readonly xy: Xy;
  readonly dialog: ChangeDialog;
  /** Time between two samples, in microseconds. */
  intervalUs = 0;
  /** Number of the picked variable that XY has the others over; −1 for no XY. */
  x = -1;
  /** The daemon's sentence where it refuses to send the picked variables. */
  refused: string | null = null;
  /** Who forced a variable last, by its path. */
  readonly forcedBy = new Map<string, AppliedChange>();
  /** Names in the address what is chosen, which `show` then hears. */
  go: (change: Partial<Address>) => void = () => undefined;

  #nextChange = 0n;
  #isFinding = false;
  #generation = 0;
  #picks = "";
  #stop: () => void = () => undefined;

  constructor(
    readonly calls: Calls,
    readonly connection: Connection,
    readonly changed: () => void,
    readonly failed: (error: unknown) => void,
  ) {
    this.scope = new Scope(this.recording, changed);
    this.scope.drawn = edge => this.#drawXy(edge);
    this.xy = new Xy(
      () => this.scope.redraw(),
      time => this.scope.mark(time),
    );
    this.dialog = new ChangeDialog(calls, changed, failed);
  }

  get picks(): string[] {
    return this.recording.rows.map(({ path }) => path);
  }

  /**
   * Shows the variables of a partition; it hears so once a second. Nothing is listed or followed
   * anew where nothing has changed.
   */
  show(site: string, partition: string, generation: number, address: Address): void {
    if (site !== this.site || partition !== this.partition) {
      this.close();
      this.site = site;
      this.partition = partition;
      this.forcedBy.clear();
      this.#nextChange = 0n;
      this.recording.pick([]);
      this.recording.clear();
      this.recording.originNs = null;
      this.scope.clearCursors();
      this.listing = null;
    }
    if (partition === "") {
      return;
    }
    if (this.listing === null) {
      this.listing = new Listing(this.calls, site, partition, this.changed, this.failed);
      void this.listing.begin();
    } else if (generation !== this.#generation) {
      // A deploy makes other variables, and the tokens of pages invalid.
      void this.listing.begin();
    }
    this.#generation = generation;
    const { spanS, intervalUs, isFitted, hidden, x } = address;
    const wanted = address.picks.slice(0, PICKS_MAX);
    const isOther = wanted.join("\n") !== this.#picks;
    if (isOther) {
      this.#picks = wanted.join("\n");
      this.recording.pick(wanted);
      this.scope.changeColumns();
    }
    if (isOther || intervalUs !== this.intervalUs) {
      this.intervalUs = intervalUs;
      this.#follow();
    }
    this.scope.show(spanS, isFitted, hidden);
    if (wanted.indexOf(x) !== this.x) {
      this.x = wanted.indexOf(x);
      this.scope.redraw();
    }
    void this.#findAuthors();
  }

  /** Picks a variable, or drops one that is picked. */
  toggle(path: string): void {
    this.go({ picks: toggled(this.picks, path) });
  }

  /** Hides the trend of a picked variable, or shows it again. */
  hide(path: string): void {
    this.go({ hidden: toggled(this.scope.hidden, path) });
  }

  /** Returns the numbers of the variables that XY has over X: those whose trends are drawn. */
  ys(): number[] {
    const { rows } = this.recording;
    const isDrawn = (row: number) => !this.scope.hidden.includes(rows[row]?.path ?? "");
    return [...rows.keys()].filter(row => row !== this.x && isDrawn(row));
  }

  /** Ends the subscription. */
  close(): void {
    this.#stop();
    this.#picks = "";
  }

  /** Draws XY of what the scope shows, to the right edge. */
  #drawXy(edge: number): void {
    const { x, scope, picks } = this;
    const { ring } = this.recording;
    if (x < 0) {
      return;
    }
    // A value holds until the next sample, so what was in force at the left edge is shown, too.
    const first = Math.max(ring.from(edge - scope.spanS) - 1, 0);
    const end = ring.until(edge);
    const marked = Object.entries(scope.cursors).flatMap(([name, time]): [string, number][] =>
      time === null || time < edge - scope.spanS || time > edge
        ? []
        : [[name, ring.until(time) - 1]],
    );
    const value = (column: number, sample: number) => ring.value(column, sample);
    const time = (sample: number) => ring.time(sample);
    const { isFitted } = scope;
    this.xy.draw({ first, end, names: picks, x, ys: this.ys(), value, time, isFitted, marked });
  }

  #follow(): void {
    this.#stop();
    this.refused = null;
    const { site, partition, picks } = this;
    if (picks.length === 0) {
      this.#stop = () => undefined;
      return;
    }
    const request = {
      site,
      partition,
      patterns: picks,
      intervalUs: BigInt(this.intervalUs),
      deadband: 0,
    };
    this.#stop = follow(this.connection, {
      begin: signal => this.calls.variables.subscribeVariables(request, { signal }),
      begun: () => undefined,
      message: message => {
        this.recording.take(message, performance.now() / 1_000);
        this.changed();
      },
      ended: () => this.recording.interrupt(performance.now() / 1_000),
      refused: sentence => {
        this.refused = sentence;
        this.changed();
      },
    });
  }

  /** Finds who forced the variables that are forced now, from the changes that are new. */
  async #findAuthors(): Promise<void> {
    const { site, partition } = this;
    if (this.#isFinding || !this.recording.rows.some(({ forced }) => forced)) {
      return;
    }
    this.#isFinding = true;
    try {
      const request = { site, since: this.#nextChange };
      const { changes, next } = await this.calls.variables.listChanges(request);
      if (site !== this.site || partition !== this.partition) {
        return;
      }
      // A site that came down and up again counts its changes anew.
      this.#nextChange = next < this.#nextChange ? 0n : next;
      for (const change of changes) {
        if (change.partition === partition && change.effect?.change?.kind === ChangeKind.FORCE) {
          this.forcedBy.set(change.effect.change.variable, change);
        }
      }
      this.changed();
    } catch (error) {
      // Without the author, the force itself is still shown.
      if (failureOf(error) !== "refused") {
        this.failed(error);
      }
    } finally {
      this.#isFinding = false;
    }
  }
}

/** Returns a list without a path that it has, or with one that it has not. */
function toggled(paths: readonly string[], path: string): string[] {
  return paths.includes(path) ? paths.filter(other => other !== path) : [...paths, path];
}
