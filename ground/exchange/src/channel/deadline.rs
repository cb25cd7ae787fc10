//! Receive timeouts of signals, as functions of age alone.

use quietcore_units::Nanos;

/// The longest time without a value before the receiver reports a timeout. Zero means that there is
/// none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// From the start of the receiver until the first value.
    pub first: Nanos,
    /// From one value to the next.
    pub next: Nanos,
}

/// The age of the last value, held against its timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// It came in time, this long ago.
    Fresh(Nanos),
    /// None has come yet, and there is still time: the initial value holds.
    Expected,
    /// It has been out for this long, which is more than the timeout allows.
    Overdue(Nanos),
}

/// Returns `true` if something of this age has outlived its timeout; a timeout of zero never ends.
#[inline]
pub const fn is_overdue(age: Nanos, timeout: Nanos) -> bool {
    timeout.get() != 0 && age.get() >= timeout.get()
}

/// Classifies a value that was sent at `sent`, `None` if never, as seen at `now` by a receiver that
/// started at `started`. An instant in the future counts as now: the clocks of two CPUs may differ
/// a little.
#[inline]
pub fn freshness(
    now: Nanos,
    started: Nanos,
    sent: Option<Nanos>,
    timeouts: &Timeouts,
) -> Freshness {
    let (since, timeout) = match sent {
        Some(sent) => (sent, timeouts.next),
        None => (started, timeouts.first),
    };
    let age = now.saturating_sub(since);
    match sent {
        _ if is_overdue(age, timeout) => Freshness::Overdue(age),
        Some(_) => Freshness::Fresh(age),
        None => Freshness::Expected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Freshness::{Expected, Fresh, Overdue};

    #[test]
    fn a_value_is_overdue_from_its_timeout_on() {
        let timeouts = Timeouts { first: Nanos::new(100), next: Nanos::new(10) };
        let at = |now: u64, sent: Option<u64>| {
            freshness(Nanos::new(now), Nanos::new(1_000), sent.map(Nanos::new), &timeouts)
        };
        assert_eq!(at(1_099, None), Expected);
        assert_eq!(at(1_100, None), Overdue(Nanos::new(100)));
        assert_eq!(at(1_109, Some(1_100)), Fresh(Nanos::new(9)));
        assert_eq!(at(1_110, Some(1_100)), Overdue(Nanos::new(10)));
        assert_eq!(at(1_100, Some(1_200)), Fresh(Nanos::ZERO));
        assert_eq!(at(0, None), Expected);
    }

    #[test]
    fn without_a_timeout_nothing_is_overdue() {
        assert!(!is_overdue(Nanos::MAX, Nanos::ZERO));
        let never = Timeouts::default();
        assert_eq!(freshness(Nanos::MAX, Nanos::ZERO, None, &never), Expected);
    }
}
