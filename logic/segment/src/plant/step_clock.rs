//! Counts the own steps of a plant between two calls.
//!
//! The remainder of a step is kept, so that a plant called every 333 µs has made 1000 steps of 1 ms
//! after 1 s like one that is called every 10 ms.

use quietcore_units::Nanos;

/// The most own steps that one call of a plant makes: 1 s of the servo axis.
pub const STEPS_PER_CALL_MAX: u32 = 20_000;

/// The time up to which a plant has been integrated.
#[derive(Clone, Debug)]
pub(super) struct StepClock {
    step: Nanos,
    /// End of the last step; nothing before the first call.
    reached: Option<Nanos>,
    left_out: u64,
}

impl StepClock {
    /// A clock of this step, which is at least 1 ns.
    pub(super) fn new(step: Nanos) -> Self {
        assert!(step > Nanos::ZERO, "a step takes time");
        Self { step, reached: None, left_out: 0 }
    }

    /// The steps to be made so that the plant reaches `now`; none when `now` lies before the last
    /// call.
    pub(super) fn steps_until(&mut self, now: Nanos) -> u32 {
        let Some(reached) = self.reached else {
            self.reached = Some(now);
            return 0;
        };
        let due = now.saturating_sub(reached).whole_times(self.step);
        self.reached = Some(Nanos::new(reached.get() + due * self.step.get()));
        let made = due.min(u64::from(STEPS_PER_CALL_MAX));
        self.left_out = self.left_out.saturating_add((due - made) * self.step.get());
        u32::try_from(made).expect("it is at most STEPS_PER_CALL_MAX")
    }

    /// Time that was stepped over.
    pub(super) fn left_out(&self) -> Nanos {
        Nanos::new(self.left_out)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_call_sets_the_time() {
        let mut clock = StepClock::new(Nanos::from_micros(50));
        assert_eq!(clock.steps_until(Nanos::from_secs(1_000)), 0);
        assert_eq!(clock.steps_until(Nanos::from_secs(1_000)), 0);
        assert_eq!(clock.steps_until(Nanos::new(1_000_000_049_999)), 0);
        assert_eq!(clock.steps_until(Nanos::new(1_000_000_050_000)), 1);
    }

    #[test]
    fn time_that_goes_back_makes_no_step() {
        let mut clock = StepClock::new(Nanos::new(10));
        clock.steps_until(Nanos::new(100));
        assert_eq!(clock.steps_until(Nanos::new(50)), 0);
        assert_eq!(clock.steps_until(Nanos::new(110)), 1);
    }

    #[test]
    fn a_leap_is_cut_and_counted() {
        let mut clock = StepClock::new(Nanos::new(10));
        clock.steps_until(Nanos::ZERO);
        assert_eq!(clock.steps_until(Nanos::MAX), STEPS_PER_CALL_MAX);
        let left_out = u64::MAX / 10 * 10 - u64::from(STEPS_PER_CALL_MAX) * 10;
        assert_eq!(clock.left_out(), Nanos::new(left_out));
        assert_eq!(clock.steps_until(Nanos::MAX), 0);
    }

    proptest! {
        #[test]
        fn the_rhythm_of_the_calls_does_not_matter(
            gaps in prop::collection::vec(0u64..5_000, 1..100),
        ) {
            let mut clock = StepClock::new(Nanos::new(1_000));
            clock.steps_until(Nanos::ZERO);
            let mut now = 0;
            let mut made = 0;
            for gap in gaps {
                now += gap;
                made += u64::from(clock.steps_until(Nanos::new(now)));
            }
            prop_assert_eq!(made, now / 1_000);
        }
    }
}
