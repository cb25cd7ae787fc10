//! What the records of guests have in common.

pub(super) mod latency;

use std::collections::BTreeMap;

use quietcore_probe::guest::runner::Outcome;

/// The partition of the records.
pub(super) const PARTITION: &str = "guest";

/// What is to be said of the machine besides.
pub(super) fn machine(outcome: &Outcome) -> BTreeMap<String, String> {
    let clock = format!("time stamp counter, {:.3} GHz", outcome.counter.hertz() as f64 / 1e9);
    BTreeMap::from([("backend".to_owned(), "kvm".to_owned()), ("clock_of_guest".to_owned(), clock)])
}

/// What happened meanwhile.
pub(super) fn activity(outcome: &Outcome) -> BTreeMap<String, String> {
    let kept = format!("backend kvm; instructions kept in the guest: {}", outcome.granted);
    let exits = format!("to this process, from its start to its end: {}", outcome.exits_in_words());
    BTreeMap::from([("guest".to_owned(), kept), ("guest_exits".to_owned(), exits)])
}
