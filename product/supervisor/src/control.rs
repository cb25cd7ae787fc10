//! What can be asked of a running site, and the words in which it answers.
//!
//! Everything here crosses the control socket as JSON; keys may be added, never removed or changed.
//! Readers pass over keys that they don't know. Durations are whole numbers of nanoseconds.

mod change;
mod error;
mod nanos;

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};

use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

pub use change::{Applied, AppliedChange, Change, ChangeKind};
pub use error::{ControlError, ErrorKind, quoted};
pub use quietcore_assembly::Severity;
pub use quietcore_site::Criticality;

/// The most changes in one group: they are applied within one cycle.
pub const CHANGE_COUNT_MAX: usize = 64;

/// The most variables in one recording.
pub const TRACE_VARIABLES_MAX: usize = 64;

/// The most variables that a deploy names as beginning anew; all are counted.
pub const NOT_CARRIED_MAX: usize = 1000;

/// A running site, as its clients see it. All methods may be called by several threads at once.
pub trait Site: Send + Sync {
    /// The state of each partition, in the order of the site file.
    fn list(&self) -> Vec<PartitionState>;

    /// What a monitor needs: where the symbols are, and the exchange's memory, open for reading
    /// only.
    ///
    /// # Errors
    /// [`ControlError`] when there is no such partition, or it has no exchange now.
    fn open(&self, partition: &str) -> Result<(Opened, File), ControlError>;

    /// Applies changes as one group, between two cycles; waits until that has happened.
    ///
    /// # Errors
    /// [`ControlError`]; then none of them was applied, where the error doesn't say otherwise.
    fn write(&self, partition: &str, changes: &[Change]) -> Result<Applied, ControlError>;

    /// Releases all forced variables of a partition.
    ///
    /// # Errors
    /// [`ControlError`] when there is no such partition, or it does not run.
    fn unforce_all(&self, partition: &str) -> Result<Applied, ControlError>;

    /// Starts the recording of variables in the exchange's trace ring.
    ///
    /// # Errors
    /// [`ControlError`], also when one runs already.
    fn trace_start(&self, partition: &str, trace: &Trace) -> Result<TraceStarted, ControlError>;

    /// Stops the recording; nothing happens when none runs.
    ///
    /// # Errors
    /// [`ControlError`] when there is no such partition.
    fn trace_stop(&self, partition: &str) -> Result<(), ControlError>;

    /// Builds a changed program, swaps it in between two cycles, and waits for the end of its
    /// probation where `patience` says so. `progress` is told what happens, a line each.
    ///
    /// # Errors
    /// [`ControlError`]; then the old program runs on, where the error doesn't say otherwise.
    fn deploy(
        &self,
        partition: &str,
        folder: &Path,
        patience: DeployPatience,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Deployed, ControlError>;

    /// Starts the program of a partition anew.
    ///
    /// # Errors
    /// [`ControlError`] when there is no such partition, or it can't be started.
    fn restart(&self, partition: &str, how: Restart) -> Result<(), ControlError>;

    /// Holds the program of a partition between two cycles, or lets it go on; waits until that has
    /// happened. Nothing happens where it is so already. While it is held, the fieldbus gets no
    /// frames.
    ///
    /// # Errors
    /// [`ControlError`] when there is no such partition, or it does not run.
    fn pause(&self, partition: &str, pause: bool) -> Result<(), ControlError>;

    /// What has happened since, in order, with [`EventLine::sequence`] at least `since`. Old events
    /// are forgotten; a gap in the numbers says so.
    fn events(&self, since: u64) -> Vec<EventLine>;

    /// Asks the site to come down in order; does not wait.
    fn down(&self);
}

/// What a partition is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Activity {
    /// Its program is built, its process starts, its fieldbus comes up.
    Starting,
    /// Cycles are run.
    Running,
    /// It is held between two cycles, as it was asked to.
    Paused,
    /// It is held, or runs a share of the time, for a more critical partition that is late.
    Shed {
        /// Which.
        by: String,
    },
    /// It has stopped itself; its outputs are as the site file says for a fault.
    Fault {
        /// What happened.
        why: String,
    },
    /// It will be started again.
    Waiting {
        /// In how long.
        #[serde(rename = "restart_in_ns", with = "nanos")]
        restart_in: Nanos,
        /// What happened.
        why: String,
    },
    /// It will not be started again by itself.
    Stopped {
        /// Why.
        why: String,
    },
}

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Starting => f.write_str("starting"),
            Self::Running => f.write_str("running"),
            Self::Paused => f.write_str("paused"),
            Self::Shed { by } => write!(f, "shed for {by}"),
            Self::Fault { why } => write!(f, "fault: {why}"),
            Self::Waiting { restart_in, why } => write!(f, "restart in {restart_in}: {why}"),
            Self::Stopped { why } => write!(f, "stopped: {why}"),
        }
    }
}

