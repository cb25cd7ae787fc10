/** What each browser test needs: the daemon and the browser. */

import { after, before, test } from "node:test";
import type { Browser } from "puppeteer-core";
import { type Look, launch, type Visit, visit } from "./browser";
import type { FakeDaemon } from "./fake/daemon";
import { Subject } from "./subject";

export class Stage {
  readonly subject = new Subject();
  #browser: Browser | null = null;

  constructor() {
    before(async () => {
      await this.subject.start();
      this.#browser = await launch();
    });
    after(async () => {
      await this.#browser?.close();
      await this.subject.stop();
    });
  }

  /** Tests something with a page that is logged in. */
  test(name: string, role: string, run: (visit: Visit) => Promise<void>, look: Look = {}): void {
    test(name, () => this.play(this.subject.link(role), run, look));
  }

  /** Tests something with links, which are made by their role. */
  testLinks(name: string, run: (linkOf: (role: string) => string) => Promise<void>): void {
    test(name, () => run(role => this.subject.link(role)));
  }

  /**
   * Tests something that only the fake daemon does: it goes down, or its world changes. With a real
   * one there is no such test.
   */
  testFake(name: string, run: (daemon: FakeDaemon) => Promise<void>): void {
    const { fake } = this.subject;
    if (fake !== null) {
      test(name, () => run(fake));
    }
  }

  /** Tests something with a page and with the socket of a real daemon; with the fake one there is none. */
  testSocket(name: string, run: (visit: Visit, socket: string) => Promise<void>): void {
    const { socket } = this.subject;
    if (socket !== "") {
      test(name, () => this.play(this.subject.link("viewer"), visit => run(visit, socket)));
    }
  }

  /** Opens an address, and closes it again whatever comes of the test. */
  async play(link: string, run: (visit: Visit) => Promise<void>, look: Look = {}): Promise<void> {
    if (this.#browser === null) {
      throw new Error("the browser has not been started");
    }
    const opened = await visit(this.#browser, link, look);
    try {
      await run(opened);
    } finally {
      await opened.close();
    }
  }
}
