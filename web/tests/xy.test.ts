/** XY: one variable over another, drawn from what the scope has recorded. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "puppeteer-core";
import { thinXy } from "../src/variables/thin";
import { click, shows } from "./browser";
import { ChangeKind } from "./contract/quietcore/v1/variable_pb";
import type { World } from "./fake/world";
import { Stage } from "./stage";

const stage = new Stage();

test("a short curve has all its samples, and its gaps", () => {
  const values = [1, 2, Number.NaN, 4];
  const of = (sample: number) => values[sample] ?? 0;
  assert.deepEqual(thinXy(of, of, 1, 4), [1, 2, 3]);
  assert.deepEqual(thinXy(of, of, 2, 2), []);
});

test("a long curve is bounded, and loses no spike, no gap and not the newest sample", () => {
  const samples = 60_000;
  const x = (sample: number) => (sample === 31_007 ? -9 : Math.sin(sample / 1_000));
  const y = (sample: number) => {
    const odd: Record<number, number> = { 12345: 9, 45678: Number.NaN };
    return odd[sample] ?? Math.cos(sample / 1_000);
  };
  const kept = thinXy(x, y, 0, samples);
  assert.ok(kept.length <= 6 * 1_024, `${kept.length} samples`);
  for (const sample of [31_007, 12_345, 45_678, samples - 1]) {
    assert.ok(kept.includes(sample), String(sample));
  }
  assert.ok(kept.every((sample, index) => index === 0 || sample > (kept[index - 1] ?? 0)));
});

/** Shows two variables, the second one over the first one. */
async function over(page: Page, x: string, y: string, more = ""): Promise<void> {
  await page.evaluate(hash => {
    location.hash = hash;
  }, `variables?pick=${x}&pick=${y}&x=${x}${more}`);
  await page.waitForSelector(".xy canvas");
}

/** Where the curve of XY is, in parts of the plot from its lower left corner. */
interface Painted {
  pixels: number;
  left: number;
  right: number;
  bottom: number;
  top: number;
}

/** Finds the pixels that have the colour of a trace. */
function painted(page: Page, trace: number): Promise<Painted> {
  return page.evaluate(trace => {
    const canvas = document.querySelector<HTMLCanvasElement>(".xy canvas");
    const over = document.querySelector(".xy .u-over")?.getBoundingClientRect();
    const context = canvas?.getContext("2d");
    const none = { pixels: 0, left: 1, right: 0, bottom: 1, top: 0 };
    if (!canvas || !context || !over) {
      return none;
    }
    const style = getComputedStyle(document.documentElement);
    const colour = style.getPropertyValue(`--trace-${trace}`).trim();
    const want = [1, 3, 5].map(at => Number.parseInt(colour.slice(at, at + 2), 16));
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    const box = canvas.getBoundingClientRect();
    for (let at = 0; at < data.length; at += 4) {
      if (want.every((value, channel) => data[at + channel] === value)) {
        const h = ((at / 4) % canvas.width) / devicePixelRatio;
        const v = Math.floor(at / 4 / canvas.width) / devicePixelRatio;
        const across = (h - (over.left - box.left)) / over.width;
        const upwards = 1 - (v - (over.top - box.top)) / over.height;
        none.pixels += 1;
        none.left = Math.min(none.left, across);
        none.right = Math.max(none.right, across);
        none.bottom = Math.min(none.bottom, upwards);
        none.top = Math.max(none.top, upwards);
      }
    }
    return none;
  }, trace);
}

/** Waits until the painted curve is as it has to be. */
async function isPainted(page: Page, trace: number, is: (found: Painted) => boolean) {
  for (let tries = 0; ; tries += 1) {
    const found = await painted(page, trace);
    if (is(found)) {
      return;
    }
    assert.ok(tries < 100, JSON.stringify(found));
    await new Promise(resolve => setTimeout(resolve, 100));
  }
}

function picture(page: Page): Promise<string> {
  return page.$eval(".xy canvas", canvas => (canvas as HTMLCanvasElement).toDataURL());
}

