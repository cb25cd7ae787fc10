//! A delay that was put in on purpose, to see whether the probe shows it.

use std::fmt;

use quietcore_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reason::{InjectionFinding, Reason};
use crate::record::Record;

/// A delay that was put in on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Injected {
    /// Length of the delay, in ns.
    pub delay_ns: u64,
    /// Number of the release that it holds up, from 0.
    pub release: u64,
}

/// The injected delay of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Injection {
    /// The delay in figures.
    Exact(Injected),
    /// Words of an earlier version, whose figures are rounded.
    Stated(String),
}

impl Injected {
    /// Returns the latency of the release that was held up, as the record has it; `None` where it
    /// has none.
    pub fn found(self, record: &Record) -> Option<u64> {
        let spike = record.spikes.iter().find(|spike| spike.release == self.release)?;
        Some(spike.latency_ns)
    }

    /// Returns `true` if that release was late by the delay at least.
    pub fn is_seen(self, record: &Record) -> bool {
        self.found(record).is_some_and(|latency_ns| latency_ns >= self.delay_ns)
    }
}

impl Injection {
    /// Returns the figures; `None` where an earlier version kept words alone.
    pub const fn exact(&self) -> Option<Injected> {
        match self {
            Self::Exact(injected) => Some(*injected),
            Self::Stated(_) => None,
        }
    }
}

impl From<Injected> for Injection {
    fn from(injected: Injected) -> Self {
        Self::Exact(injected)
    }
}

impl fmt::Display for Injected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at release {}", Nanos::new(self.delay_ns), self.release)
    }
}

impl fmt::Display for Injection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(injected) => injected.fmt(f),
            Self::Stated(words) => f.write_str(words),
        }
    }
}

impl Record {
    /// Returns `true` where `reason` is an injected delay that the numbers show. It makes the
    /// record a test of the probe, and is no fault.
    pub fn is_seen_injection(&self, reason: &Reason) -> bool {
        let is_of_figures = |injected: Injected, is_same: &dyn Fn(InjectionFinding) -> bool| {
            injected.is_seen(self) && is_same(InjectionFinding::of(self, injected))
        };
        match (reason, &self.conditions.injection) {
            (Reason::Injection(finding), Some(Injection::Exact(injected))) => {
                is_of_figures(*injected, &|it| it == *finding)
            }
            (Reason::Stated(sentence), Some(Injection::Exact(injected))) => {
                is_of_figures(*injected, &|it| it.to_string() == sentence.to_string())
            }
            (Reason::Stated(sentence), Some(Injection::Stated(_))) => sentence.is_seen_injection(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reason::Stated;
    use crate::record::Spike;
    use crate::record::check::self_check;
    use crate::test_record;

    fn stated(sentence: &str) -> Reason {
        Stated::from(sentence).into()
    }

    #[test]
    fn an_injected_delay_that_was_seen_is_told_from_one_that_was_not() {
        let injected = Injected { delay_ns: 500_000, release: 1000 };
        let mut record = test_record(&[(5, 2000), (500_200, 1)]);
        record.spikes[0] = Spike {
            release: 1000,
            at_ns: 0,
            latency_ns: 500_200,
            wakeup_ns: 0,
            cpu: 1,
            conditions: Vec::new(),
        };
        record.conditions.injection = Some(injected.into());
        let seen = self_check(&record, Some(injected)).pop().unwrap();
        let words = seen.to_string();
        assert!(record.is_seen_injection(&seen));
        // As records of earlier days have it, with the delay in figures and without.
        let without = Injection::Stated("500 µs at release 1000".to_owned());
        for injection in [injected.into(), without] {
            record.conditions.injection = Some(injection);
            assert!(record.is_seen_injection(&stated(&words)));
        }
        record.conditions.injection = Some(injected.into());
        let other = stated(&format!("{words}, which was seen there as well"));
        assert!(!record.is_seen_injection(&other), "it is not what the record says");
        record.spikes[0].release = 999;
        assert!(!record.is_seen_injection(&seen), "the record doesn't have that release");
        let unseen = self_check(&record, Some(injected)).pop().unwrap();
        assert!(!record.is_seen_injection(&unseen));
    }
}
