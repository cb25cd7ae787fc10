//! The reasons against a record that a report tells apart from the others.
//!
//! A record's file has its reasons as sentences. Each is worded here, and told apart here, so that
//! no reader looks for words in it: an injected delay by wording it again from the record, and time
//! that is not real by what all its sentences begin with, since its figures are not in the record.

use std::fmt;

use super::check::injection_finding;
use super::{Conditions, Record};

/// What every sentence about time that is not real begins with.
const NOT_REAL: &str = "timing not valid: ";
/// The fact about the machine that says whether its time is real: `yes`, `unknown` or `no`, with
/// the reason behind a comma.
const TIME_IS_REAL: &str = "time_is_real";
/// How the sentence about an injected delay read in records that don't have it in figures.
const INJECTED: &str = "a delay of ";
const SEEN: &str = " and was seen there as ";

/// Why the times of a record are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotReal {
    /// The machine's clock or processor is emulated, as was found out by this.
    Machine(String),
    /// Guests of this machine are not executed by its processor, but so.
    Guests(String),
    /// The record's own facts say so, and it counted as valid.
    Facts(String),
}

impl fmt::Display for NotReal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NOT_REAL)?;
        match self {
            Self::Machine(because) => write!(f, "this machine's time is emulated ({because})"),
            Self::Guests(interpreted) => write!(f, "guests here are {interpreted}"),
            Self::Facts(fact) => write!(f, "this machine's time was not real ({fact})"),
        }
    }
}

/// A reason of a record, with its sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason<'a> {
    /// Its time is not real; the sentence without its beginning, which says that.
    NotReal(&'a str),
    /// The delay that was put in on purpose was seen. It makes the record a test of the probe, and
    /// is no fault.
    InjectionSeen(&'a str),
    /// Anything else.
    Other(&'a str),
}

impl Record {
    /// Iterates over why the record can't be trusted.
    pub fn reasons(&self) -> impl Iterator<Item = Reason<'_>> {
        self.invalid_because.iter().map(|because| {
            if let Some(because) = because.strip_prefix(NOT_REAL) {
                Reason::NotReal(because)
            } else if self.says_that_a_delay_was_seen(because) {
                Reason::InjectionSeen(because)
            } else {
                Reason::Other(because)
            }
        })
    }

    fn says_that_a_delay_was_seen(&self, because: &str) -> bool {
        match self.conditions.injection {
            Some(injected) => {
                injected.is_seen(self) && because == injection_finding(self, injected)
            }
            None if self.conditions.injected.is_some() => {
                because.starts_with(INJECTED) && because.contains(SEEN)
            }
            None => false,
        }
    }

    /// Why the record's time is not real, by its reasons or by the facts of its machine.
    pub fn why_time_is_not_real(&self) -> Option<&str> {
        let told = self.reasons().find_map(|reason| match reason {
            Reason::NotReal(because) => Some(because),
            _ => None,
        });
        told.or_else(|| {
            let fact = self.conditions.time_not_real()?;
            let because = fact.strip_prefix("no, ").unwrap_or(fact);
            Some(because.strip_prefix(NOT_REAL).unwrap_or(because))
        })
    }
}

impl Conditions {
    /// What the facts say of the machine's time where they say that it is not real.
    pub(super) fn time_not_real(&self) -> Option<&str> {
        let fact = self.machine.get(TIME_IS_REAL)?.as_str();
        (fact == "no" || fact.starts_with("no,")).then_some(fact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::check::self_check;
    use crate::record::{Injected, Spike};
    use crate::test_record;

    fn reasons(record: &Record) -> Vec<Reason<'_>> {
        record.reasons().collect()
    }

    #[test]
    fn time_that_is_not_real_is_recognised_however_it_was_found_out() {
        let mut record = test_record(&[(5, 10)]);
        assert_eq!(record.why_time_is_not_real(), None);
        for (reason, told) in [
            (NotReal::Machine("slow".to_owned()), "this machine's time is emulated (slow)"),
            (NotReal::Guests("interpreted".to_owned()), "guests here are interpreted"),
            (NotReal::Facts("no".to_owned()), "this machine's time was not real (no)"),
        ] {
            record.invalid_because = vec!["the clock broke".to_owned(), reason.to_string()];
            assert_eq!(reasons(&record)[1], Reason::NotReal(told));
            assert_eq!(record.why_time_is_not_real(), Some(told));
        }
        record.invalid_because.clear();
        for (fact, told) in [
            ("no", Some("no")),
            ("no, timing not valid: interpreted", Some("interpreted")),
            ("unknown: not measured", None),
            ("nobody knows", None),
            ("yes, native by calibration", None),
        ] {
            record.conditions.machine.insert(TIME_IS_REAL.to_owned(), fact.to_owned());
            assert_eq!(record.why_time_is_not_real(), told, "{fact}");
        }
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
        record.conditions.injected = Some("500 µs at release 1000".to_owned());
        let seen = self_check(&record, Some(injected)).pop().unwrap();
        record.invalid_because = vec![seen.clone()];
        // As a record of earlier days, which has the delay in words only, and as one of today.
        for injection in [None, Some(injected)] {
            record.conditions.injection = injection;
            assert_eq!(reasons(&record), [Reason::InjectionSeen(&seen)]);
        }
        let other = format!("{seen}, which was seen there as well");
        record.invalid_because = vec![other.clone()];
        assert_eq!(reasons(&record), [Reason::Other(&other)], "it is not what the record says");
        record.spikes[0].release = 999;
        let unseen = self_check(&record, Some(injected)).pop().unwrap();
        record.invalid_because = vec![unseen.clone()];
        assert_eq!(reasons(&record), [Reason::Other(&unseen)]);
    }
}
