//! The processor's time stamp counter, for spans too short for the kernel's clock.
//!
//! Reading `CLOCK_MONOTONIC` takes about as long as a context switch of a small kernel. The counter
//! takes a third of that, and counts parts of a nanosecond.
//!
//! ```text
//! lfence ─ rdtsc ─ lfence │ what is measured │ lfence ─ rdtsc ─ lfence
//! ```
//!
//! The fences keep the processor from moving what is measured over a reading: everything before has
//! ended, nothing after has begun. Both readings have the same shape, so that what they cost
//! themselves can be measured without anything in between, and subtracted.
//!
//! A processor may count in steps: it adds 26 every 10 ns, say, and a single span is a multiple of
//! that. The mean of many is not.
//!
//! A counter is used only where it is *invariant* (the same rate in all power states, CPUID
//! 8000_0007h EDX bit 8) and agrees with `CLOCK_MONOTONIC` in two successive stretches of time.
//! Both readings of a span have to be made on one CPU.
// UNSAFETY: the processor's instructions for its counter and its description are intrinsics.
#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "rdtsc is an intrinsic"))]

use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

use crate::{Clock, Monotonic};

/// Duration of each of the two stretches of the calibration.
const STRETCH: Nanos = Nanos::from_millis(20);

/// By how much the rates of the two stretches may differ, in parts of a million.
const DIFFERENCE_MAX_PPM: u64 = 200;

/// Readings that show the step in which it counts.
const STEP_READINGS: usize = 1_000;

/// Pairs of readings of which the closest counts.
const ATTEMPTS: usize = 32;

/// A time stamp counter whose rate is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counter {
    hertz: u64,
    step: u64,
}

/// Why there is no counter to measure with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CounterError {
    /// This processor architecture has none that is known here.
    Unknown,
    /// Its rate changes with the processor's power states, or nobody says that it does not.
    NotInvariant,
    /// Its rate was not the same twice, in Hz.
    Unsteady {
        /// In the first stretch.
        first_hertz: u64,
        /// In the second one.
        second_hertz: u64,
    },
}

impl std::fmt::Display for CounterError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown => write!(f, "there is no counter for `{}`", std::env::consts::ARCH),
            Self::NotInvariant => f.write_str("the time stamp counter is not invariant"),
            Self::Unsteady { first_hertz, second_hertz } => write!(
                f,
                "the time stamp counter had {first_hertz} Hz, then {second_hertz} Hz against \
                 CLOCK_MONOTONIC"
            ),
        }
    }
}

impl std::error::Error for CounterError {}

impl Counter {
    /// Looks for the counter, and finds its rate; takes some 40 ms.
    ///
    /// # Errors
    /// [`CounterError`] where it can't be relied on.
    pub fn calibrate() -> Result<Self, CounterError> {
        if !cfg!(target_arch = "x86_64") {
            return Err(CounterError::Unknown);
        }
        if !is_invariant() {
            return Err(CounterError::NotInvariant);
        }
        let first = Moment::now();
        Monotonic.sleep_until(first.at + STRETCH);
        let second = Moment::now();
        Monotonic.sleep_until(second.at + STRETCH);
        let hertz = Self::judge([first, second, Moment::now()])?;
        let mut readings = [0; STEP_READINGS];
        readings.fill_with(read);
        Ok(Self { hertz, step: step_of(&readings) })
    }

    /// The rate over both stretches, where they agree.
    fn judge([first, second, third]: [Moment; 3]) -> Result<u64, CounterError> {
        let rates = (first.rate_until(second), second.rate_until(third), first.rate_until(third));
        let (Some(first_hertz), Some(second_hertz), Some(hertz)) = rates else {
            return Err(CounterError::Unsteady { first_hertz: 0, second_hertz: 0 });
        };
        let most = hertz / 1_000_000 * DIFFERENCE_MAX_PPM;
        if first_hertz.abs_diff(second_hertz) > most {
            return Err(CounterError::Unsteady { first_hertz, second_hertz });
        }
        Ok(hertz)
    }

    /// Returns the counter's frequency, in Hz.
    pub const fn hertz(self) -> u64 {
        self.hertz
    }

    /// The step in which it counts.
    pub const fn step(self) -> u64 {
        self.step
    }

    /// The counter now, between two fences.
    ///
    /// It needs no calibrated [`Counter`], so that it can be read where there is no room for one;
    /// what it returns means nothing without. Zero where there is no counter.
    #[inline(always)]
    pub fn read() -> u64 {
        read()
    }
}

