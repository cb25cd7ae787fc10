/** The daemon's services over the fake world, with the roles and refusals of the real one. */

import { Code, ConnectError, type ConnectRouter, type HandlerContext } from "@connectrpc/connect";
import { type AuditEntry, AuditService } from "../contract/quietcore/v1/audit_pb";
import { FindingSeverity, HostService } from "../contract/quietcore/v1/host_pb";
import { PartitionService } from "../contract/quietcore/v1/partition_pb";
import { Severity, SiteService } from "../contract/quietcore/v1/site_pb";
import { ChangeKind, VariableService } from "../contract/quietcore/v1/variable_pb";
import { cpus, timing } from "./machine";
import { runRoutes } from "./runs";
import { traceRoutes } from "./traces";
import type { World } from "./world";

/** Who asks; undefined without a session. */
export type Asker = { name: string; role: string } | undefined;

/** Roles from the weakest to the strongest. */
const ROLES = ["viewer", "operator", "engineer", "admin"];
/** Time between two looks of a stream at the world. */
const LOOK_MS = 20;

export function routes(world: World, askerOf: (shown: string | null) => Asker) {
  const asked = (context: HandlerContext): NonNullable<Asker> => {
    const asker = askerOf(context.requestHeader.get("authorization"));
    if (asker === undefined) {
      throw new ConnectError("log in first", Code.Unauthenticated);
    }
    return asker;
  };
  const mayChange = (context: HandlerContext, needed = "operator"): string => {
    const { name, role } = asked(context);
    if (ROLES.indexOf(role) < ROLES.indexOf(needed)) {
      const sentence = `${name} is ${role}, and this call needs the role ${needed}`;
      throw new ConnectError(sentence, Code.PermissionDenied);
    }
    return `${name} in the live page`;
  };
  return (router: ConnectRouter): void => {
    siteRoutes(router, world, asked, mayChange);
    variableRoutes(router, world, asked, mayChange);
    traceRoutes(router, world, asked, mayChange);
    runRoutes(router, world, asked, mayChange);
    hostRoutes(router, asked);
    auditRoutes(router, world, asked);
  };
}

function siteRoutes(
  router: ConnectRouter,
  world: World,
  asked: (context: HandlerContext) => unknown,
  mayChange: (context: HandlerContext) => string,
): void {
  router.service(SiteService, {
    listSites(_, context) {
      asked(context);
      const site = { pid: 4_700, startedBy: "anna in terminal pts/3" };
      const partitions = ["axis", "tank", "hmi"];
      return {
        sites: [
          { ...site, name: "press-line", siteFile: "/sites/press-line.toml", partitions },
          { ...site, name: "saw", siteFile: "/sites/saw.toml", partitions: [] },
        ],
      };
    },
    async *watchEvents({ site }, context) {
      asked(context);
      let next = 0;
      while (!context.signal.aborted) {
        for (; site === "press-line" && next < world.events.length; next += 1) {
          yield { event: world.events[next] ?? {} };
        }
        await rest();
      }
    },
  });
  router.service(PartitionService, {
    listPartitions({ site }, context) {
      asked(context);
      const drift = ["cpu3: the governor is `powersave` and was set to `performance`"];
      return site === "press-line" ? { partitions: world.partitions(), drift } : {};
    },
    getTiming({ partition }, context) {
      asked(context);
      if (partition === "tank") {
        const sentence = "tank: it does not run; `quietcore events` says why";
        throw new ConnectError(sentence, Code.FailedPrecondition);
      }
      return timing(world);
    },
    pausePartition({ partition }, context) {
      const by = mayChange(context);
      const wasPaused = world.isPaused;
      world.isPaused = true;
      world.enter(by, "PartitionService/PausePartition", partition, "{}");
      return { wasPaused, hasFieldbus: true };
    },
    resumePartition({ partition }, context) {
      const by = mayChange(context);
      const wasPaused = world.isPaused;
      world.isPaused = false;
      world.enter(by, "PartitionService/ResumePartition", partition, "{}");
      return { wasPaused };
    },
    restartPartition({ partition, kind }, context) {
      const by = mayChange(context);
      if (world.refusal !== "") {
        throw new ConnectError(world.refusal, Code.Aborted);
      }
      world.happen(partition, "restarted", Severity.INFORMATION, `restart of kind ${kind}`, by);
      world.enter(by, "PartitionService/RestartPartition", partition, `{"how":"${kind}"}`);
      return {};
    },
  });
}

