/** Runs: started, followed, cancelled and found again; their verdicts, and their files saved. */

import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ElementHandle, Page } from "puppeteer-core";
import { click, shows, WAIT_MS_MAX } from "./browser";
import { RunKind } from "./contract/quietcore/v1/qualification_pb";
import { BROKEN, bytesOf, LARGE } from "./fake/runs";
import { Stage } from "./stage";

const stage = new Stage();
const START = ".runs form button";
const SHOWN = ".runs section";

/** Types what a run is asked for, and starts it, which takes two steps. */
async function start(page: Page, kind: RunKind, fields: Record<string, string>): Promise<void> {
  await click(page, 'nav a[href^="#qualification"]');
  await page.waitForSelector(".runs select");
  await page.select(".runs select", String(kind));
  for (const [name, text] of Object.entries(fields)) {
    await page.locator(`.runs input[name="${name}"]`).fill(text);
  }
  await click(page, START);
  await shows(page, START, /Really start/);
  await click(page, START);
}

/** Has the page save into a folder, whose files `act` can read. */
async function saving(
  page: Page,
  act: (read: (name: string) => Promise<Buffer>) => Promise<void>,
): Promise<void> {
  const downloadPath = await mkdtemp(join(tmpdir(), "quietcore-"));
  const devTools = await page.createCDPSession();
  const browserContextId = page.browserContext().id ?? "";
  await devTools.send("Browser.setDownloadBehavior", {
    behavior: "allow",
    browserContextId,
    downloadPath,
  });
  const read = async (name: string) => {
    const end = Date.now() + WAIT_MS_MAX;
    while (!(await readdir(downloadPath)).includes(name)) {
      assert.ok(Date.now() < end, `${name} never came; there is ${await readdir(downloadPath)}`);
      await new Promise(resolve => setTimeout(resolve, 50));
    }
    return readFile(join(downloadPath, name));
  };
  try {
    await act(read);
  } finally {
    await rm(downloadPath, { recursive: true });
  }
}

/** A site file with the probe alone, which any machine can measure. */
const SITE = `
[site]
name = "bench"

[[partition]]
name = "probe"
class = "process-control"

[partition.vcr]
cpus = [0]

[partition.program]
period = "5 ms"
policy = "other"

[campaign]
profiles = ["tp2"]
warm_up = "100 ms"
exceedance = 1e-3
`;

stage.test(
  "a site file is measured, and the report is saved",
  "engineer",
  async ({ page, complaints }) => {
    const folder = await mkdtemp(join(tmpdir(), "quietcore-"));
    await writeFile(join(folder, "bench.toml"), SITE);
    await click(page, 'nav a[href^="#qualification"]');
    const field = await page.waitForSelector('input[type="file"]');
    await (field as ElementHandle<HTMLInputElement>).uploadFile(join(folder, "bench.toml"));
    await start(page, RunKind.QUALIFY, { profiles: "tp2", duration: "3 s" });
    await shows(page, `${SHOWN} [role=status]`, /running/);
    // Before, the page may still read the file.
    await rm(folder, { recursive: true });
    await shows(page, `${SHOWN} [role=status]`, /complete/);
    await shows(page, `${SHOWN} tbody`, /probe tp2 process-control . (PASS|FAIL|NOT PROVEN) .*\w/);
    await shows(page, `${SHOWN} .log`, /evidence: /);
    const number = await page.$eval(SHOWN, it => /\d+/.exec(it.ariaLabel ?? "")?.[0]);
    assert.match(await page.evaluate(() => location.hash), new RegExp(`[?&]run=${number}$`));
    await shows(page, `.runs [data-run="${number}"]`, /qualify .* ● complete . (PASS|FAIL|NOT)/);
    await saving(page, async read => {
      await shows(page, `${SHOWN} th`, /^Report report\.html$/);
      await click(page, `${SHOWN} button.main`);
      const report = (await read(`run-${number}-report.html`)).toString();
      assert.match(report.slice(0, 20).toLowerCase(), /^<!doctype html>/);
    });
    assert.deepEqual(complaints, []);
  },
);

