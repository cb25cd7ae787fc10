/**
 * gRPC-Web over `fetch`: a call sends one message and gets one, or a stream.
 *
 *     request   POST /SERVICE/CALL    0  length (4 bytes)  message
 *     response  200                 ( 0  length  message )*  128  length  trailers as text
 *
 * Trailers name the status and its sentence; a call that fails at once may name them in the headers
 * instead. A response that ends without a status was cut off. (gRPC's PROTOCOL-WEB.md)
 */

import { CALLS, MESSAGES, PACKAGE, type Services } from "./contract/table";
import { type Codec, codecs } from "./wire/messages";

/** Statuses that the page tells apart; the others are the daemon's refusals. */
export const Status = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  DEADLINE_EXCEEDED: 4,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;

/** The largest message that is taken, in bytes. */
const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;
/** Bytes before a message: its kind and its length. */
const HEAD_BYTES = 5;
const KIND_MESSAGE = 0;
const KIND_TRAILERS = 0x80;

/** A call that failed, with the daemon's sentence. */
export class CallError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export interface CallOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
}

/** The calls of a service, each of which takes options as well. */
export type Client<Service> = {
  [Name in keyof Service]: Service[Name] extends (request: infer Request) => infer Answer
    ? (request: Request, options?: CallOptions) => Answer
    : never;
};

/** Headers that each call has beside its own, as they are when it is made. */
export type Credentials = () => Record<string, string>;

/** A call, as the table of the contract has it. */
interface Method {
  path: string;
  request: Codec;
  response: Codec;
}

const codecOf = codecs(MESSAGES);

/** Makes the calls of a service at the server that the page came from. */
export function client<Name extends keyof Services>(
  service: Name,
  credentials: Credentials,
): Client<Services[Name]> {
  const calls = CALLS[service].split(" ").map(row => {
    const [name = "", isStream] = row.split(/(\*)/);
    const path = `/${PACKAGE}${service}/${name}`;
    const method = {
      path,
      request: codecOf(`${name}Request`),
      response: codecOf(`${name}Response`),
    };
    const call = (request: unknown, options: CallOptions = {}) => {
      const responses = stream(method, request, credentials(), options);
      return isStream ? responses : only(responses);
    };
    return [name.charAt(0).toLowerCase() + name.slice(1), call];
  });
  return Object.fromEntries(calls) as Client<Services[Name]>;
}

/** Returns the one message of a call that is no stream. */
async function only(responses: AsyncIterable<unknown>): Promise<unknown> {
  let found: unknown;
  for await (const response of responses) {
    found = response;
  }
  if (found === undefined) {
    throw new CallError(Status.UNKNOWN, "the answer has no message");
  }
  return found;
}

async function* stream(
  { path, request: sent, response: received }: Method,
  request: unknown,
  credentials: Record<string, string>,
  { signal, timeoutMs }: CallOptions,
): AsyncGenerator<unknown> {
  const limits = [signal, timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)];
  const over = AbortSignal.any(limits.filter(limit => limit !== undefined));
  try {
    const body = framed(sent.write(request));
    const type = "application/grpc-web+proto";
    const headers = { ...credentials, "content-type": type, accept: type, "x-grpc-web": "1" };
    const response = await fetch(path, { method: "POST", headers, body, signal: over });
    if (!response.ok) {
      throw new CallError(Status.UNAVAILABLE, `the daemon answered HTTP ${response.status}`);
    }
    if (response.headers.has("grpc-status")) {
      settle(response.headers);
    }
    for await (const [kind, bytes] of frames(response)) {
      if (kind === KIND_TRAILERS) {
        settle(trailersOf(bytes));
        return;
      }
      if (kind !== KIND_MESSAGE) {
        throw new CallError(Status.UNKNOWN, "the answer is compressed, which was not asked for");
      }
      yield received.read(bytes);
    }
    throw new CallError(Status.UNAVAILABLE, "the answer was cut off");
  } catch (error) {
    throw failure(error);
  }
}

function framed(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(HEAD_BYTES + message.length);
  new DataView(frame.buffer).setUint32(1, message.length);
  frame.set(message, HEAD_BYTES);
  return frame;
}

/** Yields the frames of a response; the reader is let go however the loop over them ends. */
async function* frames(response: Response): AsyncGenerator<[number, Uint8Array]> {
  const reader = response.body?.getReader();
  let held = new Uint8Array(0);
  try {
    while (reader !== undefined) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      held = held.length === 0 ? value : joined(held, value);
      while (held.length >= HEAD_BYTES) {
        const length = new DataView(held.buffer, held.byteOffset).getUint32(1);
        if (length > MESSAGE_BYTES_MAX) {
          throw new CallError(Status.UNKNOWN, "the answer is larger than any that is expected");
        }
        if (held.length < HEAD_BYTES + length) {
          break;
        }
        yield [held[0] ?? KIND_MESSAGE, held.subarray(HEAD_BYTES, HEAD_BYTES + length)];
        held = held.subarray(HEAD_BYTES + length);
      }
    }
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
}

function joined(before: Uint8Array, after: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(before.length + after.length);
  bytes.set(before);
  bytes.set(after, before.length);
  return bytes;
}

function trailersOf(bytes: Uint8Array): Headers {
  const trailers = new Headers();
  for (const line of new TextDecoder().decode(bytes).split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) {
      trailers.set(line.slice(0, colon).trim(), line.slice(colon + 1).trim());
    }
  }
  return trailers;
}

/** Fails unless the status is that of a call that went well. */
function settle(trailers: Headers): void {
  const status = Number(trailers.get("grpc-status") ?? Status.UNKNOWN);
  if (status !== Status.OK) {
    throw new CallError(status, unescaped(trailers.get("grpc-message") ?? ""));
  }
}

/** Returns a sentence from its percent encoding; as it is where that is none. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function failure(error: unknown): CallError {
  if (error instanceof CallError) {
    return error;
  }
  const name = error instanceof Error ? error.name : "";
  if (name === "TimeoutError") {
    return new CallError(Status.DEADLINE_EXCEEDED, "no answer came in time");
  }
  const status = name === "AbortError" ? Status.CANCELLED : Status.UNAVAILABLE;
  return new CallError(status, error instanceof Error ? error.message : String(error));
}
