/** A small world for the page's tests: two sites, their partitions, variables and events. */

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type AuditEntry, AuditEntrySchema, AuditKind } from "../contract/quietcore/v1/audit_pb";
import { Activity, PartitionSchema } from "../contract/quietcore/v1/partition_pb";
import { type EventSchema, Severity } from "../contract/quietcore/v1/site_pb";
import type { TraceSchema } from "../contract/quietcore/v1/trace_pb";
import {
  type AppliedChange,
  AppliedChangeSchema,
  type Change,
  ChangeKind,
  type Effect,
  EffectSchema,
  type Value,
  type Variable,
  VariableSchema,
  WhyNoEffect,
} from "../contract/quietcore/v1/variable_pb";
import { Runs } from "./runs";

/** Time between two cycles of the partition `axis`, in milliseconds. */
const PERIOD_MS = 1;

/** A variable of the fake program: its kind, and its value unless the program computes it. */
interface Simulated {
  variable: Variable;
  value: number;
  computed?: (seconds: number) => number;
  forced: number | null;
}

export class World {
  readonly started = Date.now();
  readonly variables = new Map<string, Simulated>();
  readonly events: MessageInitShape<typeof EventSchema>[] = [];
  readonly changes: AppliedChange[] = [];
  /** Traces that were started, the oldest first. */
  traces: MessageInitShape<typeof TraceSchema>[] = [];
  readonly runs = new Runs();
  /** Samples that the next sample says were left out. */
  leftOut = 0;
  /** True while `axis` is held. */
  isPaused = false;
  /** The sentence by which the site refuses to restart a partition; empty while it does not. */
  refusal = "";
  readonly entries: AuditEntry[] = [];

  constructor() {
    this.#add("servo_P.Kv", "f64", "parameter", 2.5);
    this.#add("servo_P.Ki", "f64", "parameter", 0.125);
    this.#add("servo_P.mode", "Mode", "parameter", 2);
    this.#add("servo_U.enable", "bool", "input", 1);
    this.#add("servo_U.setpoint", "f64", "input", 0, seconds => 40 * Math.sign(wave(seconds, 5)));
    this.#add("servo_B.position", "f64", "signal", 0, seconds => response(seconds));
    this.#add("servo_Y.torque", "f32", "output", 0, seconds => 12 * wave(seconds, 1.7));
    this.#add("servo_B.velocity_error", "f64", "signal", 0, seconds => -speed(seconds));
    this.#add("servo_DW.count", "u32", "state", 0, seconds => Math.floor(seconds * 10));
    for (let number = 0; number < 240; number += 1) {
      this.#add(`servo_DW.filter[${number}]`, "f64", "state", number / 8);
    }
    this.happen("axis", "started", Severity.INFORMATION, "build 1 runs", "anna in terminal pts/3");
    this.happen("tank", "fault", Severity.FAULT, "segmentation fault at `tank_step` (tank.c:88)");
    const of = "SubDevice 1 `EL7031`";
    this.happen("axis", "error-counters", Severity.WARNING, `${of} has counted 3 damaged frames`);
    this.happen("axis", "overrun", Severity.WARNING, "the step took 913 µs of 800 µs");
    this.enter("anna", "PageService/CreateLink", "", "{}");
    this.enter("bert", "VariableService/WriteVariables", "axis", '{"changes":[]}');
  }

  /** Adds an event, which streams send as soon as they look. */
  happen(partition: string, kind: string, severity: Severity, text: string, by = ""): void {
    const sequence = BigInt(this.events.length);
    const at = new Date().toISOString();
    const cycle = partition === "axis" ? { cycle: this.cycle() } : {};
    this.events.push({ sequence, at, partition, kind, severity, text, by, ...cycle });
  }

  /** Adds the two entries of a call that was made. */
  enter(user: string, call: string, partition: string, what: string): void {
    for (const kind of [AuditKind.INTENDED, AuditKind.DONE]) {
      const number = BigInt(this.entries.length + 1);
      const who = { user, program: "page", via: "page", certificate: "", role: "operator" };
      const site = "press-line";
      const at = new Date().toISOString();
      this.entries.push(
        create(AuditEntrySchema, { number, at, kind, who, call, site, partition, what }),
      );
    }
  }

  cycle(): bigint {
    return BigInt(Math.floor((Date.now() - this.started) / PERIOD_MS) + 61_234);
  }

  forces(): number {
    return [...this.variables.values()].filter(({ forced }) => forced !== null).length;
  }

