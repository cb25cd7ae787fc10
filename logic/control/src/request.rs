//! Requests: the verbs of a site and of a partition, and the limits of each.
//!
//! A new verb is a variant here with its word, its handler in the partition's keeper, and its
//! command. All between them passes a verb on as it is.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::answer::channel::ChannelUse;
use crate::asker::{Asker, Introduction};
use crate::change::{CHANGE_COUNT_MAX, Change, ChangeKind, VALUE_BYTES_MAX};
use crate::deployed::{DeployPatience, Restart};
use crate::error::{ControlError, Refusal};

/// The most variables in one recording.
pub const TRACE_VARIABLES_MAX: usize = 64;

/// The longest time until an answer begins.
const ANSWER_MAX: Duration = Duration::from_secs(30);
/// The longest silence of a deploy: a compiler runs meanwhile.
const DEPLOY_SILENCE_MAX: Duration = Duration::from_secs(900);

/// A verb of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SiteVerb {
    /// Asks for the site and its supervisor.
    Hello,
    /// The state of all partitions.
    Ps,
    /// Brings the site down.
    Down,
    /// Asks for events from a number on.
    Events {
        /// The first number wanted.
        #[serde(default)]
        since: u64,
        /// `true` goes on as long as the client is there.
        #[serde(default)]
        follow: bool,
    },
    /// Asks for the changes that clients have made lately.
    Changes {
        /// The first number wanted.
        #[serde(default)]
        since: u64,
    },
    /// Opens a channel for a program of the host; its memory comes with the answer.
    Channel {
        /// Name of the channel.
        channel: String,
        /// The way in which it will be used.
        usage: ChannelUse,
    },
}

impl SiteVerb {
    /// The words of the verbs, for those who mistype one.
    pub const WORDS: [&str; 6] = ["hello", "ps", "down", "events", "changes", "channel"];
}

/// A verb of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Verb {
    /// Asks for the names that a monitor needs; the exchange's file comes with the answer.
    Open,
    /// Changes of variables, as one group between two cycles.
    Write {
        /// The changes, made in this order.
        changes: Vec<Change>,
        /// `true` lets the answer wait until each task has run once more, so that a value which the
        /// program writes back at once is found.
        #[serde(default)]
        confirm: bool,
    },
    /// Releases all forced variables.
    UnforceAll,
    /// Starts a recording; it ends with the connection at the latest.
    TraceStart {
        /// The variables and cycles to record.
        trace: Trace,
    },
    /// Ends a recording; nothing happens when none runs.
    TraceStop,
    /// Swaps in a changed program.
    Deploy {
        /// The folder of generated C, absolute.
        folder: PathBuf,
        /// The point until which it is waited for.
        #[serde(default)]
        patience: DeployPatience,
    },
    /// Starts a program anew.
    Restart {
        /// The part of its past that it keeps.
        how: Restart,
    },
    /// Holds a program between two cycles; its fieldbus gets no frames meanwhile.
    Pause,
    /// Lets a program that was held go on.
    Resume,
}

impl Verb {
    /// The words of the verbs, for those who mistype one.
    pub const WORDS: [&str; 9] = [
        "open",
        "write",
        "unforce-all",
        "trace-start",
        "trace-stop",
        "deploy",
        "restart",
        "pause",
        "resume",
    ];

    /// Changes of variables, answered as soon as a cycle has taken them.
    pub fn write(changes: impl Into<Vec<Change>>) -> Self {
        Self::Write { changes: changes.into(), confirm: false }
    }

    /// A deploy of the program in a folder, which is absolute.
    pub fn deploy(folder: impl Into<PathBuf>, patience: DeployPatience) -> Self {
        Self::Deploy { folder: folder.into(), patience }
    }

    /// Returns how long the other side may be silent while it does this.
    pub const fn silence_max(&self) -> Duration {
        match self {
            Self::Deploy { .. } => DEPLOY_SILENCE_MAX,
            _ => ANSWER_MAX,
        }
    }

    /// Checks what can be checked without a partition.
    ///
    /// # Errors
    /// [`Refusal`] of what is beyond the limits or contradicts itself.
    pub fn check(&self) -> Result<(), ControlError> {
        match self {
            Self::Write { changes, .. } => check_changes(changes),
            Self::TraceStart { trace } => check_trace(trace),
            Self::Deploy { folder, .. } if folder.is_relative() => {
                let place = format!("`{}`", folder.display());
                Err(Refusal::RelativeFolder.at(place))
            }
            _ => Ok(()),
        }
    }
}

