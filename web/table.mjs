// A plugin of buf that makes `src/contract/table.ts`: the part of the contract that the page needs,
// by which `src/wire/messages.ts` reads and writes messages.
//
// A call is in the table if the page's own code contains its name. A message that is sent is there
// with all its fields, since the code may pass on what it has from elsewhere; one that is received,
// with the fields whose names the code contains. Others are skipped and remain as in the empty
// message, which the table has for each that is received.
//
// The row of a message lists its fields, separated by commas:
//
//     NUMBER [ONEOF.]NAME KIND[*|?]     * repeated, ? optional; KIND is a scalar or a message
//
// The row of a service lists its calls, separated by spaces; `*` marks one that answers with a
// stream. The messages of a call have its name, followed by `Request` and `Response`.
import { readdirSync, readFileSync } from "node:fs";
import { create, createFileRegistry, fromBinary, ScalarType, toBinary } from "@bufbuild/protobuf";
import {
  CodeGeneratorRequestSchema,
  CodeGeneratorResponse_Feature,
  CodeGeneratorResponseSchema,
  FeatureSet_FieldPresence,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";

/** The beginning of the names that the contract gives. */
const PACKAGE = "quietcore.v1.";
/** Folders of `src` in which no name of a call or field stands for its use. */
const NO_USE = /^(contract|wire)\//;

/** Returns the words of the page's own code. */
function wordsOfPage() {
  const files = readdirSync("src", { recursive: true });
  const own = files.filter(name => name.endsWith(".ts") && !NO_USE.test(name));
  return new Set(own.flatMap(name => readFileSync(`src/${name}`, "utf8").match(/\w+/g) ?? []));
}

/** Returns the name of a message or service that ts-proto gives it, as in `Outer_Inner`. */
function nameOf({ typeName }) {
  if (!typeName.startsWith(PACKAGE)) {
    throw new Error(`${typeName}: the page takes part in "${PACKAGE}" only`);
  }
  return typeName.slice(PACKAGE.length).replaceAll(".", "_");
}

/** Returns the name under which a message has a field or oneof. */
function keyOf(member) {
  return member.kind === "oneof" ? member.localName : member.jsonName;
}

function isOptional(field) {
  const hasPresence = field.presence === FeatureSet_FieldPresence.EXPLICIT;
  return hasPresence && field.message === undefined && field.oneof === undefined;
}

/** Returns the kind of a field's values; that of an enumeration is the integer that is sent. */
function kindOf({ message, scalar }) {
  if (message !== undefined) {
    return nameOf(message);
  }
  return ScalarType[scalar ?? ScalarType.INT32].toLowerCase();
}

/** Returns a field's part of a row; refuses a field that messages.ts could not read. */
function rowOf(field) {
  if (field.fieldKind === "map" || field.delimitedEncoding) {
    throw new Error(`${field}: the page reads neither maps nor groups`);
  }
  const name = field.oneof === undefined ? keyOf(field) : `${keyOf(field.oneof)}.${keyOf(field)}`;
  const mark = field.fieldKind === "list" ? "*" : isOptional(field) ? "?" : "";
  return `${field.number} ${name} ${kindOf(field)}${mark}`;
}

/** Returns the code of what a member of a message is where nothing was sent. */
function emptyOf(member) {
  if (member.fieldKind === "list") {
    return "[]";
  }
  if (member.kind === "oneof" || member.message !== undefined || isOptional(member)) {
    return "undefined";
  }
  switch (kindOf(member)) {
    case "string":
      return '""';
    case "bytes":
      return "new Uint8Array(0)";
    case "bool":
      return "false";
    default:
      return kindOf(member).endsWith("64") ? "0n" : "0";
  }
}

/** Returns the messages that `first` leads to, each with the row of its fields that are needed. */
function reached(first, isNeeded) {
  const rows = new Map();
  const visit = (message, above) => {
    if (above.includes(message)) {
      throw new Error(`${message}: a message within itself may be nested without end`);
    }
    const fields = message.fields.filter(isNeeded);
    rows.set(message, fields.map(rowOf).join(","));
    for (const field of fields.filter(({ message }) => message !== undefined)) {
      visit(field.message, [...above, message]);
    }
  };
  for (const message of first) {
    visit(message, []);
  }
  return rows;
}

/** Returns a call's part of a row. */
function callOf({ name, input, output, methodKind }) {
  if (nameOf(input) !== `${name}Request` || nameOf(output) !== `${name}Response`) {
    throw new Error(`${name}: the messages of a call have to have its name`);
  }
  if (methodKind !== "unary" && methodKind !== "server_streaming") {
    throw new Error(`${name}: the page sends one message with a call`);
  }
  return methodKind === "unary" ? name : `${name}*`;
}

function table(files) {
  const words = wordsOfPage();
  const isCalled = call => words.has(call.localName);
  const services = files.flatMap(file => file.services).filter(each => each.methods.some(isCalled));
  const calls = services.flatMap(service => service.methods.filter(isCalled));
  const isNamed = field => words.has(keyOf(field.oneof ?? field));
  const received = reached(
    calls.map(({ output }) => output),
    isNamed,
  );
  const sent = reached(
    calls.map(({ input }) => input),
    () => true,
  );
  // What is both sent and received has all its fields, and so has all that they lead to.
  const both = [...received.keys()].filter(message => sent.has(message));
  for (const [message, row] of reached(both, () => true)) {
    received.set(message, row);
  }
  const rows = new Map([...received, ...sent]);

  const types = [...services, ...received.keys()];
  const imports = types.map(type => `import type { ${nameOf(type)} } from "./${type.file.name}";`);
  const interfaces = services.map(service => `  ${nameOf(service)}: ${nameOf(service)};`);
  const callRows = services.map(
    service => `  ${nameOf(service)}: "${service.methods.filter(isCalled).map(callOf).join(" ")}",`,
  );
  const messageRows = [...rows].map(([message, row]) => `    ${nameOf(message)}: "${row}",`);
  const empty = [...received.keys()].map(message => {
    const members = message.members.map(member => `${keyOf(member)}: ${emptyOf(member)}`);
    return `    ${nameOf(message)}: (): ${nameOf(message)} => ({ ${members.join(", ")} }),`;
  });
  return `// Made by table.mjs, which describes the rows.

${imports.join("\n")}

/** The services that the page calls. */
export interface Services {
${interfaces.join("\n")}
}

export const PACKAGE = "${PACKAGE}";

export const CALLS: Record<keyof Services, string> = {
${callRows.join("\n")}
};

export const MESSAGES = {
  rows: {
${messageRows.join("\n")}
  },
  empty: {
${empty.join("\n")}
  },
};
`;
}

/** Answers buf, which prints an `error` and fails. */
function answer({ protoFile, fileToGenerate }) {
  const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: protoFile }));
  try {
    const content = table(fileToGenerate.map(name => registry.getFile(name)));
    return { file: [{ name: "table.ts", content }] };
  } catch (error) {
    return { error: error.message };
  }
}

const request = fromBinary(CodeGeneratorRequestSchema, readFileSync(0));
const supportedFeatures = BigInt(CodeGeneratorResponse_Feature.PROTO3_OPTIONAL);
const response = create(CodeGeneratorResponseSchema, { ...answer(request), supportedFeatures });
process.stdout.write(toBinary(CodeGeneratorResponseSchema, response));
