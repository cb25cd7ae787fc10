//! The common part of the records of guests.

use std::collections::BTreeMap;

use quietcore_probe::guest::runner::GuestFacts;
use quietcore_site::Backend;

/// The partition of the records.
pub(super) const PARTITION: &str = "guest";

/// Returns facts about the machine beside those that every record has, of a guest of `backend`.
pub(super) fn machine(facts: &GuestFacts, backend: Backend) -> BTreeMap<String, String> {
    let clock = format!("time stamp counter, {:.3} GHz", facts.counter_hertz as f64 / 1e9);
    BTreeMap::from([
        ("backend".to_owned(), backend.to_string()),
        ("clock_of_guest".to_owned(), clock),
    ])
}

/// Returns what was counted during the measurement in a guest of `backend`.
pub(super) fn activity(facts: &GuestFacts, backend: Backend) -> BTreeMap<String, String> {
    let granted = &facts.granted;
    let kept = format!("backend {backend}; instructions kept in the guest: {granted}");
    let exits = facts.exits.as_ref().map(|exits| {
        let exits = format!("to this process, from its start to its end: {exits}");
        ("guest_exits".to_owned(), exits)
    });
    [("guest".to_owned(), kept)].into_iter().chain(exits).collect()
}