impl Activity {
    /// The state in one word, as tables show it.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Shed { .. } => "shed",
            Self::Fault { .. } => "fault",
            Self::Waiting { .. } => "waiting",
            Self::Stopped { .. } => "stopped",
        }
    }

    /// Why it isn't running, where there is a reason.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Starting | Self::Running | Self::Paused | Self::Shed { .. } => None,
            Self::Fault { why } | Self::Waiting { why, .. } | Self::Stopped { why } => Some(why),
        }
    }
}

/// The fieldbus of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldbusState {
    /// AL state that all SubDevices have reached, such as `OP`; otherwise what is wrong, such as
    /// `no frames` while the program is paused.
    pub state: String,
    /// SubDevices found.
    pub subdevices: u32,
    /// Working counter of the last frame.
    pub working_counter: u16,
    /// Working counter that it should have.
    pub working_counter_expected: u16,
    /// Frames that were lost since the partition's process has started.
    #[serde(default)]
    pub lost_frames: u64,
}

/// How often load was shed for a partition, and how long each time from the end of the job that was
/// late until the last of the others stood. Where that end is not known, such as of a release that
/// came late, it is counted from the look before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reactions {
    /// How often.
    pub count: u64,
    /// The last.
    #[serde(rename = "ns_last", with = "nanos")]
    pub last: Nanos,
    /// The shortest.
    #[serde(rename = "ns_min", with = "nanos")]
    pub min: Nanos,
    /// The median of the last 1024.
    #[serde(rename = "ns_median", with = "nanos")]
    pub median: Nanos,
    /// The longest.
    #[serde(rename = "ns_max", with = "nanos")]
    pub max: Nanos,
}

/// Faults of a partition: of its program, or the end of its process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Faults {
    /// Number of faults.
    pub count: u32,
    /// The last of them.
    pub last: Option<LastFault>,
}

/// A fault in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastFault {
    /// What happened.
    pub why: String,
    /// The cycle in which it did, where that is known.
    pub cycle: Option<u64>,
}

impl Faults {
    pub(crate) fn add(&mut self, why: &str, cycle: Option<u64>) {
        self.count += 1;
        self.last = Some(LastFault { why: why.to_owned(), cycle });
    }
}

/// A partition in figures. The counters are those of its fastest task since its last reset, where
/// nothing else is said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionState {
    /// Its name.
    pub name: String,
    /// What realises it.
    pub backend: String,
    /// What it is doing.
    pub state: Activity,
    /// The application class that its timing is judged against.
    pub class: String,
    /// Time between two releases of its fastest task.
    #[serde(rename = "period_ns", with = "nanos")]
    pub period: Nanos,
    /// Releases so far.
    pub cycles: u64,
    /// Releases that came a whole period late or more.
    pub missed_cycles: u64,
    /// Jobs that were not done at their deadline, of all tasks, those of its program's kernel
    /// included.
    pub overruns: u64,
    /// The longest release latency.
    #[serde(rename = "release_ns_max", with = "nanos")]
    pub release_max: Nanos,
    /// Variables that are held by force.
    pub forces: u32,
    /// Number of the build that runs, from 1; each deploy makes a new one.
    pub generation: u32,
    /// How often it was started again after a fault.
    pub restarts: u32,
    /// How much depends on it.
    #[serde(default)]
    pub criticality: Criticality,
    /// How often it was shed for another one.
    #[serde(default)]
    pub times_shed: u64,
    /// How often and how fast others were shed for it; none while they were not.
    #[serde(default)]
    pub reactions: Option<Reactions>,
    /// The CPU of its fastest task.
    pub cpu: Option<u32>,
    /// Its process.
    pub pid: Option<u32>,
    /// Its fieldbus, if it has one.
    pub fieldbus: Option<FieldbusState>,
    /// Hash of its program's sources.
    pub model_hash: String,
    /// Of its missed cycles those whose release never came, as its process stood still, was stopped
    /// or was gone.
    #[serde(default)]
    pub absent_cycles: u64,
    /// Its faults since the site is up.
    #[serde(default)]
    pub faults: Faults,
}

/// A task of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskDescription {
    /// Its name.
    pub name: String,
    /// Time between two releases; zero for a task that has none.
    #[serde(rename = "period_ns", with = "nanos")]
    pub period: Nanos,
}

impl TaskDescription {
    /// The tasks of a partition, and behind them those of its program's kernel, which have no
    /// period.
    pub fn all(assembly: &quietcore_assembly::Assembly) -> Vec<Self> {
        let period = |task: &quietcore_site::Task| task.release.period().unwrap_or(Nanos::ZERO);
        let periods = assembly.tasks.iter().map(period).chain(std::iter::repeat(Nanos::ZERO));
        let named = assembly.task_names().zip(periods);
        named.map(|(name, period)| Self { name: name.to_owned(), period }).collect()
    }
}

