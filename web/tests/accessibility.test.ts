/** What axe-core finds in each view, in both colour schemes and on a tablet: nothing. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import type { Page } from "puppeteer-core";
import { click, type Look, shows } from "./browser";
import { Stage } from "./stage";

const stage = new Stage();
const axe = await readFile("node_modules/axe-core/axe.min.js", "utf8");

/** A violation as axe-core tells it, as far as it is printed. */
interface Violation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

async function isClean(page: Page, view: string): Promise<void> {
  // The policy of the page lets no script in; the debugger's own call is not bound by it.
  await page.evaluate(axe);
  const violations = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } };
    return (await axe.run()).violations;
  });
  const told = violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(node => `${node.html}\n${node.failureSummary}`).join("\n")}`,
  );
  assert.equal(told.join("\n\n"), "", view);
}

const looks: [string, Look][] = [
  ["light", {}],
  ["dark", { dark: true }],
  ["on a tablet", { width: 820, height: 1_180 }],
];
for (const [name, look] of looks) {
  stage.test(
    `axe-core finds nothing, ${name}`,
    "engineer",
    async ({ page }) => {
      await shows(page, ".partitions", /\S/);
      await isClean(page, "site");
      await click(page, 'nav a[href^="#machine"]');
      await shows(page, ".findings", /\S/);
      await isClean(page, "machine");
      await click(page, 'nav a[href^="#timing"]');
      await shows(page, ".histogram dl", /max/);
      await isClean(page, "timing");
      await click(page, 'nav a[href^="#traces"]');
      await page.locator('input[name="variables"]').fill("servo_B.position servo_Y.torque");
      await click(page, ".traces form button");
      await shows(page, ".traces .title [role=status]", /1.000 rows/);
      await isClean(page, "traces");
      await click(page, 'nav a[href^="#qualification"]');
      await shows(page, ".runs form", /time of each profile/);
      await shows(page, "main", /No verdict yet|holds/);
      await page.locator('input[name="duration"]').fill("soon");
      await page.keyboard.press("Enter");
      await shows(page, ".wrong", /Give a number/);
      await isClean(page, "qualification");
      await click(page, 'nav a[href^="#audit"]');
      await shows(page, ".audit tbody", /\S/);
      await isClean(page, "audit");
      await click(page, 'nav a[href^="#site"]');
      await click(page, '[aria-label^="Restart "]');
      await page.waitForSelector("dialog[open]");
      await isClean(page, "restart");
      await page.keyboard.press("Escape");
      await page.evaluate(() => {
        location.hash = "variables?pick=servo_P.Kv&pick=servo_B.position&x=servo_P.Kv";
      });
      await shows(page, ".picks td.value", /\d/);
      await isClean(page, "variables");
      await click(page, ".setups button");
      await page.waitForSelector("dialog[open]");
      await isClean(page, "set-up");
      await page.keyboard.press("Escape");
      await click(page, '[aria-label="Force servo_P.Kv"]');
      await page.waitForSelector("dialog[open]");
      await isClean(page, "dialog");
    },
    look,
  );
}

stage.testFake(
  "axe-core finds nothing of a run that goes on, and of one that ended",
  async daemon => {
    for (const [, look] of looks) {
      daemon.world.runs.lengthMs = 60_000;
      await stage.play(
        daemon.link("engineer"),
        async ({ page }) => {
          await page.evaluate(() => (location.hash = "qualification?run=3"));
          await shows(page, ".runs", /Evidence 5 files/);
          await isClean(page, "ended");
          await click(page, ".runs form button");
          await shows(page, ".runs form button", /Really start/);
          await click(page, ".runs form button");
          await shows(page, ".figures", /\d %/);
          await isClean(page, "going on");
          await click(page, ".runs section button");
          await shows(page, ".runs section button", /Really cancel/);
          await click(page, ".runs section button");
          await shows(page, ".runs section", /cancelled by .* Evidence/);
        },
        look,
      );
    }
  },
);

stage.testFake(
  "axe-core finds nothing for a viewer, without an answer, and at the log-in",
  async daemon => {
    await stage.play(daemon.link("viewer"), async ({ page }) => {
      await page.evaluate(() => {
        location.hash = "variables?pick=servo_P.Kv";
      });
      await shows(page, ".picks td.value", /\d/);
      await isClean(page, "viewer");
      await daemon.stop();
      await page.waitForSelector(".banner");
      await isClean(page, "no answer");
      await daemon.start();
    });
    await stage.play(daemon.origin, async ({ page }) => {
      await shows(page, ".entrance", /quietcored link/);
      await isClean(page, "log-in");
    });
  },
);

for (const [device, width] of [
  ["a tablet", 820],
  ["a phone", 360],
] as const) {
  stage.test(
    `on ${device} the page itself never scrolls sideways`,
    "operator",
    async ({ page }) => {
      for (const [view, selector] of [
        ["site", ".partitions tbody"],
        ["machine", ".findings tbody"],
        ["timing", ".histogram dl"],
        ["qualification", ".runs form"],
        ["audit", ".audit tbody"],
        ["variables?pick=servo_P.Kv", ".picks td.value[title]"],
      ] as const) {
        await page.evaluate(view => {
          location.hash = view;
        }, view);
        await shows(page, selector, /\S/);
        const [wide, room] = await page.evaluate(() => [
          document.documentElement.scrollWidth,
          document.documentElement.clientWidth,
        ]);
        assert.equal(wide, room, view);
      }
    },
    { width, height: 1_180 },
  );
}
