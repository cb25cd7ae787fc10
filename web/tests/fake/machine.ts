/** The timing and the CPUs of the fake world. */

import type { MessageInitShape } from "@bufbuild/protobuf";
import { type CpuSchema, CpuUse } from "../contract/quietcore/v1/cpu_pb";
import type {
  GetTimingResponseSchema,
  LatencyHistogramSchema,
} from "../contract/quietcore/v1/timing_pb";
import type { World } from "./world";

/** Counts of bars, 24 a decade, around the usual value; one late cycle far from them. */
const SHAPE = [3, 40, 900, 4_200, 50_000, 61_000, 9_400, 2_100, 640, 180, 66, 21, 9, 3, 1, 0, 1];

function histogram(
  usualNs: number,
  lateNs: number,
): MessageInitShape<typeof LatencyHistogramSchema> {
  const bar = (index: number) => BigInt(Math.round(usualNs * 10 ** (index / 24)));
  const counts = SHAPE.map((count, index) => ({ index, count: BigInt(count) }));
  counts.push({ index: Math.round(24 * Math.log10(lateNs / usualNs)), count: 1n });
  const bars = counts.map(({ index, count }) => ({
    fromNs: bar(index),
    toNs: bar(index + 1),
    count,
  }));
  return {
    count: counts.reduce((sum, { count }) => sum + count, 0n),
    minNs: BigInt(usualNs),
    maxNs: BigInt(lateNs),
    p50Ns: bar(5),
    p99Ns: bar(8),
    p999Ns: bar(11),
    bars,
  };
}

export function timing(world: World): MessageInitShape<typeof GetTimingResponseSchema> {
  const beganNs = BigInt(world.started) * 1_000_000n;
  const worst = (release: bigint, valueNs: bigint) => ({
    release,
    valueNs,
    wakeupNs: valueNs - 4_000n,
    cpu: 1,
    atNs: beganNs + release * 1_000n,
  });
  return {
    site: "press-line",
    generation: 1,
    readAtNs: BigInt(Date.now()) * 1_000_000n,
    class: {
      name: "motion-control",
      title: "Motion control (factory automation)",
      cycleNs: 1_000_000n,
      latencyNs: 100_000n,
      jitterNs: 1_000n,
      jitterDefinition: "p97.5 − p2.5",
    },
    tasks: [
      {
        name: "main",
        periodNs: 1_000_000n,
        sinceNs: beganNs,
        cycles: world.cycle(),
        overruns: 2n,
        release: histogram(1_800, 187_400),
        execution: histogram(96_000, 913_000),
        response: histogram(99_000, 921_000),
        worstReleases: [worst(12n, 187_400n), worst(4_711n, 41_200n), worst(90n, 12_950n)],
        worstExecution: { release: 812n, valueNs: 913_000n, atNs: beganNs },
        worstResponse: { release: 812n, valueNs: 921_000n, atNs: beganNs },
      },
    ],
  };
}

export function cpus(): MessageInitShape<typeof CpuSchema>[] {
  const of = { user: "plant", policy: "SCHED_FIFO 90" };
  const axis = { ...of, site: "press-line", partition: "axis", pid: 4_711 };
  const tank = { ...of, site: "press-line", partition: "tank", pid: 4_712 };
  const cut = { ...of, site: "saw", partition: "cut", pid: 4_713 };
  const isolated = true;
  return [
    { number: 0, use: CpuUse.HOUSEKEEPING, daemon: true, siblings: "0" },
    { number: 1, use: CpuUse.PARTITION, owners: [axis], isolated, tickless: true, siblings: "1" },
    { number: 2, use: CpuUse.SHARED, owners: [tank, cut], isolated, siblings: "2-3" },
    { number: 3, use: CpuUse.FREE, isolated, siblings: "2-3" },
  ];
}
