/** The CPUs of the machine as a strip: what each is for, and who has it. */

import { html, nothing, type TemplateResult } from "lit-html";
import { type Cpu, type CpuOwner, CpuUse } from "../contract/quietcore/v1/cpu";
import { signed } from "../parts";
import type { State } from "../words";

export function cpuStrip(cpus: Cpu[]): TemplateResult {
  const taken = cpus.filter(({ use }) => use === CpuUse.PARTITION || use === CpuUse.SHARED);
  return html`<section aria-labelledby="cpus">
    <h3 id="cpus">
      CPUs <small>${taken.length} of ${cpus.length} belong to partitions</small>
    </h3>
    <ul class="cpus">
      ${cpus.map(tile)}
    </ul>
  </section>`;
}

function tile(cpu: Cpu): TemplateResult {
  const { number, use, owners, isolated, tickless, daemon, siblings } = cpu;
  const marks = [
    isolated ? "isolated" : null,
    tickless ? "tickless" : null,
    daemon ? "daemon" : null,
    siblings.includes("-") || siblings.includes(",") ? `core ${siblings}` : null,
  ].filter(mark => mark !== null);
  return html`<li class=${`cpu ${useOf(use).sign}`} data-cpu=${number}>
    <b>CPU ${number}</b>
    ${signed(useOf(use))}
    ${owners.map(owner)}
    ${marks.length === 0 ? nothing : html`<small>${marks.join(", ")}</small>`}
  </li>`;
}

function owner({ site, partition, pid, user, policy }: CpuOwner): TemplateResult {
  const name = site === "" ? "a campaign" : `${site}/${partition}`;
  const of = `process ${pid} of ${user}${policy === "" ? "" : `, ${policy}`}`;
  return html`<span class="owner"><b>${name}</b> <small>${of}</small></span>`;
}

/** Returns the use of a CPU in a word. */
export function useOf(use: CpuUse): State {
  switch (use) {
    case CpuUse.HOUSEKEEPING:
      return { word: "housekeeping", sign: "plain" };
    case CpuUse.FREE:
      return { word: "isolated, free", sign: "off" };
    case CpuUse.PARTITION:
      return { word: "partition", sign: "good" };
    case CpuUse.SHARED:
      return { word: "shared", sign: "warning" };
    case CpuUse.OFFLINE:
      return { word: "offline", sign: "off" };
    default:
      return { word: "unknown", sign: "off" };
  }
}
