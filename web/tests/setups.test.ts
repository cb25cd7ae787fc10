/** Set-ups: views of variables under names, kept by the browser. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { NAME_MAX, SETUPS_MAX, understood } from "../src/setups/model";
import { click, shows } from "./browser";
import { Stage } from "./stage";

const stage = new Stage();

test("what is no set-up is left out", () => {
  const right = "#variables?partition=axis&pick=servo_P.Kv&span=30";
  const kept = {
    right,
    "": right,
    ["n".repeat(NAME_MAX + 1)]: right,
    "another view": "#audit",
    "a link": "#link=0123",
    "a number": 7,
    "more than an address": `${right}&trace=x&evil=1`,
  };
  const found = understood(JSON.stringify(kept));
  assert.deepEqual([...found.keys()], ["right", "more than an address"]);
  assert.deepEqual([...found.values()], [right, right]);
  for (const foreign of [null, "", "7", "null", "[]", '"text"', "{"]) {
    assert.equal(understood(foreign).size, 0, String(foreign));
  }
});

test("no more set-ups are kept than there is room for", () => {
  const many = Array.from({ length: 2 * SETUPS_MAX }, (_, index) => [
    `set-up ${index}`,
    "#variables",
  ]);
  assert.equal(understood(JSON.stringify(Object.fromEntries(many))).size, SETUPS_MAX);
});

stage.test("a set-up is saved, chosen and deleted", "viewer", async ({ page, complaints }) => {
  await page.evaluate(() => {
    localStorage.setItem("quietcore-setups", "of another program");
    location.hash =
      "variables?pick=servo_P.Kv&hidden=servo_P.Kv&x=servo_P.Kv&pick=servo_B.position&span=30&interval=10000&scale=own";
  });
  await shows(page, ".picks td.value", /\d/);
  await shows(page, ".setups", /not saved/);
  await click(page, ".setups button");
  await page.waitForSelector("dialog[open]");
  await page.keyboard.type("trajectory");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("dialog") === null);
  const chosen = () => page.$eval(".setups select", select => (select as HTMLSelectElement).value);
  assert.equal(await chosen(), "trajectory");
  const saved = page.url();
  await click(page, '[aria-label="Drop servo_P.Kv"]');
  await shows(page, ".setups select", /not saved/);
  await page.waitForFunction(() => document.querySelectorAll(".picks code").length === 1);
  assert.equal(await chosen(), "");
  await page.reload();
  await page.waitForSelector(".setups select:enabled");
  await page.select(".setups select", "trajectory");
  await shows(page, ".xy figcaption", /servo_B\.position over servo_P\.Kv/);
  const [before, after] = [saved, page.url()].map(url => {
    const query = new URLSearchParams(url.split("?")[1]);
    query.delete("site");
    query.delete("partition");
    return query.toString();
  });
  assert.equal(after, before);
  const drawn = '[aria-label="Draw servo_P.Kv"]';
  assert.equal(await page.$eval(drawn, box => (box as HTMLInputElement).checked), false);
  await click(page, ".setups button:last-child");
  await page.waitForSelector(".setups select:disabled");
  assert.match(page.url(), /x=servo_P\.Kv/, "what is shown stays");
  assert.deepEqual(complaints, []);
});

stage.test(
  "a set-up of another tab is there, and a full browser says so",
  "viewer",
  async visit => {
    const { page } = visit;
    await page.evaluate(() => {
      location.hash = "variables?pick=servo_P.Kv";
    });
    await shows(page, ".picks td.value", /\d/);
    await page.evaluate(max => {
      const many = Array.from({ length: max }, (_, index) => [`set-up ${index}`, "#variables"]);
      localStorage.setItem("quietcore-setups", JSON.stringify(Object.fromEntries(many)));
      dispatchEvent(new StorageEvent("storage"));
    }, SETUPS_MAX);
    await page.waitForSelector(".setups select:enabled");
    await click(page, ".setups button");
    await page.waitForSelector("dialog[open]");
    await page.keyboard.type("one more");
    await page.keyboard.press("Enter");
    await shows(page, "dialog [role=alert]", /50 set-ups are kept; delete one first/);
    await page.locator("dialog input").fill("set-up 7");
    await shows(page, "dialog", /is replaced/);
    await page.evaluate(() => {
      Storage.prototype.setItem = () => {
        throw new DOMException("full", "QuotaExceededError");
      };
    });
    await click(page, "dialog .main");
    await shows(page, "dialog [role=alert]", /does not let the page keep anything/);
  },
);
