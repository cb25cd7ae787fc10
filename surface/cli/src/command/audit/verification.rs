//! The result of a verification in words: the answer first.

use jiff::Timestamp;
use quietcore_audit::{ClockSetting, Verification};
use quietcore_record::verdict::thousands;
use quietcore_units::Nanos;

/// Unknown outcomes that are named; the others are counted.
const NAMED_MAX: usize = 5;

pub(super) fn words(found: &Verification) -> String {
    let extent = match (found.first, found.last) {
        (Some((first, from)), Some((last, to))) => format!(
            "{}, {first} to {last}, from {} to {}",
            entries(found.count),
            moment(from),
            moment(to)
        ),
        _ => "no entry".to_owned(),
    };
    let mut text = match &found.fault {
        None => format!("in order: {extent}\n"),
        Some(fault) => format!("NOT in order: {fault}\nin order before that: {extent}\n"),
    };
    if let Some(hash) = &found.last_hash {
        text.push_str(&format!("last hash: {hash}\n"));
    }
    if let Some(at) = found.pruned_at {
        text.push_str(&format!("older entries were pruned, the last time at {}\n", moment(at)));
    }
    if !found.unknown.is_empty() {
        let numbers: Vec<_> = found.unknown.iter().take(NAMED_MAX).map(u64::to_string).collect();
        let more = if found.unknown.len() > NAMED_MAX { ", .." } else { "" };
        text.push_str(&format!(
            "without an outcome: {} of {} ({}{more}), under way or cut off by a kill\n",
            thousands(found.unknown.len() as u64),
            entries(found.count),
            numbers.join(", ")
        ));
    }
    for ClockSetting { before, by } in &found.clock_settings {
        let amount = Nanos::new(u64::try_from(by.abs().as_nanos()).unwrap_or(u64::MAX));
        let way = if by.is_negative() { "back" } else { "forward" };
        text.push_str(&format!("the clock was set {way} by {amount} before entry {before}\n"));
    }
    text
}

fn entries(count: u64) -> String {
    format!("{} {}", thousands(count), if count == 1 { "entry" } else { "entries" })
}

/// Returns an instant to the second.
pub(super) fn moment(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::SignedDuration;
    use quietcore_audit::{Fault, WhyFault};

    #[test]
    fn a_verification_begins_with_its_answer() {
        let at = |second: i64| Timestamp::from_second(second).unwrap();
        let good = Verification {
            count: 12,
            first: Some((3, at(0))),
            last: Some((14, at(3661))),
            last_hash: Some("abc".to_owned()),
            unknown: vec![9],
            clock_settings: vec![ClockSetting { before: 5, by: -SignedDuration::from_hours(2) }],
            ..Verification::default()
        };
        assert_eq!(
            words(&good),
            "in order: 12 entries, 3 to 14, from 1970-01-01T00:00:00Z to 1970-01-01T01:01:01Z\n\
             last hash: abc\nwithout an outcome: 1 of 12 entries (9), under way or cut off by a \
             kill\nthe clock was set back by 2 h before entry 5\n"
        );
        let fault = Some(Fault { number: 4, why: WhyFault::Changed });
        let bad = Verification { fault, ..Verification::default() };
        assert_eq!(
            words(&bad),
            "NOT in order: entry 4 was changed: its hash is another one\nin order before that: no \
             entry\n"
        );
    }
}