function variableRoutes(
  router: ConnectRouter,
  world: World,
  asked: (context: HandlerContext) => unknown,
  mayChange: (context: HandlerContext) => string,
): void {
  router.service(VariableService, {
    listVariables({ pattern, pageSize, pageToken }, context) {
      asked(context);
      const matches = matcher(pattern);
      const all = [...world.variables.values()].map(({ variable }) => variable);
      const found = all.filter(({ path }) => matches.test(path));
      const from = Number(pageToken || "0");
      const end = from + pageSize;
      const nextPageToken = end < found.length ? String(end) : "";
      return { variables: found.slice(from, end), nextPageToken, generation: 1 };
    },
    writeVariables({ changes }, context) {
      const by = mayChange(context);
      try {
        return { cycle: world.cycle(), effects: changes.map(change => world.apply(change, by)) };
      } catch (error) {
        throw new ConnectError((error as Error).message, Code.InvalidArgument);
      }
    },
    unforceAll(_, context) {
      const by = mayChange(context);
      const forced = [...world.variables.values()].filter(({ forced }) => forced !== null);
      const effects = forced.map(({ variable }) => {
        const $typeName = "quietcore.v1.Change";
        const kind = ChangeKind.UNFORCE;
        return world.apply({ $typeName, kind, variable: variable.path, allowNan: false }, by);
      });
      return { cycle: world.cycle(), effects };
    },
    async *subscribeVariables({ patterns, intervalUs }, context) {
      asked(context);
      const variables = patterns.map(path => world.variables.get(path)?.variable);
      if (variables.some(variable => variable === undefined)) {
        throw new ConnectError("axis has no such variable", Code.NotFound);
      }
      const known = variables.filter(variable => variable !== undefined);
      yield { content: { case: "variables", value: { variables: known } } };
      const indices = patterns.map((_, index) => index);
      let forcedBefore = "none yet";
      while (!context.signal.aborted) {
        const forced = indices.filter(
          index => world.variables.get(patterns[index] ?? "")?.forced !== null,
        );
        const forcedChanged = forced.join() !== forcedBefore;
        forcedBefore = forced.join();
        const values = patterns.map(path => world.value(path));
        const reading = { cycle: world.cycle(), generation: 1, consistent: true };
        const readAtNs = BigInt(Date.now()) * 1_000_000n;
        const leftOut = BigInt(world.leftOut);
        world.leftOut = 0;
        const value = { reading, readAtNs, indices, values, forcedChanged, forced, leftOut };
        yield { content: { case: "sample", value } };
        await rest(Math.max(Number(intervalUs) / 1_000, 1));
      }
    },
    listChanges(_, context) {
      asked(context);
      return { changes: world.changes, next: BigInt(world.changes.length) };
    },
  });
}

function auditRoutes(
  router: ConnectRouter,
  world: World,
  asked: (context: HandlerContext) => unknown,
): void {
  router.service(AuditService, {
    listEntries({ since, pageSize, who, call }, context) {
      asked(context);
      const from = world.entries.filter(({ number }) => number >= since);
      const page = from.slice(0, pageSize || 100);
      const is = (entry: AuditEntry) =>
        (who === "" || entry.who?.user === who) && (call === "" || entry.call === call);
      const next = page.length === 0 ? since : (page.at(-1)?.number ?? 0n) + 1n;
      return { entries: page.filter(is), next, atEnd: from.length <= page.length };
    },
  });
}

function hostRoutes(router: ConnectRouter, asked: (context: HandlerContext) => unknown): void {
  router.service(HostService, {
    getHost(_, context) {
      asked(context);
      return { name: "press-01", version: "0.1.0", kernel: "6.1.0-28-rt-amd64" };
    },
    listCpus(_, context) {
      asked(context);
      return { cpus: cpus() };
    },
    examineHost(_, context) {
      asked(context);
      const of = { area: "scheduler", effect: "" };
      return {
        findings: [
          {
            ...of,
            id: "preemption-model",
            severity: FindingSeverity.OK,
            subject: "preemption model",
            read: "PREEMPT_RT",
            right: "PREEMPT_RT",
          },
          {
            ...of,
            id: "rt-throttling",
            severity: FindingSeverity.CONFORMANCE,
            subject: "real-time throttling",
            read: "950 ms of 1 s",
            right: "off",
            effect: "a task of real-time priority is held for 50 ms in each second that it fills",
            fix: "`sysctl kernel.sched_rt_runtime_us=-1`; permanent in /etc/sysctl.d",
          },
          {
            id: "idle-states",
            area: "power",
            severity: FindingSeverity.ADVICE,
            subject: "idle states of CPU 2",
            read: "C6 allowed",
            right: "C1 at most",
            effect: "waking up takes up to 133 µs more",
            fix: "kernel parameter intel_idle.max_cstate=1",
          },
        ],
      };
    },
  });
}

/** Returns the expression for a pattern with "*" and "?". */
function matcher(pattern: string): RegExp {
  const literal = (pattern || "*").replace(/[.+^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${literal.replaceAll("*", ".*").replaceAll("?", ".")}$`);
}

function rest(ms = LOOK_MS): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms));
}
