/**
 * Reads the parts of protobuf's wire format from bytes that may be malformed.
 *
 * No read leaves the bytes: `DataView` throws a `RangeError` there, and so does `#take`. Each read
 * takes at least one byte or throws, so that a loop until an end comes to one.
 */

/** The layout of a field's value: the lower three bits of its tag. */
export const Wire = { VARINT: 0, BITS64: 1, BYTES: 2, BITS32: 5 } as const;

/** Bits in the ten bytes that a varint has at most; 64 of them count. */
const VARINT_BITS_MAX = 70;
/** Up to this length a text is read without a decoder, whose call costs more than such a text. */
const SHORT_BYTES_MAX = 32;

// A text is exact: bytes that are no UTF-8 are refused, and a byte order mark is kept.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export class Reader {
  /** The number of bytes that were read. */
  at = 0;

  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  /** The upper 32 bits of the last varint. */
  #high = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** Reads a varint; returns its lower 32 bits, with a sign, and keeps the upper ones. */
  #varint(): number {
    const first = this.#view.getUint8(this.at++);
    this.#high = 0;
    if (first < 0x80) {
      return first;
    }
    let low = first & 0x7f;
    for (let shift = 7; shift < VARINT_BITS_MAX; shift += 7) {
      const byte = this.#view.getUint8(this.at++);
      const bits = byte & 0x7f;
      if (shift < 32) {
        low |= bits << shift;
      }
      if (shift > 32) {
        this.#high |= bits << (shift - 32);
      } else if (shift === 28) {
        this.#high = bits >>> 4;
      }
      if (byte < 0x80) {
        return low;
      }
    }
    throw new RangeError("an integer of the message has more than ten bytes");
  }

  bool(): boolean {
    return (this.#varint() | this.#high) !== 0;
  }

  int32(): number {
    return this.#varint();
  }

  uint32(): number {
    return this.#varint() >>> 0;
  }

  sint32(): number {
    const code = this.uint32();
    return (code >>> 1) ^ -(code & 1);
  }

  int64(): bigint {
    return BigInt.asIntN(64, this.uint64());
  }

  uint64(): bigint {
    const low = BigInt(this.uint32());
    return this.#high === 0 ? low : (BigInt(this.#high >>> 0) << 32n) | low;
  }

  sint64(): bigint {
    const low = this.uint32();
    if (this.#high === 0) {
      return BigInt(low % 2 === 0 ? low / 2 : -(low + 1) / 2);
    }
    const code = (BigInt(this.#high >>> 0) << 32n) | BigInt(low);
    return (code >> 1n) ^ -(code & 1n);
  }

  float(): number {
    return this.#view.getFloat32(this.#take(4), true);
  }

  double(): number {
    return this.#view.getFloat64(this.#take(8), true);
  }

  fixed32(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  sfixed32(): number {
    return this.#view.getInt32(this.#take(4), true);
  }

  fixed64(): bigint {
    return this.#view.getBigUint64(this.#take(8), true);
  }

  sfixed64(): bigint {
    return this.#view.getBigInt64(this.#take(8), true);
  }

  /** Reads bytes behind their length; they are a copy. */
  bytes(): Uint8Array {
    const from = this.#take(this.uint32());
    return this.#bytes.slice(from, this.at);
  }

  string(): string {
    const from = this.#take(this.uint32());
    const isShort = this.at - from <= SHORT_BYTES_MAX;
    return (isShort ? this.#ascii(from) : null) ?? utf8.decode(this.#bytes.subarray(from, this.at));
  }

  /** Returns the text from `from` up to where the reader is; null unless it is ASCII. */
  #ascii(from: number): string | null {
    let text = "";
    for (let at = from; at < this.at; at += 1) {
      const byte = this.#view.getUint8(at);
      if (byte >= 0x80) {
        return null;
      }
      text += String.fromCharCode(byte);
    }
    return text;
  }

  /** Reads a length; returns where the bytes behind it end. */
  end(): number {
    const length = this.uint32();
    return this.at + length;
  }

  /** Refuses a part that should have ended here. */
  arrive(end: number): void {
    if (this.at !== end) {
      throw new RangeError("a part of the message ends within a field");
    }
  }

  /** Passes over the value of a field that is not known. */
  skip(tag: number): void {
    const wire = tag & 7;
    if (tag < 8) {
      throw new RangeError("the message has a field with the number 0");
    } else if (wire === Wire.VARINT) {
      this.#varint();
    } else if (wire === Wire.BITS64) {
      this.#take(8);
    } else if (wire === Wire.BYTES) {
      this.#take(this.uint32());
    } else if (wire === Wire.BITS32) {
      this.#take(4);
    } else {
      throw new RangeError(`the message has a field of the unknown layout ${wire}`);
    }
  }

  /** Passes over `count` bytes; returns where they begin. */
  #take(count: number): number {
    const from = this.at;
    this.at += count;
    if (this.at > this.#bytes.length) {
      throw new RangeError("the message ends within a field");
    }
    return from;
  }
}
