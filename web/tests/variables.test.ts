/** Variables found, picked, followed and drawn. */

import assert from "node:assert/strict";
import { connect } from "node:net";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { Page } from "puppeteer-core";
import { click, shows, WAIT_MS_MAX } from "./browser";
import { VariableService } from "./contract/quietcore/v1/variable_pb";
import { Stage } from "./stage";

const stage = new Stage();

/** Goes to the variables with some of them picked. */
async function pick(page: Page, ...paths: string[]): Promise<void> {
  const query = paths.map(path => `&pick=${encodeURIComponent(path)}`).join("");
  await page.evaluate(query => {
    location.hash = `variables?${query}`;
  }, query);
  for (const path of paths) {
    await shows(page, `tr[data-variable="${path}"] td.value`, /\d|true|false/);
  }
}

/** Waits until the page knows of a later cycle, and so has got another sample. */
async function anotherCycle(page: Page): Promise<void> {
  const cycle = () => document.querySelector(".scope .title > .quiet")?.textContent;
  const before = await page.evaluate(cycle);
  await page.waitForFunction(
    before => document.querySelector(".scope .title > .quiet")?.textContent !== before,
    {},
    before,
  );
}

/** Returns the time between the cursors as it is shown. */
function betweenCursors(page: Page): Promise<string> {
  return page.$eval(".measured output", output => (output as HTMLElement).innerText);
}

stage.test("a filter finds variables and a click picks them", "viewer", async ({ page }) => {
  await click(page, 'nav a[href^="#variables"]');
  await shows(page, ".list li:first-child", /\S/);
  await page.locator('input[type="search"]').fill("*_P.K*");
  await shows(page, ".list li:first-child", /servo_P\.K/);
  await page.waitForFunction(() =>
    [...document.querySelectorAll(".list code")].every(code => code.textContent?.includes("_P.K")),
  );
  await click(page, ".list li:first-child input");
  await shows(page, ".picks td.value", /\d/);
  const picked = await page.$eval(".picks tbody code", code => code.textContent);
  assert.ok(page.url().includes(`pick=${picked}`), page.url());
  await page.reload();
  await shows(page, ".picks tbody code", /servo_P\.K/);
  await click(page, `[aria-label="Drop ${picked}"]`);
  await shows(page, ".scope", /Pick variables to see/);
});

stage.testFake("variables come by pages", async daemon => {
  await stage.play(daemon.link("viewer"), async ({ page }) => {
    await click(page, 'nav a[href^="#variables"]');
    await shows(page, ".list li:last-child", /filter\[90\]/);
    await click(page, ".pages button:last-of-type");
    await shows(page, ".list li:first-child", /filter\[91\]/);
    await shows(page, ".pages", /page 2/);
    await click(page, ".pages button:last-of-type");
    await shows(page, ".pages", /page 3, the last/);
    await click(page, ".pages button:first-of-type");
    await shows(page, ".list li:first-child", /filter\[91\]/);
    await page.locator('input[type="search"]').fill("nothing like it");
    await shows(page, ".list", /No variable has such a name/);
  });
});

stage.test(
  "the scope draws what comes, and stands still while paused",
  "viewer",
  async ({ page, complaints }) => {
    await pick(page, "servo_P.Kv", "servo_B.position");
    const inView = () =>
      page.$eval("#scope-keys", note => Number.parseInt((note as HTMLElement).innerText, 10));
    await page.waitForFunction(
      () => Number.parseInt(document.querySelector("#scope-keys")?.textContent ?? "", 10) >= 3,
    );
    await page.waitForFunction(() => {
      // Traces have a colour; the grid is grey.
      const canvas = document.querySelector<HTMLCanvasElement>(".plot canvas");
      const pixels = canvas?.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data;
      return pixels?.some(
        (value, at) => at % 4 === 0 && Math.abs(value - (pixels[at + 2] ?? 0)) > 90,
      );
    });
    await page.focus(".screen");
    await page.keyboard.press("Space");
    await shows(page, ".condition", /paused/);
    // A sample that was under way when the scope was paused may still join.
    await anotherCycle(page);
    const first = await inView();
    await anotherCycle(page);
    await anotherCycle(page);
    assert.equal(await inView(), first, "no sample joins what is shown while paused");
    assert.deepEqual(complaints, []);
  },
);

stage.test("cursors measure a time, by mouse and by keyboard", "viewer", async ({ page }) => {
  await pick(page, "servo_P.Kv");
  await page.waitForSelector(".plot canvas");
  await page.focus(".screen");
  await page.keyboard.press("Space");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.down("Shift");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.up("Shift");
  // Both began in the middle: one went a hundredth of 10 s to the left, one to the right.
  await shows(page, ".measured output", /B − A = 200 ms, 1\/\(B − A\) = 5 Hz/);
  await shows(page, ".picks thead", /at A at B B − A/);
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.querySelector(".measured output") === null);
  const box = await (await page.waitForSelector(".plot .u-over"))?.boundingBox();
  assert.ok(box);
  await page.mouse.click(box.x + box.width / 4, box.y + 40);
  await page.mouse.click(box.x + box.width / 2, box.y + 40);
  await shows(page, ".measured output", /B − A/);
  assert.match(await betweenCursors(page), /B − A = 2\.(4|5)\d\ss/);
});

