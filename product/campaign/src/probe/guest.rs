//! The common part of the records of guests.

use std::collections::BTreeMap;

use quietcore_probe::guest::runner::GuestFacts;
use quietcore_site::Backend;

/// The partition of the records.
pub(super) const PARTITION: &str = "guest";

/// Returns facts about the machine beside those that every record has.
pub(super) fn machine(facts: &GuestFacts) -> BTreeMap<String, String> {
    let clock = format!("time stamp counter, {:.3} GHz", facts.counter_hertz as f64 / 1e9);
    let backend = Backend::OF_PROBES_IN_GUESTS.to_string();
    BTreeMap::from([("backend".to_owned(), backend), ("clock_of_guest".to_owned(), clock)])
}

/// Returns what was counted during the measurement.
pub(super) fn activity(facts: &GuestFacts) -> BTreeMap<String, String> {
    let (backend, granted) = (Backend::OF_PROBES_IN_GUESTS, &facts.granted);
    let kept = format!("backend {backend}; instructions kept in the guest: {granted}");
    let exits = format!("to this process, from its start to its end: {}", facts.exits);
    BTreeMap::from([("guest".to_owned(), kept), ("guest_exits".to_owned(), exits)])
}
