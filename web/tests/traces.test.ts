/** Traces: started here, going on without the page, shown, saved and deleted. */

import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { click, shows } from "./browser";
import { NEVER } from "./fake/traces";
import { Stage } from "./stage";

const stage = new Stage();

async function start(page: Page, fields: Record<string, string>): Promise<void> {
  await click(page, 'nav a[href^="#traces"]');
  for (const [name, text] of Object.entries(fields)) {
    await page.locator(`.traces input[name="${name}"]`).fill(text);
  }
  await click(page, ".traces form button");
}

stage.testLinks("a trace outlives a log-out, and has each cycle", async linkOf => {
  let address = "";
  await stage.play(linkOf("operator"), async ({ page, complaints }) => {
    await start(page, { variables: "servo_P.Kv", after: "300" });
    await shows(page, ".traces .title [role=status]", /300.rows, one each 1\.00.ms/);
    await shows(page, ".traces tbody tr:first-child", /axis at once ● complete 300/);
    await page.waitForSelector(".traced canvas");
    address = await page.evaluate(() => location.hash);
    assert.match(address, /trace=\d+/);
    assert.deepEqual(complaints, []);
  });
  await stage.play(linkOf("operator"), async ({ page }) => {
    await page.evaluate(hash => (location.hash = hash), address);
    await shows(page, ".traces .title [role=status]", /300.rows/);
    const remove = ".traces tbody tr:first-child .actions button:last-child";
    await click(page, remove);
    await shows(page, remove, /Really delete/);
    await click(page, remove);
    await page.waitForFunction(() => document.querySelector(".traced") === null);
  });
});

stage.test("a refusal is shown in the daemon's words", "operator", async ({ page }) => {
  await start(page, { variables: "servo_P.none" });
  await shows(page, ".traces .refusal", /servo_P\.none|none/);
});

stage.test("a viewer looks and starts nothing", "viewer", async ({ page }) => {
  await click(page, 'nav a[href^="#traces"]');
  await shows(page, ".traces form", /needs the role operator/);
  const isDisabled = await page.$eval(".traces form button", button =>
    (button as HTMLButtonElement).matches(":disabled"),
  );
  assert.ok(isDisabled);
});

stage.testFake("a trace that waits is stopped, and says by whom", async daemon => {
  await stage.play(daemon.link("operator"), async ({ page }) => {
    await start(page, { variables: "servo_P.Kv", trigger: NEVER });
    await shows(page, ".traces tbody tr:first-child", /○ armed 0/);
    await shows(page, ".traces section", /No row yet/);
    await click(page, '[aria-label^="Stop trace"]');
    await shows(page, ".traces tbody tr:first-child", /▲ ended: stopped by \w+/);
  });
});

stage.testFake("windows are shown one by one, with what was lost", async daemon => {
  daemon.world.leftOut = 12;
  await stage.play(daemon.link("operator"), async ({ page }) => {
    const fields = { variables: "servo_B.position, servo_Y.torque", before: "10", after: "20" };
    await start(page, { ...fields, windows: "3" });
    await shows(page, ".traces .title [role=status]", /90.rows.*in cycle 5.010.*▲ 12 samples lost/);
    await page.select(".traces section select", "2");
    await shows(page, ".traces .title [role=status]", /in cycle 5.070/);
    const labels = await page.$$eval(".traced .u-label", all => all.map(it => it.textContent));
    assert.deepEqual(labels, ["ms", "servo_B.position", "servo_Y.torque"]);
  });
});
