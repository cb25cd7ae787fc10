/** Random messages of the contract, the same in each run, mostly of values at a border. */

import {
  create,
  type DescField,
  type DescMessage,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";

/** Returns a whole number from 0 to below `limit`. */
export type Random = (limit: number) => number;

/** Makes numbers by a linear congruential generator; the upper bits are the better ones. */
export function random(seed: number): Random {
  let state = BigInt(seed);
  return limit => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
    return Number((state >> 33n) % BigInt(limit));
  };
}

const SIGNED = [0n, 1n, -1n, 63n, -64n, 64n, 2n ** 31n, -(2n ** 32n), 2n ** 63n - 1n, -(2n ** 63n)];
const UNSIGNED = [
  0n,
  1n,
  127n,
  128n,
  2n ** 32n - 1n,
  2n ** 32n,
  2n ** 35n,
  2n ** 63n,
  2n ** 64n - 1n,
];
const SIGNED_32 = [0, 1, -1, 63, -64, 64, 2 ** 31 - 1, -(2 ** 31)];
const UNSIGNED_32 = [0, 1, 127, 128, 2 ** 28, 2 ** 32 - 1];
const TEXTS = ["", "axis", "µs", "𝄞 and ✓", "\ufeffmark", "a text of some length ".repeat(9)];

/** Values of each scalar kind. */
export const VALUES: Record<string, unknown[]> = {
  bool: [false, true],
  int32: SIGNED_32,
  sint32: SIGNED_32,
  sfixed32: SIGNED_32,
  uint32: UNSIGNED_32,
  fixed32: UNSIGNED_32,
  int64: SIGNED,
  sint64: SIGNED,
  sfixed64: SIGNED,
  uint64: UNSIGNED,
  fixed64: UNSIGNED,
  float: [0, 1.5, -(2 ** 100), Number.POSITIVE_INFINITY, Number.NaN],
  double: [0, 1.5, 1e300, Number.NEGATIVE_INFINITY, Number.NaN],
  string: TEXTS,
  bytes: [new Uint8Array(0), Uint8Array.of(0, 0xff), new Uint8Array(200).fill(7)],
};

/** Returns a message of the type; some of its fields have no value. */
export function randomMessage(type: DescMessage, random: Random): Message {
  const content: Record<string, unknown> = {};
  for (const member of type.members) {
    if (random(4) === 0) {
      continue;
    }
    if (member.kind === "oneof") {
      const field = member.fields[random(member.fields.length)] as DescField;
      content[member.localName] = { case: field.localName, value: randomValue(field, random) };
    } else if (member.fieldKind === "list") {
      const count = random(4);
      const items = Array.from({ length: count }, () => randomValue(member, random));
      content[member.localName] = items;
    } else {
      content[member.localName] = randomValue(member, random);
    }
  }
  return create(type, content);
}

function randomValue(field: DescField, random: Random): unknown {
  if (field.message !== undefined) {
    return randomMessage(field.message, random);
  }
  const kind = ScalarType[field.scalar ?? ScalarType.INT32]?.toLowerCase() ?? "";
  const values = field.enum?.values.map(({ number }) => number) ?? VALUES[kind] ?? [];
  return values[random(values.length)];
}