  partitions() {
    const fieldbus = { state: "OP", subdevices: 3, workingCounter: 9, workingCounterExpected: 9 };
    return [
      create(PartitionSchema, {
        name: "axis",
        backend: "kvm",
        activity: this.isPaused ? Activity.PAUSED : Activity.RUNNING,
        class: "motion-control",
        periodNs: 1_000_000n,
        cycles: this.cycle(),
        overruns: 2n,
        releaseMaxNs: 187_400n,
        forces: this.forces(),
        generation: 1,
        cpu: 1,
        pid: 4_711,
        fieldbus,
        hasProgram: true,
      }),
      create(PartitionSchema, {
        name: "tank",
        backend: "process",
        activity: Activity.WAITING,
        why: "segmentation fault at `tank_step` (tank.c:88)",
        restartInNs: 4_000_000_000n,
        class: "process-control",
        periodNs: 100_000_000n,
        cycles: 612n,
        missedCycles: 1n,
        releaseMaxNs: 3_000_000n,
        generation: 3,
        restarts: 2,
        faults: 3,
        lastFault: "segmentation fault at `tank_step` (tank.c:88)",
        cpu: 2,
        drift: ["CPU 2 may go to idle states deeper than C1"],
        hasProgram: true,
      }),
      create(PartitionSchema, { name: "hmi", backend: "qemu", activity: Activity.RUNNING, cpu: 3 }),
    ];
  }

  /** Returns the value that a variable has now. */
  value(path: string): Value {
    const simulated = this.variables.get(path);
    if (simulated === undefined) {
      throw new Error(`no variable ${path}`);
    }
    const { variable, computed, forced, value } = simulated;
    const seconds = (Date.now() - this.started) / 1_000;
    const number = forced ?? computed?.(seconds) ?? value;
    return typed(variable.type, number);
  }

  /** Applies a change as a partition would. */
  apply(change: Change, by: string): Effect {
    const simulated = this.variables.get(change.variable);
    if (simulated === undefined) {
      throw new Error(`no variable ${change.variable}`);
    }
    const { variable } = simulated;
    const old = shown(this.value(variable.path));
    const asked = change.value === undefined ? Number.NaN : parsed(variable.type, change.value);
    const effect = create(EffectSchema, { change, old });
    if (change.kind === ChangeKind.UNFORCE) {
      effect.withoutEffect = simulated.forced === null ? WhyNoEffect.NOT_FORCED : 0;
      simulated.forced = null;
    } else if (change.kind === ChangeKind.FORCE) {
      simulated.forced = asked;
    } else if (simulated.forced !== null) {
      effect.withoutEffect = WhyNoEffect.HELD_BY_FORCE;
    } else if (simulated.computed !== undefined) {
      effect.withoutEffect = WhyNoEffect.WRITTEN_BY_PROGRAM;
    } else {
      simulated.value = asked;
    }
    effect.new = change.value ?? shown(this.value(variable.path));
    const sequence = BigInt(this.changes.length);
    const cycle = this.cycle();
    const partition = "axis";
    this.changes.push(create(AppliedChangeSchema, { sequence, partition, cycle, by, effect }));
    return effect;
  }

  #add(path: string, type: string, role: string, value: number, computed?: Simulated["computed"]) {
    const writable = role !== "state";
    const variable = create(VariableSchema, { path, type, role, writable });
    const simulated: Simulated = { variable, value, forced: null };
    this.variables.set(path, computed === undefined ? simulated : { ...simulated, computed });
  }
}

/** Returns a swing between -1 and 1 with a period in seconds. */
function wave(seconds: number, period: number): number {
  return Math.sin((2 * Math.PI * seconds) / period);
}

/** Returns the position of an axis that follows the set point with a little overshoot. */
function response(seconds: number): number {
  const since = seconds % 2.5;
  const to = Math.floor(seconds / 2.5) % 2 === 0 ? 40 : -40;
  const swing = Math.cos(9 * since) + (4 / 9) * Math.sin(9 * since);
  return to * (1 - 2 * Math.exp(-4 * since) * swing);
}

/** Returns the speed of that axis. */
function speed(seconds: number): number {
  const since = seconds % 2.5;
  const to = Math.floor(seconds / 2.5) % 2 === 0 ? 40 : -40;
  return to * 2 * (9 + 16 / 9) * Math.exp(-4 * since) * Math.sin(9 * since);
}

const MODES = ["OFF", "HOME", "RUN"];

function typed(type: string, number: number): Value {
  const kinds: Record<string, Value["kind"]> = {
    f64: { case: "double", value: number },
    f32: { case: "single", value: Math.fround(number) },
    bool: { case: "boolean", value: number !== 0 },
    u32: { case: "unsigned", value: BigInt(Math.trunc(number) || 0) },
  };
  const name = MODES[number] ?? "";
  const $typeName = "quietcore.v1.EnumerationValue";
  const enumeration = { $typeName, number: BigInt(Math.trunc(number) || 0), name } as const;
  return {
    $typeName: "quietcore.v1.Value",
    kind: kinds[type] ?? { case: "enumeration", value: enumeration },
  };
}

function shown({ kind }: Value): string {
  return kind.case === "enumeration" ? kind.value.name : String(kind.value);
}

/** Reads a value as a person writes it; fails as the daemon does. */
function parsed(type: string, text: string): number {
  const mode = MODES.indexOf(text);
  const number =
    type === "bool" ? ["false", "true"].indexOf(text) : mode >= 0 ? mode : Number(text);
  if (!Number.isFinite(number) || (type === "bool" && number < 0)) {
    throw new Error(`\`${text}\` is not a value of type ${type}`);
  }
  return number;
}
