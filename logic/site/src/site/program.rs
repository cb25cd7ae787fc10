//! A checked program: its tasks, its timing, and what happens when it fails.

use std::collections::BTreeMap;
use std::fmt;

use quietcore_units::{FaultReaction, Nanos, Overrun, ReleaseRule, Scheduling, Wake};
use schemars::JsonSchema;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};

use crate::words::exact;

/// Number of restarts of a program after a fault, unless the site file says otherwise.
pub const RESTART_LIMIT_DEFAULT: u32 = 5;
/// Time to wait before the first restart, unless the site file says otherwise.
pub const RESTART_WAIT_DEFAULT: Nanos = Nanos::from_millis(100);
/// The wait before a restart doubles up to this.
pub const RESTART_WAIT_MAX: Nanos = Nanos::from_secs(60);
/// After this long without a fault the restarts are counted from 0 again.
pub const RESTART_QUIET: Nanos = Nanos::from_secs(60);
/// The watchdog time of a freewheeling task unless the site file says otherwise.
pub const WATCHDOG_FREEWHEELING: Nanos = Nanos::from_secs(1);

/// The control program of a partition and its timing.
///
/// `wcet ≤ deadline ≤ period`, and a fixed early wake is shorter than the period. Period,
/// deadline, WCET and scheduling are those of its fastest cyclic task.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Program {
    /// The folder of generated C or C++ as written, relative to the site file; `None` means that
    /// the partition is only measured by the probe.
    pub model: Option<String>,
    /// Kind of program in the folder; `None` if its content decides.
    pub kind: Option<ProgramKind>,
    /// The model to run of a folder that holds several; `None` where it holds one.
    pub model_name: Option<String>,
    /// The OIL file of an OSEK program, relative to the folder; `None` where that holds one at
    /// most.
    pub oil: Option<String>,
    /// The application mode in which an OSEK program starts; `None` for the first of its OIL file.
    pub mode: Option<String>,
    /// The latest completion of jobs of an OSEK program's own tasks, by their names in the OIL
    /// file; 1 µs to 10 min.
    pub deadlines: BTreeMap<String, Nanos>,
    /// The time between two releases, 20 µs to 10 s.
    pub period: Nanos,
    /// The latest completion after the release.
    pub deadline: Nanos,
    /// A bound on the execution time from analysis.
    pub wcet: Option<Nanos>,
    /// Under which policy it runs.
    pub scheduling: Scheduling,
    /// The way in which it is woken.
    pub early_wake: Wake,
    /// Its tasks in the order of the file; never empty, 16 at most. Their rates are 0, 1, … up to
    /// their number, each once. Without tasks in the file there is one, `main`.
    pub tasks: Vec<Task>,
    /// Treatment of releases that pass while a cycle is still running.
    pub overrun: Overrun,
    /// Values of the outputs when the program is at fault.
    pub on_fault: FaultReaction,
    /// The values under [`FaultReaction::Substitute`], each output named once; all others become
    /// zero. Never empty then, and always otherwise.
    pub substitutes: Vec<Substitute>,
    /// The variables that survive a restart: paths, in which `*` at the end of a name stands for
    /// every name that begins so, and `[*]` for every index.
    pub retain: Vec<String>,
    /// Restarts of the program after a fault.
    pub restart: Restart,
}

/// A task, which decides when one of the program's step functions runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Task {
    /// The name, unique in its program and safe as a file name.
    pub name: String,
    /// Step function that it runs; 0 is the fastest.
    pub rate: u32,
    /// The event or clock that releases it.
    pub release: Release,
    /// Under which policy it runs.
    pub scheduling: Scheduling,
    /// The latest completion after the release; `None` for a freewheeling task.
    pub deadline: Option<Nanos>,
    /// A bound on the execution time from analysis.
    pub wcet: Option<Nanos>,
    /// The longest execution time of a cycle.
    pub watchdog: Nanos,
    /// The program is at fault after this many cycles in a row beyond the watchdog time, or after
    /// one cycle beyond that time multiplied by this; 1 to 100.
    pub sensitivity: u32,
    /// `true` if it is there because the file names none.
    pub implied: bool,
}

/// The event or clock that releases a task: a rule, and the variable that this looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// The rule, with its times.
    pub rule: ReleaseRule,
    /// Path of the variable; there if the rule is [`ReleaseRule::Event`] or
    /// [`ReleaseRule::Status`], and `None` otherwise.
    pub trigger: Option<String>,
}

impl Program {
    /// Returns `true` if it, or one of its tasks, asks for real-time scheduling.
    pub fn is_real_time(&self) -> bool {
        let tasks = self.tasks.iter().map(|task| task.scheduling);
        tasks.chain([self.scheduling]).any(|scheduling| scheduling != Scheduling::Other)
    }
}

