//! The check of a chain, entry by entry, as a decision without a database.

use std::collections::BTreeSet;
use std::fmt;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::canonical::{canonical, sha256};
use crate::entry::{Entry, Kind, NO_HASH, Row};

/// The most settings of the clock that are told of one chain.
pub const CLOCK_SETTINGS_MAX: usize = 20;

/// The end of a chain, as the database keeps it beside the entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Number of the last entry; 0 before the first.
    pub number: u64,
    /// Hash of that entry; [`NO_HASH`] before the first.
    pub hash: String,
}

impl Head {
    /// Returns the end of a chain without entries.
    pub fn none() -> Self {
        Self { number: 0, hash: NO_HASH.to_owned() }
    }
}

/// The first fault of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Number of the entry; 0 for the file as a whole.
    pub number: u64,
    /// The reason why it is none as it should be.
    pub why: WhyFault,
}

/// The kinds of faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyFault {
    /// The database can't be read, or is none.
    Unreadable(String),
    /// Its tables and triggers are not those of a trail.
    OtherTables,
    /// The hash is not that of the entry's text.
    Changed,
    /// The text is no entry in its canonical form, or that of another number.
    NoEntry,
    /// Entries are missing before it.
    Gap {
        /// Number of the entry that should be here.
        expected: u64,
    },
    /// It does not continue the entry before.
    OtherPrevious,
    /// Entries at the beginning are missing, and no pruning has removed them.
    NoBeginning,
    /// Entries at the end are missing, or have replaced others.
    NoEnd {
        /// Number of the last entry that there was.
        last: u64,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.number;
        match &self.why {
            WhyFault::Unreadable(why) => write!(f, "the file can't be read: {why}"),
            WhyFault::OtherTables => {
                write!(f, "the file has other tables or triggers than an audit trail")
            }
            WhyFault::Changed => write!(f, "entry {number} was changed: its hash is another one"),
            WhyFault::NoEntry => write!(f, "entry {number} is no entry as the daemon writes them"),
            WhyFault::Gap { expected } if *expected + 1 == number => {
                write!(f, "entry {expected} is missing before entry {number}")
            }
            WhyFault::Gap { expected } => {
                write!(f, "entries {expected} to {} are missing", number.saturating_sub(1))
            }
            WhyFault::OtherPrevious => write!(
                f,
                "entry {number} does not continue the one before it: one of them was replaced"
            ),
            WhyFault::NoBeginning => write!(
                f,
                "entries before {number} are missing, and no entry says that they were pruned"
            ),
            WhyFault::NoEnd { last } => write!(
                f,
                "the last entries are missing or were replaced: there were {last}, and entry \
                 {number} is not the next of what is left"
            ),
        }
    }
}

/// The wall clock was set between two entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockSetting {
    /// Number of the first entry behind it.
    pub before: u64,
    /// By how much; negative if it was set back.
    pub by: SignedDuration,
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// Number of entries that were in order.
    pub count: u64,
    /// Number and instant of the first entry.
    pub first: Option<(u64, Timestamp)>,
    /// Number and instant of the last entry that was in order.
    pub last: Option<(u64, Timestamp)>,
    /// Hash of the last entry that was in order, to be noted elsewhere.
    pub last_hash: Option<String>,
    /// Intentions without an outcome.
    pub unknown: Vec<u64>,
    /// When entries were pruned the last time.
    pub pruned_at: Option<Timestamp>,
    /// Settings of the clock, [`CLOCK_SETTINGS_MAX`] at most.
    pub clock_settings: Vec<ClockSetting>,
    /// The first fault; `None` if all is in order.
    pub fault: Option<Fault>,
}

/// Checks the rows of a chain in their order.
#[derive(Debug, Default)]
pub struct Verifier {
    found: Verification,
    last: Option<(Entry, String)>,
    open: BTreeSet<u64>,
    /// Number and previous hash of the first entry.
    beginning: Option<Head>,
    /// The last entry that the last pruning has removed.
    anchor: Option<Head>,
}

impl Verifier {
    /// Begins with no row.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next row, and returns `true` to go on; `false` after the first fault.
    pub fn take(&mut self, row: &Row) -> bool {
        match self.check(row) {
            Ok(entry) => {
                self.note(&entry);
                self.last = Some((entry, row.hash.clone()));
                true
            }
            Err(why) => {
                self.found.fault = Some(Fault { number: row.number, why });
                false
            }
        }
    }

    fn check(&self, row: &Row) -> Result<Entry, WhyFault> {
        if sha256(row.text.as_bytes()) != row.hash {
            return Err(WhyFault::Changed);
        }
        let value = serde_json::from_str::<Value>(&row.text).map_err(|_| WhyFault::NoEntry)?;
        if canonical(&value) != row.text {
            return Err(WhyFault::NoEntry);
        }
        let entry = serde_json::from_value::<Entry>(value).map_err(|_| WhyFault::NoEntry)?;
        if entry.number != row.number || entry.number == 0 {
            return Err(WhyFault::NoEntry);
        }
        let Some((last, last_hash)) = &self.last else { return Ok(entry) };
        if entry.number != last.number + 1 {
            return Err(WhyFault::Gap { expected: last.number + 1 });
        }
        if entry.previous == *last_hash { Ok(entry) } else { Err(WhyFault::OtherPrevious) }
    }

    fn note(&mut self, entry: &Entry) {
        let at = entry.instant.at;
        let found = &mut self.found;
        found.count += 1;
        found.last = Some((entry.number, at));
        match &self.last {
            None => {
                found.first = found.last;
                let (number, hash) = (entry.number - 1, entry.previous.clone());
                self.beginning = Some(Head { number, hash });
            }
            Some((last, _)) if found.clock_settings.len() < CLOCK_SETTINGS_MAX => {
                let set_by = entry.instant.set_by(&last.instant);
                let setting = set_by.map(|by| ClockSetting { before: entry.number, by });
                found.clock_settings.extend(setting);
            }
            Some(_) => {}
        }
        match entry.kind {
            Kind::Intended => {
                self.open.insert(entry.number);
            }
            Kind::Done | Kind::Refused => {
                entry.of.inspect(|of| {
                    self.open.remove(of);
                });
            }
            Kind::Pruned => {
                found.pruned_at = Some(at);
                self.anchor = anchor(&entry.what);
            }
            Kind::Began => {}
        }
    }

    /// Ends the check: compares beginning and end with what must stand there. Without `head`, as
    /// of an export, the end is not looked at.
    pub fn end(mut self, head: Option<&Head>) -> Verification {
        self.found.unknown = self.open.into_iter().collect();
        let end = match &self.last {
            Some((entry, hash)) => Head { number: entry.number, hash: hash.clone() },
            None => Head::none(),
        };
        self.found.last_hash = self.last.map(|(_, hash)| hash);
        if self.found.fault.is_some() {
            return self.found;
        }
        let expected = self.anchor.unwrap_or_else(Head::none);
        let began = self.beginning.unwrap_or_else(Head::none);
        if began != expected {
            let number = began.number + 1;
            self.found.fault = Some(Fault { number, why: WhyFault::NoBeginning });
        } else if let Some(head) = head.filter(|head| **head != end) {
            let why = WhyFault::NoEnd { last: head.number };
            self.found.fault = Some(Fault { number: end.number + 1, why });
        }
        self.found
    }
}

/// Reads what a pruning has removed last from its details.
pub(crate) fn anchor(what: &Value) -> Option<Head> {
    let number = what.get("last_number")?.as_u64()?;
    Some(Head { number, hash: what.get("last_hash")?.as_str()?.to_owned() })
}