stage.testFake(
  "each kind has fields of its own, and is asked for what is in them",
  async daemon => {
    const { runs } = daemon.world;
    runs.lengthMs = 100;
    await stage.play(daemon.link("engineer"), async ({ page }) => {
      const names = () => page.$$eval(".runs input[type=text]", all => all.map(({ name }) => name));
      await start(page, RunKind.TUNE, { profiles: "tp4", controls: "governor interrupts" });
      assert.deepEqual(await names(), "profiles controls confirm duration rounds seed".split(" "));
      await shows(page, SHOWN, /tune of press-line.*● complete.*Evidence/);
      await start(page, RunKind.DISTURB, { partitions: "axis", rounds: "3", duration: "1.5 s" });
      assert.deepEqual(await names(), "partitions aggressors duration rounds seed".split(" "));
      await shows(page, SHOWN, /disturb of press-line.*● complete.*Evidence/);
    });
    const [tune, disturb] = runs.asked.slice(-2);
    assert.deepEqual(tune?.source, { case: "site", value: "press-line" });
    assert.deepEqual([tune?.kind, tune?.profiles], [RunKind.TUNE, ["tp4"]]);
    assert.deepEqual(tune?.controls, ["governor", "interrupts"]);
    assert.deepEqual([tune?.durationMs, tune?.rounds, tune?.confirmMs], [0n, 0, 0n]);
    assert.deepEqual([disturb?.kind, disturb?.partitions], [RunKind.DISTURB, ["axis"]]);
    assert.deepEqual([disturb?.rounds, disturb?.durationMs, disturb?.seed], [3, 1_500n, 0n]);
  },
);

stage.testFake("what is wrong is told beside its field, and nothing is started", async daemon => {
  const before = daemon.world.runs.asked.length;
  await stage.play(daemon.link("engineer"), async ({ page }) => {
    await click(page, 'nav a[href^="#qualification"]');
    await page.locator('.runs input[name="duration"]').fill("ten minutes");
    await page.keyboard.press("Enter");
    await shows(page, ".runs .field:has([name=duration])", /Give a number and its unit/);
    const focused = () => page.evaluate(() => (document.activeElement as HTMLInputElement).name);
    assert.equal(await focused(), "duration");
    assert.ok(await page.$('[name="duration"][aria-invalid][aria-describedby="wrong-duration"]'));
    await page.locator('.runs input[name="duration"]').fill("10 min");
    await page.keyboard.press("Enter");
    await shows(
      page,
      ".runs form",
      /Really start A run loads the machine; programs of sites that run may be late/,
    );
    assert.equal(await page.$(".wrong"), null);
    // Whoever changes a field, or the site, is asked anew.
    await page.select(".site select", "saw");
    await shows(page, START, /^Start$/);
    await page.select(".site select", "press-line");
    await page.locator('.runs input[name="profiles"]').fill("none");
    await shows(page, START, /^Start$/);
  });
  assert.equal(daemon.world.runs.asked.length, before);
});

stage.testFake("a refusal is told, as of a second run while one goes on", async daemon => {
  daemon.world.runs.lengthMs = 60_000;
  await stage.play(daemon.link("engineer"), async ({ page }) => {
    await start(page, RunKind.QUALIFY, { profiles: "none" });
    await shows(page, ".runs > [role=alert]", /Profile none: the site has no such profile/);
    await start(page, RunKind.QUALIFY, { profiles: "tp2" });
    await shows(page, SHOWN, /○ running/);
    assert.equal(await page.$(".runs > [role=alert]"), null);
    await start(page, RunKind.DISTURB, {});
    await shows(page, ".runs > [role=alert]", /Run \d+ goes on, started by anna in the live page/);
    await cancel(page);
  });
});

