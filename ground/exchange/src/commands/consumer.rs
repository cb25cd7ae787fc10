//! The side of the command ring that takes commands: the partition, between two cycles.
//!
//! Nothing in the ring is believed. The number of entries is reduced to what the ring holds, each
//! entry is copied once before it is looked at, and a group without an end is dropped. All work is
//! bounded by [`COMMANDS_PER_CYCLE`].

use crate::commands::command::{Command, Entry, FLAG_LAST, Limits, WhyRejected};
use crate::commands::outcome::{Outcome, OutcomeWriter};
use crate::commands::{COMMAND_WORDS, COMMANDS_PER_CYCLE, OUTCOME_WORDS};
use crate::primitive::queue::Consumer;
use crate::sync::{AtomicU64, Relaxed};

/// Commands that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group<'a> {
    /// Under which the outcome is looked for.
    pub ticket: u32,
    /// The commands, each of which is within the limits; or why none of them can be applied, with
    /// the number of the first that can't.
    pub commands: Result<&'a [Command], (usize, WhyRejected)>,
    /// The entries that it took from the ring, which count against the budget also where it is
    /// refused.
    pub length: usize,
}

/// Takes commands from the host. There must be one, not more.
#[derive(Debug)]
pub struct CommandConsumer<'map> {
    queue: Consumer<'map>,
    outcomes: OutcomeWriter<'map>,
    commands: [Command; COMMANDS_PER_CYCLE],
    dropped: u64,
}

impl<'map> CommandConsumer<'map> {
    /// Takes over a ring and goes on where the last consumer ended; `None` when `words` don't hold
    /// one.
    pub fn resume(words: &'map [AtomicU64]) -> Option<Self> {
        let (outcomes, ring) = words.split_at_checked(OUTCOME_WORDS)?;
        Some(Self {
            queue: Consumer::resume(ring, COMMAND_WORDS)?,
            outcomes: OutcomeWriter::new(outcomes)?,
            commands: [Command::UnforceAll; COMMANDS_PER_CYCLE],
            dropped: 0,
        })
    }

    /// Returns whether commands wait to be taken.
    pub fn has_commands(&mut self) -> bool {
        self.queue.available() > 0
    }

    /// Takes the next group, if there is one of at most `budget` commands. A cycle starts with a
    /// budget of [`COMMANDS_PER_CYCLE`] and subtracts what it took; a group that no longer fits
    /// stays for the next cycle. One load where there is none.
    #[inline]
    pub fn take(&mut self, budget: usize, limits: &Limits) -> Option<Group<'_>> {
        let available = self.queue.available();
        if available == 0 {
            self.note_dropped(0);
            return None;
        }
        self.take_group(available, budget, limits)
    }

    fn take_group(&mut self, available: u64, budget: usize, limits: &Limits) -> Option<Group<'_>> {
        // The head may be the one seen in an earlier call, which always ends with a group.
        let reach = available.min(COMMANDS_PER_CYCLE as u64);
        let mut length = 0;
        let mut ticket = 0;
        let mut refused = None;
        for ahead in 0..reach {
            let mut words = [0; COMMAND_WORDS];
            self.queue.read(ahead, &mut words);
            let entry = Entry::from_words(words);
            let index = ahead as usize;
            if index == 0 {
                ticket = entry.ticket;
            } else if ticket != entry.ticket {
                refused = refused.or(Some((index, WhyRejected::BrokenGroup)));
            }
            match entry.check(limits) {
                Ok(command) => self.commands[index] = command,
                Err(why) => refused = refused.or(Some((index, why))),
            }
            if entry.flags & FLAG_LAST != 0 {
                length = index + 1;
                break;
            }
        }
        if length == 0 {
            // A group is published whole, so one without an end is no group of ours.
            self.queue.release(reach);
            self.note_dropped(reach);
            let commands = Err((0, WhyRejected::BrokenGroup));
            return Some(Group { ticket, length: reach as usize, commands });
        }
        if length > budget {
            return None;
        }
        self.queue.release(length as u64);
        let commands = match refused {
            None => Ok(&self.commands[..length]),
            Some(refused) => Err(refused),
        };
        Some(Group { ticket, length, commands })
    }

    /// Says what became of a group, in cycle `cycle`.
    pub fn answer(&mut self, ticket: u32, cycle: u64, result: Result<(), (usize, WhyRejected)>) {
        self.outcomes.write(ticket, &Outcome { cycle, result });
    }

    /// Entries that belonged to no group, and the times the ring was emptied because its head was
    /// impossible. Anything but zero says that the host is broken or hostile.
    pub fn dropped(&self) -> u64 {
        self.dropped.saturating_add(self.queue.resets())
    }

    #[inline]
    fn note_dropped(&mut self, entries: u64) {
        if entries == 0 && self.queue.resets() == 0 {
            return;
        }
        self.dropped = self.dropped.saturating_add(entries);
        if let Some(place) = self.queue.counts().first() {
            place.store(self.dropped(), Relaxed);
        }
    }
}
