//! Two reasons of a record that a reader is told of apart from the others: time that is not real,
//! and an injected delay that was seen.

use super::{Conditions, Record};
use crate::reason::{InjectionFinding, Reason};

/// The fact about the machine that says whether its time is real: `yes`, `unknown` or `no`, with
/// the reason behind a comma.
const TIME_IS_REAL: &str = "time_is_real";

impl Record {
    /// Returns why the record's time is not real, by its reasons or by the facts of its machine.
    pub fn why_time_is_not_real(&self) -> Option<String> {
        self.invalid_because.iter().find_map(Reason::time_not_real).or_else(|| {
            let fact = self.conditions.time_not_real()?;
            let cause = fact.strip_prefix("no, ").unwrap_or(fact);
            Some(cause.strip_prefix("timing not valid: ").unwrap_or(cause).to_owned())
        })
    }

    /// Returns `true` where `reason` is an injected delay that the numbers show. It makes the
    /// record a test of the probe, and is no fault.
    pub fn is_seen_injection(&self, reason: &Reason) -> bool {
        match (reason, self.conditions.injection) {
            (Reason::Injection(finding), Some(injected)) => {
                injected.is_seen(self) && *finding == InjectionFinding::of(self, injected)
            }
            (Reason::Stated(sentence), Some(injected)) => {
                let finding = InjectionFinding::of(self, injected);
                injected.is_seen(self) && sentence.to_string() == finding.to_string()
            }
            (Reason::Stated(sentence), None) => {
                self.conditions.injected.is_some() && sentence.is_seen_injection()
            }
            _ => false,
        }
    }
}

impl Conditions {
    /// Returns the fact about the machine's time where it says that the time is not real.
    pub(super) fn time_not_real(&self) -> Option<&str> {
        let fact = self.machine.get(TIME_IS_REAL)?.as_str();
        (fact == "no" || fact.starts_with("no,")).then_some(fact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reason::{NotReal, Stated};
    use crate::record::check::self_check;
    use crate::record::{Injected, Spike};
    use crate::test_record;

    fn stated(sentence: &str) -> Reason {
        Stated::from(sentence).into()
    }

    #[test]
    fn time_that_is_not_real_is_recognised_however_it_was_found_out() {
        let mut record = test_record(&[(5, 10)]);
        assert_eq!(record.why_time_is_not_real(), None);
        for (reason, told) in [
            (
                NotReal::Machine { evidence: "slow".to_owned() },
                "this machine's time is emulated (slow)",
            ),
            (
                NotReal::Guests { interpreted: "interpreted".to_owned() },
                "guests here are interpreted",
            ),
            (NotReal::Facts { fact: "no".to_owned() }, "this machine's time was not real (no)"),
        ] {
            // As a record of today has it, and as one of earlier days.
            for reason in [reason.clone().into(), stated(&reason.to_string())] {
                record.invalid_because = vec![stated("the clock broke"), reason];
                assert_eq!(record.why_time_is_not_real().as_deref(), Some(told));
            }
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
            assert_eq!(record.why_time_is_not_real().as_deref(), told, "{fact}");
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
        record.conditions.injection = Some(injected);
        let seen = self_check(&record, Some(injected)).pop().unwrap();
        let words = seen.to_string();
        assert!(record.is_seen_injection(&seen));
        // As records of earlier days have it, with the delay in figures and without.
        for injection in [Some(injected), None] {
            record.conditions.injection = injection;
            assert!(record.is_seen_injection(&stated(&words)));
        }
        record.conditions.injection = Some(injected);
        let other = stated(&format!("{words}, which was seen there as well"));
        assert!(!record.is_seen_injection(&other), "it is not what the record says");
        record.spikes[0].release = 999;
        assert!(!record.is_seen_injection(&seen), "the record doesn't have that release");
        let unseen = self_check(&record, Some(injected)).pop().unwrap();
        assert!(!record.is_seen_injection(&unseen));
    }
}
