// Builds the page into `dist/`; with the word `tests`, its tests into `build/tests/` instead.
//
// `dist/` holds index.html, app.js and app.css and nothing else: the daemon embeds these three.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const shared = { bundle: true, format: "esm", logLevel: "warning", charset: "utf8" };

async function buildPage() {
  const { outputFiles } = await build({
    ...shared,
    entryPoints: ["src/app.ts", "src/app.css"],
    outdir: "dist",
    target: ["es2022"],
    minify: true,
    legalComments: "none",
    write: false,
  });
  await mkdir("dist", { recursive: true });
  for (const { path, contents } of outputFiles) {
    await store(path, contents);
  }
  await store("dist/index.html", await readFile("src/index.html"));
}

/** Writes a file that differs; another date alone would have cargo build the daemon anew. */
async function store(path, contents) {
  const old = await readFile(path).catch(() => null);
  if (old === null || !old.equals(contents)) {
    await writeFile(path, contents);
  }
}

async function buildTests() {
  await rm("build", { recursive: true, force: true });
  const files = await readdir("tests", { recursive: true });
  const entryPoints = files
    .filter(name => name.endsWith(".test.ts") || ["serve.ts", "pictures.ts"].includes(name))
    .map(name => `tests/${name}`);
  await build({
    ...shared,
    entryPoints,
    outdir: "build/tests",
    outbase: "tests",
    platform: "node",
    target: ["node20"],
    packages: "external",
  });
}

await (process.argv[2] === "tests" ? buildTests() : buildPage());
