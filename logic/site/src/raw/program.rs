//! `[partition.program]` with its tasks as written.

use std::collections::BTreeMap;

use quietcore_units::{FaultReaction, Nanos, Overrun};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::raw::RawNumber;
use crate::reading::format;
use crate::site::ProgramKind;

/// The control program of a partition and its timing.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Program")]
pub(crate) struct RawProgram {
    /// The folder of generated C or C++, relative to the site file. Left out, the partition is only
    /// measured by the probe.
    #[schemars(extend("format" = "quietcore-path"), example = &"models/servo")]
    pub(crate) model: Option<String>,
    /// Kind of program in the folder: `generated` is C or C++ that a generator wrote (functions
    /// `NAME_initialize` and `NAME_step`, or a class with `initialize` and `step`), `osek` is C
    /// with an OIL file for the OSEK kernel. Left out: `osek` where there is an OIL file, else
    /// `generated`; `quietcore plan` says which.
    #[schemars(example = &"generated")]
    pub(crate) kind: Option<ProgramKind>,
    /// The model to run of a folder that holds several: the `NAME` of `NAME_initialize`, or the
    /// class of C++, with its namespaces where its name alone does not say which.
    #[schemars(
        extend("format" = "quietcore-model-name"),
        example = &"servo", example = &"plant::axis::Servo"
    )]
    pub(crate) model_name: Option<String>,
    /// The OIL file of an OSEK program, relative to the folder; needed only where that holds more
    /// than one.
    #[schemars(extend("format" = "quietcore-path"), example = &"conveyor.oil")]
    pub(crate) oil: Option<String>,
    /// The application mode in which an OSEK program starts. Left out: the first of its OIL file.
    #[schemars(example = &"Normal")]
    pub(crate) mode: Option<String>,
    /// The time between two releases. Left out: the cycle of the class. Of an OSEK program it is
    /// the tick of its hardware counters.
    #[serde(default)]
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "20 us", "x-maximum" = "10 s"),
        example = &"1 ms"
    )]
    pub(crate) period: Option<Nanos>,
    /// The latest completion after the release, at most the period. Left out: the period.
    #[serde(default)]
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "1 us", "x-maximum" = "10 s"),
        example = &"800 us"
    )]
    pub(crate) deadline: Option<Nanos>,
    /// A bound on the execution time from analysis, at most the deadline.
    #[serde(default)]
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "1 us", "x-maximum" = "10 s"),
        example = &"120 us"
    )]
    pub(crate) wcet: Option<Nanos>,
    /// The kernel's scheduling policy. In a partition with a `budget` it is `deadline`,
    /// unless a priority is given.
    #[schemars(extend("default" = "fifo"), example = &"fifo")]
    pub(crate) policy: Option<Policy>,
    /// The priority under `fifo`; 99 is the highest.
    #[schemars(range(min = 1, max = 99), extend("default" = 90), example = 90)]
    pub(crate) priority: Option<u32>,
    /// Time before the release at which the program stops sleeping and spins to the exact instant:
    /// `off`, a fixed duration, `adaptive` (learned from the latency seen so far), or `spin`: it
    /// never sleeps, which a guest of the backend `kvm` with one task may do.
    #[serde(default)]
    #[schemars(
        schema_with = "format::early_wake",
        extend("x-minimum" = "1 us", "x-maximum" = "10 s", "default" = "off"),
        example = &"adaptive", example = &"50 us"
    )]
    pub(crate) early_wake: Option<RawEarlyWake>,
    /// The share of the CPU in percent that spinning may take under `adaptive`.
    #[schemars(range(min = 1, max = 90), extend("default" = 25), example = 25)]
    pub(crate) early_wake_share: Option<u32>,
    /// The longest execution time of a cycle. Left out: the deadline.
    #[serde(default)]
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "1 us", "x-maximum" = "10 s"),
        example = &"500 us"
    )]
    pub(crate) watchdog: Option<Nanos>,
    /// The program is at fault after this many cycles in a row beyond the `watchdog` time, or after
    /// one cycle beyond that time multiplied by this number.
    #[schemars(range(min = 1, max = 100), extend("default" = 1), example = 3)]
    pub(crate) sensitivity: Option<u32>,
    /// Treatment of releases that pass while a cycle is still running.
    #[schemars(extend("default" = "skip"), example = &"skip")]
    pub(crate) overrun: Option<Overrun>,
    /// Values of the outputs when the program is at fault.
    #[schemars(extend("default" = "zero"), example = &"hold")]
    pub(crate) on_fault: Option<FaultReaction>,
    /// The outputs by name with the values that they take under `on_fault = "substitute"`; outputs
    /// that are not named become zero.
    #[serde(default)]
    #[schemars(
        schema_with = "substitutes",
        example = serde_json::json!({ "servo_Y.torque": 0.0, "servo_Y.brake": true })
    )]
    pub(crate) substitute: Option<BTreeMap<String, RawNumber>>,
    /// The variables that survive a restart; `*` at the end of a name stands for every name that
    /// begins so, `[*]` for every index, and a structure or an array for everything in it. Bit
    /// fields, addresses and constants can't be retained.
    #[schemars(
        length(min = 1, max = 256),
        extend("items" = { "type": "string", "format": "quietcore-variables" }),
        extend("examples" = [["servo_DW.position", "servo_P.*"]])
    )]
    pub(crate) retain: Option<Vec<String>>,
    /// Restarts of the program after a fault.
    #[schemars(example = serde_json::json!({ "limit": 5, "wait": "100 ms" }))]
    pub(crate) restart: Option<RawRestart>,
    /// The latest completion of jobs of an OSEK program's own tasks after their release, by the
    /// names of the tasks in the OIL file. A task that is not named has none.
    #[serde(default)]
    #[schemars(
        schema_with = "deadlines",
        example = serde_json::json!({ "Control": "500 us", "Supervise": "20 ms" })
    )]
    pub(crate) deadlines: Option<BTreeMap<String, Nanos>>,
    /// The tasks that run its step functions. Left out: one cyclic task for the one step function
    /// of the program; a program of several rates needs one task for each. An OSEK program has one,
    /// which drives its kernel.
    #[schemars(length(min = 1, max = 16))]
    pub(crate) task: Option<Vec<RawTask>>,
}

