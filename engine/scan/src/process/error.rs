//! The reasons why the process of a partition runs no program.

use std::boxed::Box;
use std::error::Error;
use std::io;
use std::string::String;

use quietcore_process::channel::ChannelMemoryError;

use crate::channels::ChannelError;
use crate::job::TasksError;

/// The reason why a process runs no program.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Its tasks can't be run together.
    #[error(transparent)]
    Tasks(TasksError),
    /// A cyclic task has no period.
    #[error("the cyclic task `{task}` has no period")]
    NoPeriod {
        /// Name of the task in the job.
        task: String,
    },
    /// The kernel refuses a signal handler.
    #[error("faults can't be caught")]
    Handlers(#[source] io::Error),
    /// There is no thread that examines libraries.
    #[error("there is no examiner")]
    Examiner(#[source] io::Error),
    /// The program can't have a channel.
    #[error("channel `{name}`")]
    Channel {
        /// Name of the channel in the site file.
        name: String,
        /// Says what is wrong with it.
        #[source]
        cause: ChannelCause,
    },
    /// The program can't have its channels, all together.
    #[error(transparent)]
    Channels(#[from] ChannelError),
    /// The exchange has no ring for events beside those of tasks.
    #[error("the exchange has no place for the partition's own events")]
    NoEvents,
    /// The program can't be loaded, or its `initialize` failed.
    #[error("{why}")]
    NotLoaded {
        /// Says why, in one sentence.
        why: String,
    },
    /// The fieldbus can't be brought up.
    #[error(transparent)]
    Fieldbus(Box<dyn Error + Send + Sync>),
}

/// The reason why a program can't have a channel.
#[derive(Debug, thiserror::Error)]
pub enum ChannelCause {
    /// It can't be mapped.
    #[error(transparent)]
    Memory(#[from] ChannelMemoryError),
    /// It is not what the job says.
    #[error(transparent)]
    Content(#[from] ChannelError),
}
