//! A site, as its clients see it: one way to ask a partition, whatever the request.

use std::fs::File;

use crate::control::{
    Answer, Asked, Asker, ChannelUse, ControlError, EventLine, Opened, Partitions,
};

/// An answer, and the file that goes with it.
#[derive(Debug)]
pub struct Answered {
    /// The answer to a request.
    pub answer: Answer,
    /// Exchange of a partition that was opened, for reading only; or memory of a channel.
    pub file: Option<File>,
}

impl<A: Into<Answer>> From<A> for Answered {
    fn from(answer: A) -> Self {
        Self { answer: answer.into(), file: None }
    }
}

impl Answered {
    /// Makes the answer to `open`: the description for a monitor, and the exchange's memory.
    pub fn opened((opened, file): (Opened, File)) -> Self {
        Self { answer: Answer::Opened(opened), file: Some(file) }
    }
}

/// A running site. All methods may be called by several threads at once.
pub trait Site: Send + Sync {
    /// Asks a partition and waits for its answer. `progress` gets a line for each step meanwhile.
    ///
    /// # Errors
    /// [`ControlError`]; nothing was changed then, unless the error says otherwise.
    fn ask(&self, asked: Asked, progress: &mut dyn FnMut(&str)) -> Result<Answered, ControlError>;

    /// Opens a channel for a program of the host.
    ///
    /// # Errors
    /// [`ControlError`] when there is no such channel, or it may not be used so.
    fn channel(
        &self,
        channel: &str,
        usage: ChannelUse,
        by: &Asker,
    ) -> Result<Answered, ControlError>;

    /// Returns the state of each partition, and of the machine as far as the site has changed it.
    fn partitions(&self) -> Partitions;

    /// Returns the events whose [`EventLine::sequence`] is at least `since`, in order. Old events
    /// are forgotten, which shows as a gap in the numbers.
    fn events(&self, since: u64) -> Vec<EventLine>;

    /// Asks the site to come down in order; does not wait.
    fn down(&self, by: &Asker);
}