stage.test(
  "XY is chosen, and dropped with its variable",
  "viewer",
  async ({ page, complaints }) => {
    await page.evaluate(() => {
      location.hash = "variables?pick=servo_P.Kv&pick=servo_B.position";
    });
    await shows(page, ".picks td.value", /\d/);
    assert.equal(await page.$(".xy"), null);
    await page.select("select.path", "servo_P.Kv");
    await shows(page, ".xy figcaption", /servo_B\.position over servo_P\.Kv/);
    assert.match(page.url(), /[?&]x=servo_P\.Kv/);
    await click(page, '[aria-label="Draw servo_B.position"]');
    await shows(page, ".xy figcaption", /Pick another variable to see it over servo_P\.Kv/);
    assert.match(page.url(), /hidden=servo_B\.position/);
    await page.reload();
    await shows(page, ".xy figcaption", /over servo_P\.Kv/);
    await click(page, '[aria-label="Drop servo_P.Kv"]');
    await page.waitForFunction(() => document.querySelector(".xy") === null);
    assert.doesNotMatch(page.url(), /x=/);
    assert.deepEqual(complaints, []);
  },
);

function set(world: World, variable: string, value: string): void {
  const $typeName = "quietcore.v1.Change";
  world.apply({ $typeName, kind: ChangeKind.SET, variable, value, allowNan: false }, "anna");
}

/**
 * Goal: each sample lies where its two values say, and the newest one is marked.
 *
 * Method: two parameters stand still, so that there is but the dot in the middle; then one moves,
 * and the other: the line goes to the right and then up, with 8 % of room at each edge.
 */
stage.testFake("samples lie where their values say", async daemon => {
  await stage.play(daemon.link("viewer"), async ({ page }) => {
    const { world } = daemon;
    await over(page, "servo_P.Kv", "servo_P.Ki", "&interval=10000");
    const near = (value: number, right: number) => Math.abs(value - right) < 0.03;
    await isPainted(
      page,
      1,
      ({ pixels, left, right, bottom, top }) =>
        pixels > 20 && near((left + right) / 2, 0.5) && near((bottom + top) / 2, 0.5),
    );
    const dot = await painted(page, 1);
    assert.ok(dot.right - dot.left < 0.06, JSON.stringify(dot));
    set(world, "servo_P.Kv", "7.5");
    set(world, "servo_P.Ki", "0.5");
    // From 8/116 to 108/116 of the plot, and half of the dot beyond.
    await isPainted(
      page,
      1,
      ({ left, right, bottom, top }) =>
        near(left, 0.07) && near(right, 0.94) && near(bottom, 0.07) && near(top, 0.94),
    );
    set(world, "servo_P.Kv", "2.5");
    set(world, "servo_P.Ki", "0.125");
  });
});

stage.test("XY stands still while paused, and shows the cursors", "viewer", async ({ page }) => {
  await over(page, "servo_P.Kv", "servo_B.position", "&span=1&interval=10000");
  await isPainted(page, 1, ({ pixels }) => pixels > 20);
  // A cursor begins in the middle of the span, of which there has to be a sample.
  await new Promise(resolve => setTimeout(resolve, 1_000));
  await page.focus(".screen");
  await page.keyboard.press("Space");
  await shows(page, ".condition", /paused/);
  // A sample that was under way when the scope was paused may still join.
  await new Promise(resolve => setTimeout(resolve, 300));
  const still = await picture(page);
  await new Promise(resolve => setTimeout(resolve, 300));
  assert.equal(await picture(page), still);
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction(
    still => document.querySelector<HTMLCanvasElement>(".xy canvas")?.toDataURL() !== still,
    {},
    still,
  );
  await page.keyboard.press("Escape");
  const box = await (await page.waitForSelector(".xy .u-over"))?.boundingBox();
  assert.ok(box);
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await shows(page, ".picks thead", /at A/);
});

stage.test(
  "XY has the colours of the dark, and fits on a tablet",
  "viewer",
  async ({ page }) => {
    await over(page, "servo_P.Kv", "servo_B.position");
    await isPainted(page, 1, ({ pixels }) => pixels > 20);
    const [wide, room] = await page.evaluate(() => [
      document.documentElement.scrollWidth,
      document.documentElement.clientWidth,
    ]);
    assert.equal(wide, room);
    const light = [{ name: "prefers-color-scheme", value: "light" }];
    await page.emulateMediaFeatures(light);
    await isPainted(page, 1, ({ pixels }) => pixels > 20);
  },
  { dark: true, width: 820, height: 1_180 },
);
