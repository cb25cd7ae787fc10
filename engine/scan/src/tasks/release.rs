//! The wait for the next release, and what was seen of it.

use quietcore_clock::Clock;
use quietcore_release::{Margin, Next, Release, first_after, wait_for};
use quietcore_units::{Nanos, Overrun, ReleaseRule};

use crate::shared::Shared;

/// The longest time for which a waiting task does not hear a stop.
pub const PATIENCE: Nanos = Nanos::from_millis(50);

/// A clock at which a task can also wait for somebody to wake it.
pub trait Rest: Clock {
    /// Waits until the task is woken, or for `longest`. It may return without a reason.
    fn rest(&self, longest: Nanos);

    /// Returns `true` if a stop wakes the task. Else it listens every [`PATIENCE`].
    fn is_told(&self) -> bool {
        false
    }

    /// Sleeps until an instant, or until the task is woken for a stop.
    fn nap_until(&self, instant: Nanos) {
        self.sleep_until(instant);
    }

    /// Tells before a job when the task will sleep until next, if all goes as planned.
    #[inline]
    fn expect(&self, _wake_at: Nanos) {}
}

/// Waits for the releases of one task.
#[derive(Debug)]
pub struct Waiting<'a, C> {
    clock: &'a C,
    rule: ReleaseRule,
    index: usize,
    margin: Margin,
    cpu: Option<u32>,
    /// The due instant of the next release; of tasks that are not cyclic, the earliest instant.
    due: Nanos,
    /// The firings of the trigger whose job has been done.
    fired: u32,
    /// The firings whose job is being done, or has to be tried again.
    taken: Option<u32>,
}

impl<'a, C: Rest> Waiting<'a, C> {
    /// Makes the releases of task `index`, the first one from `start` on.
    pub fn new(
        clock: &'a C,
        rule: ReleaseRule,
        index: usize,
        margin: Margin,
        cpu: Option<u32>,
        start: Nanos,
    ) -> Self {
        let offset = match rule {
            ReleaseRule::Cyclic { offset, .. } => offset,
            _ => Nanos::ZERO,
        };
        Self { clock, rule, index, margin, cpu, due: start + offset, fired: 0, taken: None }
    }

    /// Waits for the next release. Returns `None` when the task was told to stop meanwhile. An
    /// event whose job could not be done is still there: only [`advance`](Self::advance) goes on to
    /// the next.
    #[inline]
    pub fn wait(&mut self, shared: &Shared, stop: impl Fn() -> bool) -> Option<Release> {
        match self.rule {
            ReleaseRule::Cyclic { .. } | ReleaseRule::Freewheeling { .. } => {}
            ReleaseRule::Event { .. } if self.taken.is_some() => {}
            ReleaseRule::Event { .. } => {
                self.wait_until(&stop, |fired| shared.fired(self.index) != fired)?;
                self.taken = Some(shared.fired(self.index));
                self.due = self.due.max(self.clock.now());
            }
            ReleaseRule::Status { .. } => {
                self.wait_until(&stop, |_| shared.trigger(self.index))?;
                self.due = self.due.max(self.clock.now());
            }
        }
        if stop() {
            return None;
        }
        if self.clock.is_told() || self.rule.interval() > PATIENCE {
            self.approach(&stop)?;
        }
        Some(self.sleep())
    }

    /// Rests until `ready`; whoever makes it so wakes the task.
    fn wait_until(&self, stop: impl Fn() -> bool, ready: impl Fn(u32) -> bool) -> Option<()> {
        while !ready(self.fired) {
            if stop() {
                return None;
            }
            self.clock.rest(PATIENCE);
        }
        Some(())
    }

    /// Sleeps in parts until the release is near, and listens between them.
    fn approach(&self, stop: impl Fn() -> bool) -> Option<()> {
        let wake_at = self.due.saturating_sub(self.margin.current());
        let is_told = self.clock.is_told();
        let near = if is_told { Nanos::ZERO } else { PATIENCE };
        loop {
            let now = self.clock.now();
            if wake_at.saturating_sub(now) <= near {
                return Some(());
            }
            self.clock.nap_until(if is_told { wake_at } else { now + PATIENCE });
            if stop() {
                return None;
            }
        }
    }

    fn sleep(&mut self) -> Release {
        let release = wait_for(self.clock, self.due, &mut self.margin, self.cpu, None);
        if let ReleaseRule::Cyclic { period, .. } = self.rule {
            let next = (self.due + period).saturating_sub(self.margin.current());
            let is_far = !self.clock.is_told() && period > PATIENCE;
            let woke = release.started.saturating_sub(release.spin);
            self.clock.expect(if is_far { next.min(woke + PATIENCE) } else { next });
        }
        release
    }

