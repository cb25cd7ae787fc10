/** Messages as the page reads and writes them, against the usual library, which uses reflection. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  createRegistry,
  type DescMessage,
  fromBinary,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { MESSAGES, PACKAGE } from "../src/contract/table";
import { codecs } from "../src/wire/messages";
import { file_quietcore_v1_audit } from "./contract/quietcore/v1/audit_pb";
import { file_quietcore_v1_cpu } from "./contract/quietcore/v1/cpu_pb";
import { file_quietcore_v1_host } from "./contract/quietcore/v1/host_pb";
import { file_quietcore_v1_partition } from "./contract/quietcore/v1/partition_pb";
import { file_quietcore_v1_qualification } from "./contract/quietcore/v1/qualification_pb";
import { file_quietcore_v1_site } from "./contract/quietcore/v1/site_pb";
import { file_quietcore_v1_site_version } from "./contract/quietcore/v1/site_version_pb";
import { file_quietcore_v1_timing } from "./contract/quietcore/v1/timing_pb";
import { file_quietcore_v1_trace } from "./contract/quietcore/v1/trace_pb";
import { file_quietcore_v1_variable } from "./contract/quietcore/v1/variable_pb";
import { random, randomMessage, VALUES } from "./random";

/** Messages of each type that are tried. */
const TRIES = 50;

const registry = createRegistry(
  file_quietcore_v1_audit,
  file_quietcore_v1_cpu,
  file_quietcore_v1_timing,
  file_quietcore_v1_variable,
  file_quietcore_v1_site_version,
  file_quietcore_v1_host,
  file_quietcore_v1_partition,
  file_quietcore_v1_qualification,
  file_quietcore_v1_site,
  file_quietcore_v1_trace,
);
const codecOf = codecs(MESSAGES);
const rows = new Map(Object.entries(MESSAGES.rows));
const empty = new Map<string, () => object>(Object.entries(MESSAGES.empty));

function typeOf(name: string): DescMessage {
  const type = registry.getMessage(`${PACKAGE}${name}`);
  assert.ok(type !== undefined, name);
  return type;
}

/** Returns a message of the library as the page has it, without what the page does not read. */
function pageMessage(type: DescMessage, message: Message): object {
  const has = message as unknown as Record<string, unknown>;
  const row = rows.get(type.name) ?? "";
  const listed = new Set([...row.matchAll(/\d (\w+)/g)].map(([, name]) => name));
  const page: Record<string, unknown> = { ...empty.get(type.name)?.() };
  for (const member of type.members.filter(({ localName }) => listed.has(localName))) {
    const value = has[member.localName];
    if (member.kind === "oneof") {
      const sent = value as { case?: string; value?: unknown };
      const field = member.fields.find(({ localName }) => localName === sent.case);
      const inner = field?.message && pageMessage(field.message, sent.value as Message);
      page[member.localName] = field && { $case: sent.case, value: inner ?? sent.value };
    } else if (member.message === undefined) {
      page[member.localName] = value;
    } else if (member.fieldKind === "list") {
      const inner = member.message;
      page[member.localName] = (value as Message[]).map(item => pageMessage(inner, item));
    } else {
      page[member.localName] = value && pageMessage(member.message, value as Message);
    }
  }
  return page;
}

function outcome(read: () => unknown): "read" | "refused" {
  try {
    read();
    return "read";
  } catch (error) {
    assert.ok(error instanceof Error);
    return "refused";
  }
}

test("each message that the page receives is read as the library wrote it", () => {
  for (const name of empty.keys()) {
    const type = typeOf(name);
    for (let seed = 0; seed < TRIES; seed += 1) {
      const message = randomMessage(type, random(seed));
      const read = codecOf(name).read(toBinary(type, message));
      assert.deepEqual(read, pageMessage(type, message), `${name}, seed ${seed}`);
    }
  }
});

test("each message that the page sends is as the library would write it", () => {
  const sent = [...rows.keys()].filter(name => name.endsWith("Request"));
  assert.ok(sent.length > 0);
  for (const name of sent) {
    const type = typeOf(name);
    for (let seed = 0; seed < TRIES; seed += 1) {
      const message = randomMessage(type, random(seed));
      const bytes = codecOf(name).write(pageMessage(type, message));
      assert.deepEqual(fromBinary(type, bytes), message, `${name}, seed ${seed}`);
    }
  }
});

test("a message that is cut off is refused where the library refuses it", () => {
  for (const name of empty.keys()) {
    const type = typeOf(name);
    const bytes = toBinary(type, randomMessage(type, random(1)));
    for (let length = 0; length < bytes.length; length += 1) {
      const cut = bytes.slice(0, length);
      const library = outcome(() => fromBinary(type, cut));
      assert.equal(
        outcome(() => codecOf(name).read(cut)),
        library,
        `${name}, ${length} bytes`,
      );
    }
  }
});

