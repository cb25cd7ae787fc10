/** Log-in by a one-time link, and what those see who have none. */

import assert from "node:assert/strict";
import { click, shows } from "./browser";
import { Stage } from "./stage";

const stage = new Stage();

stage.test("a link logs in and leaves the address bar", "viewer", async ({ page, complaints }) => {
  await shows(page, ".who", /, viewer/);
  await shows(page, ".whether-live", /live/);
  assert.ok(!page.url().includes("link="), page.url());
  assert.deepEqual(await page.browserContext().cookies(), [], "other ports would get them");
  await page.reload();
  await shows(page, ".who", /, viewer/);
  assert.deepEqual(complaints, []);
});

stage.testLinks("a link that was used before is refused, with the way to another", async linkOf => {
  const link = linkOf("operator");
  await stage.play(link, async ({ page }) => {
    await shows(page, ".who", /, operator/);
  });
  await stage.play(link, async ({ page }) => {
    await shows(page, ".entrance", /used before, or is too old.*quietcored link/);
  });
});

stage.testLinks("a link that is opened in the tab of the log-in is taken", async linkOf => {
  const link = linkOf("operator");
  await stage.play(new URL(link).origin, async ({ page }) => {
    await shows(page, ".entrance", /not logged in/);
    await page.evaluate(link => {
      location.href = link;
    }, link);
    await shows(page, ".who", /, operator/);
    assert.ok(!page.url().includes("link="), page.url());
  });
});

stage.testLinks("without a session the page asks to log in and shows nothing", async linkOf => {
  await stage.play(new URL(linkOf("viewer")).origin, async ({ page }) => {
    await shows(page, ".entrance", /not logged in.*quietcored link/);
    assert.equal(await page.$(".partitions"), null);
  });
});

stage.testLinks("logging out ends the session", async linkOf => {
  await stage.play(linkOf("operator"), async ({ page }) => {
    await click(page, ".who button");
    await shows(page, ".entrance", /not logged in/);
    await page.reload();
    await shows(page, ".entrance", /not logged in/);
  });
});

stage.testFake("a session that the daemon has forgotten leads back to the log-in", async daemon => {
  await stage.play(daemon.link("operator"), async ({ page }) => {
    await shows(page, ".who", /anna, operator/);
    daemon.forgetSessions();
    await shows(page, ".entrance", /session has ended/);
  });
});

stage.testFake("who logs out is not told of calls that come too late", async daemon => {
  await stage.play(daemon.link("operator"), async ({ page }) => {
    await shows(page, ".who", /anna, operator/);
    await page.evaluate(() => {
      const ask = window.fetch;
      window.fetch = async (...call) => {
        if (call[0] !== "/session") {
          await new Promise(resolve => setTimeout(resolve, 700));
        }
        return ask(...call);
      };
    });
    // By then a call is under way.
    await new Promise(resolve => setTimeout(resolve, 1500));
    await click(page, ".who button");
    await shows(page, ".entrance", /not logged in/);
    await new Promise(resolve => setTimeout(resolve, 1500));
    await shows(page, ".entrance", /not logged in/);
  });
});