/// The variables and cycles to record.
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

fn check_changes(changes: &[Change]) -> Result<(), ControlError> {
    if changes.is_empty() || changes.len() > CHANGE_COUNT_MAX {
        return Err(Refusal::ChangeCount { count: changes.len() }.at("changes"));
    }
    let too_long = changes
        .iter()
        .find(|change| change.value.as_ref().is_some_and(|value| value.len() > VALUE_BYTES_MAX));
    if let Some(long) = too_long {
        let why = format!("it is longer than {VALUE_BYTES_MAX} bytes");
        return Err(Refusal::BadValue { why }.at(&long.variable));
    }
    let needs_value = |change: &Change| change.kind != ChangeKind::Unforce;
    match changes.iter().find(|change| needs_value(change) != change.value.is_some()) {
        None => Ok(()),
        Some(odd) => {
            let place = format!("`{}`", odd.variable);
            Err(Refusal::ValueOrNone { is_given: odd.value.is_some() }.at(place))
        }
    }
}

fn check_trace(trace: &Trace) -> Result<(), ControlError> {
    let count = trace.variables.len();
    if count == 0 || count > TRACE_VARIABLES_MAX {
        return Err(Refusal::TraceCount { count }.at("trace"));
    }
    if trace.every == 0 { Err(Refusal::EveryNone.at("trace")) } else { Ok(()) }
}

/// A verb, and what it is asked of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Asked of the site.
    Site(SiteVerb),
    /// Asked of one partition.
    Partition {
        /// Name of the partition.
        partition: String,
        /// The verb with its values.
        verb: Verb,
    },
}

impl Ask {
    /// A verb asked of a partition.
    pub fn of(partition: impl Into<String>, verb: Verb) -> Self {
        Self::Partition { partition: partition.into(), verb }
    }

    /// Returns how long the other side may be silent while it does this.
    pub const fn silence_max(&self) -> Duration {
        match self {
            Self::Site(_) => ANSWER_MAX,
            Self::Partition { verb, .. } => verb.silence_max(),
        }
    }
}

/// A request as a client sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The client in its own words.
    pub by: Introduction,
    /// The verb, and of what it is asked.
    pub ask: Ask,
}

/// A verb of a partition with its client, as the supervisor knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The client, by the kernel's word.
    pub by: Asker,
    /// Name of the partition.
    pub partition: String,
    /// The verb with its values.
    pub verb: Verb,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn set(variable: &str) -> Change {
        let value = Some("1".to_owned());
        Change { kind: ChangeKind::Set, variable: variable.to_owned(), value, allow_nan: false }
    }

    #[test]
    fn what_is_beyond_the_limits_is_refused_before_anybody_acts() {
        let write =
            |changes: &[Change]| Verb::Write { changes: changes.to_vec(), confirm: false }.check();
        assert!(write(&[set("x")]).is_ok());
        assert!(write(&vec![set("x"); CHANGE_COUNT_MAX]).is_ok());
        let unforce = Change { kind: ChangeKind::Unforce, ..set("x") };
        let valueless = Change { value: None, ..set("x") };
        let long = |bytes| Change { value: Some("1".repeat(bytes)), ..set("x") };
        assert!(write(&[long(VALUE_BYTES_MAX)]).is_ok());
        let refused = write(&[long(VALUE_BYTES_MAX + 1)]).unwrap_err();
        assert_eq!(refused.kind, ErrorKind::BadValue);
        for changes in [&[][..], &vec![set("x"); CHANGE_COUNT_MAX + 1], &[unforce], &[valueless]] {
            assert!(write(changes).is_err());
        }
        let names = |count| vec!["x".to_owned(); count];
        let trace = |count, every| {
            let trace = Trace { variables: names(count), every, task: 0 };
            Verb::TraceStart { trace }.check().is_ok()
        };
        assert!(trace(TRACE_VARIABLES_MAX, 1));
        assert!(!trace(1, 0) && !trace(0, 1) && !trace(TRACE_VARIABLES_MAX + 1, 1));
        let folder = PathBuf::from("models/servo");
        let refused = Verb::Deploy { folder, patience: DeployPatience::UntilProven }.check();
        assert!(refused.unwrap_err().to_string().contains("absolute"));
    }
}
