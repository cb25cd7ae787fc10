//! The course of a task: its histogram, read from outside at the borders of stretches.

use quietcore_clock::Clock;
use quietcore_exchange::{TaskState, TaskStatistics};
use quietcore_record::histogram::Histogram;
use quietcore_record::record::Stretches;
use quietcore_units::Nanos;

/// The stretches of a task that have ended, and its histogram at the last border.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    /// The stretches that have ended; `None` where the run is too short, or a copy was none.
    stretches: Option<Stretches>,
    /// The histogram as it was at the last border.
    read: Histogram,
}

impl Course {
    /// Begins the course of a task that is to be measured for `length`.
    pub(crate) fn planned(length: Nanos) -> Self {
        Self { stretches: Stretches::planned(length), read: Histogram::new() }
    }

    /// Looks at a task, and reads its histogram where a stretch is over. Where that can't be had of
    /// one cycle, the stretch ends at the next look.
    pub(crate) fn look(&mut self, clock: &dyn Clock, task: &TaskStatistics) {
        let Some(stretches) = &mut self.stretches else { return };
        // Before, it counts cycles of the warm-up; afterwards, the stretch ends with the run.
        if task.state() != TaskState::Running {
            return;
        }
        let elapsed = clock.now().saturating_sub(Nanos::new(task.first_release_ns()));
        if !stretches.is_due(elapsed) {
            return;
        }
        let Some(now) = Histogram::of_running(task.release()) else { return };
        match now.since(&self.read) {
            Some(since) => {
                stretches.end(elapsed, &since);
                self.read = now;
            }
            // What runs in the partition has written there: the record is checked for itself.
            None => self.stretches = None,
        }
    }

    /// Returns the stretches of a run whose values are `release`; `None` where it has none.
    pub(crate) fn stretches(&self, release: &Histogram) -> Option<Stretches> {
        let mut stretches = self.stretches.clone()?;
        stretches.end_with_run(&release.since(&self.read)?);
        Some(stretches).filter(|it| it.histograms.len() > 1)
    }
}

#[cfg(test)]
mod tests {
    use quietcore_clock::FakeClock;
    use quietcore_exchange::{Recorder, Release, Shape};
    use quietcore_process::exchange::Exchange;

    use super::*;

    const PERIOD: Nanos = Nanos::from_millis(100);

    /// Records `cycles` cycles one period after the other, and looks at the course after each.
    fn looked_at(cycles: u64) -> (Course, Histogram) {
        let begin = Nanos::from_secs(1);
        let clock = FakeClock::new(begin, Nanos::ZERO, []);
        let exchange = Exchange::create(&Shape::of_tasks(1)).unwrap();
        let task = exchange.region().task(0).unwrap();
        let mut recorder = Recorder::new(task, PERIOD, 1);
        let mut course = Course::planned(PERIOD * cycles);
        // Looks before the first release find nothing.
        course.look(&clock, &task);
        recorder.set_first_release(begin);
        recorder.set_state(TaskState::Running);
        for cycle in 0..cycles {
            let due = begin + PERIOD * cycle;
            recorder.record(&Release {
                due,
                started: due + Nanos::from_micros(cycle),
                wakeup_latency: Nanos::ZERO,
                margin: Nanos::ZERO,
                spin: Nanos::ZERO,
                cpu: 1,
            });
            clock.sleep_until(due + PERIOD);
            course.look(&clock, &task);
        }
        (course, Histogram::from_exchange(task.release()).unwrap())
    }

    #[test]
    fn a_run_is_cut_at_borders_while_it_runs_and_no_value_is_lost() {
        let (course, release) = looked_at(320);
        let stretches = course.stretches(&release).unwrap();
        assert_eq!(stretches.histograms.len(), 32);
        assert_eq!(stretches.whole(), release);
        let counts = |seconds| stretches.after(Nanos::from_secs(seconds)).unwrap().count();
        assert_eq!([counts(4), counts(8), counts(16), counts(32)], [40, 80, 160, 320]);
        assert_eq!(stretches.after(Nanos::from_secs(4)).unwrap().max_ns(), 39_000);
    }

    #[test]
    fn a_short_run_has_no_stretches() {
        let (course, release) = looked_at(100);
        assert_eq!(course.stretches(&release), None);
    }
}
