//! Pruning: entries that were kept long enough are removed from the beginning of the chain.
//!
//! The entry of a pruning names the last entry that it removes by number and hash, which is what
//! the first one that stays continues: so the chain can be checked from there. At most a month's
//! entries go at once, once a day, so that a wall clock that is years ahead for a while costs
//! little.

use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;
use serde_json::json;

use super::{Draft, IMMEDIATE, Kind, Trail, TrailError, insert};
use crate::database;
use crate::entry::Row;

/// The most entries that one pruning removes.
pub const PRUNED_COUNT_MAX: usize = 10_000;
/// The longest time whose entries one pruning removes.
pub const PRUNED_SPAN_MAX: SignedDuration = SignedDuration::from_hours(31 * 24);
/// Time between two prunings, by the wall clock.
const BETWEEN: SignedDuration = SignedDuration::from_hours(24);
/// Time between two looks for entries that are old enough, in microseconds.
const LOOK_US: u64 = 3_600_000_000;
/// Hours of a year of 365.25 days.
const YEAR_HOURS: i64 = 8766;

/// The time for which entries are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    years: u16,
}

impl Retention {
    /// Years where nothing else is said.
    pub const YEARS_DEFAULT: u16 = 5;
    /// The longest time in years.
    pub const YEARS_MAX: u16 = 100;

    /// Returns a retention of this many years; `None` for none, and beyond [`Self::YEARS_MAX`].
    pub fn of_years(years: u16) -> Option<Self> {
        (1..=Self::YEARS_MAX).contains(&years).then_some(Self { years })
    }

    /// Returns the instant before which entries have been kept long enough.
    fn ends_before(self, now: Timestamp) -> Timestamp {
        let kept = SignedDuration::from_hours(YEAR_HOURS * i64::from(self.years));
        now.checked_sub(kept).unwrap_or(Timestamp::MIN)
    }
}

impl Default for Retention {
    fn default() -> Self {
        Self { years: Self::YEARS_DEFAULT }
    }
}

impl Trail {
    /// Removes the entries that were kept long enough, if it is time to.
    pub(super) fn prune(&mut self) -> Result<(), TrailError> {
        match self.try_prune() {
            // The next entry opens it anew.
            Err(error) if error.is_damage() => {
                self.opened = None;
                Ok(())
            }
            other => other,
        }
    }

    fn try_prune(&mut self) -> Result<(), TrailError> {
        let instant = (self.now)();
        let Some(opened) = &mut self.opened else { return Ok(()) };
        let since_boot = instant.since_boot_us;
        if opened.looked_at_us.is_some_and(|at| since_boot.saturating_sub(at) < LOOK_US) {
            return Ok(());
        }
        opened.looked_at_us = Some(since_boot);
        let apart = |at: Timestamp| instant.at.duration_since(at).abs();
        if opened.pruned_at.is_some_and(|at| apart(at) < BETWEEN) {
            return Ok(());
        }
        let failed = TrailError::database(&self.path);
        let before = self.retention.ends_before(instant.at);
        let old = oldest(&opened.connection, before).map_err(&failed)?;
        let (Some((first, from)), Some((last, to))) = (old.first(), old.last()) else {
            return Ok(());
        };
        let what = json!({
            "last_number": last.number,
            "last_hash": last.hash,
            "first_number": first.number,
            "count": old.len(),
            "from": from.to_string(),
            "to": to.to_string(),
            "kept_years": self.retention.years,
        });
        let last_number = i64::try_from(last.number).expect("no trail has so many entries");
        let at = instant.at;
        let transaction = opened.connection.transaction_with_behavior(IMMEDIATE);
        let pruned = transaction.and_then(|transaction| {
            insert(&transaction, &Draft::own(Kind::Pruned, what), instant)?;
            transaction.execute("DELETE FROM entry WHERE number <= ?1", [last_number])?;
            transaction.commit()
        });
        pruned.map_err(failed)?;
        opened.pruned_at = Some(at);
        Ok(())
    }
}

/// Returns the entries at the beginning that were made before an instant, as many as one pruning
/// removes. The last entry of all is never among them.
fn oldest(connection: &Connection, before: Timestamp) -> rusqlite::Result<Vec<(Row, Timestamp)>> {
    let end = database::head(connection)?.number;
    let mut old: Vec<(Row, Timestamp)> = Vec::new();
    database::for_each(connection, 0, |row| {
        let Some(at) = row.entry().map(|entry| entry.instant.at) else { return false };
        let span = old.first().map_or(SignedDuration::ZERO, |(_, first)| at.duration_since(*first));
        let goes = at < before && row.number < end && span.abs() <= PRUNED_SPAN_MAX;
        if goes {
            old.push((row, at));
        }
        goes && old.len() < PRUNED_COUNT_MAX
    })?;
    Ok(old)
}