async function cancel(page: Page): Promise<void> {
  await click(page, `${SHOWN} button`);
  await shows(page, `${SHOWN} button`, /Really cancel/);
  await click(page, `${SHOWN} button`);
  await shows(page, SHOWN, /▲ cancelled by .*Evidence/);
}

stage.testFake("a run goes on without the page, which finds it again", async daemon => {
  daemon.world.runs.lengthMs = 60_000;
  await stage.play(daemon.link("engineer"), async ({ page }) => {
    await start(page, RunKind.QUALIFY, {});
    await shows(page, `${SHOWN} .figures`, /done \d+.% .* left \d+.s .* profile tp2/);
    await shows(page, `${SHOWN} .figures`, /measured axis, tank/);
    await shows(page, `${SHOWN} .log`, /2 partitions, profiles tp2, tp4.*kernel threads/);
  });
  await stage.play(daemon.link("engineer"), async ({ page }) => {
    await click(page, 'nav a[href^="#qualification"]');
    await shows(page, SHOWN, /○ running/);
    const value = () => page.$eval("progress", bar => bar.value);
    const before = await value();
    await page.waitForFunction(
      before => (document.querySelector("progress")?.value ?? 0) > before,
      {},
      before,
    );
    await cancel(page);
    await shows(page, ".runs [data-run]:first-child", /▲ cancelled by anna .* NOT PROVEN/);
    await shows(page, `${SHOWN} tbody`, /tp4 .* ▲ NOT PROVEN .* 2.995.732/);
  });
});

stage.testFake(
  "a stream that breaks is taken up again, and no remark is there twice",
  async daemon => {
    daemon.world.runs.lengthMs = 12_000;
    await stage.play(daemon.link("engineer"), async ({ page, complaints }) => {
      await start(page, RunKind.QUALIFY, {});
      await shows(page, `${SHOWN} [role=status]`, /running/);
      await shows(page, `${SHOWN} .log`, /warming up/);
      await daemon.stop();
      await shows(page, ".banner", /does not answer/);
      await daemon.start();
      await shows(page, `${SHOWN} [role=status]`, /● complete/);
      const remarks = await page.$$eval(`${SHOWN} .log > div > div`, all =>
        all.map(line => line.textContent?.trim()),
      );
      assert.equal(remarks.length, 7, remarks.join("\n"));
      assert.equal(new Set(remarks).size, remarks.length);
      assert.deepEqual(complaints, []);
    });
  },
);

stage.testFake(
  "a run is chosen by keyboard; it has verdicts, files, or the reason why not",
  async daemon => {
    await stage.play(daemon.link("viewer"), async ({ page }) => {
      await page.evaluate(() => (location.hash = "qualification?run=1"));
      await shows(page, `${SHOWN} .title`, /Run 1 qualify of press-line.*● complete ■ FAIL/);
      await shows(page, `${SHOWN} tbody tr:nth-child(2)`, /axis tp4 motion-control ■ FAIL 1 of 10/);
      await shows(
        page,
        ".runs tbody",
        /tank process-control ● PASS ▲ expired kernel .*-27.* → .*-28/,
      );
      await shows(page, ".runs tbody", /axis motion-control ■ FAIL ● holds – run 1/);
      await page.focus('[aria-label="Show run 2"]');
      await page.keyboard.press("Enter");
      await shows(page, SHOWN, /Run 2 tune of press-line.*■ failed.*profile broken needs root/);
      await shows(page, SHOWN, /It has left no evidence/);
      assert.ok(await page.$('[data-run="2"][aria-current="true"]'));
      assert.match(await page.evaluate(() => location.hash), /run=2/);
      await page.evaluate(() => (location.hash = "qualification?run=99"));
      await shows(page, ".runs > [role=alert]", /There is no run 99/);
    });
  },
);

