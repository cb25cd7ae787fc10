//! The answers. Each is a type of its own, which the client that asked names.

pub mod channel;

use serde::{Deserialize, Serialize};

use self::channel::ChannelOpened;
use crate::change::{Applied, AppliedChange};
use crate::deployed::Deployed;
use crate::error::ControlError;
use crate::event::EventLine;
use crate::partition::{Opened, PartitionState};

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "response", rename_all = "kebab-case")]
pub enum Answer {
    /// The site and its supervisor.
    Hello(Hello),
    /// The state of all partitions.
    Partitions(Partitions),
    /// The names and the memory that a monitor reads; the file comes with it.
    Opened(Opened),
    /// A group of changes was applied.
    Applied(Applied),
    /// The recording runs, from this cycle on.
    Tracing(TraceStarted),
    /// A line about what is being done; more follows.
    Progress {
        /// A line for people about the step that is under way.
        line: String,
    },
    /// A changed program runs.
    Deployed(Deployed),
    /// Events, as they were asked for.
    Events(Events),
    /// Changes that clients have made lately.
    Changes(History),
    /// A channel was opened; its memory comes with it.
    ChannelOpened(ChannelOpened),
    /// A program was held, or let go on.
    Paused(Paused),
    /// The request was carried out, and there is nothing to tell.
    Done(Done),
    /// It was not done.
    Error(ControlError),
}

/// The site and its supervisor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Name of the site.
    pub site: String,
    /// Version of Quietcore, such as `0.1.0`.
    pub quietcore_version: String,
    /// Process number of the supervisor.
    pub pid: u32,
}

/// The state of all partitions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partitions {
    /// In the order of the site file.
    pub partitions: Vec<PartitionState>,
    /// Settings of the machine that are not as they were set for the site, and CPUs that are
    /// offline; a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drift: Vec<String>,
}

/// Events of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Events {
    /// The events, by ascending number.
    pub events: Vec<EventLine>,
}

/// Changes that clients have made lately.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// In order; the oldest are forgotten.
    pub changes: Vec<AppliedChange>,
    /// The number of the next one.
    pub next: u64,
}

/// A program was held, or let go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paused {
    /// `true` if it is held from now on.
    pub is_paused: bool,
    /// `true` if it was held before the request.
    pub was_paused: bool,
    /// `true` if it has a fieldbus, which gets no frames while it is held.
    pub has_fieldbus: bool,
}

/// The request was carried out, and there is nothing to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {}

/// A recording has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceStarted {
    /// Number of the build whose variables are recorded.
    pub generation: u32,
    /// The first cycle that can be in it.
    pub cycle: u64,
}

/// Makes each type of an answer that answer, and takes it out again.
macro_rules! answers {
    ($($variant:ident($kind:ty)),* $(,)?) => { $(
        impl From<$kind> for Answer {
            fn from(content: $kind) -> Self {
                Self::$variant(content)
            }
        }

        impl TryFrom<Answer> for $kind {
            type Error = Answer;

            /// # Errors
            /// The answer itself where it is another one.
            fn try_from(answer: Answer) -> Result<Self, Answer> {
                match answer {
                    Answer::$variant(content) => Ok(content),
                    other => Err(other),
                }
            }
        }
    )* };
}

answers! {
    Hello(Hello),
    Partitions(Partitions),
    Opened(Opened),
    Applied(Applied),
    Tracing(TraceStarted),
    Deployed(Deployed),
    Events(Events),
    Changes(History),
    ChannelOpened(ChannelOpened),
    Paused(Paused),
    Done(Done),
}