stage.test("the file of what is shown has a line for each sample", "viewer", async ({ page }) => {
  await page.evaluate(() => {
    const make = URL.createObjectURL;
    URL.createObjectURL = (file: Blob) => {
      void file.text().then(text => {
        document.body.dataset.saved = text;
      });
      return make(file);
    };
  });
  await pick(page, "servo_P.Kv", "servo_B.position");
  await page.waitForFunction(
    () => Number.parseInt(document.querySelector("#scope-keys")?.textContent ?? "", 10) >= 3,
  );
  await page.locator("::-p-text(Save as CSV)").click();
  await page.waitForFunction(() => document.body.dataset.saved !== undefined);
  const text = await page.evaluate(() => document.body.dataset.saved ?? "");
  const lines = text.trimEnd().split("\r\n");
  assert.equal(lines[0], "time,servo_P.Kv,servo_B.position");
  assert.ok(lines.length >= 4, text);
  assert.match(lines[1] ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z,[-.e\d]+,[-.e\d]+$/);
});

stage.testFake("samples that were left out are told", async daemon => {
  await stage.play(daemon.link("viewer"), async ({ page }) => {
    await pick(page, "servo_B.position");
    daemon.world.leftOut = 7;
    await shows(page, ".condition", /7 samples left out/);
  });
});

stage.testFake(
  "a name that the program does not have is told in the daemon's words",
  async daemon => {
    await stage.play(daemon.link("viewer"), async ({ page }) => {
      await page.evaluate(() => {
        location.hash = "variables?pick=servo_P.Kq";
      });
      await shows(page, ".scope .refusal", /Axis has no such variable/);
    });
  },
);

/** A value of the page, and the cycle that it is of; null where the page has no whole sample yet. */
function valueOfCycle(page: Page): Promise<[string, string] | null> {
  return page.evaluate(() => {
    const cycle = document.querySelector("[data-cycle]")?.getAttribute("data-cycle");
    const value = document.querySelector(".picks td.value[title]")?.getAttribute("title");
    return cycle && value ? ([cycle, value] as [string, string]) : null;
  });
}

/** Cycles of which page and client have to agree, and the values that these have at least. */
const CYCLES = 8;
const VALUES = 3;

/**
 * Goal: page and client see the same partition, to the bit and to the cycle.
 *
 * Method: a client by gRPC keeps the value of each cycle that it gets; the page tells of which cycle
 * the value is that it shows.
 */
stage.testSocket(
  "the page and a client by gRPC see the same value of the same cycle",
  async ({ page }, socket) => {
    const variable = "servo_U.position";
    await pick(page, variable);
    await page.select("select:has(option[value='1000'])", "1000");
    const nodeOptions = { createConnection: () => connect(socket) };
    const transport = createGrpcTransport({ baseUrl: "http://localhost", nodeOptions });
    const end = new AbortController();
    const values = new Map<string, string>();
    const request = { partition: "axis", patterns: [variable], intervalUs: 1_000n };
    const samples = createClient(VariableService, transport).subscribeVariables(request, {
      signal: end.signal,
    });
    const followed = (async () => {
      let value = "";
      for await (const { content } of samples) {
        if (content.case === "sample") {
          const { kind } = content.value.values[0] ?? {};
          value = kind === undefined ? value : String(kind.value);
          const { cycle, consistent } = content.value.reading ?? {};
          if (consistent) {
            values.set(String(cycle), value);
          }
        }
      }
    })().catch(error => assert.ok(end.signal.aborted, String(error)));
    const agreed = new Map<string, string>();
    const waitsUntil = Date.now() + WAIT_MS_MAX;
    while (agreed.size < CYCLES || new Set(agreed.values()).size < VALUES) {
      assert.ok(Date.now() < waitsUntil, `only ${agreed.size} cycles of ${values.size} were seen`);
      const shown = await valueOfCycle(page);
      // What the client has of the same cycle may be under way.
      await new Promise(resolve => setTimeout(resolve, 20));
      const [cycle, value] = shown ?? ["", ""];
      const own = values.get(cycle);
      if (own !== undefined) {
        assert.equal(value, own, `cycle ${cycle}`);
        agreed.set(cycle, value);
      }
    }
    end.abort();
    await followed;
    process.stdout.write(`page and client agree on ${agreed.size} of ${agreed.size} cycles\n`);
  },
);
