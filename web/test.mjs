// Does all that must hold of the page: builds it, checks types, style and contract, runs the tests.
//
// With names of test files, as in `node test.mjs login`, it builds the page and runs only these.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { run } from "node:test";
import { spec } from "node:test/reporters";

/** Longest time for one test file. */
const FILE_MS_MAX = 300_000;

function step(command, ...words) {
  const { status } = spawnSync(command, words, { stdio: "inherit" });
  if (status !== 0) {
    process.stdout.write(`${[command, ...words].join(" ")} failed\n`);
    process.exit(1);
  }
}

const chosen = process.argv.slice(2);
step("npm", "run", "--silent", "build");
if (chosen.length === 0) {
  step("npm", "run", "--silent", "types");
  step("npm", "run", "--silent", "lint");
  step("npm", "run", "--silent", "proto:lint");
}
step("node", "build.mjs", "tests");

const chromium = process.env.PUPPETEER_EXECUTABLE_PATH ?? "/usr/bin/chromium";
if (!existsSync(chromium)) {
  process.stdout.write(`there is no ${chromium}; install chromium\n`);
  process.exit(1);
}

const names = (await readdir("build/tests")).filter(name => name.endsWith(".test.js"));
const files = names
  .filter(name => chosen.length === 0 || chosen.some(word => name.startsWith(word)))
  .map(name => `build/tests/${name}`);
const counts = { passed: 0, failed: 0 };
const stream = run({ files, concurrency: 1, timeout: FILE_MS_MAX });
stream.on("test:pass", () => {
  counts.passed += 1;
});
stream.on("test:fail", () => {
  counts.failed += 1;
});
stream.on("close", () => {
  const word = counts.failed === 0 && counts.passed > 0 ? "ok" : "FAILED";
  const { passed, failed } = counts;
  process.stdout.write(`test result: ${word}. ${passed} passed; ${failed} failed; 0 ignored\n`);
  process.exitCode = word === "ok" ? 0 : 1;
});
stream.compose(new spec()).pipe(process.stdout);
