//! The ageing of a verdict: the conditions that it depends on, then and now.
//!
//! ```text
//! Conditions (of a record) ─┐
//!                           ├─► compare ─► Comparison: changes, and what was not compared
//! Present (of the machine) ─┘
//! ```
//!
//! A verdict is about the machine as it was. One that depends on something that has changed since
//! is expired: it was right, and says nothing about the machine as it is now. What an earlier
//! version did not record, or what can't be read now, is named and is no change: nobody knows.
//! [`Dependency::expires`] tells the two kinds of changes apart.

mod dependency;
mod pairs;
pub mod renewal;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::record::{Conditions, Platform};

pub use dependency::Dependency;

/// The machine as it is now, as far as it could be read.
#[derive(Clone, Debug, Default)]
pub struct Present {
    /// The platform; interrupts and reservation are those of the partition in question.
    pub platform: Platform,
    /// The facts in words, by the names that records have them under.
    pub machine: BTreeMap<String, String>,
    /// Dependencies that are not compared, each with the reason.
    pub unseen: Vec<NotCompared>,
}

/// A condition that is not as it was.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct Change {
    /// The condition that changed.
    pub dependency: Dependency,
    /// The value at the time of the measurement. Of a list only the entries that are gone.
    pub before: String,
    /// The value now. Of a list only the entries that are new.
    pub now: String,
}

/// A condition of which nobody knows whether it changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct NotCompared {
    /// The condition that is not compared.
    pub dependency: Dependency,
    /// Why it is not.
    pub because: Uncompared,
}

/// Why a condition is not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Uncompared {
    /// The evidence has no value of it.
    NotRecorded,
    /// It can't be read on this machine now.
    NotReadable,
    /// The partition does not run now, so that there is nothing to read.
    NotRunning,
    /// The site sets it while it runs, and only then.
    SetBySite,
    /// The program would have to be built for it.
    NotBuilt,
}

/// The outcome of a comparison of the conditions then and now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// Conditions that changed, each once, by dependency.
    pub changes: Vec<Change>,
    /// Conditions that were not compared, by dependency; none of them is among the changes.
    pub not_compared: Vec<NotCompared>,
}

impl Comparison {
    /// Returns `true` if a verdict on these conditions is expired.
    pub fn is_expired(&self) -> bool {
        self.expiring().next().is_some()
    }

    /// Iterates over the changes by which a verdict expires.
    pub fn expiring(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(|change| change.dependency.expires())
    }

    /// Iterates over the changes that are only told.
    pub fn told(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(|change| !change.dependency.expires())
    }
}

/// Compares the conditions of one record with the machine as it is now.
pub fn compare(then: &Conditions, now: &Present) -> Comparison {
    compare_all([then], now)
}

/// Compares the conditions of all records that a verdict rests on. What changed for one of them
/// has changed for the verdict.
pub fn compare_all<'c>(all: impl IntoIterator<Item = &'c Conditions>, now: &Present) -> Comparison {
    let mut comparison = Comparison::default();
    for then in all {
        for dependency in Dependency::ALL {
            let unseen = now.unseen.iter().find(|unseen| unseen.dependency == dependency);
            match (pairs::pair(dependency, then, now), unseen) {
                (Pair::NoPart, _) => {}
                (_, Some(unseen)) => comparison.not_compared.push(*unseen),
                (Pair::Unknown(because), None) => {
                    comparison.not_compared.push(NotCompared { dependency, because });
                }
                (Pair::Known { before, now }, None) if before != now => {
                    comparison.changes.push(Change { dependency, before, now });
                }
                (Pair::Known { .. }, None) => {}
            }
        }
    }
    comparison.settle();
    comparison
}

impl Comparison {
    /// Sorts, and keeps each entry once. Two records that lack different things, or have different
    /// values, leave several entries of one dependency: a change goes before what is not known.
    fn settle(&mut self) {
        self.changes.sort();
        self.changes.dedup();
        // A release tells of its build.
        let has_other = |of| move |change: &Change| change.dependency == of;
        if self.changes.iter().any(has_other(Dependency::Kernel)) {
            self.changes.retain(|change| change.dependency != Dependency::KernelBuild);
        }
        // An image with another kernel is another one.
        if self.changes.iter().any(has_other(Dependency::GuestKernel)) {
            self.changes.retain(|change| change.dependency != Dependency::GuestImage);
        }
        self.not_compared.sort();
        self.not_compared.dedup_by_key(|entry| entry.dependency);
        let changes = &self.changes;
        self.not_compared.retain(|entry| !changes.iter().any(has_other(entry.dependency)));
    }
}

/// A dependency at both times.
enum Pair {
    /// The measurement had nothing of the kind, such as a container.
    NoPart,
    /// One of the values is not there.
    Unknown(Uncompared),
    /// Both values, or what differs in them.
    Known { before: String, now: String },
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dependency, before, now } = self;
        let [before, now] = [before, now].map(|it| if it.is_empty() { "nothing" } else { it });
        write!(f, "{dependency} {before} → {now}")
    }
}

impl fmt::Display for Uncompared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotRecorded => "not recorded",
            Self::NotReadable => "not readable here now",
            Self::NotRunning => "the partition does not run now",
            Self::SetBySite => "the site sets it while it runs",
            Self::NotBuilt => "the program is not built for a look",
        })
    }
}

impl fmt::Display for NotCompared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.dependency, self.because)
    }
}

#[cfg(test)]
mod tests;
