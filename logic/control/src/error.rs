//! Refusals: the fault of a request, its place, and the remedy.

use std::fmt;

use quietcore_units::Nanos;
use quietcore_wording::{list, nearest, plural};
use serde::{Deserialize, Serialize};

use crate::change::CHANGE_COUNT_MAX;
use crate::request::TRACE_VARIABLES_MAX;

/// The kind of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// The request is none, or not of this protocol.
    BadRequest,
    /// There is no such partition.
    NoPartition,
    /// There is no such channel.
    NoChannel,
    /// There is no such variable.
    NoVariable,
    /// The value doesn't fit the variable.
    BadValue,
    /// The variable can't be written.
    NotWritable,
    /// Somebody else is at it, or there are too many clients.
    Busy,
    /// The partition can't do it in its present state.
    NotNow,
    /// The program could not be built.
    Build,
    /// The program was taken back after the swap.
    TakenBack,
    /// Something on our side failed.
    Failed,
}

/// The reasons why a request is refused, each worded once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The partition has no process whose cycles run.
    NotRunning,
    /// The site has been told to end.
    ComingDown,
    /// The program is held, as it was asked to be.
    Paused {
        /// The partition, as it is called on the command line.
        partition: String,
    },
    /// The partition is held for a more critical one.
    Shed {
        /// Name of the more critical partition.
        by: String,
    },
    /// Another build has been ordered and does not run yet.
    BuildOnItsWay,
    /// So it is, and would end a force that begins now.
    BuildEndsForce,
    /// So it is, and needs a cycle.
    BuildNeedsCycle,
    /// The build that runs is on probation.
    OnProbation {
        /// Number of the build.
        generation: u32,
        /// Cycles that are left.
        cycles: u64,
        /// The time that they take.
        left: Nanos,
    },
    /// The changed program can't be built, or not be what the partition runs.
    NotBuilt {
        /// The reason, as a sentence.
        why: String,
    },
    /// The data of the changed program are larger than the partition's memory for them.
    DataTooLarge {
        /// Size of the changed program's data, in bytes.
        bytes: u64,
        /// The bytes that there is room for.
        room: u32,
    },
    /// The changed program has fewer step functions than the partition has tasks.
    FewerSteps {
        /// Step functions of the changed program.
        steps: usize,
        /// Tasks of the partition.
        tasks: usize,
    },
    /// The kernel of the changed program has other tasks.
    OtherTasks,
    /// The process can load no build: a lock of one of its libraries is held for ever.
    LibraryHeld {
        /// The partition, as it is called on the command line.
        partition: String,
    },
    /// The build that was ordered does not come.
    BuildGivenUp {
        /// The reason, as a sentence.
        why: String,
        /// `true` if it waited for a job to end.
        waited_for_job: bool,
    },
    /// The process ended before a cycle took the change.
    ProcessEnded,
    /// The command ring took no group of commands.
    NotPublished {
        /// The reason, as a sentence.
        why: String,
    },
    /// No cycle took the change in time.
    NotTaken {
        /// The time that it had.
        within: Nanos,
    },
    /// No cycle took note of a pause in time.
    NotNoted {
        /// The time that it had.
        within: Nanos,
    },
    /// The task whose cycles are meant runs none.
    NoCycles,
    /// There is no such task.
    NoTask {
        /// Number of the task that was asked for.
        task: u32,
    },
    /// There is no such variable in the build that runs.
    NoVariable {
        /// The fault of the path, and the path that may be meant.
        why: String,
    },
    /// The variable is a constant or an address.
    ReadOnly,
    /// A value is needed.
    NoValue {
        /// Path of the variable.
        variable: String,
    },
    /// The value is NaN or infinite, and that was not allowed.
    NotFinite {
        /// The value as it was written.
        value: String,
    },
    /// The value is none of the variable's type.
    BadValue {
        /// The reason, as a sentence.
        why: String,
    },
    /// Another client records the partition, whose recording is to begin.
    RecordedByOther,
    /// Another client records the partition, whose recording is to end.
    OthersRecording,
    /// No program of the host is an end of the channel.
    NotAnEnd {
        /// The partition that sends.
        from: String,
        /// The partition that receives.
        to: String,
    },
    /// Another program of the host is the end of the channel.
    EndTaken,
    /// The client is another user's.
    OtherUser,
    /// The supervisor has no file descriptor left for the client.
    NoDescriptors,
    /// There are as many clients as there may be.
    TooManyClients {
        /// Clients that are connected.
        count: usize,
    },
    /// The folder of a deploy is relative.
    RelativeFolder,
    /// A group has too few or too many changes.
    ChangeCount {
        /// Changes in the group.
        count: usize,
    },
    /// A value is given where none is taken, or the other way round.
    ValueOrNone {
        /// `true` if a value is given.
        is_given: bool,
    },
    /// A recording has too few or too many variables.
    TraceCount {
        /// Variables that were to be recorded.
        count: usize,
    },
    /// A recording takes each zeroth cycle.
    EveryNone,
    /// The partition is a guest with a system of its own, and the request is about a program.
    NoProgram {
        /// The partition, as it is called on the command line.
        partition: String,
    },
    /// Something on our side failed.
    Failed {
        /// The failure, as a sentence.
        what: String,
    },
}

