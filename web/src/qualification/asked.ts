/** What a run is asked for: the fields that each kind has, and what is typed into them, checked. */

import { RunKind, type StartRunRequest } from "../contract/quietcore/v1/qualification";

/** Kinds of runs: the word of the command line, and what they find out. */
export const KINDS: [RunKind, string, string][] = [
  [RunKind.QUALIFY, "qualify", "judges the site"],
  [RunKind.TUNE, "tune", "finds the controls that it needs"],
  [RunKind.DISTURB, "disturb", "measures what neighbours do to it"],
];

/** What a text has to be like, and the sentence for one that is not. */
type Rule = [RegExp, string];

const NAMES: Rule = [/^[\w.-]+([\s,]+[\w.-]+)*$/, "Give names with spaces between them."];
const NAME: Rule = [/^[\w.-]+$/, "Give one name."];
const TIME: Rule = [
  /^(?=.*[1-9])(\d{1,9}(?:\.\d{1,3})?)\s*(ms|s|min|h)$/,
  "Give a number and its unit, as in “30 s” or “10 min”.",
];
const ROUNDS: Rule = [/^(1000|[1-9]\d{0,2})$/, "Give a number from 1 to 1000."];
const SEED: Rule = [/^[1-9]\d{0,17}$/, "Give a whole number, 1 or more."];

/** The largest site file that the daemon takes, in bytes. */
export const FILE_BYTES_MAX = 1024 * 1024;

/** A field: its name, its label, the usual that an empty one stands for, and its rule. */
export type Field = [string, string, string, Rule];

const OF_EXPERIMENTS: Field[] = [
  ["duration", "time of each block", "1 s", TIME],
  ["rounds", "rounds", "12", ROUNDS],
  ["seed", "seed", "1", SEED],
];

/** Returns the fields of a kind. */
export function fieldsOf(kind: RunKind): Field[] {
  switch (kind) {
    case RunKind.TUNE:
      return [
        ["profiles", "profile", "the last with a load", NAME],
        ["controls", "controls", "those of the site", NAMES],
        ["confirm", "time of each set of controls", "10 s", TIME],
        ...OF_EXPERIMENTS,
      ];
    case RunKind.DISTURB:
      return [
        ["partitions", "partitions", "all", NAMES],
        ["aggressors", "aggressors", "cache disk timer …", NAMES],
        ...OF_EXPERIMENTS,
      ];
    default:
      return [
        ["profiles", "profiles", "those of the site", NAMES],
        ["duration", "time of each profile", "as in the site file", TIME],
      ];
  }
}

/** Returns the sentence for a text that is wrong; an empty one if it is right, or empty. */
export function wrongOf(text: string, [, , , [right, sentence]]: Field): string {
  return text === "" || right.test(text) ? "" : sentence;
}

/** Returns the time that a text names, in milliseconds; 0 for none. */
export function millisecondsOf(text: string): bigint {
  const [, number, unit = ""] = TIME[0].exec(text) ?? [];
  const each = { ms: 1, s: 1e3, min: 60e3, h: 3_600e3 }[unit] ?? 0;
  return BigInt(Math.ceil(Number(number ?? 0) * each));
}

/** Makes the request of texts that are right, for a site file or, where that is null, a site. */
export function requestOf(
  kind: RunKind,
  site: string,
  toml: string | null,
  text: (name: string) => string,
): StartRunRequest {
  const names = (name: string) =>
    text(name)
      .split(/[\s,]+/)
      .filter(Boolean);
  return {
    kind,
    source: toml === null ? { $case: "site", value: site } : { $case: "toml", value: toml },
    profiles: names("profiles"),
    durationMs: millisecondsOf(text("duration")),
    rounds: Number(text("rounds")),
    seed: BigInt(text("seed")),
    confirmMs: millisecondsOf(text("confirm")),
    controls: names("controls"),
    partitions: names("partitions"),
    aggressors: names("aggressors"),
  };
}
