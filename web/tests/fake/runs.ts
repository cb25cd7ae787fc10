/** Runs of the fake world: they pass by the clock, are cancelled or fail, and leave evidence. */

import { once } from "node:events";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, type HandlerContext } from "@connectrpc/connect";
import {
  QualificationService,
  RunKind,
  type RunProgressSchema,
  type RunSchema,
  RunState,
  type StandingVerdictSchema,
  type StartRunRequest,
  StartRunRequestSchema,
} from "../contract/quietcore/v1/qualification_pb";
import type { World } from "./world";

/** The profile under which a run fails. */
export const BROKEN = "broken";
/** A file that is told to be larger than the page saves. */
export const LARGE = "traces/axis.tp4.events";
/** Bytes of a chunk. */
const CHUNK_BYTES = 256 * 1024;
/** Time between two looks of a stream at a run. */
const LOOK_MS = 20;
const KINDS = ["", "qualify", "tune", "disturb"];

/** Remarks of a run, and the part of it after which each is made. */
const REMARKS: [number, string][] = [
  [0, "press-line: 2 partitions, profiles tp2, tp4; 10 s each"],
  [0, "! CPU 1 is not kept free of other tasks: kernel threads run there as well"],
  [0.1, "tp2 · axis: warming up"],
  [0.2, "tp2 · axis: measuring"],
  [0.55, "tp4 · axis: 3 of 4 workers load CPUs 0 and 3"],
  [0.6, "tp4 · axis: a release was 41.2 µs late, the worst so far"],
];

/** The part of a record that tells of late releases: one that was traced, and one by counters. */
const LATE_RECORD = {
  ledgers: {
    limit_ns: 50_000,
    above: 7,
    kept: [
      {
        release: 61_234,
        latency_ns: 498_000,
        cpu: 1,
        course: [
          { cause: "timer-late", what: "spinner (99) ran", at_ns: 0, ns: 4_000 },
          { cause: "timer-interrupt", what: "", at_ns: 4_000, ns: 7_000 },
          { cause: "thread", what: "spinner (99)", at_ns: 11_000, ns: 89_000 },
          { cause: "interrupt", what: "41 virtio3-rx", at_ns: 100_000, ns: 30_000 },
          { cause: "softirq", what: "NET_RX", at_ns: 130_000, ns: 55_000 },
          { cause: "thread", what: "spinner (99)", at_ns: 185_000, ns: 215_000 },
          { cause: "run-delay", what: "", at_ns: 400_000, ns: 72_000 },
          { cause: "page-fault", what: "", at_ns: 472_000, ns: 18_000 },
          { cause: "own", what: "", at_ns: 490_000, ns: 8_000 },
        ],
        remarks: ["the trace begins after the release was due"],
      },
      { release: 812, latency_ns: 61_000, cpu: 1 },
    ],
  },
};

interface FakeRun {
  request: StartRunRequest;
  number: bigint;
  startedAt: number;
  startedBy: string;
  /** Time for which it goes on. */
  lengthMs: number;
  cancelled: { by: string; at: number } | null;
}

/** The runs of the daemon. */
export class Runs {
  /** Time that a run takes. */
  lengthMs = 4_000;
  /** True sends a file no further than its first chunk. */
  isSlow = false;
  /** The number of files that were given up meanwhile. */
  givenUp = 0;
  /** Requests of the runs that were started, the oldest first. */
  readonly asked: StartRunRequest[] = [];
  readonly #runs: FakeRun[] = [];

  constructor() {
    const dayMs = 86_400_000;
    const request = (kind: RunKind, profiles: string[]) =>
      create(StartRunRequestSchema, { kind, profiles });
    const anna = "anna in terminal pts/3";
    this.#add(request(RunKind.QUALIFY, []), anna, Date.now() - 9 * dayMs);
    this.#add(request(RunKind.TUNE, [BROKEN]), anna, Date.now() - 8 * dayMs);
    const third = this.#add(request(RunKind.QUALIFY, []), "bert", Date.now() - dayMs);
    third.cancelled = { by: "bert", at: third.startedAt + this.lengthMs / 2 };
  }

  /** The newest first. */
  list(): MessageInitShape<typeof RunSchema>[] {
    return this.#runs.map(run => this.describe(run)).reverse();
  }

