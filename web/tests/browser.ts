/** A headless browser for the tests, and waits that end when the page shows something. */

import puppeteer, { type Browser, type Page } from "puppeteer-core";

/** Longest wait for anything that the page is to show; a machine under load is slow. */
export const WAIT_MS_MAX = 30_000;

export async function launch(): Promise<Browser> {
  return puppeteer.launch({
    executablePath: process.env.PUPPETEER_EXECUTABLE_PATH ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"],
    protocolTimeout: 4 * WAIT_MS_MAX,
  });
}

/** A page in a session of its own, with what it complained of. */
export interface Visit {
  page: Page;
  /** Errors of scripts and refusals of the content security policy. */
  complaints: string[];
  close(): Promise<void>;
}

export interface Look {
  width?: number;
  height?: number;
  dark?: boolean;
}

/** Opens an address as a person does who has no session yet. */
export async function visit(browser: Browser, address: string, look: Look = {}): Promise<Visit> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  const { width = 1_440, height = 1_000, dark = false } = look;
  await page.setViewport({ width, height });
  const value = dark ? "dark" : "light";
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value }]);
  page.setDefaultTimeout(WAIT_MS_MAX);
  const complaints: string[] = [];
  page.on("pageerror", error => complaints.push(String(error)));
  page.on("console", message => {
    if (message.text().includes("Content Security Policy")) {
      complaints.push(message.text());
    }
  });
  await page.goto(address);
  return { page, complaints, close: () => context.close() };
}

/** Waits until an element that matches `selector` has a text that matches `text`. */
export async function shows(page: Page, selector: string, text: RegExp): Promise<void> {
  try {
    await page.waitForFunction(
      (selector, source) =>
        [...document.querySelectorAll(selector)].some(element =>
          new RegExp(source).test((element as HTMLElement).innerText.replaceAll(/\s+/g, " ")),
        ),
      {},
      selector,
      text.source,
    );
  } catch {
    const seen = await page.$$eval("body", ([body]) => (body as HTMLElement).innerText);
    throw new Error(`${selector} never showed ${text}; the page:\n${seen}`);
  }
}

/** Waits until the page has an element, and clicks it. */
export async function click(page: Page, selector: string): Promise<void> {
  await page.waitForSelector(selector);
  await page.locator(selector).click();
}
