//! Counts what the programs did, because a generator that reaches nothing finds nothing.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

/// The count of each thing that happened.
#[derive(Default)]
pub(crate) struct Tally {
    counts: BTreeMap<&'static str, u64>,
}

impl Tally {
    /// Notes that something happened.
    pub(crate) fn note(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// Notes it where it happened.
    pub(crate) fn note_if(&mut self, happened: bool, what: &'static str) {
        if happened {
            self.note(what);
        }
    }

    /// Returns how often it happened.
    pub(crate) fn of(&self, what: &str) -> u64 {
        self.counts.get(what).copied().unwrap_or(0)
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (what, count) in &other.counts {
            *self.counts.entry(what).or_default() += count;
        }
    }
}

impl Display for Tally {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (what, count) in &self.counts {
            writeln!(f, "{count:>10}  {what}")?;
        }
        Ok(())
    }
}