impl Serialize for Release {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("kind", self.rule.name())?;
        if let Some(trigger) = &self.trigger {
            map.serialize_entry("trigger", trigger)?;
        }
        match self.rule {
            ReleaseRule::Cyclic { period, offset } => {
                map.serialize_entry("period", &period)?;
                map.serialize_entry("offset", &offset)?;
            }
            rule => map.serialize_entry("gap", &rule.interval())?,
        }
        map.end()
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let interval = exact(self.rule.interval());
        let trigger = self.trigger.as_deref().unwrap_or_default();
        match self.rule {
            ReleaseRule::Cyclic { offset, .. } if offset == Nanos::ZERO => {
                write!(f, "every {interval}")
            }
            ReleaseRule::Cyclic { offset, .. } => {
                write!(f, "every {interval} from {}", exact(offset))
            }
            ReleaseRule::Event { .. } => {
                write!(f, "when `{trigger}` becomes true, at most every {interval}")
            }
            ReleaseRule::Status { .. } => {
                write!(f, "while `{trigger}` is true, at most every {interval}")
            }
            ReleaseRule::Freewheeling { .. } => write!(f, "{interval} after its end"),
        }
    }
}

/// The kinds of programs that a folder may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramKind {
    /// C or C++ that a generator wrote.
    Generated,
    /// C with an OIL file, for the OSEK kernel.
    Osek,
}

/// The value that an output takes when the program is at fault.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Substitute {
    /// The path of the output.
    pub variable: String,
    /// Its value; whether it fits the variable is known when the program is built.
    pub value: Literal,
}

/// A value as written; the type of the variable decides what it becomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
    /// `true` or `false`.
    Truth(bool),
    /// A whole number, positive or negative.
    Whole(i64),
    /// A finite number with a fraction.
    Real(f64),
}

/// Restarts of a program after a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Restart {
    /// Number of restarts, 0 to 1000; after [`RESTART_QUIET`] without a fault the count begins
    /// anew.
    pub limit: u32,
    /// Time to wait before the first one, 1 ms to [`RESTART_WAIT_MAX`].
    pub wait: Nanos,
}

impl Default for Restart {
    fn default() -> Self {
        Self { limit: RESTART_LIMIT_DEFAULT, wait: RESTART_WAIT_DEFAULT }
    }
}

impl Restart {
    /// Returns the time to wait before the next restart when there were `done` of them since the
    /// last quiet stretch; `None` when the limit is reached.
    pub fn wait_after(&self, done: u32) -> Option<Nanos> {
        if done >= self.limit {
            return None;
        }
        let doubled =
            1_u64.checked_shl(done).and_then(|factor| self.wait.get().checked_mul(factor));
        Some(doubled.map_or(RESTART_WAIT_MAX, Nanos::new).min(RESTART_WAIT_MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_tells_a_release_with_its_kind_trigger_and_times() {
        let (period, offset) = (Nanos::from_millis(2), Nanos::from_millis(1));
        let gap = Nanos::from_millis(5);
        let text = |rule, trigger: Option<&str>| {
            let release = Release { rule, trigger: trigger.map(str::to_owned) };
            serde_json::to_string(&release).unwrap()
        };
        assert_eq!(
            text(ReleaseRule::Cyclic { period, offset }, None),
            r#"{"kind":"cyclic","period":"2 ms","offset":"1 ms"}"#
        );
        assert_eq!(
            text(ReleaseRule::Event { gap }, Some("trip")),
            r#"{"kind":"event","trigger":"trip","gap":"5 ms"}"#
        );
        assert_eq!(
            text(ReleaseRule::Status { gap }, Some("trip")),
            r#"{"kind":"status","trigger":"trip","gap":"5 ms"}"#
        );
        assert_eq!(
            text(ReleaseRule::Freewheeling { gap }, None),
            r#"{"kind":"freewheeling","gap":"5 ms"}"#
        );
    }

    #[test]
    fn the_wait_before_a_restart_doubles_up_to_its_bound_and_ends_at_the_limit() {
        let restart = Restart::default();
        let waits: Vec<_> = (0..7).map(|done| restart.wait_after(done)).collect();
        let millis = |millis| Some(Nanos::from_millis(millis));
        let expected =
            [millis(100), millis(200), millis(400), millis(800), millis(1600), None, None];
        assert_eq!(waits, expected);
        let patient = Restart { limit: 1000, wait: RESTART_WAIT_DEFAULT };
        for done in [10, 63, 64, 999] {
            assert_eq!(patient.wait_after(done), Some(RESTART_WAIT_MAX), "{done}");
        }
        assert_eq!(Restart { limit: 0, wait: RESTART_WAIT_DEFAULT }.wait_after(0), None);
    }
}
