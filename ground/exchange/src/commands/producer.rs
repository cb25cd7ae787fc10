//! The side of the command ring that gives commands.

use core::fmt;

use crate::commands::command::{Command, Entry, FLAG_LAST};
use crate::commands::{COMMAND_WORDS, COMMANDS_PER_CYCLE, OUTCOME_WORDS};
use crate::primitive::queue::Producer;
use crate::sync::{AtomicU64, Relaxed};

/// Why a group was not published. None of its commands was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishError {
    /// It has no command.
    Empty,
    /// It has more than [`COMMANDS_PER_CYCLE`] commands, so no cycle could apply it whole.
    TooLarge {
        /// Commands in the group.
        count: usize,
    },
    /// The partition has not yet taken what was published before.
    Full,
}

impl fmt::Display for PublishError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a group of commands has one at least"),
            Self::TooLarge { count } => write!(
                f,
                "{count} commands are too many for one cycle; use {COMMANDS_PER_CYCLE} at most"
            ),
            Self::Full => f.write_str(
                "the partition takes no more commands; wait until it has applied those before",
            ),
        }
    }
}

impl core::error::Error for PublishError {}

/// Gives commands to a partition. There must be one, not more.
#[derive(Debug)]
pub struct CommandProducer<'map> {
    queue: Producer<'map>,
    ticket: u32,
}

impl<'map> CommandProducer<'map> {
    /// Takes over a ring and goes on with its tickets; `None` when `words` don't hold one.
    pub fn resume(words: &'map [AtomicU64]) -> Option<Self> {
        let queue = Producer::resume(words.get(OUTCOME_WORDS..)?, COMMAND_WORDS)?;
        // Any number will do: it is handed back and never used as an index by us.
        let ticket = queue.counts().first()?.load(Relaxed) as u32;
        Some(Self { queue, ticket })
    }

    /// Publishes commands that shall be applied together, in one cycle. Their offsets belong to
    /// build `generation`. Returns the ticket of the group; zero is none.
    ///
    /// # Errors
    /// [`PublishError`]; then no command was published.
    pub fn publish(&mut self, commands: &[Command], generation: u32) -> Result<u32, PublishError> {
        let count = commands.len();
        if count == 0 {
            return Err(PublishError::Empty);
        }
        if count > COMMANDS_PER_CYCLE {
            return Err(PublishError::TooLarge { count });
        }
        if !self.queue.has_room(count as u64) {
            return Err(PublishError::Full);
        }
        self.ticket = self.ticket.wrapping_add(1).max(1);
        if let Some(place) = self.queue.counts().first() {
            place.store(u64::from(self.ticket), Relaxed);
        }
        for (ahead, command) in (0..).zip(commands) {
            let flags = if ahead + 1 == count as u64 { FLAG_LAST } else { 0 };
            let entry = Entry::new(command, generation, self.ticket, flags);
            self.queue.write(ahead, entry.to_words());
        }
        // The one store that makes the group visible, whole.
        self.queue.publish(count as u64);
        Ok(self.ticket)
    }
}
