/** Takes pictures of the page over the fake world into `pictures/`: to look at before a change is done. */

import { mkdir } from "node:fs/promises";
import { click, launch, shows, visit } from "./browser";
import { FakeDaemon } from "./fake/daemon";

/** Time for the scope to fill. */
const FILL_MS = 9_000;

const picks =
  "variables?partition=axis&pick=servo_U.setpoint&pick=servo_B.position&pick=servo_Y.torque&pick=servo_P.Kv&pick=servo_P.mode";
const trajectory =
  "variables?partition=axis&pick=servo_B.position&pick=servo_B.velocity_error&x=servo_B.position&interval=10000&hidden=servo_B.position";
const looks = {
  wide: { width: 1_440, height: 900 },
  tablet: { width: 820, height: 1_180 },
  dark: { width: 1_440, height: 900, dark: true },
};

await mkdir("pictures", { recursive: true });
const daemon = new FakeDaemon();
daemon.world.runs.lengthMs = 8_000;
await daemon.start();
const browser = await launch();
for (const [name, look] of Object.entries(looks)) {
  const { page, close } = await visit(browser, daemon.link("engineer"), look);
  const take = (view: string) => page.screenshot({ path: `pictures/${name}-${view}.png` });
  await shows(page, ".partitions", /axis/);
  await shows(page, ".events", /overrun|the step/);
  await take("site");
  await page.evaluate(hash => (location.hash = hash), picks);
  await shows(page, ".picks td.value", /\d/);
  await new Promise(resolve => setTimeout(resolve, FILL_MS));
  const screen = await page.waitForSelector(".screen");
  await screen?.scrollIntoView();
  const box = await screen?.boundingBox();
  if (box) {
    await page.mouse.click(box.x + box.width * 0.5, box.y + 100);
    await page.mouse.click(box.x + box.width * 0.8, box.y + 100);
  }
  await shows(page, ".measured", /B − A/);
  await click(page, '[aria-label="Force servo_P.Kv"]');
  await page.locator("dialog input").fill("3.25");
  await page.keyboard.press("Enter");
  await shows(page, "#change-what", /done/);
  await page.keyboard.press("Enter");
  await shows(page, ".picks", /forced by anna/);
  await take("variables");
  await page.evaluate(hash => (location.hash = hash), trajectory);
  await shows(page, ".picks td.value", /\d/);
  await new Promise(resolve => setTimeout(resolve, FILL_MS));
  await page.focus(".screen");
  await page.keyboard.press("Escape");
  await page.keyboard.press("ArrowLeft");
  await take("xy");
  await click(page, ".setups button");
  await page.keyboard.type("step response");
  await take("setup");
  await page.keyboard.press("Escape");
  await page.evaluate(hash => (location.hash = hash), picks);
  await click(page, '[aria-label="Force servo_P.Kv"]');
  await page.waitForSelector("dialog[open]");
  await take("dialog");
  await page.keyboard.press("Escape");
  await page.evaluate(() => (location.hash = "machine"));
  await shows(page, ".findings", /throttling/);
  await take("machine");
  await page.evaluate(() => (location.hash = "timing"));
  await shows(page, ".histogram", /p99/);
  await take("timing");
  await page.evaluate(() => (location.hash = "traces"));
  await page
    .locator('input[name="variables"]')
    .fill("servo_U.setpoint servo_B.position servo_Y.torque");
  await page.locator('input[name="trigger"]').fill("rising servo_U.setpoint > 0");
  await page.locator('input[name="before"]').fill("200");
  await click(page, ".traces form button");
  await shows(page, ".traces .title [role=status]", /rows/);
  await take("traces");
  await page.evaluate(() => (location.hash = "qualification?run=3"));
  await shows(page, ".runs", /Evidence 5 files/);
  await click(page, '[aria-label="Late releases of axis.tp4"]');
  await shows(page, ".gantt", /spinner/);
  await page.screenshot({ path: `pictures/${name}-qualification.png`, fullPage: true });
  await page.select(".runs select", "3");
  await page.locator('input[name="aggressors"]').fill("disk timer");
  await page.locator('input[name="duration"]').fill("soon");
  await click(page, ".runs form button");
  await shows(page, ".wrong", /Give a number/);
  await take("qualification-wrong");
  await page.locator('input[name="duration"]').fill("2 s");
  await click(page, ".runs form button");
  await shows(page, ".runs form button", /Really start/);
  await page.keyboard.press("Enter");
  await shows(page, ".figures", /[5-9]\d %/);
  await (await page.$(".runs section"))?.scrollIntoView();
  await take("qualification-run");
  await shows(page, ".runs", /complete .* Evidence/);
  await page.evaluate(() => (location.hash = "audit"));
  await shows(page, ".audit", /CreateLink/);
  await take("audit");
  await page.evaluate(() => (location.hash = "site"));
  await click(page, '[aria-label="Restart axis"]');
  await page.waitForSelector("dialog[open]");
  await take("restart");
  await page.keyboard.press("Escape");
  await daemon.stop();
  await shows(page, ".banner", /does not answer/);
  await page.evaluate(() => (location.hash = "site"));
  await shows(page, ".partitions", /axis/);
  await take("lost");
  await daemon.start();
  await close();
}
const { page, close } = await visit(browser, daemon.origin, looks.wide);
await shows(page, ".entrance", /quietcored link/);
await page.screenshot({ path: "pictures/wide-entrance.png" });
await close();
await browser.close();
await daemon.stop();
