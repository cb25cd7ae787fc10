/** Variables set, forced and released, with confirmation; and refused to those who may not. */

import assert from "node:assert/strict";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-node";
import type { Page } from "puppeteer-core";
import { click, shows } from "./browser";
import { ChangeKind, VariableService } from "./contract/quietcore/v1/variable_pb";
import { Stage } from "./stage";

const stage = new Stage();
const GAIN = "servo_P.Kv";
const row = (path: string) => `tr[data-variable="${path}"]`;

/** Goes to the variables with one of them picked, and waits for its value. */
async function pick(page: Page, path: string): Promise<void> {
  await page.evaluate(path => {
    location.hash = `variables?pick=${path}`;
  }, path);
  await page.waitForSelector(`${row(path)} td.value[title]`);
  await page.waitForSelector('[aria-label^="Set "]');
}

/** Opens the dialog of a change, writes a value, and confirms. */
async function change(page: Page, verb: string, path: string, value: string): Promise<void> {
  await click(page, `[aria-label="${verb} ${path}"]:enabled`);
  await page.waitForSelector("dialog[open] input");
  await page.locator("dialog input").fill(value);
  await page.keyboard.press("Enter");
}

async function close(page: Page): Promise<void> {
  await page.locator("dialog ::-p-text(Close)").click();
  await page.waitForFunction(() => document.querySelector("dialog") === null);
}

stage.test(
  "a value is set after a confirmation that says what happens",
  "operator",
  async ({ page, complaints }) => {
    await pick(page, GAIN);
    const old = await page.$eval(`${row(GAIN)} td.value`, cell => cell.getAttribute("title") ?? "");
    const next = old === "3.25" ? "3.5" : "3.25";
    await click(page, `[aria-label="Set ${GAIN}"]`);
    await page.waitForSelector("dialog[open]");
    await page.keyboard.type(next);
    await shows(page, ".from-to", new RegExp(`^${old} → ${next}$`));
    await shows(page, "#change-what", /Before the next cycle of axis .*gets this value once/);
    const unchanged = await page.$eval(`${row(GAIN)} td.value`, cell => cell.getAttribute("title"));
    assert.equal(unchanged, old, "nothing is changed before the confirmation");
    await page.keyboard.press("Enter");
    await shows(
      page,
      "#change-what",
      new RegExp(`done servo_P\\.Kv ${old}\\S* → ${next} From cycle`),
    );
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.querySelector("dialog") === null);
    await shows(page, `${row(GAIN)} td.value`, new RegExp(`^${next}$`));
    const focused = await page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
    assert.equal(focused, `Set ${GAIN}`, "the focus is back where it was");
    assert.deepEqual(complaints, []);
  },
);

stage.test("a dialog that is left changes nothing", "operator", async ({ page }) => {
  await pick(page, GAIN);
  const old = await page.$eval(`${row(GAIN)} td.value`, cell => cell.getAttribute("title") ?? "");
  await click(page, `[aria-label="Set ${GAIN}"]`);
  await page.waitForSelector("dialog[open]");
  await page.keyboard.type("99");
  // The focus stays in the dialog, and with it what the keyboard does.
  for (let times = 0; times < 8; times += 1) {
    await page.keyboard.press("Tab");
    const outside = await page.evaluate(
      () => document.activeElement?.closest("dialog, body")?.tagName,
    );
    const name = await page.evaluate(() => document.activeElement?.tagName);
    assert.ok(outside === "DIALOG" || name === "BODY", `the focus went to ${name}`);
  }
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.querySelector("dialog") === null);
  await shows(page, `${row(GAIN)} td.value`, new RegExp(`^${old}$`));
});

stage.test("a force tells its owner, and is released", "operator", async ({ page }) => {
  await pick(page, GAIN);
  await change(page, "Force", GAIN, "4.5");
  await shows(page, "#change-what", /done servo_P\.Kv .* → 4\.5/);
  await close(page);
  await shows(page, row(GAIN), /4\.5.*▲ forced/);
  await shows(page, ".picks .remarks", /forced by .*, from cycle .*, until it is released/);
  await change(page, "Set", GAIN, "1");
  await shows(page, "#change-what", /no effect servo_P\.Kv is held by a force; release it first/);
  await close(page);
  await click(page, `[aria-label="Release ${GAIN}"]:enabled`);
  await shows(page, "#change-what", /Held at 4\.5.*let go before the next cycle/);
  await page.keyboard.press("Enter");
  await shows(page, "#change-what", /done servo_P\.Kv/);
  await close(page);
  await shows(page, row(GAIN), /free/);
});

stage.test("all forces are released at once", "operator", async ({ page }) => {
  await pick(page, GAIN);
  await change(page, "Force", GAIN, "5");
  await close(page);
  await click(page, ".release-all:enabled");
  await shows(page, "#change-what", /1 forced variable of axis.*whoever forced/);
  await page.keyboard.press("Enter");
  await shows(page, ".effects", /servo_P\.Kv/);
  await close(page);
  await shows(page, row(GAIN), /free/);
});

stage.test(
  "a value that is none is refused in the daemon's words",
  "operator",
  async ({ page }) => {
    await pick(page, GAIN);
    await change(page, "Set", GAIN, "fast");
    await shows(page, "dialog .refusal", /Refused: .*fast/);
  },
);

stage.testFake("a change that the program undoes is told", async daemon => {
  await stage.play(daemon.link("operator"), async ({ page }) => {
    await pick(page, "servo_B.position");
    await change(page, "Set", "servo_B.position", "1");
    await shows(
      page,
      "#change-what",
      /no effect servo_B\.position is as it was before: the program writes it/,
    );
  });
});

stage.test(
  "a viewer is told why not, and is refused where the page is passed by",
  "viewer",
  async ({ page }) => {
    await pick(page, GAIN);
    await shows(page, "#why-not", /need the role operator; you are logged in as viewer/);
    const able = await page.$$(".picks button[aria-describedby]:enabled");
    assert.equal(able.length, 0);
    const described = await page.$$('.picks button[aria-describedby="why-not"]:disabled');
    assert.equal(described.length, 3);
    const secret = await page.evaluate(() => sessionStorage.getItem("quietcore.session"));
    const baseUrl = new URL(page.url()).origin;
    const client = createClient(
      VariableService,
      createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
    );
    const force = { kind: ChangeKind.FORCE, variable: GAIN, value: "9" };
    const headers = { authorization: `Bearer ${secret}` };
    await assert.rejects(client.writeVariables({ changes: [force] }, { headers }), error => {
      const { code, rawMessage } = ConnectError.from(error);
      return code === Code.PermissionDenied && /operator/.test(rawMessage);
    });
    await assert.rejects(client.writeVariables({ changes: [force] }), error => {
      return ConnectError.from(error).code === Code.Unauthenticated;
    });
  },
);
