/** Traces of the fake world: complete as soon as they are started, unless their trigger never comes. */

import { Code, ConnectError, type ConnectRouter, type HandlerContext } from "@connectrpc/connect";
import { TraceService, TraceState } from "../contract/quietcore/v1/trace_pb";
import type { World } from "./world";

/** The trigger that never comes. */
export const NEVER = "falling servo_P.Kv";
/** Rows of a chunk. */
const CHUNK_ROWS = 500;

export function traceRoutes(
  router: ConnectRouter,
  world: World,
  asked: (context: HandlerContext) => unknown,
  mayChange: (context: HandlerContext) => string,
): void {
  const find = (number: bigint) => {
    const found = world.traces.find(trace => trace.number === number);
    if (found === undefined) {
      const sentence = `there is no trace ${number}; see which are kept with \`ListTraces\``;
      throw new ConnectError(sentence, Code.NotFound);
    }
    return found;
  };
  router.service(TraceService, {
    startTrace({ variables, trigger, before, after, windows, every }, context) {
      const by = mayChange(context);
      for (const path of variables.filter(path => !world.variables.has(path))) {
        throw new ConnectError(`axis has no variable \`${path}\``, Code.NotFound);
      }
      const waits = trigger === NEVER;
      const samples = before + after;
      const trace = {
        number: BigInt(world.traces.length + 1),
        site: "press-line",
        partition: "axis",
        task: "cycle",
        variables: variables.map(path => ({ path, type: "f64" })),
        every,
        trigger,
        before,
        after,
        windows,
        state: waits ? TraceState.ARMED : TraceState.COMPLETE,
        begun: waits
          ? []
          : Array.from({ length: windows }, (_, window) => ({
              firstRow: BigInt(window) * samples,
              before,
              triggerCycle: 5_000n + BigInt(window) * samples + before,
            })),
        rows: waits ? 0n : samples * BigInt(windows),
        startedBy: by,
        startedAt: new Date().toISOString(),
        samplePeriodNs: 1_000_000n,
      };
      world.traces.push(trace);
      world.enter(by, "TraceService/StartTrace", "axis", "{}");
      return { trace };
    },
    stopTrace({ number }, context) {
      const by = mayChange(context);
      const trace = find(number);
      if (trace.state === TraceState.ARMED) {
        trace.state = TraceState.ENDED;
        trace.why = `stopped by ${by}`;
      }
      return { trace };
    },
    deleteTrace({ number }, context) {
      mayChange(context);
      find(number);
      world.traces = world.traces.filter(trace => trace.number !== number);
      return {};
    },
    listTraces(_, context) {
      asked(context);
      return { traces: world.traces };
    },
    getTrace({ number }, context) {
      asked(context);
      return { trace: find(number) };
    },
    async *fetchTrace({ number }, context) {
      asked(context);
      const trace = find(number);
      yield { content: { case: "trace", value: trace } };
      const rows = Number(trace.rows ?? 0n);
      for (let first = 0; first < rows; first += CHUNK_ROWS) {
        const length = Math.min(CHUNK_ROWS, rows - first);
        const numbers = Array.from({ length }, (_, index) => first + index);
        const value = {
          firstRow: BigInt(first),
          cycles: numbers.map(row => 5_000n + BigInt(row)),
          timesNs: numbers.map(row => BigInt(row) * 1_000_000n),
          columns: (trace.variables ?? []).map((_, column) => ({
            doubles: numbers.map(row => Math.sin((row / 80) * (column + 1))),
          })),
          gaps: first === 0 && world.leftOut > 0 ? [{ row: 3n, lost: BigInt(world.leftOut) }] : [],
        };
        yield { content: { case: "rows", value } };
      }
    },
  });
}