    /// Goes on after a job that was done at `finished`.
    pub fn advance(&mut self, overrun: Overrun, finished: Nanos) -> Next {
        let next = match self.rule {
            ReleaseRule::Cyclic { period, .. } => Next::after(self.due, period, finished, overrun),
            ReleaseRule::Event { gap }
            | ReleaseRule::Status { gap }
            | ReleaseRule::Freewheeling { gap } => Next { due: finished + gap, skipped: 0 },
        };
        self.due = next.due;
        self.fired = self.taken.take().unwrap_or(self.fired);
        next
    }

    /// Sleeps for a while that has nothing to do with releases.
    pub fn sleep_for(&self, pause: Nanos) {
        self.clock.sleep_until(self.clock.now() + pause);
    }

    /// Moves a cyclic task's releases on to the first that is not past, as after a warm-up.
    pub fn catch_up(&mut self) {
        if let ReleaseRule::Cyclic { period, .. } = self.rule {
            self.due = first_after(self.due, period, self.clock.now());
        }
    }

    /// Returns the longest time that it wakes before a release.
    pub fn margin_max(&self) -> Nanos {
        self.margin.largest()
    }

    /// Returns the due instant of the next release.
    pub fn due(&self) -> Nanos {
        self.due
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use quietcore_clock::FakeClock;
    use quietcore_units::Wake;

    use super::*;

    impl Rest for FakeClock {
        fn rest(&self, longest: Nanos) {
            self.sleep_until(self.now() + longest);
        }
    }

    const START: Nanos = Nanos::from_secs(1);

    fn waiting(clock: &FakeClock, rule: ReleaseRule) -> Waiting<'_, FakeClock> {
        let margin = Margin::new(Wake::Sleep, rule.interval());
        Waiting::new(clock, rule, 1, margin, Some(0), START)
    }

    fn cyclic(period: Nanos) -> ReleaseRule {
        ReleaseRule::Cyclic { period, offset: Nanos::ZERO }
    }

    #[test]
    fn a_task_far_from_its_release_hears_a_stop_and_wakes_at_the_exact_instant() {
        let clock = FakeClock::new(START, Nanos::ZERO, []);
        let mut waiting = waiting(&clock, cyclic(Nanos::from_secs(10)));
        let shared = Shared::default();
        assert_eq!(waiting.wait(&shared, || false).map(|release| release.started), Some(START));
        waiting.advance(Overrun::Skip, clock.now());
        let released = waiting.wait(&shared, || false).unwrap();
        assert_eq!((released.due, released.started), (waiting.due(), waiting.due()));
        let sleeps = clock.sleeps();
        assert!(sleeps.windows(2).all(|pair| pair[1] - pair[0] <= PATIENCE));
        waiting.advance(Overrun::Skip, clock.now());
        let asked = Cell::new(0);
        let stop = || asked.replace(asked.get() + 1) == 3;
        assert!(waiting.wait(&shared, stop).is_none());
        assert_eq!(clock.sleeps().len() - sleeps.len(), 3, "150 ms of 10 s");
    }

    #[test]
    fn an_event_stays_until_its_job_is_done() {
        let clock = FakeClock::new(START, Nanos::new(1), []);
        let mut waiting = waiting(&clock, ReleaseRule::Event { gap: Nanos::from_millis(1) });
        let shared = Shared::default();
        shared.fire(1);
        let first = waiting.wait(&shared, || false).unwrap();
        // A build was being swapped.
        let asked = Cell::new(0);
        let stop = || asked.replace(asked.get() + 1) > 0;
        let again = waiting.wait(&shared, stop).unwrap();
        assert_eq!(again.due, first.due, "as late as it is");
        waiting.advance(Overrun::Skip, clock.now());
        assert!(waiting.wait(&shared, stop).is_none(), "one job for one event");
    }

    #[test]
    fn a_short_period_is_one_sleep() {
        let clock = FakeClock::new(START, Nanos::ZERO, []);
        let mut waiting = waiting(&clock, cyclic(PATIENCE));
        for _ in 0..3 {
            assert!(waiting.wait(&Shared::default(), || false).is_some());
            waiting.advance(Overrun::Skip, clock.now());
        }
        assert_eq!(clock.sleeps(), [START, START + PATIENCE, START + PATIENCE * 2]);
    }
}
