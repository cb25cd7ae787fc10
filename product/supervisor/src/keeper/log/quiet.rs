//! Keeps a warning that comes in every cycle from burying everything else.
//!
//! Of each kind of warning, and of each SubDevice or task, one a second is reported, with the
//! number of those left out before it. Faults and information are always reported.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::control::Severity;

/// Shortest time between two warnings of one kind.
const PAUSE: Duration = Duration::from_secs(1);

/// The last warning of each kind, with the number left out since.
#[derive(Debug, Default)]
pub(in crate::keeper) struct Quiet {
    last: HashMap<(&'static str, Option<u32>), (Instant, u64)>,
}

impl Quiet {
    /// Returns `None` for an event that is to be left out, otherwise the number of its kind that
    /// were left out before it. `whose` is the SubDevice or task that it is about, if any.
    pub(in crate::keeper) fn admit(
        &mut self,
        kind: &'static str,
        whose: Option<u32>,
        severity: Severity,
        now: Instant,
    ) -> Option<u64> {
        if severity != Severity::Warning {
            return Some(0);
        }
        match self.last.get_mut(&(kind, whose)) {
            Some((last, left_out)) if now.duration_since(*last) < PAUSE => {
                *left_out += 1;
                None
            }
            Some((last, left_out)) => {
                *last = now;
                Some(std::mem::take(left_out))
            }
            None => {
                self.last.insert((kind, whose), (now, 0));
                Some(0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_of_each_cycle_is_told_once_a_second_with_its_number() {
        let mut quiet = Quiet::default();
        let start = Instant::now();
        let mut told = Vec::new();
        for milli in 0..2500 {
            let now = start + Duration::from_millis(milli);
            told.extend(quiet.admit("overrun", None, Severity::Warning, now));
        }
        assert_eq!(told, [0, 999, 999]);
        assert_eq!(quiet.admit("watchdog-hit", None, Severity::Warning, start), Some(0));
        for subdevice in 0..3 {
            let told = quiet.admit("subdevice-lost", Some(subdevice), Severity::Warning, start);
            assert_eq!(told, Some(0), "each by its name");
        }
        for _ in 0..3 {
            assert_eq!(quiet.admit("crash", None, Severity::Fault, start), Some(0));
        }
    }
}
