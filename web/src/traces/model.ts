/** The traces of the daemon, and the rows of the one that is shown. They go on without this page. */

import { ANSWER_MS_MAX, type Calls, sentenceOf } from "../calls";
import {
  type StartTraceRequest,
  type Trace,
  type TraceRows,
  TraceState,
  type TraceValues,
} from "../contract/quietcore/v1/trace";

/** Rows of a trace that is fetched anew at each look while it goes on. */
const LIVE_ROWS_MAX = 20_000n;

/** The rows of a trace, column by column, as curves need them. */
export interface Shown {
  trace: Trace;
  cycles: number[];
  /** Seconds since the first row. */
  seconds: number[];
  columns: number[][];
  /** Samples that are missing between rows. */
  lost: bigint;
}

export class TracesModel {
  /** The newest first. */
  traces: Trace[] = [];
  shown: Shown | null = null;
  /** Number of the trace that is shown; null for none. */
  number: bigint | null = null;
  /** Number of the window that is shown, from 0. */
  window = 0;
  /** Number of the trace that is deleted when it is said once more. */
  doomed: bigint | null = null;
  refused: string | null = null;
  isKnown = false;

  constructor(
    readonly calls: Calls,
    readonly changed: () => void,
    readonly failed: (error: unknown) => void,
  ) {}

  /** Asks the daemon once, for the list and for the rows that have come. */
  async poll(): Promise<void> {
    const options = { timeoutMs: ANSWER_MS_MAX };
    const { traces } = await this.calls.traces.listTraces({ site: "", partition: "" }, options);
    this.traces = traces.reverse();
    this.isKnown = true;
    await this.#fetch();
    this.changed();
  }

  /** Shows a trace, by its number. */
  show(number: bigint | null): void {
    if (number !== this.number) {
      this.number = number;
      this.shown = null;
      this.window = 0;
      void this.#try(() => this.poll());
    }
  }

  choose(window: number): void {
    this.window = window;
    this.changed();
  }

  /** Starts a trace and returns its number; null where the daemon refuses. */
  async start(request: StartTraceRequest): Promise<bigint | null> {
    let number: bigint | null = null;
    await this.#try(async () => {
      const { trace } = await this.calls.traces.startTrace(request, { timeoutMs: ANSWER_MS_MAX });
      number = trace?.number ?? null;
    });
    return number;
  }

  stop(number: bigint): Promise<void> {
    return this.#try(async () => {
      await this.calls.traces.stopTrace({ number });
      await this.poll();
    });
  }

  /** Deletes a trace when it is said for the second time. */
  async remove(number: bigint): Promise<void> {
    if (this.doomed !== number) {
      this.doomed = number;
      this.changed();
      return;
    }
    this.doomed = null;
    await this.#try(async () => {
      await this.calls.traces.deleteTrace({ number });
      await this.poll();
    });
  }

  async #try(act: () => Promise<void>): Promise<void> {
    this.refused = null;
    try {
      await act();
    } catch (error) {
      this.refused = sentenceOf(error);
      this.failed(error);
    }
    this.changed();
  }

  async #fetch(): Promise<void> {
    const { number } = this;
    const listed = this.traces.find(trace => trace.number === number);
    if (number === null || listed === undefined) {
      this.shown = null;
      return;
    }
    const before = this.shown?.trace;
    const isSame = before?.state === listed.state && before.rows === listed.rows;
    if (isSame || (before !== undefined && !isOver(listed) && listed.rows > LIVE_ROWS_MAX)) {
      return;
    }
    let trace = listed;
    const parts: TraceRows[] = [];
    for await (const { content } of this.calls.traces.fetchTrace({ number })) {
      if (content?.$case === "trace") {
        trace = content.value;
      } else if (content?.$case === "rows") {
        parts.push(content.value);
      }
    }
    if (number === this.number) {
      this.shown = joined(trace, parts);
    }
  }
}

/** Returns true if no row comes any more. */
export function isOver({ state }: Trace): boolean {
  return state === TraceState.COMPLETE || state === TraceState.ENDED;
}

/** Joins the parts of a trace. */
export function joined(trace: Trace, parts: TraceRows[]): Shown {
  const first = parts[0]?.timesNs[0] ?? 0n;
  const gaps = parts.flatMap(({ gaps }) => gaps);
  return {
    trace,
    cycles: parts.flatMap(({ cycles }) => cycles.map(Number)),
    seconds: parts.flatMap(({ timesNs }) => timesNs.map(time => Number(time - first) / 1e9)),
    columns: trace.variables.map((_, column) =>
      parts.flatMap(({ columns }) => numbers(columns[column])),
    ),
    lost: gaps.reduce((all, { lost }) => all + lost, 0n),
  };
}

/** Returns a column as numbers: all kinds but one are empty. */
function numbers(values: TraceValues | undefined): number[] {
  if (values === undefined) {
    return [];
  }
  const { booleans, signed, unsigned, singles, doubles } = values;
  return [...booleans, ...signed, ...unsigned, ...singles, ...doubles].map(Number);
}

/** Returns the first row of a window, that of its trigger, and the one behind its last. */
export function rowsOf({ trace, cycles }: Shown, window: number): [number, number, number] {
  const found = trace.begun[window];
  const first = Number(found?.firstRow ?? 0n);
  const trigger = first + Number(found?.before ?? 0n);
  return [first, trigger, Number(trace.begun[window + 1]?.firstRow ?? cycles.length)];
}

/** Returns a trace as CSV, with the columns of `quietcore trace`. */
export function csvOf({ trace, cycles, seconds, columns }: Shown): string {
  const head = ["cycle", "seconds", ...trace.variables.map(({ path }) => path)];
  const lines = cycles.map((cycle, row) =>
    [cycle, seconds[row], ...columns.map(column => column[row])].join(","),
  );
  return `${[head.join(","), ...lines].join("\r\n")}\r\n`;
}