  find(number: bigint): FakeRun {
    const found = this.#runs.find(run => run.number === number);
    if (found === undefined) {
      const sentence = `there is no run ${number}; see which are kept with \`ListRuns\``;
      throw new ConnectError(sentence, Code.NotFound);
    }
    return found;
  }

  start(request: StartRunRequest, by: string): FakeRun {
    const last = this.#runs.at(-1);
    if (last !== undefined && partOf(last) < 1) {
      const sentence = `run ${last.number} goes on, started by ${last.startedBy}; wait for its end`;
      throw new ConnectError(sentence, Code.FailedPrecondition);
    }
    if (request.profiles.includes("none")) {
      throw new ConnectError("profile `none`: the site has no such profile", Code.InvalidArgument);
    }
    this.asked.push(request);
    return this.#add(request, by, Date.now());
  }

  describe(run: FakeRun, isWhole = false): MessageInitShape<typeof RunSchema> {
    const { number, request, startedBy, cancelled } = run;
    const isOver = partOf(run) === 1;
    const hasFailed = isOver && request.profiles.includes(BROKEN);
    const cancelledBy = cancelled?.by ?? "";
    const judges = request.kind === RunKind.QUALIFY && isOver && !hasFailed;
    return {
      number,
      kind: request.kind,
      state: !isOver
        ? RunState.RUNNING
        : hasFailed
          ? RunState.FAILED
          : cancelled === null
            ? RunState.COMPLETE
            : RunState.INTERRUPTED,
      site: request.source?.case === "toml" ? "bench" : "press-line",
      startedAt: new Date(run.startedAt).toISOString(),
      startedBy,
      cancelledBy,
      why: hasFailed ? "quietcore: the profile `broken` needs root; try `sudo`" : "",
      verdict: judges ? (cancelled === null ? "FAIL" : "NOT PROVEN") : "",
      ...(judges && isWhole ? { verdicts: verdictsOf(run) } : {}),
      ...(isOver && !hasFailed && isWhole ? { files: filesOf(number) } : {}),
    };
  }

  #add(request: StartRunRequest, startedBy: string, startedAt: number): FakeRun {
    const run = {
      request,
      number: BigInt(this.#runs.length + 1),
      startedAt,
      startedBy,
      lengthMs: this.lengthMs,
      cancelled: null,
    };
    this.#runs.push(run);
    return run;
  }
}

/** Returns the part of a run that has passed; 1 if it is over. */
function partOf({ startedAt, lengthMs, cancelled }: FakeRun): number {
  const isOver = cancelled !== null && cancelled.at <= Date.now();
  return isOver ? 1 : Math.min((Date.now() - startedAt) / lengthMs, 1);
}

function verdictsOf({ request, cancelled }: FakeRun) {
  if (request.source?.case === "toml") {
    const of = { partition: "probe", profile: "tp2", applicationClass: "process-control" };
    return [{ ...of, verdict: "PASS", because: "none of 600 releases was later than 10.0 ms" }];
  }
  const of = { applicationClass: "motion-control" };
  const late = "1 of 10 000 releases was later than 100 µs: 187 µs in cycle 12";
  return [
    {
      ...of,
      partition: "axis",
      profile: "tp2",
      record: "axis.tp2",
      verdict: "PASS",
      because: "none of 10 000 releases was later than 100 µs (largest latency 41.2 µs)",
    },
    cancelled !== null
      ? {
          ...of,
          partition: "axis",
          profile: "tp4",
          record: "axis.tp4",
          verdict: "NOT PROVEN",
          because: "too few cycles to exclude 1 late release in 1000",
          cyclesNeeded: 2_995_732n,
        }
      : {
          ...of,
          partition: "axis",
          profile: "tp4",
          record: "axis.tp4",
          verdict: "FAIL",
          because: late,
        },
    {
      partition: "axis",
      profile: "tp2",
      record: "axis.tp2",
      applicationClass: "fast-control-loop",
      verdict: "PASS",
      because: "none of 10 000 releases was later than 1.00 ms (largest latency 41.2 µs)",
    },
  ];
}

