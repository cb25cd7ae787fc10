/** The site at a glance, its events, and the machine. */

import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { click, shows } from "./browser";
import { Severity } from "./contract/quietcore/v1/site_pb";
import { Stage } from "./stage";

const stage = new Stage();

/** Returns the cycles that the table shows for the first partition with a program. */
async function cycles(page: Page): Promise<number> {
  return page.$eval("tr[data-partition] td:nth-of-type(6)", cell =>
    Number((cell as HTMLElement).innerText.replaceAll(/\s/g, "")),
  );
}

stage.test(
  "partitions are listed and their cycles go on",
  "viewer",
  async ({ page, complaints }) => {
    await shows(page, ".partitions", /running/);
    const before = await cycles(page);
    assert.ok(before > 0, `${before} cycles`);
    await page.waitForFunction(
      before => {
        const cell = document.querySelector("tr[data-partition] td:nth-of-type(6)");
        return Number((cell as HTMLElement).innerText.replaceAll(/\s/g, "")) > before;
      },
      {},
      before,
    );
    assert.deepEqual(complaints, []);
  },
);

stage.testFake("a partition's figures and troubles are told in words", async daemon => {
  await stage.play(daemon.link("viewer"), async ({ page }) => {
    const axis = 'tr[data-partition="axis"]';
    await shows(page, axis, /running build 1.*kvm 1 1\.00 ms .* 187 µs 2 0 0 ● OP ×3 WKC 9\/9/);
    await shows(page, ".remarks", /restart in 4\.00 s: segmentation fault/);
    await shows(page, 'tr[data-partition="hmi"]', /own system qemu/);
    await shows(page, ".figures", /running 2 of 3.*worst release 3\.00 ms tank/);
    await shows(page, ".drift", /governor/);
  });
});

stage.testFake("an event appears above the others when it happens", async daemon => {
  await stage.play(daemon.link("viewer"), async ({ page }) => {
    await shows(page, ".events tbody tr:first-child", /the step took 913 µs/);
    daemon.world.happen("tank", "started", Severity.INFORMATION, "build 3 runs <b>again</b>");
    // A text of the daemon stays a text.
    await shows(page, ".events tbody tr:first-child", /tank.*build 3 runs <b>again<\/b>/);
  });
});

stage.testFake("another site can be chosen", async daemon => {
  await stage.play(daemon.link("viewer"), async ({ page }) => {
    await shows(page, ".partitions", /axis/);
    await page.select(".site select", "saw");
    await shows(page, "#glance", /^saw$/);
    await shows(page, ".events", /Nothing has happened yet/);
    assert.equal(await page.$("tr[data-partition]"), null);
  });
});

stage.test("the machine's findings come with their remedy", "viewer", async ({ page }) => {
  await click(page, 'nav a[href^="#machine"]');
  await shows(page, "main", /findings ask for something/);
  await shows(page, "main", /kernel \S+, Quietcore \d/);
  const fewer = (await page.$$(".findings tbody tr")).length;
  await click(page, ".bar input");
  await page.waitForFunction(
    fewer => document.querySelectorAll(".findings tbody tr").length >= fewer,
    {},
    fewer,
  );
  await shows(page, ".findings", /right/);
});
