/** Programs held and started anew, with confirmation; refused to a viewer; and the audit trail. */

import assert from "node:assert/strict";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-node";
import type { Page } from "puppeteer-core";
import { click, shows } from "./browser";
import { PartitionService } from "./contract/quietcore/v1/partition_pb";
import { Stage } from "./stage";

const stage = new Stage();
const FIRST = "tr[data-partition]:first-child";

async function confirm(page: Page, what: RegExp): Promise<void> {
  await page.waitForSelector("dialog[open]");
  await click(page, "dialog .main");
  await shows(page, "#action-what", what);
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.querySelector("dialog") === null);
}

stage.test(
  "a program is held, goes on, and starts anew",
  "operator",
  async ({ page, complaints }) => {
    await shows(page, FIRST, /running/);
    await click(page, `${FIRST} [aria-label^="Pause "]`);
    await shows(page, "#action-what", /held between two cycles until somebody resumes it/);
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.querySelector("dialog") === null);
    await shows(page, FIRST, /running/);
    await click(page, `${FIRST} [aria-label^="Pause "]`);
    await confirm(page, /is held between two cycles/);
    await click(page, `${FIRST} [aria-label^="Resume "]:enabled`);
    await confirm(page, /goes on/);
    await shows(page, FIRST, /running/);
    await click(page, `${FIRST} [aria-label^="Restart "]:enabled`);
    await shows(page, "dialog fieldset", /warm retained.*cold retained.*origin as after/);
    await click(page, "dialog fieldset label:nth-of-type(2)");
    await confirm(page, /starts anew/);
    await shows(page, FIRST, /running/);
    assert.deepEqual(complaints, []);
  },
);

stage.testFake("a refused restart is told in the site's words", async daemon => {
  daemon.world.refusal = "axis: it is being deployed to; try again";
  await stage.play(daemon.link("operator"), async ({ page }) => {
    await click(page, '[aria-label="Restart axis"]');
    await page.waitForSelector("dialog[open]");
    await click(page, "dialog .main");
    await shows(page, "#action-what", /Refused: Axis: it is being deployed to; try again/);
  });
  daemon.world.refusal = "";
});

stage.test(
  "a viewer is told why not, and is refused where the page is passed by",
  "viewer",
  async ({ page }) => {
    await shows(page, "#why-not-act", /need the role operator; you are logged in as viewer/);
    assert.equal((await page.$$(".partitions .actions button:enabled")).length, 0);
    const described = await page.$$('.actions button[aria-describedby="why-not-act"]:disabled');
    assert.ok(described.length >= 2, `${described.length} buttons say why`);
    const secret = await page.evaluate(() => sessionStorage.getItem("quietcore.session"));
    const baseUrl = new URL(page.url()).origin;
    const transport = createGrpcWebTransport({ baseUrl, httpVersion: "1.1" });
    const client = createClient(PartitionService, transport);
    const headers = { authorization: `Bearer ${secret}` };
    await assert.rejects(client.pausePartition({ partition: "axis" }, { headers }), error => {
      const { code, rawMessage } = ConnectError.from(error);
      return code === Code.PermissionDenied && /operator/.test(rawMessage);
    });
  },
);

stage.test("the audit trail has what was done on the page", "operator", async ({ page }) => {
  await click(page, `${FIRST} [aria-label^="Pause "]`);
  await confirm(page, /is held|was held/);
  await click(page, `${FIRST} [aria-label^="Resume "]:enabled`);
  await confirm(page, /goes on/);
  await click(page, 'nav a[href^="#audit"]');
  await shows(page, ".audit tbody tr:nth-child(1)", /ResumePartition .* ● done/);
  await shows(page, ".audit tbody tr:nth-child(2)", /ResumePartition .* ○ intended/);
  await page.select("select.call", "PartitionService/PausePartition");
  await shows(page, ".audit tbody tr:nth-child(1)", /PausePartition .* ● done/);
  const calls = await page.$$eval(".audit tbody td:nth-child(4)", cells =>
    cells.map(cell => (cell as HTMLElement).innerText),
  );
  assert.deepEqual([...new Set(calls)], ["PausePartition"]);
  await page.locator("input.who").fill("nobody of this name");
  await page.keyboard.press("Enter");
  await shows(page, ".audit + .empty", /None of these entries is so/);
});

stage.testFake("the audit trail comes by pages, and is filtered by who", async daemon => {
  for (let number = 0; number < 120; number += 1) {
    daemon.world.enter("carl", "VariableService/UnforceAll", "axis", `{"number":${number}}`);
  }
  await stage.play(daemon.link("viewer"), async ({ page }) => {
    await click(page, 'nav a[href^="#audit"]');
    await shows(page, ".audit tbody tr:first-child", /carl.*"number":119/);
    const count = daemon.world.entries.length;
    await shows(page, ".pages", new RegExp(`to ${count} of ${count}`));
    while ((await page.$(".pages button:last-of-type:enabled")) !== null) {
      const before = await page.$eval(".pages", ({ textContent }) => textContent);
      await click(page, ".pages button:last-of-type");
      // Right after the click both buttons are as they were: the page asks first.
      await page.waitForFunction(
        text => {
          const pages = document.querySelector(".pages");
          return pages?.textContent !== text && pages?.querySelector("button:enabled") !== null;
        },
        {},
        before,
      );
    }
    await shows(page, ".audit tbody tr:last-child", /1 .*anna/);
    await page.locator("input.who").fill("bert");
    await page.keyboard.press("Enter");
    await shows(page, "main", /None of these entries is so|bert/);
  });
});
