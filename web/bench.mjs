// The page in a headless browser, for `quietcore-bench page`: opens a link of the daemon with picked
// variables, and answers what it is asked, line by line.
//
// Usage: node bench.mjs LINK FRAGMENT VARIABLE
//
//     expect TEXT     `armed`, then the time at which the page has drawn VARIABLE's value as TEXT
//     frames SECONDS  the frames of that time: how often the browser drew, how often the scope did,
//                     and the longest time between two frames, in ms
//     bytes           the bytes of the page's files as they come from the daemon
//
// Times are milliseconds since 1970, of the machine's clock.
import { createInterface } from "node:readline";
import puppeteer from "puppeteer-core";

const [link, fragment, variable] = process.argv.slice(2);
const say = text => process.stdout.write(`${text}\n`);

const browser = await puppeteer.launch({
  executablePath: process.env.PUPPETEER_EXECUTABLE_PATH ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
  // By a pipe, so that it ends with this process however that does.
  pipe: true,
});
const page = await browser.newPage();
await page.setViewport({ width: 1_440, height: 1_000 });

const files = [];
page.on("response", response => {
  if (/\/(app\.(js|css))?$/.test(new URL(response.url()).pathname)) {
    files.push(response.buffer());
  }
});

await page.evaluateOnNewDocument(() => {
  // uPlot clears its canvas once for each drawing.
  globalThis.drawings = 0;
  const clear = CanvasRenderingContext2D.prototype.clearRect;
  CanvasRenderingContext2D.prototype.clearRect = function (...area) {
    globalThis.drawings += 1;
    clear.apply(this, area);
  };
});
await page.goto(link);
await page.waitForSelector("nav");
await page.evaluate(fragment => {
  location.hash = fragment;
}, fragment);
const cell = `tr[data-variable="${variable}"] td.value`;
await page.waitForFunction(cell => /\d/.test(document.querySelector(cell)?.textContent), {}, cell);

/** Runs in the page: resolves once a frame with the value as `text` was drawn. */
function drawn(cell, text) {
  return new Promise(resolve => {
    const look = () => {
      if (document.querySelector(cell)?.textContent.trim() !== text) {
        return false;
      }
      observer.disconnect();
      // The message comes after the frame in which the value is drawn.
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => resolve(Date.now());
        port2.postMessage(null);
      });
      return true;
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, { subtree: true, childList: true, characterData: true });
    look();
  });
}

/** Runs in the page: counts frames. */
function frames(seconds) {
  return new Promise(resolve => {
    const { drawings } = globalThis;
    const begin = performance.now();
    let [count, last, longest] = [0, begin, 0];
    const frame = now => {
      count += 1;
      longest = Math.max(longest, now - last);
      last = now;
      const passed = performance.now() - begin;
      if (passed < seconds * 1_000) {
        requestAnimationFrame(frame);
      } else {
        const rate = 1_000 / passed;
        const scope = (globalThis.drawings - drawings) * rate;
        resolve({ frames: count * rate, scope, longest });
      }
    };
    requestAnimationFrame(frame);
  });
}

const orders = {
  async expect(text) {
    const shown = page.evaluate(drawn, cell, text);
    // A second order to the browser is answered after the first one has begun.
    await page.evaluate(() => null);
    say("armed");
    say(await shown);
  },
  async frames(seconds) {
    say(JSON.stringify(await page.evaluate(frames, Number(seconds))));
  },
  async bytes() {
    const contents = await Promise.all(files);
    say(contents.reduce((sum, { length }) => sum + length, 0));
  },
};

say("ready");
for await (const line of createInterface({ input: process.stdin })) {
  const [order, word] = line.split(" ");
  await orders[order](word);
}
await browser.close();
