// Compares the contract with that of the branch `main`, of which nothing may be taken away.
//
// What is compared with: where this branch left `main`; without such a branch, the last commit.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";

const BEFORE = "build/contract-of-main";

function git(...words) {
  const { status, stdout } = spawnSync("git", words, { maxBuffer: 64 * 1024 * 1024 });
  return status === 0 ? stdout : null;
}

const base = git("merge-base", "HEAD", "main") ?? git("rev-parse", "HEAD");
const archive = base && git("-C", "..", "archive", base.toString().trim(), "proto");
if (archive === null) {
  process.stdout.write("the contract is compared with nothing: there is no history here\n");
} else {
  rmSync(BEFORE, { recursive: true, force: true });
  mkdirSync(BEFORE, { recursive: true });
  execFileSync("tar", ["-x", "-C", BEFORE], { input: archive });
  const words = ["breaking", "../proto", "--against", `${BEFORE}/proto`];
  process.exit(spawnSync("node_modules/.bin/buf", words, { stdio: "inherit" }).status ?? 1);
}