impl Refusal {
    /// Returns the kind, as the JSON says it.
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::NotRunning
            | Self::ComingDown
            | Self::Paused { .. }
            | Self::Shed { .. }
            | Self::DataTooLarge { .. }
            | Self::OtherTasks
            | Self::LibraryHeld { .. }
            | Self::BuildGivenUp { .. }
            | Self::ProcessEnded
            | Self::NotPublished { .. }
            | Self::NotTaken { .. }
            | Self::NotNoted { .. }
            | Self::NoCycles => ErrorKind::NotNow,
            Self::BuildOnItsWay
            | Self::BuildEndsForce
            | Self::BuildNeedsCycle
            | Self::OnProbation { .. }
            | Self::RecordedByOther
            | Self::OthersRecording
            | Self::EndTaken
            | Self::NoDescriptors
            | Self::TooManyClients { .. } => ErrorKind::Busy,
            Self::NotBuilt { .. } | Self::FewerSteps { .. } => ErrorKind::Build,
            Self::NoVariable { .. } => ErrorKind::NoVariable,
            Self::ReadOnly | Self::NotAnEnd { .. } => ErrorKind::NotWritable,
            Self::NoTask { .. }
            | Self::NoValue { .. }
            | Self::NotFinite { .. }
            | Self::BadValue { .. } => ErrorKind::BadValue,
            Self::RelativeFolder
            | Self::ChangeCount { .. }
            | Self::ValueOrNone { .. }
            | Self::TraceCount { .. }
            | Self::EveryNone
            | Self::NoProgram { .. } => ErrorKind::BadRequest,
            Self::OtherUser | Self::Failed { .. } => ErrorKind::Failed,
        }
    }

    /// Returns what would help; empty where nothing is known.
    pub fn remedy(&self) -> String {
        let remedy = match self {
            Self::Paused { partition } => {
                return format!("let it go on with `quietcore resume {partition}`");
            }
            Self::LibraryHeld { partition } => {
                return format!("start its process anew first: `quietcore restart {partition}`");
            }
            Self::NoProgram { partition } => {
                return format!("look at its console with `quietcore console {partition}`");
            }
            Self::NoValue { variable } => return format!("write it as {variable}=VALUE"),
            Self::NotRunning => "look with `quietcore ps`; start it with `quietcore restart`",
            Self::Shed { .. } => "it is given back when that one is on time again; try again then",
            Self::BuildOnItsWay | Self::BuildEndsForce | Self::BuildNeedsCycle => "wait for it",
            Self::OnProbation { .. } => "try again then",
            Self::ProcessEnded | Self::NotTaken { .. } => "look with `quietcore ps`",
            Self::DataTooLarge { .. } | Self::OtherTasks => "bring the site down and up again",
            Self::FewerSteps { .. } => "give it a step function for each task",
            Self::BuildGivenUp { waited_for_job: false, .. } => "the program before runs on",
            Self::BuildGivenUp { waited_for_job: true, .. } => {
                "the program before runs on; try again when the job has ended, stop it with \
                 `quietcore restart` and try again at once, or bring the site down and up with the \
                 new program"
            }
            Self::OtherUser => "use the same user, or root",
            Self::NoDescriptors => "end other clients",
            Self::TooManyClients { .. } => "end one of them",
            Self::NotNoted { .. } | Self::NotPublished { .. } => "try again",
            Self::NotFinite { .. } => "if that is meant, add `--allow-nan`",
            Self::RecordedByOther => "wait until its recording has ended",
            Self::OthersRecording => "its recording ends with it",
            Self::NotAnEnd { .. } => {
                "read its values, or make `host` an end of it in the site file"
            }
            Self::EndTaken => "end that program; the end is free as soon as it has gone",
            Self::RelativeFolder => "give an absolute path",
            Self::ChangeCount { .. } => "make several groups of them",
            Self::ValueOrNone { .. } => "`set` and `force` take one, `unforce` takes none",
            Self::ComingDown
            | Self::NoCycles
            | Self::NoTask { .. }
            | Self::NoVariable { .. }
            | Self::ReadOnly
            | Self::BadValue { .. }
            | Self::NotBuilt { .. }
            | Self::TraceCount { .. }
            | Self::EveryNone
            | Self::Failed { .. } => "",
        };
        remedy.to_owned()
    }

    /// Makes it the refusal of a request about this partition, variable or key; an empty place
    /// names none.
    pub fn at(self, place: impl Into<String>) -> ControlError {
        ControlError::new(self.kind(), place, self.to_string(), self.remedy())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |within: &Nanos| within.get() as f64 / 1e9;
        match self {
            Self::Shed { by } => write!(f, "the partition is shed for `{by}`"),
            Self::OnProbation { generation, cycles, left } => write!(
                f,
                "build {generation} is on probation for another {left} ({cycles} cycle{}), and \
                 the one before is kept for it",
                plural(*cycles)
            ),
            Self::DataTooLarge { bytes, room } => {
                write!(f, "its data have {bytes} bytes, and there is room for {room}")
            }
            Self::FewerSteps { steps, tasks } => write!(
                f,
                "it has {steps} step function{} for {tasks} task{}",
                plural(*steps as u64),
                plural(*tasks as u64)
            ),
            Self::TooManyClients { count } => {
                write!(f, "{count} clients are connected already")
            }
            Self::NotTaken { within } => write!(
                f,
                "no cycle took the change within {:.1} s; it may still be applied",
                seconds(within)
            ),
            Self::NotNoted { within } => {
                write!(f, "no cycle took note of it within {:.1} s", seconds(within))
            }
            Self::NoTask { task } => write!(f, "there is no task {task}"),
            Self::NotFinite { value } => {
                write!(f, "`{value}` is no finite number, and the program would go on with it")
            }
            Self::ChangeCount { count } => {
                write!(f, "{count} changes; 1 to {CHANGE_COUNT_MAX} fit into a cycle")
            }
            Self::NotAnEnd { from, to } => write!(
                f,
                "the channel leads from partition `{from}` to `{to}`, and no program of the host \
                 is an end of it"
            ),
            Self::TraceCount { count } => {
                write!(f, "{count} variables; 1 to {TRACE_VARIABLES_MAX} can be recorded at once")
            }
            without_figures => f.write_str(without_figures.sentence()),
        }
    }
}

