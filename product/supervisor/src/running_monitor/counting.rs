//! Finds what is new in a partition's exchange since the last look.
//!
//! Overruns and missed cycles are counters of all tasks. Exceedances are counted for the leading
//! task alone, as the others are held back by it, and the exchange has no counter of them: if one
//! cycle passed between two looks, its latency is the difference of two sums. If several did, and
//! their sum is above the limit, the bins above the limit are counted.

use quietcore_exchange::bins::index_of;
use quietcore_exchange::{Happening, Pulse, TASK_LIMIT, TaskState, TaskStatistics, View};
use quietcore_units::Nanos;

const TASKS_MAX: usize = TASK_LIMIT as usize;

/// The events between two looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    /// Jobs of any task that were not done at their deadline.
    pub(super) overruns: u64,
    /// Releases of the leading task that came later than the limit.
    pub(super) exceedances: u64,
    /// Releases of any task that came a whole period late or more.
    pub(super) missed_cycles: u64,
    /// Task of the last overrun.
    pub(super) overrun_task: u32,
}

/// The counters at the last look.
#[derive(Debug)]
pub(super) struct Counting {
    limit: Nanos,
    /// Counters by task; `None` where nothing is known yet.
    before: [Option<Pulse>; TASKS_MAX],
    /// Exceedances of the leading task since its start.
    exceedances: u64,
}

impl Counting {
    pub(super) fn new(limit: Nanos) -> Self {
        Self { limit, before: [None; TASKS_MAX], exceedances: 0 }
    }

    /// Forgets the last look: whatever comes until the next one counts for nothing.
    pub(super) fn forget(&mut self) {
        self.before = [None; TASKS_MAX];
    }

    /// Returns what is new. Nothing is while cycles are not run in earnest: in the warm-up, in a
    /// pause.
    pub(super) fn look(&mut self, view: &View<'_>) -> News {
        let mut news = News::default();
        if view.pause_requested() || view.is_paused() {
            self.forget();
            return news;
        }
        for (index, task) in view.tasks().enumerate().take(TASKS_MAX) {
            if task.state() != TaskState::Running {
                self.before[index] = None;
                continue;
            }
            // A task that is writing at every try is read at the next look.
            let Ok(now) = task.pulse() else { continue };
            let before = self.before[index].replace(now);
            let known = before.filter(|before| before.counters.cycles <= now.counters.cycles);
            let Some(before) = known else {
                if index == 0 {
                    self.exceedances = self.above(task, &now);
                }
                continue;
            };
            let overruns = now.overruns.saturating_sub(before.overruns);
            if overruns > 0 {
                news.overruns += overruns;
                news.overrun_task = index as u32;
            }
            let missed = now.counters.missed_cycles;
            news.missed_cycles += missed.saturating_sub(before.counters.missed_cycles);
            if index == 0 {
                news.exceedances = self.exceedances_since(&before, task, &now);
                self.exceedances += news.exceedances;
            }
        }
        news
    }

    fn exceedances_since(&self, before: &Pulse, task: &TaskStatistics, now: &Pulse) -> u64 {
        let cycles = now.release.count.saturating_sub(before.release.count);
        let sum = Nanos::new(now.release.sum_ns.wrapping_sub(before.release.sum_ns));
        match cycles {
            0 => 0,
            _ if sum <= self.limit => 0,
            1 => u64::from(is_above(sum, self.limit)),
            _ => self.above(task, now).saturating_sub(self.exceedances),
        }
    }

    /// Returns the number of all releases above the limit so far.
    fn above(&self, task: &TaskStatistics, now: &Pulse) -> u64 {
        let first = index_of(self.limit.get()).map_or(usize::MAX, |bin| bin.saturating_add(1));
        let last = index_of(now.release.max_ns).unwrap_or(quietcore_exchange::bins::BIN_COUNT - 1);
        let bins = (first..=last).map(|bin| task.release().bin(bin));
        bins.fold(now.release.overflow, u64::wrapping_add)
    }
}

