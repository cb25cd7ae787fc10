/** The address of a view: what is shown stands in the fragment, so that a bookmark brings it back. */

const VIEWS = [
  "site",
  "variables",
  "traces",
  "timing",
  "qualification",
  "machine",
  "audit",
] as const;

export type View = (typeof VIEWS)[number];

/** Spans of the scope that can be chosen, in seconds. */
export const SPANS_S = [1, 5, 10, 30, 60, 300, 1_800];
/** Times between two samples that can be chosen, in microseconds. */
export const INTERVALS_US = [1_000, 10_000, 100_000, 1_000_000];
/** What is chosen unless the address names another one. */
const SPAN_S = 10;
const INTERVAL_US = 100_000;

export interface Address {
  view: View;
  /** Name of the site; empty for the first one that runs. */
  site: string;
  /** Name of the partition whose variables or timing are shown; empty for the first one with a program. */
  partition: string;
  /** Paths of the variables that are picked. */
  picks: string[];
  /** Those of them whose trends are not drawn. */
  hidden: string[];
  /** The one of them that XY has the others over; empty for no XY. */
  x: string;
  /** Span of the scope, in seconds. */
  spanS: number;
  /** Time between two samples, in microseconds. */
  intervalUs: number;
  /** True draws each trend as high as the scope. */
  isFitted: boolean;
  /** Instant around which events are shown, in milliseconds since 1970; null for all. */
  around: number | null;
  /** Number of the trace that is shown; null for none. */
  trace: bigint | null;
  /** Number of the run that is shown; null for the newest. */
  run: bigint | null;
}

/** Reads a fragment such as "#variables?site=press-line&pick=servo_P.Kp". */
export function read(fragment: string): Address {
  const [word = "", query = ""] = fragment.replace(/^#/, "").split("?", 2);
  const given = new URLSearchParams(query);
  const picks = [...new Set(given.getAll("pick"))];
  return {
    view: VIEWS.find(view => view === word) ?? "site",
    site: given.get("site") ?? "",
    partition: given.get("partition") ?? "",
    picks,
    hidden: picks.filter(pick => given.getAll("hidden").includes(pick)),
    x: picks.find(pick => pick === given.get("x")) ?? "",
    spanS: oneOf(SPANS_S, given.get("span"), SPAN_S),
    intervalUs: oneOf(INTERVALS_US, given.get("interval"), INTERVAL_US),
    isFitted: given.get("scale") === "own",
    around: instantOf(given.get("around")),
    trace: numberOf(given.get("trace")),
    run: numberOf(given.get("run")),
  };
}

/** Writes the fragment that `read` reads. */
export function write(address: Address): string {
  const query = new URLSearchParams();
  if (address.site !== "") {
    query.set("site", address.site);
  }
  if (address.partition !== "") {
    query.set("partition", address.partition);
  }
  for (const pick of address.picks) {
    query.append("pick", pick);
    if (address.hidden.includes(pick)) {
      query.append("hidden", pick);
    }
    if (address.x === pick) {
      query.set("x", pick);
    }
  }
  if (address.spanS !== SPAN_S) {
    query.set("span", String(address.spanS));
  }
  if (address.intervalUs !== INTERVAL_US) {
    query.set("interval", String(address.intervalUs));
  }
  if (address.isFitted) {
    query.set("scale", "own");
  }
  if (address.around !== null) {
    query.set("around", new Date(address.around).toISOString());
  }
  if (address.trace !== null) {
    query.set("trace", String(address.trace));
  }
  if (address.run !== null) {
    query.set("run", String(address.run));
  }
  const text = query.toString();
  return text === "" ? `#${address.view}` : `#${address.view}?${text}`;
}

/** Returns the choice that a text names; the usual one where it names none. */
function oneOf(choices: readonly number[], text: string | null, usual: number): number {
  return choices.find(choice => String(choice) === text) ?? usual;
}

/** Returns the number that a text is; null where it is none. */
function numberOf(text: string | null): bigint | null {
  return /^\d{1,19}$/.test(text ?? "") ? BigInt(text ?? "") : null;
}

/** Returns the instant that a text names, in milliseconds since 1970; null where it names none. */
function instantOf(text: string | null): number | null {
  const instant = Date.parse(text ?? "");
  return Number.isNaN(instant) ? null : instant;
}
