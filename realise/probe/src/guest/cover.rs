//! The exits of a guest and the waits of its thread for a CPU that cover a spike. Pure.
//!
//! ```text
//! spike     due ├────────── latency ──────────┤ started
//! exit            ├─ port write ─┤
//! wait      ├──── between two looks: waited 30 µs for a CPU ────────┤
//! left                             unexplained
//! ```
//!
//! The counter that host and guest share dates an exit to the nanosecond, so the time that it
//! covers is known. A wait for a CPU is known only as a sum between two looks: it covers at most as
//! much of a spike within them as it took. The rest is reported as unexplained, and attributed to
//! nothing.

use std::fmt;

use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

/// A spike: a release that came late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Late {
    /// Instant at which it was due, in ns of the monotonic clock.
    pub due_ns: u64,
    /// Time by which it was late, in ns.
    pub latency_ns: u64,
}

/// Something that kept the guest from running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Instant at which it began, or could have begun, in ns of the monotonic clock.
    pub begin_ns: u64,
    /// Instant by which it had ended, in ns of the monotonic clock.
    pub end_ns: u64,
    /// Time that it took in between, in ns: all of it for an exit.
    pub took_ns: u64,
    /// Description of the cause, for people.
    pub what: String,
}

/// The causes that cover a spike, and the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cover {
    /// The causes in the order of their beginnings, each with the time that it covers at most, in
    /// ns.
    pub causes: Vec<(String, u64)>,
    /// Time of the spike that no cause covers, in ns.
    pub unexplained_ns: u64,
}

/// Finds the causes that cover each spike; returns one cover for each, in the same order.
pub fn cover(spikes: &[Late], causes: &[Cause]) -> Vec<Cover> {
    let mut causes: Vec<&Cause> = causes.iter().collect();
    causes.sort_by_key(|cause| cause.begin_ns);
    spikes.iter().map(|spike| of_one(*spike, &causes)).collect()
}

fn of_one(spike: Late, causes: &[&Cause]) -> Cover {
    let (from, to) = (spike.due_ns, spike.due_ns.saturating_add(spike.latency_ns));
    let mut cover = Cover { causes: Vec::new(), unexplained_ns: spike.latency_ns };
    for cause in causes {
        let both = cause.end_ns.min(to).saturating_sub(cause.begin_ns.max(from));
        let covered = both.min(cause.took_ns).min(cover.unexplained_ns);
        if covered > 0 {
            cover.causes.push((cause.what.clone(), covered));
            cover.unexplained_ns -= covered;
        }
    }
    cover
}

impl Cover {
    /// Returns `true` if most of the spike is covered.
    pub fn is_explained(&self) -> bool {
        self.unexplained_ns < self.causes.iter().map(|(_, covered)| covered).sum()
    }

    /// Describes it in words, a sentence for each cause.
    pub fn words(&self) -> Vec<String> {
        let causes = self.causes.iter();
        let mut words: Vec<String> =
            causes.map(|(what, covered)| format!("{what}: {}", Nanos::new(*covered))).collect();
        if self.unexplained_ns > 0 {
            words.push(format!("unexplained: {}", Nanos::new(self.unexplained_ns)));
        }
        words
    }
}

impl fmt::Display for Cover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words().join("; "))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn exit(begin_ns: u64, end_ns: u64, what: &str) -> Cause {
        Cause { begin_ns, end_ns, took_ns: end_ns - begin_ns, what: what.to_owned() }
    }

    const SPIKE: Late = Late { due_ns: 1_000, latency_ns: 500 };

    #[test]
    fn an_exit_covers_as_much_of_a_spike_as_it_lasted_within_it() {
        let causes = [
            exit(900, 1_100, "port write"),
            exit(1_300, 1_350, "signal"),
            exit(1_490, 2_000, "halt"),
        ];
        let [cover] = &cover(&[SPIKE], &causes)[..] else { unreachable!() };
        let of = |what: &str, ns| (what.to_owned(), ns);
        assert_eq!(cover.causes, [of("port write", 100), of("signal", 50), of("halt", 10)]);
        assert_eq!(cover.unexplained_ns, 340);
        assert!(!cover.is_explained());
        assert_eq!(
            cover.words()[2..],
            ["halt: 10 ns".to_owned(), "unexplained: 340 ns".to_owned()].map(|it| it)
        );
    }

    #[test]
    fn what_ended_before_or_began_after_covers_nothing() {
        let causes = [exit(0, 1_000, "before"), exit(1_500, 1_600, "after")];
        let [cover] = &cover(&[SPIKE], &causes)[..] else { unreachable!() };
        assert_eq!((cover.causes.len(), cover.unexplained_ns), (0, 500));
    }

    #[test]
    fn a_wait_between_two_looks_covers_no_more_than_it_took() {
        let wait = Cause {
            begin_ns: 0,
            end_ns: 20_000,
            took_ns: 450,
            what: "waited for a CPU".to_owned(),
        };
        let causes = [wait, exit(1_000, 1_200, "port write")];
        let [cover] = &cover(&[SPIKE], &causes)[..] else { unreachable!() };
        assert_eq!((cover.causes[0].1, cover.causes[1].1, cover.unexplained_ns), (450, 50, 0));
        assert!(cover.is_explained());
    }

    proptest! {
        #[test]
        fn nothing_is_covered_twice_and_nothing_is_lost(
            spikes in proptest::collection::vec((0_u64..10_000, 0_u64..2_000), 0..8),
            causes in proptest::collection::vec((0_u64..10_000, 0_u64..3_000, 0_u64..3_000), 0..12),
        ) {
            let spikes: Vec<Late> = spikes
                .into_iter()
                .map(|(due_ns, latency_ns)| Late { due_ns, latency_ns })
                .collect();
            let causes: Vec<Cause> = causes
                .into_iter()
                .map(|(begin_ns, long, took)| Cause {
                    begin_ns,
                    end_ns: begin_ns + long,
                    took_ns: took.min(long),
                    what: String::new(),
                })
                .collect();
            let covers = cover(&spikes, &causes);
            prop_assert_eq!(covers.len(), spikes.len());
            for (spike, cover) in spikes.iter().zip(&covers) {
                let covered: u64 = cover.causes.iter().map(|(_, covered)| covered).sum();
                prop_assert_eq!(covered + cover.unexplained_ns, spike.latency_ns);
                prop_assert!(cover.causes.iter().all(|(_, covered)| *covered > 0));
            }
        }
    }
}
