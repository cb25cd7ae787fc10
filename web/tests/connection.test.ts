/** A daemon that goes down and comes back: said at once, and healed without a reload. */

import assert from "node:assert/strict";
import { shows } from "./browser";
import { Severity } from "./contract/quietcore/v1/site_pb";
import { Stage } from "./stage";

const stage = new Stage();

stage.testFake("a lost connection is shown and healed, streams included", async daemon => {
  await stage.play(daemon.link("operator"), async ({ page, complaints }) => {
    await page.evaluate(() => {
      location.hash = "variables?partition=axis&pick=servo_B.position";
    });
    await shows(page, ".picks td.value", /\d/);
    await daemon.stop();
    await shows(page, ".banner", /does not answer since \d\d:\d\d:\d\d\..*Programs run on/);
    await shows(page, ".whether-live", /no answer/);
    await daemon.start();
    await page.waitForFunction(() => document.querySelector(".banner") === null);
    await shows(page, ".whether-live", /live/);
    const value = await page.$eval(".picks td.value", cell => (cell as HTMLElement).innerText);
    await page.waitForFunction(
      value =>
        (document.querySelector(".picks td.value") as HTMLElement | null)?.innerText !== value,
      {},
      value,
    );
    await page.evaluate(() => {
      location.hash = "site";
    });
    daemon.world.happen("axis", "overrun", Severity.WARNING, "after the daemon came back");
    await shows(page, ".events tbody tr:first-child", /after the daemon came back/);
    const again = await page.$$eval(".events tbody tr", rows => rows.length);
    assert.equal(again, daemon.world.events.length, "no event is listed twice");
    assert.deepEqual(complaints, []);
  });
});

stage.testFake("a try can be asked for at once", async daemon => {
  await stage.play(daemon.link("viewer"), async ({ page }) => {
    await shows(page, ".whether-live", /live/);
    await daemon.stop();
    // Tries become rare, so that the next one by itself does not come before the click.
    await page.waitForFunction(() => {
      const banner = document.querySelector(".banner") as HTMLElement | null;
      const [time] = /\d\d:\d\d:\d\d(?=\.$)/m.exec(banner?.innerText ?? "") ?? [];
      const today = new Date().toDateString();
      return time !== undefined && Date.parse(`${today} ${time}`) - Date.now() > 5_000;
    });
    await daemon.start();
    const button = await page.$(".banner button");
    assert.ok(button !== null, "it is still down");
    await button.click();
    await page.waitForFunction(() => document.querySelector(".banner") === null);
  });
});
