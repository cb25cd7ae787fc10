/** What is decided without a browser: numbers in words, the ring and its thinning, CSV, addresses. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { read, write } from "../src/address";
import { endOf } from "../src/audit/model";
import { Connection, retryAfterMs } from "../src/connection";
import { RunKind } from "../src/contract/quietcore/v1/qualification";
import type { SubscribeVariablesResponse } from "../src/contract/quietcore/v1/variable";
import { follow } from "../src/following";
import { fieldsOf, millisecondsOf, requestOf, wrongOf } from "../src/qualification/asked";
import { marksOf } from "../src/qualification/gantt";
import { lateOf } from "../src/qualification/late";
import { axisOf, heightOf, placeOf } from "../src/timing/histogram";
import { patternOf } from "../src/variables/listing";
import { csvOf, Recording } from "../src/variables/recording";
import { Ring } from "../src/variables/ring";
import { thin } from "../src/variables/thin";
import { shortOf, textOf } from "../src/variables/values";
import { count, duration, size, span } from "../src/words";

test("a duration has three digits and its unit", () => {
  const words = [0n, 999n, 2_950n, 187_400n, 999_960n, 1_000_000n, 3_600_000_000_000n].map(
    duration,
  );
  const right = ["0 ns", "999 ns", "2.95 µs", "187 µs", "1.00 ms", "1.00 ms", "3600 s"];
  assert.deepEqual(
    words.map(word => word.replace("\u00a0", " ")),
    right,
  );
  assert.equal(count(61_234n), "61\u202f234");
  assert.equal(count(-1_234_567), "-1\u202f234\u202f567");
});

test("a size and a time that is waited for are told with their units", () => {
  const sizes = [0, 999, 12_345, 268_435_456, 1n << 40n].map(size);
  const spans = [0, 0.2, 42, 200, 3_599, 7_505].map(seconds => span(BigInt(seconds * 1e9)));
  const plain = (words: string[]) => words.map(word => word.replaceAll("\u00a0", " "));
  assert.deepEqual(plain(sizes), ["0 bytes", "999 bytes", "12.3 kB", "268 MB", "1100 GB"]);
  assert.deepEqual(plain(spans), ["0 s", "1 s", "42 s", "3 min 20 s", "59 min 59 s", "2 h 5 min"]);
});

test("what is asked of a run is checked field by field", () => {
  const wrong = (kind: RunKind, name: string, texts: string[]) => {
    const field = fieldsOf(kind).find(([known]) => known === name);
    assert.ok(field, `kind ${kind} has no field ${name}`);
    return texts.filter(text => wrongOf(text, field) !== "");
  };
  const times = ["", "30 s", "10min", "1.5 h", "500 ms"];
  assert.deepEqual(wrong(RunKind.QUALIFY, "duration", times), []);
  assert.deepEqual(times.map(millisecondsOf), [0n, 30_000n, 600_000n, 5_400_000n, 500n]);
  const notTimes = ["30", "s", "-1 s", "0 s", "1 s 5 ms", "1e3 s", "9999999999 s", "1 day"];
  assert.deepEqual(wrong(RunKind.QUALIFY, "duration", notTimes), notTimes);
  assert.deepEqual(wrong(RunKind.TUNE, "rounds", ["1", "1000", "0", "1001", "2.5"]), [
    "0",
    "1001",
    "2.5",
  ]);
  assert.deepEqual(wrong(RunKind.TUNE, "profiles", ["tp4", "tp2 tp4"]), ["tp2 tp4"]);
  const names = ["tp2", "tp2, tp4", "a/b", "tp2 ;", ","];
  assert.deepEqual(wrong(RunKind.QUALIFY, "profiles", names), ["a/b", "tp2 ;", ","]);
  const texts: Record<string, string> = { aggressors: "disk,  timer", rounds: "3" };
  assert.deepEqual(
    requestOf(RunKind.DISTURB, "saw", null, name => texts[name] ?? ""),
    {
      kind: RunKind.DISTURB,
      source: { $case: "site", value: "saw" },
      profiles: [],
      durationMs: 0n,
      rounds: 3,
      seed: 0n,
      confirmMs: 0n,
      controls: [],
      partitions: [],
      aggressors: ["disk", "timer"],
    },
  );
});

test("the ring forgets the oldest samples and finds a time", () => {
  const ring = new Ring(4, 1);
  for (let time = 0; time < 10; time += 1) {
    ring.push(time, [time * 10]);
  }
  assert.equal(ring.length, 4);
  assert.deepEqual([ring.time(0), ring.lastTime()], [6, 9]);
  assert.equal(ring.from(7.5), 2);
  assert.equal(ring.at(0, 7.5), 70);
  assert.equal(ring.at(0, 9), 90);
  assert.ok(Number.isNaN(ring.at(0, 5)));
});

test("a time that runs backwards is held", () => {
  const ring = new Ring(4, 1);
  ring.push(5, [1]);
  ring.push(4, [2]);
  assert.equal(ring.lastTime(), 5);
});

test("thinning keeps each spike and bounds the points", () => {
  const ring = new Ring(20_000, 2);
  for (let index = 0; index < 20_000; index += 1) {
    ring.push(index / 1_000, [index === 7_777 ? 99 : 0, index === 12_345 ? -99 : 1]);
  }
  const points = thin(ring, 0, 20, 100);
  assert.ok(points.times.length <= 2 * 100 + 3, `${points.times.length} points`);
  assert.ok(points.columns[0]?.includes(99));
  assert.ok(points.columns[1]?.includes(-99));
  const rises = points.times.every(
    (time, index) => index === 0 || time >= (points.times[index - 1] ?? 0),
  );
  assert.ok(rises);
});

test("a value holds until the next sample and to the right edge", () => {
  const ring = new Ring(10, 1);
  ring.push(1, [5]);
  ring.push(8, [6]);
  const points = thin(ring, 4, 10, 100);
  assert.deepEqual(points, { times: [4, 8, 10], columns: [[5, 6, 6]], isDense: false });
});

/** Returns a message with values of the variables from the first one on. */
function sample(readAtNs: bigint, numbers: number[], leftOut = 0n): SubscribeVariablesResponse {
  const values = numbers.map(value => ({ kind: { $case: "double" as const, value } }));
  const indices = numbers.map((_, index) => index);
  const rest = { reading: undefined, forcedChanged: false, forced: [] };
  const value = { ...rest, readAtNs, indices, values, leftOut };
  return { content: { $case: "sample", value } };
}

