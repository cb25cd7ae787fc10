/** The scalar kinds of protobuf, each with how its values are read and written. */

import { type Reader, Wire } from "./reader";
import { writeBytes, writeFixed, writeVarint } from "./writer";

/** A kind of values that a field may have; messages make further ones. */
export interface Kind<T = unknown> {
  /** The layout of a value, one of `Wire`. */
  wire: number;
  /** The value that is not sent unless the field is optional. */
  zero: T;
  read(reader: Reader): T;
  /** Appends a value; refuses an integer that is out of the range. */
  write(bytes: number[], value: T): void;
}

const utf8 = new TextEncoder();

const asInt32 = (value: bigint) => BigInt.asIntN(32, value);
const asUint32 = (value: bigint) => BigInt.asUintN(32, value);
const asInt64 = (value: bigint) => BigInt.asIntN(64, value);
const asUint64 = (value: bigint) => BigInt.asUintN(64, value);

/** ZigZag gives small negative integers short varints: 0, -1, 1, -2 become 0, 1, 2, 3. */
const zigzag = (value: bigint) => (value << 1n) ^ (value >> 63n);

/** Returns an integer that `wrap` leaves as it is, since it is in the range. */
function inRange(value: number | bigint, wrap: (value: bigint) => bigint): bigint {
  const exact = BigInt(value);
  if (wrap(exact) !== exact) {
    throw new RangeError(`${value} is out of the range of its field`);
  }
  return exact;
}

/** Integers as varints. */
function varint<T extends number | bigint>(
  zero: T,
  read: (reader: Reader) => T,
  wrap: (value: bigint) => bigint,
  encode = asUint64,
): Kind<T> {
  const write = (bytes: number[], value: T) => writeVarint(bytes, encode(inRange(value, wrap)));
  return { wire: Wire.VARINT, zero, read, write };
}

/** Numbers that take `size` bytes, which `set` puts there. */
function fixed<T extends number | bigint>(
  size: 4 | 8,
  zero: T,
  read: (reader: Reader) => T,
  set: (view: DataView, value: T) => void,
): Kind<T> {
  const write = (bytes: number[], value: T) => writeFixed(bytes, size, view => set(view, value));
  return { wire: size === 4 ? Wire.BITS32 : Wire.BITS64, zero, read, write };
}

const bool: Kind<boolean> = {
  wire: Wire.VARINT,
  zero: false,
  read: from => from.bool(),
  write: (bytes, value) => bytes.push(value ? 1 : 0),
};

const float = fixed(
  4,
  0,
  from => from.float(),
  (view, value) => view.setFloat32(0, value, true),
);

const double = fixed(
  8,
  0,
  from => from.double(),
  (view, value) => view.setFloat64(0, value, true),
);

const fixed32 = fixed(
  4,
  0,
  from => from.fixed32(),
  (view, value) => view.setUint32(0, Number(inRange(value, asUint32)), true),
);

const sfixed32 = fixed(
  4,
  0,
  from => from.sfixed32(),
  (view, value) => view.setInt32(0, Number(inRange(value, asInt32)), true),
);

const fixed64 = fixed(
  8,
  0n,
  from => from.fixed64(),
  (view, value) => view.setBigUint64(0, inRange(value, asUint64), true),
);

const sfixed64 = fixed(
  8,
  0n,
  from => from.sfixed64(),
  (view, value) => view.setBigInt64(0, inRange(value, asInt64), true),
);

const string: Kind<string> = {
  wire: Wire.BYTES,
  zero: "",
  read: from => from.string(),
  write: (bytes, value) => writeBytes(bytes, utf8.encode(value)),
};

const bytes: Kind<Uint8Array> = {
  wire: Wire.BYTES,
  zero: new Uint8Array(0),
  read: from => from.bytes(),
  write: writeBytes,
};

/** The scalar kinds by their names in the contract. */
export const SCALARS: Record<string, Kind> = {
  bool,
  int32: varint(0, from => from.int32(), asInt32),
  uint32: varint(0, from => from.uint32(), asUint32),
  sint32: varint(0, from => from.sint32(), asInt32, zigzag),
  int64: varint(0n, from => from.int64(), asInt64),
  uint64: varint(0n, from => from.uint64(), asUint64),
  sint64: varint(0n, from => from.sint64(), asInt64, zigzag),
  float,
  double,
  fixed32,
  sfixed32,
  fixed64,
  sfixed64,
  string,
  bytes,
};