function standing(): MessageInitShape<typeof StandingVerdictSchema>[] {
  const of = { site: "press-line", partition: "axis", startedAt: "2026-11-19T08:12:44Z", run: 1n };
  return [
    { ...of, applicationClass: "motion-control", verdict: "FAIL", standing: "holds" },
    {
      ...of,
      partition: "tank",
      applicationClass: "process-control",
      verdict: "PASS",
      standing: "expired",
      expiredBy: ["kernel 6.1.0-27-rt-amd64 → 6.1.0-28-rt-amd64", "microcode 0x25 → 0x27"],
    },
    {
      ...of,
      site: "saw",
      partition: "cut",
      applicationClass: "motion-control",
      verdict: "NOT PROVEN",
      standing: "other-machine",
    },
  ];
}

/** Returns the bytes of a file; those of the report are a page. */
export function bytesOf(name: string, number: bigint): Buffer {
  if (name === "report.html") {
    const filling = "<p>no release was later than 100 µs</p>".repeat(15_000);
    return Buffer.from(`<!doctype html><title>Run ${number}</title>${filling}`);
  }
  if (name === "records/axis.tp4.json") {
    return Buffer.from(JSON.stringify(LATE_RECORD));
  }
  // Each value that a byte can have.
  return Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256));
}

function filesOf(number: bigint) {
  const names = ["evidence.json", "records/axis.tp2.json", "records/axis.tp4.json", "report.html"];
  const files = names.map(name => ({ name, bytes: BigInt(bytesOf(name, number).length) }));
  return [...files, { name: LARGE, bytes: 300n << 20n }];
}

function progressOf(run: FakeRun): MessageInitShape<typeof RunProgressSchema> {
  const fraction = partOf(run);
  const isSecond = fraction > 0.5;
  const isWarm = fraction % 0.5 > 0.1;
  return {
    profile: isSecond ? "tp4" : "tp2",
    partitions: ["axis", "tank"],
    step: isWarm ? "measuring" : "warming up",
    begun: isSecond ? 2n : 1n,
    fraction,
    leftNs: BigInt(Math.round((1 - fraction) * run.lengthMs)) * 1_000_000n,
    ...(isWarm ? { worstNs: isSecond ? 41_200n : 12_950n } : {}),
  };
}

export function runRoutes(
  router: ConnectRouter,
  world: World,
  asked: (context: HandlerContext) => unknown,
  mayChange: (context: HandlerContext, needed: string) => string,
): void {
  const { runs } = world;
  router.service(QualificationService, {
    startRun(request, context) {
      const by = mayChange(context, "engineer");
      const run = runs.start(request, by);
      world.enter(by, "QualificationService/StartRun", "", `{"kind":"${KINDS[request.kind]}"}`);
      return { run: runs.describe(run) };
    },
    cancelRun({ number }, context) {
      const by = mayChange(context, "engineer");
      // It takes a moment until all of it has ended.
      runs.find(number).cancelled = { by, at: Date.now() + 300 };
      world.enter(by, "QualificationService/CancelRun", "", `{"run":${number}}`);
      return {};
    },
    async *watchRun({ number }, context) {
      asked(context);
      const run = runs.find(number);
      let told = 0;
      while (!context.signal.aborted) {
        const part = partOf(run);
        for (; told < REMARKS.length && (REMARKS[told]?.[0] ?? 1) <= part; told += 1) {
          yield { content: { case: "line", value: REMARKS[told]?.[1] ?? "" } };
        }
        yield { content: { case: "progress", value: progressOf(run) } };
        if (part === 1) {
          const ended = runs.describe(run, true);
          const value = ended.why === "" ? `evidence: runs/${number}` : (ended.why ?? "");
          yield { content: { case: "line", value } };
          yield { content: { case: "ended", value: ended } };
          return;
        }
        await new Promise(resolve => setTimeout(resolve, LOOK_MS));
      }
    },
    listRuns(_, context) {
      asked(context);
      return { runs: runs.list() };
    },
    getRun({ number }, context) {
      asked(context);
      return { run: runs.describe(runs.find(number), true) };
    },
    listVerdicts(_, context) {
      asked(context);
      return { verdicts: standing() };
    },
    async *fetchFile({ number, name }, context) {
      asked(context);
      const bytes = bytesOf(name, number);
      for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
        yield { chunk: bytes.subarray(from, from + CHUNK_BYTES) };
        if (runs.isSlow) {
          await once(context.signal, "abort");
          runs.givenUp += 1;
        }
      }
    },
  });
}
