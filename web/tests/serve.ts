/** Serves the page over the fake world, and prints a link for each role: to look at it by hand. */

import { FakeDaemon } from "./fake/daemon";

const daemon = new FakeDaemon();
await daemon.start();
for (const role of ["viewer", "operator", "engineer"]) {
  process.stdout.write(`${role}: ${daemon.link(role)}\n`);
}
