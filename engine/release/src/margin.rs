//! The margin: the time before its release at which a task is woken.
//!
//! A margin that is too short lets the kernel's wake-up latency through to the release; one that is
//! too long burns the core by spinning. The adaptive margin follows a high quantile of the wake-up
//! latencies seen so far, in constant time and two words of memory (stochastic approximation after
//! Robbins and Monro, 1951):
//!
//! ```text
//! wake-up later than the margin: margin += STEP_UP
//! otherwise:                     margin -= STEP_UP / MISSES_ONE_IN
//! ```
//!
//! It rests where one wake-up in [`MISSES_ONE_IN`] is later than the margin. After a storm it comes
//! down by 10 ns a cycle. It never exceeds the given share of the period, so the spinning of no
//! cycle takes more of the core than was allowed.

use quietcore_units::{Nanos, Wake};

/// One wake-up in so many may be later than the margin.
pub const MISSES_ONE_IN: u64 = 2_000;

const STEP_UP: Nanos = Nanos::from_micros(20);
/// Learning starts at this part of the largest margin.
const START_PART: u64 = 2;

/// The margin of one task.
#[derive(Clone, Copy, Debug)]
pub struct Margin {
    current: Nanos,
    largest: Nanos,
    learns: bool,
}

impl Margin {
    /// The margin for a way of waking and a period.
    pub fn new(wake: Wake, period: Nanos) -> Self {
        match wake {
            Wake::Spin => Self { current: period, largest: period, learns: false },
            Wake::Sleep => Self { current: Nanos::ZERO, largest: Nanos::ZERO, learns: false },
            Wake::Early { margin } => Self { current: margin, largest: margin, learns: false },
            Wake::Adaptive { share_percent } => {
                let largest = period / 100 * u64::from(share_percent.min(100));
                Self { current: largest / START_PART, largest, learns: true }
            }
        }
    }

    /// The margin for the next release.
    #[inline]
    pub fn current(&self) -> Nanos {
        self.current
    }

    /// The longest that it can become.
    pub fn largest(&self) -> Nanos {
        self.largest
    }

    /// Takes note of how late the last wake-up was.
    #[inline]
    pub fn learn(&mut self, wakeup_latency: Nanos) {
        if !self.learns {
            return;
        }
        self.current = if wakeup_latency > self.current {
            (self.current + STEP_UP).min(self.largest)
        } else {
            self.current.saturating_sub(STEP_UP / MISSES_ONE_IN)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PERIOD: Nanos = Nanos::from_millis(1);
    const QUARTER: Wake = Wake::Adaptive { share_percent: 25 };

    /// A repeatable stream of numbers below 1000.
    fn numbers() -> impl Iterator<Item = u64> {
        let mut state: u64 = 88_172_645_463_325_252;
        std::iter::repeat_with(move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % 1000
        })
    }

    #[test]
    fn it_settles_above_nearly_all_wakeups() {
        let mut margin = Margin::new(QUARTER, PERIOD);
        let mut late = 0;
        for (index, number) in numbers().take(200_000).enumerate() {
            // 20 µs to 60 µs, and once in a thousand 150 µs.
            let latency = match number {
                999 => Nanos::from_micros(150),
                other => Nanos::from_micros(20 + other / 25),
            };
            late += u64::from(index >= 50_000 && latency > margin.current());
            margin.learn(latency);
        }
        assert!(late <= 150, "{late} of 150 000 wake-ups were later than the margin");
        assert!(margin.current() >= Nanos::from_micros(55), "{}", margin.current());
    }

    #[test]
    fn it_comes_down_after_a_storm() {
        let mut margin = Margin::new(QUARTER, PERIOD);
        for _ in 0..100 {
            margin.learn(Nanos::from_millis(3));
        }
        assert_eq!(margin.current(), Nanos::from_micros(250));
        for _ in 0..30_000 {
            margin.learn(Nanos::from_micros(5));
        }
        assert!(margin.current() < Nanos::from_micros(30), "{}", margin.current());
    }

    #[test]
    fn sleep_and_fixed_margins_do_not_learn() {
        for wake in [Wake::Sleep, Wake::Early { margin: Nanos::from_micros(70) }, Wake::Spin] {
            let mut margin = Margin::new(wake, PERIOD);
            let before = margin.current();
            margin.learn(Nanos::from_millis(5));
            assert_eq!(margin.current(), before);
        }
    }

    proptest! {
        #[test]
        fn it_never_takes_more_than_its_share(
            latencies in proptest::collection::vec(0_u64..10_000_000, 0..500),
            share_percent in 1_u32..=90,
        ) {
            let mut margin = Margin::new(Wake::Adaptive { share_percent }, PERIOD);
            for latency in latencies {
                margin.learn(Nanos::new(latency));
                prop_assert!(margin.current() * 100 <= PERIOD * u64::from(share_percent));
            }
        }
    }
}
