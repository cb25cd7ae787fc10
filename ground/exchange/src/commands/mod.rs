//! Commands: everything that changes a partition from outside, applied between two cycles.
//!
//! ```text
//! host        CommandProducer::publish ──► ring ──► CommandConsumer::take        partition
//!             OutcomeReader::outcome   ◄── outcomes ◄── CommandConsumer::answer
//! ```
//!
//! Commands come in groups. A group is published by one store and taken whole or not at all: all
//! its commands are checked before the first of them is applied, and one that can't be applied
//! refuses the group. Each group has a ticket, under which its outcome is found.
//!
//! | words | meaning | written by |
//! |-------|---------|------------|
//! | 0 … 255 | outcome of ticket `t` at `t mod 256` | partition |
//! | 256 … 511 | the cycle of that outcome | partition |
//! | 512 … | a [`queue`](crate::primitive::queue) of [`COMMAND_WORDS`] a command; the host's first count is the last ticket, the partition's first is the number of entries it dropped | |

mod command;
mod consumer;
mod outcome;
mod producer;

pub use command::{Assignment, Command, Limits, Target, WhyRejected};
pub use consumer::{CommandConsumer, Group};
pub use outcome::{Outcome, OutcomeReader};
pub use producer::{CommandProducer, PublishError};

/// The most commands of a group, and the most that a partition takes in one cycle.
pub const COMMANDS_PER_CYCLE: usize = 64;

/// Words of a command in the ring: 32 bytes.
pub(crate) const COMMAND_WORDS: usize = 4;

/// Outcomes that are kept.
pub(crate) const OUTCOME_COUNT: usize = 256;

/// Words in front of the ring.
pub(crate) const OUTCOME_WORDS: usize = 2 * OUTCOME_COUNT;