/** Returns the message that numbers variables. */
function list(...paths: string[]): SubscribeVariablesResponse {
  const variables = paths.map(path => ({ path, type: "f64", role: "state", writable: true }));
  return { content: { $case: "variables", value: { variables } } };
}

test("samples find their variables by number, whatever the order of the picks", () => {
  const recording = new Recording();
  recording.pick(["b", "a"]);
  recording.take(list("a", "b"), 0);
  recording.take(sample(1_000n, [1, 2], 3n), 0);
  assert.deepEqual(
    recording.rows.map(({ value }) => value && textOf(value)),
    ["2", "1"],
  );
  assert.equal(recording.leftOut, 3n);
  recording.pick(["a", "c"]);
  assert.equal(recording.ring.value(0, 0), 1);
  assert.ok(Number.isNaN(recording.ring.value(1, 0)));
});

test("a dense curve leaves out what lies on a straight line, and no corner", () => {
  const ring = new Ring(10_000, 3);
  for (let index = 0; index < 10_000; index += 1) {
    const square = index % 2_000 < 1_000 ? 0 : 1;
    ring.push(index / 1_000, [7, index < 5_000 ? Number.NaN : index, square]);
  }
  const { times, columns, isDense } = thin(ring, 0, 10, 500);
  assert.ok(isDense);
  const drawn = columns.map(column => column.filter(value => value !== undefined).length);
  assert.ok((drawn[0] ?? 0) <= 4, `a constant has ${drawn[0]} points`);
  // The value that each curve has at a time, by the points that are drawn around it.
  const at = (column: (number | null | undefined)[], place: number): number => {
    const before = column.findLastIndex((value, index) => index <= place && value !== undefined);
    const after = column.findIndex((value, index) => index >= place && value !== undefined);
    const [from, to] = [column[before] ?? Number.NaN, column[after] ?? Number.NaN];
    const part = after === before ? 0 : (place - before) / (after - before);
    return from + (to - from) * part;
  };
  for (const [place, time] of times.entries()) {
    const sample = ring.until(time) - 1;
    const [, ramp = [], wave = []] = columns;
    const exact = ring.value(1, sample);
    const isNear = Math.abs(at(ramp, place) - exact) < 5_000 / 100;
    assert.ok(isNear || Number.isNaN(exact) || Number.isNaN(at(ramp, place)), `ramp at ${time}`);
    assert.ok([0, 1].includes(at(wave, place)), `${at(wave, place)} is no value of the wave`);
  }
  assert.ok((drawn[1] ?? 0) > 100, "a ramp is drawn as finely as it can be seen");
  assert.ok((drawn[2] ?? 0) < 50, `the square wave has ${drawn[2]} points`);
});

test("a trend has a gap where nothing was known", () => {
  const recording = new Recording();
  recording.pick(["a"]);
  recording.take(list("a"), 0);
  recording.take(sample(0n, [1]), 0);
  recording.interrupt(2);
  recording.take(list("a"), 5);
  recording.take(sample(5_000_000_000n, [1]), 5);
  assert.deepEqual(thin(recording.ring, 0, 6, 100).columns, [[1, null, 1, 1]]);
});

