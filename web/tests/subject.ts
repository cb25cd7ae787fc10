/**
 * The daemon that the tests are about: the fake one, or a real one whose one-time links are printed by
 * the command in QUIETCORE_PAGE_LINK, to which the role is added, as "quietcored link --role".
 *
 * A real daemon must run a site whose first partition has the variables of `models/servo`. Tests that
 * stop the daemon or change its world are of the fake one only.
 */

import { execSync } from "node:child_process";
import { FakeDaemon } from "./fake/daemon";

export class Subject {
  readonly #command = process.env.QUIETCORE_PAGE_LINK;
  /** The fake daemon; null where the tests are about a real one. */
  readonly fake = this.#command === undefined ? new FakeDaemon() : null;

  /** Path of the real daemon's socket; empty for the fake one. */
  readonly socket = process.env.QUIETCORE_SOCKET ?? "";

  async start(): Promise<void> {
    await this.fake?.start();
  }

  async stop(): Promise<void> {
    await this.fake?.stop();
  }

  /** Returns a link that was not used yet. */
  link(role: string): string {
    if (this.fake !== null) {
      return this.fake.link(role);
    }
    const printed = execSync(`${this.#command} ${role}`, { encoding: "utf8" });
    const link = /http:\S+#link=\S+/.exec(printed)?.[0];
    if (link === undefined) {
      throw new Error(`no link in what was printed: ${printed}`);
    }
    return link;
  }
}
