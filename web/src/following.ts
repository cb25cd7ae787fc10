/** A stream of the daemon that is followed for as long as somebody looks, through lost connections. */

import { failureOf, sentenceOf } from "./calls";
import { type Connection, retryAfterMs, sleep } from "./connection";

/** A stream: how it is begun, and what its messages and its refusal are for. */
export interface Stream<Message> {
  begin(signal: AbortSignal): AsyncIterable<Message>;
  /** Hears that the stream begins anew, so that what came before is out of date. */
  begun(): void;
  message(message: Message): void;
  /** Hears that the stream broke or ended; it is going to be begun anew. */
  ended?(): void;
  /** Hears the daemon's sentence where it refuses the stream; null once one goes on. */
  refused(sentence: string | null): void;
}

/**
 * Follows a stream until the returned function is called.
 *
 * A stream that breaks or ends is begun anew: at once if the daemon answers, and with a growing
 * pause while it refuses.
 */
export function follow<Message>(connection: Connection, stream: Stream<Message>): () => void {
  const end = new AbortController();
  void run(connection, stream, end.signal);
  return () => end.abort();
}

async function run<Message>(
  connection: Connection,
  stream: Stream<Message>,
  signal: AbortSignal,
): Promise<void> {
  let failed = 0;
  while (!signal.aborted) {
    await connection.live();
    if (signal.aborted) {
      return;
    }
    let heard = false;
    try {
      for await (const message of stream.begin(signal)) {
        // What has come already is read to its end, whatever becomes of the stream.
        if (signal.aborted) {
          return;
        }
        if (!heard) {
          heard = true;
          failed = 0;
          stream.begun();
          stream.refused(null);
        }
        stream.message(message);
      }
    } catch (error) {
      if (signal.aborted) {
        return;
      }
      if (failureOf(error) === "refused") {
        stream.refused(sentenceOf(error));
      } else {
        connection.doubt(error);
      }
    }
    stream.ended?.();
    failed += 1;
    await sleep(retryAfterMs(failed), signal);
  }
}
