/**
 * Reads and writes messages by a table, which `table.mjs` makes of the contract.
 *
 * A message is an object as the types of the contract describe it. Where nothing was sent for a
 * field it is as in the empty message. A field that the table does not list is skipped.
 */

import { type Kind, SCALARS } from "./kinds";
import { Reader, Wire } from "./reader";
import { writeBytes, writeVarint } from "./writer";

/** What is known of messages, by their names. */
export interface Table {
  /** A row for each message; `table.mjs` says what a row contains. */
  rows: Record<string, string>;
  /** Makes the empty message of each that is read; literals, which are faster than rows. */
  empty: Record<string, () => object>;
}

/** Reads and writes messages of one type. */
export interface Codec {
  /** Reads a message; throws if the bytes are none. */
  read(bytes: Uint8Array): unknown;
  write(message: unknown): Uint8Array<ArrayBuffer>;
}

type Message = Record<string, unknown>;

/** A field of a message, as its row describes it. */
interface Field {
  number: number;
  /** The oneof that it is a member of. */
  oneof: string | undefined;
  name: string;
  kind: Kind;
  isRepeated: boolean;
  isOptional: boolean;
}

/** The member of a oneof that is sent. */
interface Member {
  $case: string;
  value: unknown;
}

const FIELD = /^(\d+) (?:(\w+)\.)?(\w+) (\w+)([*?]?)$/;

/** Returns a function that makes the codec of a message by its name. */
export function codecs({ rows, empty }: Table): (name: string) => Codec {
  const kinds = new Map(Object.entries(SCALARS));
  const kindOf = (name: string): Kind => {
    const kind = kinds.get(name) ?? messageKind(fieldsOf(rows[name], kindOf), empty[name]);
    kinds.set(name, kind);
    return kind;
  };
  return name => {
    const fields = fieldsOf(rows[name], kindOf);
    const read = reading(fields, empty[name]);
    return {
      read: bytes => read(new Reader(bytes), bytes.length),
      write: message => Uint8Array.from(written(fields, message as Message)),
    };
  };
}

/** Returns the kind of the messages that have these fields; each is behind its length. */
function messageKind(fields: Field[], empty: (() => object) | undefined): Kind {
  const read = reading(fields, empty);
  return {
    wire: Wire.BYTES,
    zero: undefined,
    read: reader => read(reader, reader.end()),
    write: (bytes, message) => writeBytes(bytes, written(fields, message as Message)),
  };
}

function fieldsOf(row: string | undefined, kindOf: (name: string) => Kind): Field[] {
  const texts = row === "" ? [] : (row?.split(",") ?? [""]);
  return texts.map(text => {
    const [, number, oneof, name, kind, mark] = FIELD.exec(text) ?? [];
    if (name === undefined || kind === undefined) {
      throw new Error(`the table has no field in "${text}"`);
    }
    const [isRepeated, isOptional] = [mark === "*", mark === "?"];
    return { number: Number(number), oneof, name, kind: kindOf(kind), isRepeated, isOptional };
  });
}

function tagOf(number: number, wire: number): number {
  return number * 8 + wire;
}

/** Returns a function that reads a message which ends at `end`. */
function reading(fields: Field[], empty: () => object = () => ({})) {
  const known: (Field | undefined)[] = [];
  for (const field of fields) {
    known[tagOf(field.number, field.kind.wire)] = field;
    if (field.isRepeated) {
      known[tagOf(field.number, Wire.BYTES)] = field;
    }
  }
  return (reader: Reader, end: number): Message => {
    const message = empty() as Message;
    while (reader.at < end) {
      const tag = reader.uint32();
      const field = known[tag];
      if (field === undefined) {
        reader.skip(tag);
      } else if (field.oneof !== undefined) {
        message[field.oneof] = { $case: field.name, value: field.kind.read(reader) };
      } else if (!field.isRepeated) {
        message[field.name] = field.kind.read(reader);
      } else if ((tag & 7) === field.kind.wire) {
        (message[field.name] as unknown[]).push(field.kind.read(reader));
      } else {
        readPacked(reader, field.kind, message[field.name] as unknown[]);
      }
    }
    reader.arrive(end);
    return message;
  };
}

/** Reads numbers that are packed behind one tag and their length. */
function readPacked(reader: Reader, kind: Kind, list: unknown[]): void {
  const end = reader.end();
  while (reader.at < end) {
    list.push(kind.read(reader));
  }
  reader.arrive(end);
}

function written(fields: Field[], message: Message): number[] {
  const bytes: number[] = [];
  for (const field of fields) {
    writeField(bytes, field, message);
  }
  return bytes;
}

function writeField(bytes: number[], field: Field, message: Message): void {
  const { number, oneof, name, kind, isRepeated, isOptional } = field;
  const write = (value: unknown) => {
    writeVarint(bytes, BigInt(tagOf(number, kind.wire)));
    kind.write(bytes, value);
  };
  const value = message[oneof ?? name];
  if (oneof !== undefined) {
    const member = value as Member | undefined;
    if (member?.$case === name) {
      write(member.value);
    }
  } else if (isRepeated) {
    const list = value as unknown[];
    if (kind.wire === Wire.BYTES) {
      list.forEach(write);
    } else if (list.length > 0) {
      writeVarint(bytes, BigInt(tagOf(number, Wire.BYTES)));
      writeBytes(bytes, packed(kind, list));
    }
  } else if (value !== undefined && (isOptional || value !== kind.zero)) {
    write(value);
  }
}

function packed(kind: Kind, list: unknown[]): number[] {
  const bytes: number[] = [];
  for (const value of list) {
    kind.write(bytes, value);
  }
  return bytes;
}
