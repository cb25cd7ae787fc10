//! The limit of a recording's wait for samples that don't come. Pure.
//!
//! A task with a period gives samples as long as it runs. One that is started by an event or a
//! state may rest for as long as it likes; there the partition's life counts instead.

use std::time::{Duration, Instant};

use quietcore_units::Nanos;

/// Longest time without a sign of life, as a time and in distances of samples; the longer one ends
/// the recording.
const LIMIT_MIN: Duration = Duration::from_secs(5);
const LIMIT_SAMPLES: u32 = 20;

/// The time for which nothing has come.
#[derive(Debug)]
pub(super) struct Silence {
    limit: Duration,
    since: Instant,
    /// Steps of the partition, where they are the sign of life.
    steps: Option<u64>,
}

impl Silence {
    /// Begins to wait for samples at this distance, which is zero if the task has no period.
    pub(super) fn new(distance: Nanos, now: Instant) -> Self {
        let samples = Duration::from_nanos(distance.get()).saturating_mul(LIMIT_SAMPLES);
        let steps = (distance == Nanos::ZERO).then_some(0);
        Self { limit: LIMIT_MIN.max(samples), since: now, steps }
    }

    /// Returns `true` if the task has no period, so that it may rest.
    pub(super) fn may_rest(&self) -> bool {
        self.steps.is_some()
    }

    /// Takes note that a sample has come.
    pub(super) fn end(&mut self, now: Instant) {
        self.since = now;
    }

    /// Takes note that no sample has come, and that the partition has run `steps` steps. Returns
    /// the time of silence, if that is too long.
    pub(super) fn lasts(&mut self, now: Instant, steps: u64) -> Option<Duration> {
        if let Some(before) = &mut self.steps
            && std::mem::replace(before, steps) != steps
        {
            self.since = now;
        }
        (now.saturating_duration_since(self.since) >= self.limit).then_some(self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_with_a_period_must_give_samples() {
        let start = Instant::now();
        let mut silence = Silence::new(Nanos::from_secs(1), start);
        silence.end(start + Duration::from_secs(3));
        assert_eq!(silence.lasts(start + Duration::from_secs(22), 22), None);
        let limit = Duration::from_secs(20);
        assert_eq!(silence.lasts(start + Duration::from_secs(23), 23), Some(limit));
    }

    #[test]
    fn a_task_without_one_may_rest_as_long_as_the_partition_lives() {
        let start = Instant::now();
        let mut silence = Silence::new(Nanos::ZERO, start);
        for second in 1..100 {
            assert_eq!(silence.lasts(start + Duration::from_secs(second), second), None);
        }
        assert_eq!(silence.lasts(start + Duration::from_secs(103), 99), None);
        assert_eq!(silence.lasts(start + Duration::from_secs(104), 99), Some(LIMIT_MIN));
    }
}
