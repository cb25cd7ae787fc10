/** gRPC-Web read from bytes as a network may bring them. */

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { failureOf, sentenceOf } from "../src/calls";
import { CallError, client, Status } from "../src/grpc";
import { WatchEventsResponseSchema } from "./contract/quietcore/v1/site_pb";

const real = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = real;
});

/** Answers each call with these chunks. */
function answer(chunks: Uint8Array[], init: ResponseInit = {}): void {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) {
        controller.enqueue(chunk);
      }
      controller.close();
    },
  });
  globalThis.fetch = async () => new Response(body, init);
}

function frame(kind: number, bytes: Uint8Array): Uint8Array {
  const framed = new Uint8Array(5 + bytes.length);
  framed[0] = kind;
  new DataView(framed.buffer).setUint32(1, bytes.length);
  framed.set(bytes, 5);
  return framed;
}

const trailers = (text: string) => frame(0x80, new TextEncoder().encode(text));

function event(sequence: bigint): Uint8Array {
  const event = { sequence, partition: "axis", severity: 1, text: "µs" };
  const response = create(WatchEventsResponseSchema, { event });
  return frame(0, toBinary(WatchEventsResponseSchema, response));
}

/** Returns the numbers of the events that come, and the failure at their end. */
async function watched(): Promise<{ numbers: bigint[]; error: CallError | null }> {
  const numbers: bigint[] = [];
  try {
    for await (const { event } of client("SiteService", () => ({})).watchEvents({
      site: "",
      since: 0n,
      pastOnly: false,
    })) {
      assert.equal(event?.text, "µs");
      numbers.push(event.sequence);
    }
    return { numbers, error: null };
  } catch (error) {
    assert.ok(error instanceof CallError);
    return { numbers, error };
  }
}

test("messages are the same however their bytes are cut", async () => {
  const big = 2n ** 63n + 1n;
  const bytes = [event(1n), event(big), event(3n), trailers("grpc-status: 0\r\n")];
  const whole = Uint8Array.from(bytes.flatMap(part => [...part]));
  for (const size of [1, 2, 3, 7, whole.length]) {
    const chunks: Uint8Array[] = [];
    for (let from = 0; from < whole.length; from += size) {
      chunks.push(whole.slice(from, from + size));
    }
    answer(chunks);
    assert.deepEqual(await watched(), { numbers: [1n, big, 3n], error: null }, `by ${size}`);
  }
});

test("a refusal in the trailers keeps its sentence", async () => {
  answer([trailers("grpc-status: 5\r\ngrpc-message: no site %60sa%C3%BCle%60\r\n")]);
  const { error } = await watched();
  assert.equal(error?.status, 5);
  assert.equal(failureOf(error), "refused");
  assert.equal(sentenceOf(error), "No site `saüle`");
});

test("a refusal in the headers needs no body", async () => {
  answer([], { headers: { "grpc-status": "16", "grpc-message": "log in" } });
  assert.equal(failureOf((await watched()).error), "logged out");
});

test("an answer that is cut off, is too large or is none counts as lost", async () => {
  answer([event(1n), event(2n).slice(0, 6)]);
  const cut = await watched();
  assert.deepEqual([cut.numbers, cut.error?.status], [[1n], Status.UNAVAILABLE]);
  answer([Uint8Array.of(0, 0xff, 0xff, 0xff, 0xff)]);
  assert.equal(failureOf((await watched()).error), "lost");
  answer([], { status: 502 });
  assert.equal(failureOf((await watched()).error), "lost");
  globalThis.fetch = () => Promise.reject(new TypeError("Failed to fetch"));
  assert.equal(failureOf((await watched()).error), "lost");
});