/// What a monitor needs beside the exchange's memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// Name of the site.
    pub site: String,
    /// Name of the partition.
    pub partition: String,
    /// Number of the build whose symbols these are, as the exchange's active slot says it.
    pub generation: u32,
    /// Which exchange this is: raised whenever the partition gets a new one. A monitor that sees no
    /// cycles any more asks again and maps the new one.
    pub incarnation: u64,
    /// The file of the program's symbols, absolute.
    pub symbols: PathBuf,
    /// Its tasks, in the order of the exchange.
    pub tasks: Vec<TaskDescription>,
}

impl Opened {
    /// The number of the task with the shortest period, whose cycles are counted.
    pub fn fastest_task(&self) -> u32 {
        let periodic = self.tasks.iter().enumerate().filter(|(_, task)| task.period.get() > 0);
        let fastest = periodic.min_by_key(|(_, task)| task.period).map_or(0, |(index, _)| index);
        u32::try_from(fastest).unwrap_or(0)
    }

    /// The number of the task that is called so, by name or by number.
    pub fn task_called(&self, text: &str) -> Option<u32> {
        let by_name = self.tasks.iter().position(|task| task.name == text);
        let index = by_name.or_else(|| text.parse().ok())?;
        u32::try_from(index).ok().filter(|_| index < self.tasks.len())
    }
}

/// What to record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// Paths of the variables, each of a scalar.
    pub variables: Vec<String>,
    /// Every which cycle, from 1.
    pub every: u32,
    /// Number of the task whose cycles are meant.
    pub task: u32,
}

/// A recording has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceStarted {
    /// Number of the build whose variables are recorded.
    pub generation: u32,
    /// The first cycle that can be in it.
    pub cycle: u64,
}

/// The point until which a deploy is waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeployPatience {
    /// Until the changed program runs.
    #[default]
    UntilItRuns,
    /// Until it has passed its probation, or was taken back.
    UntilProven,
}

/// Outcome of the probation of a program that was deployed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Probation {
    /// It ran through its probation.
    Passed,
    /// It is on probation.
    Running {
        /// Number of cycles that are left.
        cycles: u64,
        /// Time that they take.
        #[serde(rename = "left_ns", with = "nanos")]
        left: Nanos,
    },
    /// It failed, and the build before runs again.
    TakenBack {
        /// The build that runs.
        generation: u32,
        /// What happened.
        why: String,
    },
    /// It failed, and there was no sound build to go back to.
    Failed {
        /// What happened.
        why: String,
    },
}

impl Default for Probation {
    /// Stands for the answer of a site of an earlier version, which does not tell.
    fn default() -> Self {
        Self::Running { cycles: 0, left: Nanos::ZERO }
    }
}

/// A changed program ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deployed {
    /// Number of its build.
    pub generation: u32,
    /// The first cycle it ran.
    pub cycle: u64,
    /// Cycles that were lost by the swap.
    pub gap_cycles: u64,
    /// How long after its due instant the first cycle with it began.
    #[serde(rename = "release_ns", with = "nanos")]
    pub release: Nanos,
    /// Variables whose values were taken over.
    pub carried: u64,
    /// Parameters that keep a value set by hand, whatever the changed program gives them; at most
    /// [`NOT_CARRIED_MAX`].
    #[serde(default)]
    pub tuned: Vec<String>,
    /// Variables that begin anew.
    pub not_carried_count: u64,
    /// The first of them, at most [`NOT_CARRIED_MAX`], and why.
    pub not_carried: Vec<NotCarried>,
    /// Variables that were forced and are not any more, and why.
    #[serde(default)]
    pub not_forced: Vec<NotForced>,
    /// Outcome of its probation, as far as it was waited for.
    #[serde(default)]
    pub probation: Probation,
}

/// A variable that was forced, and can't be in a changed program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotForced {
    /// Its path.
    pub variable: String,
    /// Why not.
    pub why: String,
}

/// A variable that begins anew in a changed program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotCarried {
    /// Its path.
    pub variable: String,
    /// Why its value was not taken over.
    pub why: String,
}

/// How much of its past a program keeps when it starts anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restart {
    /// Retained variables keep their values.
    Warm,
    /// Retained variables begin anew, too.
    Cold,
    /// As after the first start: forced variables are let go as well.
    Origin,
}

/// Something that happened to a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventLine {
    /// Its number in the life of the site, from 0; where there is a gap, some are forgotten.
    pub sequence: u64,
    /// When, RFC 3339, UTC.
    pub at: String,
    /// The partition.
    pub partition: String,
    /// The cycle in which it happened, where it is known.
    pub cycle: Option<u64>,
    /// What kind of event, such as `overrun`.
    pub kind: String,
    /// How much it matters.
    pub severity: Severity,
    /// What happened, in words.
    pub text: String,
}
