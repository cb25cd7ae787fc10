/** The daemon's calls, and what their refusals mean for the page. */

import type { Services } from "./contract/table";
import { CallError, type Client, type Credentials, client, Status } from "./grpc";

/** Time after which an answer that is due at once counts as lost. */
export const ANSWER_MS_MAX = 5_000;

/** The daemon's services. */
export interface Calls {
  audit: Client<Services["AuditService"]>;
  host: Client<Services["HostService"]>;
  partitions: Client<Services["PartitionService"]>;
  qualification: Client<Services["QualificationService"]>;
  sites: Client<Services["SiteService"]>;
  traces: Client<Services["TraceService"]>;
  variables: Client<Services["VariableService"]>;
}

/** Makes the calls of the daemon that the page came from. */
export function connect(credentials: Credentials): Calls {
  return {
    audit: client("AuditService", credentials),
    host: client("HostService", credentials),
    partitions: client("PartitionService", credentials),
    qualification: client("QualificationService", credentials),
    sites: client("SiteService", credentials),
    traces: client("TraceService", credentials),
    variables: client("VariableService", credentials),
  };
}

/** What a failed call says about the connection as a whole. */
export type Failure = "lost" | "logged out" | "refused";

/**
 * Tells a daemon that does not answer from one that refuses.
 *
 * A refusal comes with the daemon's own sentence and leaves the connection as it is.
 */
export function failureOf(error: unknown): Failure {
  switch (error instanceof CallError ? error.status : Status.UNKNOWN) {
    case Status.UNAUTHENTICATED:
      return "logged out";
    case Status.UNAVAILABLE:
    case Status.UNKNOWN:
    case Status.DEADLINE_EXCEEDED:
    case Status.CANCELLED:
      return "lost";
    default:
      return "refused";
  }
}

/** Returns the daemon's sentence, with a capital at its start. */
export function sentenceOf(error: unknown): string {
  const text = error instanceof Error && error.message !== "" ? error.message : "no reason given";
  return text.charAt(0).toUpperCase() + text.slice(1);
}
