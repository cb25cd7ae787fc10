//! Outcomes of groups of commands, as the partition tells them.
//!
//! | bits | meaning |
//! |------|---------|
//! | 0 … 15 | zero: applied; else the reason, [`WhyRejected::code`] |
//! | 16 … 30 | the first command that was refused, counted from 0 |
//! | 31 | set: there is an outcome |
//! | 32 … 63 | ticket |

use crate::commands::command::WhyRejected;
use crate::commands::{OUTCOME_COUNT, OUTCOME_WORDS};
use crate::sync::{Acquire, AtomicU64, Relaxed, Release, fence};

const THERE: u64 = 1 << 31;

/// The outcome of one group of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The cycle before which it was applied or refused.
    pub cycle: u64,
    /// Applied, or the first command that could not be, and why not.
    pub result: Result<(), (usize, WhyRejected)>,
}

#[derive(Debug)]
pub(super) struct OutcomeWriter<'map> {
    words: &'map [AtomicU64],
}

impl<'map> OutcomeWriter<'map> {
    pub(super) fn new(words: &'map [AtomicU64]) -> Option<Self> {
        Some(Self { words: words.get(..OUTCOME_WORDS)? })
    }

    pub(super) fn write(&self, ticket: u32, outcome: &Outcome) {
        let index = ticket as usize % OUTCOME_COUNT;
        let word = match outcome.result {
            Ok(()) => 0,
            Err((at, why)) => u64::from(why.code()) | (at as u64 & 0x7fff) << 16,
        };
        // The word is taken away while its cycle changes.
        self.words[index].store(0, Relaxed);
        fence(Release);
        self.words[OUTCOME_COUNT + index].store(outcome.cycle, Relaxed);
        self.words[index].store(word | THERE | u64::from(ticket) << 32, Release);
    }
}

/// Looks up what became of commands.
#[derive(Clone, Copy, Debug)]
pub struct OutcomeReader<'map> {
    words: &'map [AtomicU64],
}

impl<'map> OutcomeReader<'map> {
    /// Looks in `words`; `None` when they don't hold outcomes.
    pub fn new(words: &'map [AtomicU64]) -> Option<Self> {
        Some(Self { words: words.get(..OUTCOME_WORDS)? })
    }

    /// Returns the outcome of group `ticket`; `None` while it waits, and after 256 later groups.
    pub fn outcome(&self, ticket: u32) -> Option<Outcome> {
        let index = ticket as usize % OUTCOME_COUNT;
        let word = self.words[index].load(Acquire);
        if word & THERE == 0 || word >> 32 != u64::from(ticket) {
            return None;
        }
        let cycle = self.words[OUTCOME_COUNT + index].load(Relaxed);
        fence(Acquire);
        if self.words[index].load(Relaxed) != word {
            return None;
        }
        let code = word as u16;
        let at = (word >> 16 & 0x7fff) as usize;
        let result = if code == 0 { Ok(()) } else { Err((at, WhyRejected::from_code(code))) };
        Some(Outcome { cycle, result })
    }
}
