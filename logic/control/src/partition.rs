//! The state of a partition, in figures and in words, and what a monitor needs to read it.

use std::fmt;
use std::path::PathBuf;

use quietcore_site::Criticality;
use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

use crate::nanos;

/// The activity of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Activity {
    /// Its program is built, its process starts, its fieldbus comes up.
    Starting,
    /// It runs its cycles.
    Running,
    /// It is held between two cycles, as it was asked to.
    Paused,
    /// It is held, or runs a share of the time, for a more critical partition that is late.
    Shed {
        /// Name of the more critical partition.
        by: String,
    },
    /// It has stopped itself; its outputs are as the site file says for a fault.
    Fault {
        /// The fault, as a sentence.
        why: String,
    },
    /// It will be started again.
    Waiting {
        /// Time until it is started again.
        #[serde(rename = "restart_in_ns", with = "nanos")]
        restart_in: Nanos,
        /// The fault before, as a sentence.
        why: String,
    },
    /// It will not be started again by itself.
    Stopped {
        /// The reason, as a sentence.
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
    /// SubDevices that were found on the line.
    pub subdevices: u32,
    /// Working counter of the last frame.
    pub working_counter: u16,
    /// Working counter that it should have.
    pub working_counter_expected: u16,
    /// Frames that were lost since the partition's process has started.
    #[serde(default)]
    pub lost_frames: u64,
}

/// Load that was shed for a partition: the number of times, and each time from the end of the job
/// that was late until the last of the others stood. Where that end is not known, such as of a
/// release that came late, it is counted from the look before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reactions {
    /// Times that load was shed.
    pub count: u64,
    /// The latest of them.
    #[serde(rename = "ns_last", with = "nanos")]
    pub last: Nanos,
    /// The shortest of all.
    #[serde(rename = "ns_min", with = "nanos")]
    pub min: Nanos,
    /// The median of the last 1024.
    #[serde(rename = "ns_median", with = "nanos")]
    pub median: Nanos,
    /// The longest of all.
    #[serde(rename = "ns_max", with = "nanos")]
    pub max: Nanos,
}

/// Faults of a partition: of its program, or the end of its process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Faults {
    /// Faults since the site is up.
    pub count: u32,
    /// The last of them.
    pub last: Option<LastFault>,
}

/// A fault in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastFault {
    /// The fault, as a sentence.
    pub why: String,
    /// The cycle in which it did, where that is known.
    pub cycle: Option<u64>,
}

impl Faults {
    /// Counts a fault and keeps it as the last one.
    pub fn add(&mut self, why: &str, cycle: Option<u64>) {
        self.count += 1;
        self.last = Some(LastFault { why: why.to_owned(), cycle });
    }
}

/// A partition in figures. The counters are those of its fastest task since its last reset, where
/// nothing else is said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionState {
    /// Name of the partition.
    pub name: String,
    /// The backend that realises it, by its word in the site file.
    pub backend: String,
    /// The activity of the partition.
    pub state: Activity,
    /// The application class that its timing is judged against.
    pub class: String,
    /// Time between two releases of its fastest task.
    #[serde(rename = "period_ns", with = "nanos")]
    pub period: Nanos,
    /// Releases of its leading task so far.
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
    /// Times that it was started again after a fault.
    pub restarts: u32,
    /// The criticality that its site file gives it.
    #[serde(default)]
    pub criticality: Criticality,
    /// Times that it was shed for another one.
    #[serde(default)]
    pub times_shed: u64,
    /// Reactions in which others were shed for it; none while they were not.
    #[serde(default)]
    pub reactions: Option<Reactions>,
    /// The CPU of its fastest task.
    pub cpu: Option<u32>,
    /// Process number; `None` while none runs.
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
    /// Reservations that it does not have now, and settings of its machine that are not as they
    /// were set; a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drift: Vec<String>,
    /// The file of what the guest has written to its console; only of a guest with a system of its
    /// own, which runs no program of the site. It has no cycles, and its counters are zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub console: Option<PathBuf>,
    /// The socket on which VNC shows its screen, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vnc: Option<PathBuf>,
}

impl PartitionState {
    /// Returns `true` if it runs a program of the site, which has cycles and variables.
    pub fn has_program(&self) -> bool {
        self.console.is_none()
    }
}

/// A task of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskDescription {
    /// Name of the task.
    pub name: String,
    /// Time between two releases; zero for a task that has none.
    #[serde(rename = "period_ns", with = "nanos")]
    pub period: Nanos,
}

/// The names that a monitor needs beside the exchange's memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// Name of the site.
    pub site: String,
    /// Name of the partition.
    pub partition: String,
    /// Number of the build whose symbols these are, as the exchange's active slot says it.
    pub generation: u32,
    /// The exchange, by the instant at which its process was started, in ns since the machine was:
    /// no other one has it, of the site's next life either. A monitor that sees no cycles any more
    /// asks again and maps the new one.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_task_is_the_first_of_the_shortest_period() {
        let opened = |periods: &[u64]| Opened {
            site: "line".to_owned(),
            partition: "axis".to_owned(),
            generation: 1,
            incarnation: 1,
            symbols: PathBuf::new(),
            tasks: periods
                .iter()
                .map(|ms| TaskDescription { name: String::new(), period: Nanos::from_millis(*ms) })
                .collect(),
        };
        assert_eq!(opened(&[0, 10, 2, 5, 2]).fastest_task(), 2, "one without a period is none");
        assert_eq!(opened(&[0]).fastest_task(), 0);
    }
}