test("reading a damaged message comes to an end", () => {
  const dice = random(2);
  for (const name of empty.keys()) {
    const type = typeOf(name);
    for (let seed = 0; seed < TRIES; seed += 1) {
      const bytes = toBinary(type, randomMessage(type, random(seed)));
      for (let damages = dice(4); damages >= 0 && bytes.length > 0; damages -= 1) {
        bytes[dice(bytes.length)] = dice(256);
      }
      outcome(() => codecOf(name).read(bytes));
    }
  }
});

/** Layouts of the scalar kinds as the library names them. */
const LAYOUTS: Record<string, WireType> = {
  float: WireType.Bit32,
  fixed32: WireType.Bit32,
  sfixed32: WireType.Bit32,
  double: WireType.Bit64,
  fixed64: WireType.Bit64,
  sfixed64: WireType.Bit64,
  string: WireType.LengthDelimited,
  bytes: WireType.LengthDelimited,
};

/** Makes the codec of a message with one field, a list if it is `*`. */
function codecOfField(kind: string, mark: "*" | "?") {
  const [rows, empty] = [{ One: `3 it ${kind}${mark}` }, { One: () => ({ it: [] }) }];
  return codecs({ rows, empty })("One");
}

/** Appends a value with its tag, by the method of the library that has the name of its kind. */
function append(writer: BinaryWriter, kind: string, value: unknown): void {
  writer.tag(3, LAYOUTS[kind] ?? WireType.Varint);
  const methods = writer as unknown as Record<string, (value: unknown) => void>;
  methods[kind]?.(value);
}

test("each scalar kind is read and written, alone and as a list", () => {
  for (const [kind, values] of Object.entries(VALUES)) {
    const apart = new BinaryWriter();
    const one = codecOfField(kind, "?");
    for (const value of values) {
      const writer = new BinaryWriter();
      append(writer, kind, value);
      append(apart, kind, value);
      const bytes = writer.finish();
      assert.deepEqual(one.write({ it: value }), bytes, `${kind} ${value}`);
      assert.deepEqual(one.read(bytes), { it: value }, `${kind} ${value}`);
    }
    const list = codecOfField(kind, "*");
    assert.deepEqual(list.read(list.write({ it: values })), { it: values }, kind);
    assert.deepEqual(list.read(apart.finish()), { it: values }, `${kind}, not packed`);
  }
});

test("a field that is not known is skipped, whatever its layout", () => {
  const unknown = new BinaryWriter();
  unknown
    .tag(900, WireType.Varint)
    .uint64(2n ** 64n - 1n)
    .tag(4, WireType.Bit64)
    .double(1);
  unknown.tag(5, WireType.LengthDelimited).string("new").tag(6, WireType.Bit32).float(1);
  // A known number with another layout is a field that is not known, too.
  unknown.tag(3, WireType.LengthDelimited).string("new");
  const bytes = unknown.tag(3, WireType.Varint).uint32(7).finish();
  assert.deepEqual(codecOfField("uint32", "?").read(bytes), { it: 7 });
});

test("what is no message is refused", () => {
  const texts = {
    "a field with the number 0": [0x00, 0x01],
    "a group": [0x1b, 0x1c],
    "a layout that there is not": [0x1f],
    "an integer of eleven bytes": [0x18, ...new Array(10).fill(0x80), 0],
    "packed numbers that end within one": [0x1a, 0x01, 0x80, 0x01],
    "a length beyond the end": [0x22, 0xff, 0xff, 0xff, 0xff, 0x0f],
  };
  for (const [what, bytes] of Object.entries(texts)) {
    const read = () => codecOfField("uint32", "*").read(Uint8Array.from(bytes));
    assert.throws(read, RangeError, what);
  }
  const text = codecOfField("string", "?");
  assert.throws(() => text.read(Uint8Array.of(0x1a, 1, 0xff)), TypeError, "no UTF-8");
  const rows = { Outer: "1 inner Inner", Inner: "1 number uint32" };
  const outer = codecs({ rows, empty: {} })("Outer");
  assert.throws(() => outer.read(Uint8Array.of(0x0a, 1, 0x08, 0x05)), RangeError, "cut inside");
});

test("a number that its field has no room for is not sent", () => {
  const wrong: [string, unknown][] = [
    ["uint32", -1],
    ["uint32", 2 ** 32],
    ["uint32", 1.5],
    ["int32", 2 ** 31],
    ["sint32", -(2 ** 31) - 1],
    ["uint64", 2n ** 64n],
    ["uint64", -1n],
    ["sint64", 2n ** 63n],
    ["fixed64", -1n],
    ["sfixed32", 2 ** 31],
  ];
  for (const [kind, value] of wrong) {
    const write = () => codecOfField(kind, "?").write({ it: value });
    assert.throws(write, RangeError, `${kind} ${value}`);
  }
});