test("CSV has a line for each sample, with its time to the microsecond", () => {
  const recording = new Recording();
  recording.pick(["a", "odd,name"]);
  recording.take(list("a", "odd,name"), 0);
  const start = 1_795_816_800_000_000_000n;
  recording.take(sample(start, [1.5, 2]), 0);
  recording.take(sample(start + 1_234_000n, [1.75, 2]), 0);
  const at = new Date(Number(start / 1_000_000n)).toISOString().slice(0, 19);
  const lines = ['time,a,"odd,name"', `${at}.000000Z,1.5,2`, `${at}.001234Z,1.75,2`, ""];
  assert.equal(csvOf(recording, 0, 10), lines.join("\r\n"));
  assert.equal(csvOf(recording, 0.001, 10).split("\r\n").length, 3);
});

test("values are short to read and whole to write", () => {
  assert.equal(shortOf(0.1 + 0.2), "0.300000");
  assert.equal(shortOf(-2.5), "\u22122.5");
  assert.equal(textOf({ kind: { $case: "single", value: Math.fround(0.1) } }), "0.1");
});

test("a filter without wildcards finds a part of a path", () => {
  assert.deepEqual([" Kp ", "servo_P.*", ""].map(patternOf), ["*Kp*", "servo_P.*", ""]);
});

test("an address brings back what it was written from", () => {
  const address = {
    view: "variables" as const,
    site: "press-line",
    partition: "axis",
    picks: ["servo_P.Kv", "odd&name=[0]"],
    hidden: ["odd&name=[0]"],
    x: "servo_P.Kv",
    spanS: 30,
    intervalUs: 1_000,
    isFitted: true,
    around: Date.parse("2026-11-27T20:15:03.250Z"),
    trace: 12n,
    run: 3n,
  };
  assert.deepEqual(read(write(address)), address);
  assert.equal(read("#nonsense?site").view, "site");
  assert.equal(read("#site?around=yesterday").around, null);
});

test("a stream that is let go tells nothing more, though more of it has come", async () => {
  const heard: number[] = [];
  const none = () => undefined;
  const connection = new Connection(none, none);
  await new Promise<void>(over => {
    const stop = follow(connection, {
      async *begin() {
        yield* [1, 2, 3];
      },
      begun: none,
      message: message => {
        heard.push(message);
        stop();
        setTimeout(over, 10);
      },
      refused: none,
    });
  });
  assert.deepEqual(heard, [1]);
});

test("tries become rarer and never stop", () => {
  assert.deepEqual([1, 2, 3, 9, 99].map(retryAfterMs), [500, 1_000, 2_000, 8_000, 8_000]);
});

test("the axis of a histogram shows all its values and limits, and no bar is lost", () => {
  const bars = [{ fromNs: 2_000n, toNs: 2_200n, count: 7n }];
  const values = { count: 7n, minNs: 2_000n, maxNs: 2_100n, bars };
  const axis = axisOf([values], [{ name: "limit", ns: 90_000 }]);
  assert.deepEqual(axis, { from: 1_000, to: 1_000_000 });
  assert.deepEqual(
    [1, 1_000, 1_000_000, 1e9].map(ns => placeOf(ns, axis)),
    [0, 0, 1, 1],
  );
  assert.deepEqual(axisOf([], []), { from: 1_000, to: 1_000_000 });
  const heights = [0, 1, 1_000, 1_000_000].map(values => heightOf(values, 1_000_000, 105));
  assert.deepEqual(heights, [0, 5, 55, 105]);
});

test("the end of a trail is found in few questions, wherever it begins", async () => {
  for (const [first, end] of [
    [1n, 1n],
    [1n, 2n],
    [1n, 1_000_001n],
    [70_000n, 70_001n],
  ] as const) {
    let asked = 0;
    const page = async (since: bigint) => {
      asked += 1;
      return { next: since >= end ? since : since < first ? first + 1n : since + 1n };
    };
    assert.equal(await endOf(page), end);
    assert.ok(asked <= 45, `${asked} questions`);
  }
});

test("a record that tells nothing of late releases, or nonsense, has none", () => {
  for (const json of [null, 7, {}, { ledgers: null }, { ledgers: { kept: "x", above: "y" } }]) {
    assert.deepEqual(lateOf("a", json).kept, []);
  }
  const told = { limit_ns: 5, above: 3, kept: [], not_observed: [{ because: "a guest" }] };
  const unseen = lateOf("a", { ledgers: told });
  assert.deepEqual([unseen.above, unseen.because], [3, "a guest"]);
  const odd = lateOf("a", { ledgers: { limit_ns: 5, kept: [null, { course: [3, { ns: {} }] }] } });
  assert.equal(odd.limitNs, 5);
  assert.deepEqual(odd.kept[0]?.course, []);
  assert.deepEqual(odd.kept[1]?.course[1], { cause: "undefined", what: "", atNs: 0, ns: 0 });
});

test("the marks of an axis are multiples of a round number", () => {
  assert.deepEqual(marksOf(498_000), [0, 100_000, 200_000, 300_000, 400_000]);
  assert.deepEqual(marksOf(7), [0, 2, 4, 6]);
  assert.deepEqual(marksOf(0), [0]);
});