impl Refusal {
    /// Returns the sentence of a reason that has no figures; empty for the others.
    fn sentence(&self) -> &str {
        match self {
            Self::NotRunning => "the partition does not run now",
            Self::ComingDown => "the site is coming down",
            Self::Paused { .. } => "the partition is paused",
            Self::BuildOnItsWay => "another build is on its way",
            Self::BuildEndsForce => "another build is on its way, and its swap would end the force",
            Self::BuildNeedsCycle => "another build is on its way, and comes with a cycle",
            Self::OtherTasks => "its OIL file has other tasks than the program that runs",
            Self::LibraryHeld { .. } => {
                "the program was cut off inside of a library, which is left locked"
            }
            Self::OtherUser => "another user runs this site",
            Self::NoDescriptors => "no file descriptors are left",
            Self::ProcessEnded => "the partition's process has ended, and no cycle took the change",
            Self::NoProgram { .. } => {
                "the partition is a guest with a system of its own, and runs no program of the \
                 site: it has no variables, builds or cycles"
            }
            Self::NoCycles => "the task runs no cycles",
            Self::ReadOnly => "the variable can't be written: it is a constant or an address",
            Self::NoValue { .. } => "there is no value",
            Self::RecordedByOther | Self::OthersRecording => "another client records it",
            Self::EndTaken => "another program of the host is this end of the channel",
            Self::RelativeFolder => "the folder is relative",
            Self::ValueOrNone { is_given: true } => "a value is given",
            Self::ValueOrNone { is_given: false } => "no value is given",
            Self::EveryNone => "every 0th cycle; 1 is every one",
            Self::NoVariable { why }
            | Self::BadValue { why }
            | Self::NotBuilt { why }
            | Self::BuildGivenUp { why, .. }
            | Self::NotPublished { why } => why,
            Self::Failed { what } => what,
            Self::Shed { .. }
            | Self::OnProbation { .. }
            | Self::DataTooLarge { .. }
            | Self::FewerSteps { .. }
            | Self::TooManyClients { .. }
            | Self::NotTaken { .. }
            | Self::NotNoted { .. }
            | Self::NoTask { .. }
            | Self::NotFinite { .. }
            | Self::ChangeCount { .. }
            | Self::NotAnEnd { .. }
            | Self::TraceCount { .. } => "",
        }
    }
}

