//! Schedules of the consumers of a plant, for when nothing else decides them.

use quietcore_units::Nanos;

/// From when on a value holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScheduleStep {
    /// Time since the start of a round, exclusive of none: the value holds at this very instant.
    pub from: Nanos,
    /// The value, in the unit of the actuator that the schedule stands for.
    pub value: f64,
}

/// Values over time, repeated round after round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// The value before the first step of a round.
    pub start: f64,
    /// The steps, by increasing time.
    pub steps: &'static [ScheduleStep],
    /// Length of a round; zero: the steps are made once.
    pub round: Nanos,
}

impl Schedule {
    /// One value for ever.
    #[must_use]
    pub const fn constant(value: f64) -> Self {
        Self { start: value, steps: &[], round: Nanos::ZERO }
    }

    /// The value at this time since the plant began to live.
    #[must_use]
    pub fn value_at(&self, elapsed: Nanos) -> f64 {
        let within = match self.round.get() {
            0 => elapsed.get(),
            round => elapsed.get() % round,
        };
        let passed = self.steps.iter().take_while(|step| step.from.get() <= within);
        passed.last().map_or(self.start, |step| step.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: &[ScheduleStep] = &[
        ScheduleStep { from: Nanos::from_secs(2), value: 8.0 },
        ScheduleStep { from: Nanos::from_secs(5), value: 6.0 },
    ];

    #[test]
    fn a_value_holds_from_its_step_to_the_next() {
        let schedule = Schedule { start: 1.0, steps: STEPS, round: Nanos::from_secs(10) };
        let values =
            [0, 1, 2, 4, 5, 9, 10, 12, 15].map(|at| schedule.value_at(Nanos::from_secs(at)));
        assert_eq!(values, [1.0, 1.0, 8.0, 8.0, 6.0, 6.0, 1.0, 8.0, 6.0]);
    }

    #[test]
    fn without_a_round_the_last_value_stays() {
        let schedule = Schedule { start: 1.0, steps: STEPS, round: Nanos::ZERO };
        assert_eq!(schedule.value_at(Nanos::MAX), 6.0);
        assert_eq!(Schedule::constant(3.0).value_at(Nanos::MAX), 3.0);
    }
}
