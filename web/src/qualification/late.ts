/** The late releases of a record, read from its file as far as the page shows them. */

/** A piece of a late release: what had the time, from when after the due instant, and for how long. */
export interface Piece {
  cause: string;
  what: string;
  atNs: number;
  ns: number;
}

/** A release that came later than the limit, and its course. */
export interface LateRelease {
  release: number;
  latencyNs: number;
  cpu: number;
  /** The pieces in the order of time; empty where none was traced. */
  course: Piece[];
  /** What limits the account of it. */
  remarks: string[];
}

/** The late releases of a record. */
export interface Late {
  record: string;
  /** Releases later than this were explained, in nanoseconds; null where none was to be. */
  limitNs: number | null;
  /** The number of releases later than that. */
  above: number;
  /** Why none of them is explained; empty if some are, or nothing is said. */
  because: string;
  /** The worst of them, the worst first. */
  kept: LateRelease[];
  /** Place of the one that is shown. */
  shown: number;
}

type Json = Record<string, unknown>;

/** Reads the late releases of a record; what has another form than a record's counts as missing. */
export function lateOf(record: string, json: unknown): Late {
  const { ledgers } = objectOf(json);
  const { limit_ns, above, kept, not_observed } = objectOf(ledgers);
  return {
    record,
    limitNs: typeof limit_ns === "number" ? limit_ns : null,
    above: numberOf(above),
    because: String(listOf(not_observed)[0]?.because ?? ""),
    kept: listOf(kept).map(({ release, latency_ns, cpu, course, remarks }) => ({
      release: numberOf(release),
      latencyNs: numberOf(latency_ns),
      cpu: numberOf(cpu),
      course: listOf(course).map(({ cause, what, at_ns, ns }) => ({
        cause: String(cause),
        what: String(what ?? ""),
        atNs: numberOf(at_ns),
        ns: numberOf(ns),
      })),
      remarks: Array.isArray(remarks) ? remarks.map(String) : [],
    })),
    shown: 0,
  };
}

function objectOf(json: unknown): Json {
  return typeof json === "object" && json !== null ? (json as Json) : {};
}

function listOf(json: unknown): Json[] {
  return Array.isArray(json) ? json.map(objectOf) : [];
}

function numberOf(json: unknown): number {
  return typeof json === "number" ? json : 0;
}