/// A refusal: what is wrong, where, and what would help.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlError {
    /// The kind, for programs.
    pub kind: ErrorKind,
    /// The fault, as a sentence.
    pub what: String,
    /// The partition, variable or key; empty where there is no place.
    #[serde(rename = "where", default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// The remedy; empty where none is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remedy: String,
}

impl ControlError {
    /// Makes a refusal of its parts.
    pub fn new(
        kind: ErrorKind,
        place: impl Into<String>,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { kind, what: what.into(), place: place.into(), remedy: remedy.into() }
    }

    /// There is no partition `name` among `known`.
    pub fn no_partition<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let remedy = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", quoted(&known)),
        };
        Self::new(ErrorKind::NoPartition, format!("`{name}`"), "no such partition", remedy)
    }

    /// There is no channel `name` among `known`.
    pub fn no_channel<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let remedy = match nearest(name, known.iter().copied()) {
            _ if known.is_empty() => "add a `[[channel]]` to the site file".to_owned(),
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", quoted(&known)),
        };
        Self::new(ErrorKind::NoChannel, format!("`{name}`"), "no such channel", remedy)
    }
}

impl fmt::Display for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.what)?;
        if !self.remedy.is_empty() {
            write!(f, "; {}", self.remedy)?;
        }
        Ok(())
    }
}

impl std::error::Error for ControlError {}

/// Names in backticks, apart by commas.
pub fn quoted(names: &[impl AsRef<str>]) -> String {
    if names.is_empty() { "none".to_owned() } else { list(names) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_where_what_and_what_would_help() {
        let told = |refusal: Refusal| refusal.at("axis").to_string();
        assert_eq!(
            told(Refusal::Paused { partition: "axis".to_owned() }),
            "axis: the partition is paused; let it go on with `quietcore resume axis`"
        );
        let left = Nanos::from_millis(800);
        assert_eq!(
            told(Refusal::OnProbation { generation: 2, cycles: 1, left }),
            "axis: build 2 is on probation for another 800 ms (1 cycle), and the one before is \
             kept for it; try again then"
        );
        assert_eq!(
            told(Refusal::NotTaken { within: Nanos::from_millis(2005) }),
            "axis: no cycle took the change within 2.0 s; it may still be applied; look with \
             `quietcore ps`"
        );
        assert_eq!(
            told(Refusal::FewerSteps { steps: 1, tasks: 2 }),
            "axis: it has 1 step function for 2 tasks; give it a step function for each task"
        );
        assert_eq!(
            Refusal::BuildOnItsWay.at("").to_string(),
            "another build is on its way; wait for it"
        );
        assert_eq!(told(Refusal::Failed { what: "no memory".to_owned() }), "axis: no memory");
        assert_eq!(Refusal::OtherUser.kind(), ErrorKind::Failed);
    }
}