/// Returns `true` if a value is above a limit as far as the histogram can tell: not in the limit's
/// own bin, which is at most a thousandth of it wide.
fn is_above(value: Nanos, limit: Nanos) -> bool {
    value > limit && index_of(value.get()) != index_of(limit.get())
}

/// Returns when the last overrun of a task was done, if its event can still be read and is not
/// before `since`.
pub(super) fn overrun_done(view: &View<'_>, task: u32, since: Nanos) -> Option<Nanos> {
    let mut told = view.events(task)?;
    let overruns = told.drain().filter(|it| matches!(it.what, Happening::Overrun { .. }));
    overruns.map(|it| it.time).last().filter(|time| *time >= since)
}

#[cfg(test)]
mod tests {
    use quietcore_exchange::{Recorder, Region, Release, Shape};
    use quietcore_process::exchange::Exchange;

    use super::*;

    const PERIOD: Nanos = Nanos::from_millis(1);
    const LIMIT: Nanos = Nanos::from_micros(100);

    fn running(region: Region<'_>) -> Recorder<'_> {
        let mut recorder = Recorder::new(region.task(0).unwrap(), PERIOD, 1);
        recorder.set_state(TaskState::Running);
        recorder
    }

    fn record(recorder: &mut Recorder<'_>, latency_us: u64, overrun: bool) {
        let due = Nanos::from_secs(1);
        let latency = Nanos::from_micros(latency_us);
        let cycle = Release {
            due,
            started: due + latency,
            wakeup_latency: Nanos::ZERO,
            margin: Nanos::ZERO,
            spin: Nanos::ZERO,
            cpu: 0,
        };
        recorder.record_scan(&cycle, Nanos::from_micros(5), latency, overrun);
    }

    fn seen(cycles: &[&[(u64, bool)]]) -> Vec<(u64, u64, u64)> {
        let exchange = Exchange::create(&Shape::of_tasks(1)).unwrap();
        let mut recorder = running(exchange.region());
        record(&mut recorder, 5000, true);
        let mut counting = Counting::new(LIMIT);
        assert_eq!(counting.look(&exchange.region().view()), News::default(), "it was before");
        let look = |part: &&[(u64, bool)]| {
            part.iter().for_each(|(latency, overrun)| record(&mut recorder, *latency, *overrun));
            let news = counting.look(&exchange.region().view());
            (news.overruns, news.exceedances, news.missed_cycles)
        };
        cycles.iter().map(look).collect()
    }

    #[test]
    fn each_late_cycle_counts_once_however_seldom_one_looks() {
        let late = (150, false);
        assert_eq!(
            seen(&[&[late], &[(100, false)], &[(20, true)]]),
            [(0, 1, 0), (0, 0, 0), (1, 0, 0)]
        );
        // Several between two looks are counted by the bins, and only if their sum leaves it open.
        assert_eq!(seen(&[&[(60, false), (60, false)]]), [(0, 0, 0)]);
        assert_eq!(seen(&[&[late, (5, false), late], &[late]]), [(0, 2, 0), (0, 1, 0)]);
        assert_eq!(seen(&[&[(1500, true), (500, true)], &[]]), [(2, 2, 1), (0, 0, 0)]);
    }

    #[test]
    fn what_passes_in_a_pause_or_before_a_new_count_is_nobodys() {
        let exchange = Exchange::create(&Shape::of_tasks(1)).unwrap();
        let region = exchange.region();
        let mut recorder = running(region);
        let mut counting = Counting::new(LIMIT);
        counting.look(&region.view());
        region.request_hold(true);
        record(&mut recorder, 500, true);
        assert_eq!(counting.look(&region.view()), News::default());
        region.request_hold(false);
        assert_eq!(counting.look(&region.view()), News::default(), "it is known from here on");
        record(&mut recorder, 500, true);
        assert_eq!(counting.look(&region.view()).overruns, 1);
        recorder.clear();
        record(&mut recorder, 5, false);
        assert_eq!(counting.look(&region.view()), News::default());
        recorder.set_state(TaskState::Starting);
        record(&mut recorder, 500, true);
        assert_eq!(counting.look(&region.view()), News::default());
    }
}