fn substitutes(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "propertyNames": { "format": "quietcore-variable" },
        "additionalProperties": { "type": ["boolean", "integer", "number"] },
        "minProperties": 1,
        "maxProperties": 256,
    })
}

fn deadlines(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "propertyNames": { "format": "quietcore-variable" },
        "additionalProperties": {
            "type": "string",
            "format": "quietcore-duration",
            "x-minimum": "1 us",
            "x-maximum": "10 min",
        },
        "minProperties": 1,
        "maxProperties": 255,
    })
}

/// The kernel's scheduling policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// `SCHED_FIFO`, at the given `priority`.
    Fifo,
    /// `SCHED_DEADLINE`, with `wcet` as the reserved run time.
    Deadline,
    /// `SCHED_OTHER`, as any ordinary program.
    Other,
}

/// Restarts of a program after a fault.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Restart")]
pub(crate) struct RawRestart {
    /// Number of restarts; 0 is never. After a minute without a fault the count begins again.
    #[schemars(range(min = 0, max = 1000), extend("default" = 5), example = 5)]
    pub(crate) limit: Option<u32>,
    /// Time to wait before the first restart; the wait doubles each time, to a minute at most.
    #[serde(default)]
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "1 ms", "x-maximum" = "1 min", "default" = "100 ms"),
        example = &"100 ms"
    )]
    pub(crate) wait: Option<Nanos>,
}

/// A task, which decides when one of the program's step functions runs.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Task")]
pub(crate) struct RawTask {
    /// The name of the task, unique in its program.
    #[schemars(required, extend("format" = "quietcore-name"), example = &"fast")]
    pub(crate) name: Option<String>,
    /// Step function that it runs; 0 is the fastest. Left out: the position of the task in the
    /// file, counted from 0.
    #[schemars(range(min = 0, max = 15), example = 0)]
    pub(crate) rate: Option<u32>,
    /// Kind of release of the task.
    #[schemars(extend("default" = "cyclic"), example = &"cyclic")]
    pub(crate) kind: Option<TaskKind>,
    /// The time between two releases of a cyclic task. Left out: the period of the program.
    #[serde(default)]
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "20 us", "x-maximum" = "10 s"),
        example = &"10 ms"
    )]
    pub(crate) period: Option<Nanos>,
    /// Time after the common start at which a cyclic task is released first; less than its period.
    #[serde(default)]
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "0 s", "x-maximum" = "10 s", "default" = "0 s"),
        example = &"500 us"
    )]
    pub(crate) offset: Option<Nanos>,
    /// The variable that releases an `event` task when it becomes true or other than 0, and a
    /// `status` task again and again while it is. It is checked after each cycle of the fastest
    /// cyclic task.
    #[schemars(extend("format" = "quietcore-variable"), example = &"servo_Y.referenced")]
    pub(crate) trigger: Option<String>,
    /// The least time between two releases of an `event` or `status` task (left out: the period of
    /// the program), and from the end of a `freewheeling` one to its next start.
    #[serde(default)]
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "20 us", "x-maximum" = "10 s"),
        example = &"5 ms"
    )]
    pub(crate) gap: Option<Nanos>,
    /// The priority under `fifo`. Left out: the fastest task has that of the program and each
    /// slower one the next below those of all faster ones.
    #[schemars(range(min = 1, max = 99), example = 89)]
    pub(crate) priority: Option<u32>,
    /// The latest completion after the release, at most the period or gap. Left out: the period or
    /// gap.
    #[serde(default)]
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "1 us", "x-maximum" = "10 s"),
        example = &"8 ms"
    )]
    pub(crate) deadline: Option<Nanos>,
    /// A bound on the execution time from analysis, at most the deadline.
    #[serde(default)]
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "1 us", "x-maximum" = "10 s"),
        example = &"2 ms"
    )]
    pub(crate) wcet: Option<Nanos>,
    /// The longest execution time of a cycle. Left out: the deadline; of a `freewheeling` task 1 s.
    #[serde(default)]
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "1 us", "x-maximum" = "10 s"),
        example = &"5 ms"
    )]
    pub(crate) watchdog: Option<Nanos>,
    /// Like that of the program, which applies if this is left out.
    #[schemars(range(min = 1, max = 100), example = 3)]
    pub(crate) sensitivity: Option<u32>,
}

/// Kind of release of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TaskKind {
    /// The clock, once each `period`.
    #[default]
    Cyclic,
    /// The rising edge of the variable `trigger`.
    Event,
    /// The variable `trigger`, as long as it is true.
    Status,
    /// Its own end, `gap` later.
    Freewheeling,
}

/// `off`, `adaptive`, `spin` or a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum RawEarlyWake {
    Off,
    Adaptive,
    Spin,
    Fixed(Nanos),
}

impl TryFrom<String> for RawEarlyWake {
    type Error = quietcore_units::UnitError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.as_str() {
            "off" => Ok(Self::Off),
            "adaptive" => Ok(Self::Adaptive),
            "spin" => Ok(Self::Spin),
            duration => duration.parse().map(Self::Fixed),
        }
    }
}