stage.testFake(
  "files are saved byte by byte, and one that is too large is refused",
  async daemon => {
    await stage.play(daemon.link("viewer"), async ({ page }) => {
      await page.evaluate(() => (location.hash = "qualification?run=1"));
      await saving(page, async read => {
        for (const name of ["report.html", "records/axis.tp2.json"]) {
          await click(page, `[aria-label="Save ${name}"]:enabled`);
          const saved = await read(`run-1-${name.replace("/", "-")}`);
          assert.ok(saved.equals(bytesOf(name, 1n)), `${name}: ${saved.length} bytes`);
        }
        await click(page, `[aria-label="Save ${LARGE}"]:enabled`);
        await shows(page, ".runs > [role=alert]", /has 315 MB; the page fetches 268 MB at most/);
      });
    });
  },
);

stage.testFake("a late release is drawn in the order of time", async daemon => {
  await stage.play(daemon.link("viewer"), async ({ page, complaints }) => {
    await page.evaluate(() => (location.hash = "qualification?run=1"));
    await click(page, '[aria-label="Late releases of axis.tp4"]');
    await shows(page, ".gantt", /spinner \(99\) thread/);
    await shows(page, SHOWN, /7 releases later than 50.0 µs; this one on CPU 1/);
    const rows = await page.$$eval(".gantt svg[role=img]", all =>
      all.map(row =>
        [...row.querySelectorAll("rect")].map(one => Math.round(Number(one.getAttribute("x")))),
      ),
    );
    assert.equal(rows.length, 8, "a row for each cause");
    assert.deepEqual(rows[2], [22, 371], "two pieces of the thread, in thousandths");
    const buttons = await page.$$eval('[aria-label^="Late releases of"]', all => all.length);
    assert.equal(buttons, 3, "one for each record, and the section itself");
    await shows(page, SHOWN, /the trace begins after the release was due\./);
    await page.select('[aria-label="Release"]', "1");
    await shows(page, SHOWN, /It was not traced/);
    // Its file is no JSON in the fake world.
    await click(page, '[aria-label="Late releases of axis.tp2"]');
    await shows(page, ".runs > [role=alert]", /JSON/);
    assert.deepEqual(complaints, []);
  });
});

stage.testFake("a file is given up with its run, and at the end of the session", async daemon => {
  const { runs } = daemon.world;
  runs.isSlow = true;
  const given = async (times: number) => {
    const end = Date.now() + WAIT_MS_MAX;
    while (runs.givenUp < times) {
      assert.ok(Date.now() < end, `${runs.givenUp} were given up, not ${times}`);
      await new Promise(resolve => setTimeout(resolve, 20));
    }
  };
  await stage.play(daemon.link("viewer"), async ({ page, complaints }) => {
    await page.evaluate(() => (location.hash = "qualification?run=1"));
    await click(page, '[aria-label="Save report.html"]:enabled');
    await shows(page, SHOWN, /262 kB …/);
    await click(page, '[aria-label="Show run 3"]');
    await given(1);
    await page.waitForSelector('[aria-label="Save report.html"]:enabled');
    assert.equal(await page.$(".runs > [role=alert]"), null, "that is no refusal");
    await click(page, '[aria-label="Save report.html"]:enabled');
    await shows(page, SHOWN, /262 kB …/);
    await click(page, ".who button");
    await given(2);
    assert.deepEqual(complaints, []);
  });
});

stage.test("a viewer looks and starts nothing", "viewer", async ({ page }) => {
  await click(page, 'nav a[href^="#qualification"]');
  await shows(page, ".runs form", /Starting and cancelling need the role engineer/);
  assert.ok(await page.$(`${START}:disabled`));
});

stage.testFake("a run that fails says why", async daemon => {
  daemon.world.runs.lengthMs = 200;
  await stage.play(daemon.link("engineer"), async ({ page }) => {
    await start(page, RunKind.QUALIFY, { profiles: BROKEN });
    await shows(page, SHOWN, /■ failed.*needs root/);
    await shows(page, ".runs [data-run]:first-child", /■ failed quietcore: the profile broken/);
  });
});
