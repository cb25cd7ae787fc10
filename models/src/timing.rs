//! Releases that come late, in the three ways in which machines make them late.
//!
//! ```text
//! due          │        │        │        │        │        │
//! dead time    ├──►a    ├──►a    ├──►a        releases on time, actuators `a` act later
//! jitter       │►r      │────►r  r        │──►r      each release late by another amount
//! latency      │─────────────►r  ·        │─────────────►r   each late by the same; the releases
//!                                                            that passed meanwhile are skipped
//! ```
//!
//! A latency below the period shifts all releases alike and changes nothing. From one period on
//! releases are skipped: the loop runs at half its rate, then at a third, and so on.

use quietcore_units::Nanos;

/// The lateness of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// From the frame that brings the outputs until they act.
    pub dead_time: Nanos,
    /// Largest random lateness of a release; drawn evenly between zero and this.
    pub jitter: Nanos,
    /// Lateness that every release has.
    pub latency: Nanos,
}

impl Timing {
    /// Everything happens on time.
    pub const PUNCTUAL: Self =
        Self { dead_time: Nanos::ZERO, jitter: Nanos::ZERO, latency: Nanos::ZERO };

    /// Outputs act this much later.
    #[must_use]
    pub const fn dead_time(dead_time: Nanos) -> Self {
        Self { dead_time, ..Self::PUNCTUAL }
    }

    /// Releases are late by up to this.
    #[must_use]
    pub const fn jitter(jitter: Nanos) -> Self {
        Self { jitter, ..Self::PUNCTUAL }
    }

    /// All releases are late by this.
    #[must_use]
    pub const fn latency(latency: Nanos) -> Self {
        Self { latency, ..Self::PUNCTUAL }
    }
}

/// The releases of a run, one after another.
pub struct Releases {
    period: Nanos,
    timing: Timing,
    due: u64,
    generator: u64,
}

impl Releases {
    /// Releases each `period`, which is not zero; the same ones in every run.
    #[must_use]
    pub fn new(period: Nanos, timing: Timing) -> Self {
        assert!(period > Nanos::ZERO, "a period takes time");
        Self { period, timing, due: 0, generator: 1 }
    }

    fn random(&mut self) -> u64 {
        // SplitMix64 (Steele, Lea, Flood 2014).
        self.generator = self.generator.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.generator;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

impl Iterator for Releases {
    type Item = Nanos;

    /// When the next cycle starts. Those that would be due before it are skipped.
    fn next(&mut self) -> Option<Nanos> {
        let random = match self.timing.jitter.get() {
            0 => 0,
            jitter => self.random() % (jitter + 1),
        };
        let start = self.due + self.timing.latency.get() + random;
        let period = self.period.get();
        self.due = (start / period + 1) * period;
        Some(Nanos::new(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(timing: Timing, count: usize) -> Vec<u64> {
        let releases = Releases::new(Nanos::new(10), timing);
        releases.take(count).map(Nanos::get).collect()
    }

    #[test]
    fn punctual_releases_are_a_period_apart() {
        assert_eq!(starts(Timing::PUNCTUAL, 4), [0, 10, 20, 30]);
    }

    #[test]
    fn a_small_latency_shifts_and_a_large_one_skips() {
        assert_eq!(starts(Timing::latency(Nanos::new(9)), 4), [9, 19, 29, 39]);
        assert_eq!(starts(Timing::latency(Nanos::new(10)), 4), [10, 30, 50, 70]);
        assert_eq!(starts(Timing::latency(Nanos::new(25)), 3), [25, 55, 85]);
    }

    #[test]
    fn jitter_reaches_its_bound_and_not_beyond() {
        let starts = starts(Timing::jitter(Nanos::new(7)), 1_000);
        let late: Vec<u64> = starts.iter().map(|start| start % 10).collect();
        assert_eq!(late.iter().max(), Some(&7));
        assert_eq!(late.iter().min(), Some(&0));
        assert!(starts.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
