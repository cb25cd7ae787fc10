/** The timing of a partition, its worst cycles with the events around them, and the CPUs. */

import assert from "node:assert/strict";
import { click, shows } from "./browser";
import { Stage } from "./stage";

const stage = new Stage();

stage.test(
  "histograms of a task are drawn with their figures, and go on",
  "viewer",
  async ({ page, complaints }) => {
    await click(page, 'nav a[href^="#timing"]');
    await shows(page, '[data-histogram="release latency"] dl', /values \d.* p50 \d.* max \d/);
    await shows(page, '[data-histogram="execution time"] dl', /max \d/);
    const bars = await page.$$('[data-histogram="release latency"] rect');
    assert.ok(bars.length > 0, "the histogram has no bars");
    const label = await page.$eval('[data-histogram="release latency"] svg', it =>
      it.getAttribute("aria-label"),
    );
    assert.match(label ?? "", /^release latency: values .*, max \d/);
    await shows(
      page,
      ".worst tbody tr:first-child",
      /release latency .*\d\u00a0?%|release latency/,
    );
    const cycles = () => (document.querySelector(".counters b") as HTMLElement | null)?.innerText;
    const before = await page.evaluate(cycles);
    await page.waitForFunction(
      before => (document.querySelector(".counters b") as HTMLElement).innerText !== before,
      {},
      before,
    );
    assert.deepEqual(complaints, []);
  },
);

stage.testFake("a limit is a line, and what lies beyond it stands out", async daemon => {
  await stage.play(daemon.link("viewer"), async ({ page }) => {
    await click(page, 'nav a[href^="#timing"]');
    await shows(page, '[data-histogram="release latency"]', /p99\.9 .* p99\.99 – max 187 µs/);
    await shows(
      page,
      ".timing .title",
      /motion-control; release within 100 µs, jitter within 1\.00 µs/,
    );
    const release = '[data-histogram="release latency"]';
    const limit = await page.$eval(`${release} .limit text`, text => text.textContent);
    assert.equal(limit?.replace(/\s+/g, " "), "limit 100 µs");
    assert.equal((await page.$$(`${release} rect.beyond`)).length, 1);
    await shows(page, ".worst tbody tr:first-child", /187 µs ▲ 187 % 183 µs 1 12 /);
  });
});

stage.testFake("a worst cycle leads to the events of its time", async daemon => {
  await stage.play(daemon.link("viewer"), async ({ page }) => {
    await click(page, 'nav a[href^="#timing"]');
    await click(page, '[aria-label="Events around it: release 12, release latency"]');
    await shows(page, "main", /within 1 s of .*: \d of \d/);
    const shown = (await page.$$(".events tbody tr")).length;
    assert.equal(shown, daemon.world.events.length, "all happened when the world began");
    await page.evaluate(() => {
      location.hash = "site?around=2026-01-01T00:00:00.000Z";
    });
    await shows(page, ".events", /No event is of that time/);
    await page.locator("::-p-text(Show all)").click();
    await shows(page, ".events tbody tr:first-child", /the step took/);
  });
});

stage.testFake("a partition that does not run is told in the daemon's words", async daemon => {
  await stage.play(daemon.link("viewer"), async ({ page }) => {
    await page.evaluate(() => {
      location.hash = "timing?partition=tank";
    });
    await shows(page, ".timing .refusal", /Tank: it does not run/);
  });
});

stage.test("each CPU of the machine has a use", "viewer", async ({ page }) => {
  await click(page, 'nav a[href^="#machine"]');
  await shows(page, '[data-cpu="0"]', /CPU 0 . (housekeeping|partition|shared|isolated, free)/);
  await shows(page, "main", /Settings held for/);
});

stage.testFake("CPUs are told with their owners", async daemon => {
  await stage.play(daemon.link("viewer"), async ({ page }) => {
    await click(page, 'nav a[href^="#machine"]');
    await shows(page, '[data-cpu="0"]', /housekeeping daemon/);
    await shows(
      page,
      '[data-cpu="1"]',
      /partition press-line\/axis process 4711 of plant, SCHED_FIFO 90/,
    );
    await shows(page, '[data-cpu="2"]', /shared press-line\/tank .* saw\/cut .*core 2-3/);
    await shows(page, '[data-cpu="3"]', /isolated, free/);
    await shows(page, "main", /2 settings have drifted.*tank: CPU 2 may go/);
  });
});

stage.testFake("a fieldbus is a line with the last event of each SubDevice", async daemon => {
  await stage.play(daemon.link("viewer"), async ({ page }) => {
    await shows(page, ".line li:nth-child(1)", /axis MainDevice ● OP WKC 9\/9, lost frames 0/);
    await shows(page, ".line li:nth-child(3)", /SubDevice 1 EL7031 ▲ warning .*3 damaged frames/);
    assert.equal((await page.$$(".line li")).length, 4, "the MainDevice and three SubDevices");
  });
});
