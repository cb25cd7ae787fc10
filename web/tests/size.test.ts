/** The page's files: these three and no more, and small. */

import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

/** Bytes of the page's files together. */
const BYTES_MAX = 200_000;

test("the page's files are small, and ask no other server for anything", async () => {
  const names = (await readdir("dist")).filter(name => !name.startsWith(".")).sort();
  assert.deepEqual(names, ["app.css", "app.js", "index.html"]);
  let all = 0;
  let packed = 0;
  for (const name of names) {
    const bytes = await readFile(`dist/${name}`);
    all += bytes.length;
    packed += gzipSync(bytes).length;
    const addresses = bytes.toString().match(/https?:\/\/[a-z][^\s"'`)]*/g) ?? [];
    const loaded = addresses.filter(address => !address.startsWith("http://www.w3.org/"));
    assert.deepEqual(loaded, [], `${name} names other servers`);
  }
  process.stdout.write(`size of the page: ${all} bytes, ${packed} packed; at most ${BYTES_MAX}\n`);
  assert.ok(all <= BYTES_MAX, `${all} bytes are more than ${BYTES_MAX}`);
});