/// The largest step that all differences are multiples of; at least 1.
fn step_of(readings: &[u64]) -> u64 {
    let differences = readings.windows(2).map(|pair| pair[1].abs_diff(pair[0]));
    differences.fold(0, greatest_common_divisor).max(1)
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The counter and the clock at about the same time.
#[derive(Clone, Copy, Debug)]
struct Moment {
    at: Nanos,
    count: u64,
}

impl Moment {
    /// The closest of several pairs: an interrupt between the two readings would tear them apart.
    fn now() -> Self {
        let mut closest = (u64::MAX, Self { at: Nanos::ZERO, count: 0 });
        for _ in 0..ATTEMPTS {
            let before = read();
            let at = Monotonic.now();
            let apart = read().saturating_sub(before);
            if apart < closest.0 {
                closest = (apart, Self { at, count: before + apart / 2 });
            }
        }
        closest.1
    }

    /// Counts a second from here until `later`; `None` where either has not moved.
    fn rate_until(self, later: Self) -> Option<u64> {
        let span_ns = later.at.get().checked_sub(self.at.get()).filter(|span| *span > 0)?;
        let counted = later.count.checked_sub(self.count).filter(|counted| *counted > 0)?;
        u64::try_from(u128::from(counted) * 1_000_000_000 / u128::from(span_ns)).ok()
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn read() -> u64 {
    use core::arch::x86_64::{_mm_lfence, _rdtsc};
    // SAFETY: the fence is part of SSE2, which every x86-64 has.
    unsafe { _mm_lfence() };
    // SAFETY: every x86-64 has the instruction; a system that forbids it ends the process.
    let count = unsafe { _rdtsc() };
    // SAFETY: as above.
    unsafe { _mm_lfence() };
    count
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn read() -> u64 {
    0
}

/// Returns `true` if the processor says that its counter has one rate in all power states.
#[cfg(target_arch = "x86_64")]
fn is_invariant() -> bool {
    const EXTENDED: u32 = 0x8000_0000;
    const POWER_MANAGEMENT: u32 = 0x8000_0007;
    const INVARIANT: u32 = 1 << 8;
    let leaf = core::arch::x86_64::__cpuid;
    leaf(EXTENDED).eax >= POWER_MANAGEMENT && leaf(POWER_MANAGEMENT).edx & INVARIANT != 0
}

#[cfg(not(target_arch = "x86_64"))]
fn is_invariant() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use quietcore_skip::skip;

    fn moment(at_us: u64, count: u64) -> Moment {
        Moment { at: Nanos::from_micros(at_us), count }
    }

    #[test]
    fn two_stretches_that_agree_give_the_rate_over_both() {
        let rate = |middle| {
            Counter::judge([
                moment(1_000, 500),
                moment(21_000, middle),
                moment(41_000, 100_000_500),
            ])
        };
        assert_eq!(rate(50_000_500), Ok(2_500_000_000));
        assert_eq!(rate(50_004_000), Ok(2_500_000_000));
        assert_eq!(
            rate(50_500_500),
            Err(CounterError::Unsteady { first_hertz: 2_525_000_000, second_hertz: 2_475_000_000 })
        );
    }

    #[test]
    fn a_counter_that_stands_still_or_goes_back_is_refused() {
        let still = Counter::judge([moment(0, 7), moment(20_000, 7), moment(40_000, 7)]);
        assert!(matches!(still, Err(CounterError::Unsteady { .. })));
        let back = Counter::judge([moment(0, 9), moment(20_000, 8), moment(40_000, 20)]);
        assert!(matches!(back, Err(CounterError::Unsteady { .. })));
    }

    #[test]
    fn a_counter_that_counts_in_steps_is_seen_to() {
        assert_eq!(step_of(&[1_003, 1_029, 1_107, 1_107, 1_133]), 26);
        assert_eq!(step_of(&[5, 6, 9]), 1);
        assert_eq!(step_of(&[]), 1);
    }

    #[test]
    fn the_counter_of_this_machine_agrees_with_the_clock() {
        let counter = match Counter::calibrate() {
            Ok(counter) => counter,
            Err(error) => {
                skip!("needs a time stamp counter to rely on: {error}");
                return;
            }
        };
        let begin = Moment::now();
        Monotonic.sleep_until(begin.at + STRETCH);
        let rate = begin.rate_until(Moment::now()).unwrap();
        let difference = rate.abs_diff(counter.hertz());
        assert!(difference < counter.hertz() / 1_000, "{rate} Hz, calibrated {counter:?}");
    }
}
