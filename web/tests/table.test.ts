/** The table of the contract is refused where the page could not read its messages. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  CodeGeneratorRequestSchema,
  CodeGeneratorResponseSchema,
  type DescriptorProto,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import { file_quietcore_v1_variable } from "./contract/quietcore/v1/variable_pb";

/** Returns what the plugin answers for the variables' part of the contract after a change to it. */
function answerTo(change: (file: FileDescriptorProto) => void) {
  const bytes = toBinary(FileDescriptorProtoSchema, file_quietcore_v1_variable.proto);
  const file = fromBinary(FileDescriptorProtoSchema, bytes);
  change(file);
  const request = create(CodeGeneratorRequestSchema, {
    fileToGenerate: [file.name],
    protoFile: [file],
  });
  const input = toBinary(CodeGeneratorRequestSchema, request);
  const { stdout, stderr } = spawnSync("node", ["table.mjs"], { input });
  assert.equal(stderr.toString(), "");
  return fromBinary(CodeGeneratorResponseSchema, stdout);
}

function message(file: FileDescriptorProto, name: string): DescriptorProto {
  const found = file.messageType.find(type => type.name === name);
  assert.ok(found !== undefined);
  return found;
}

test("the contract as it is makes a table", () => {
  const { error, file } = answerTo(() => undefined);
  assert.equal(error, "");
  assert.match(file[0]?.content ?? "", /^ {4}Variable: "1 path string,/m);
});

test("a message within itself is refused", () => {
  const { error } = answerTo(file => {
    const { field } = message(file, "EnumerationValue");
    const [copy] = message(file, "VariableList").field.slice(0, 1);
    assert.ok(copy !== undefined);
    field.push({
      ...copy,
      number: 9,
      name: "value",
      jsonName: "value",
      typeName: ".quietcore.v1.Value",
    });
  });
  assert.match(error, /a message within itself/);
});

test("a call whose messages do not have its name is refused", () => {
  const { error } = answerTo(file => {
    const call = file.service[0]?.method.find(({ name }) => name === "ListVariables");
    assert.ok(call !== undefined);
    call.outputType = ".quietcore.v1.ReadVariablesResponse";
  });
  assert.match(error, /ListVariables: the messages/);
});
