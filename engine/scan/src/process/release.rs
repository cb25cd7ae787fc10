//! Waiting for the next release, and what was seen of it.

use std::thread;
use std::time::Duration;

use quietcore_clock::Clock;
use quietcore_probe::margin::Margin;
use quietcore_units::Nanos;

use crate::process::job::TaskKind;
use crate::schedule::{Next, Overrun};
use crate::shared::Shared;
use crate::task::Release;

/// The longest that a waiting task is deaf to a stop.
const PATIENCE: Duration = Duration::from_millis(50);

/// Waits for the releases of one task.
#[derive(Debug)]
pub(crate) struct Waiting<'a, C> {
    clock: &'a C,
    kind: TaskKind,
    index: usize,
    margin: Margin,
    cpu: Option<u32>,
    /// When the next release is due; of tasks that are not cyclic, the earliest instant.
    due: Nanos,
    fired: u32,
}

impl<'a, C: Clock> Waiting<'a, C> {
    /// Releases of task `index`, the first one from `start` on.
    pub(crate) fn new(
        clock: &'a C,
        kind: TaskKind,
        index: usize,
        margin: Margin,
        cpu: Option<u32>,
        start: Nanos,
    ) -> Self {
        let offset = match kind {
            TaskKind::Cyclic { offset, .. } => offset,
            _ => Nanos::ZERO,
        };
        Self { clock, kind, index, margin, cpu, due: start + offset, fired: 0 }
    }

    /// Waits. `None` when the task was told to stop meanwhile.
    #[inline]
    pub(crate) fn wait(&mut self, shared: &Shared, stop: impl Fn() -> bool) -> Option<Release> {
        match self.kind {
            TaskKind::Cyclic { .. } | TaskKind::Freewheeling { .. } => {}
            TaskKind::Event { .. } => {
                self.wait_until(&stop, |fired| shared.fired(self.index) != fired)?;
                self.fired = shared.fired(self.index);
                self.due = self.due.max(self.clock.now());
            }
            TaskKind::Status { .. } => {
                self.wait_until(&stop, |_| shared.trigger(self.index))?;
                self.due = self.due.max(self.clock.now());
            }
        }
        if stop() { None } else { Some(self.sleep()) }
    }

    /// Parks until `ready`; whoever makes it so unparks the thread.
    fn wait_until(&self, stop: impl Fn() -> bool, ready: impl Fn(u32) -> bool) -> Option<()> {
        while !ready(self.fired) {
            if stop() {
                return None;
            }
            thread::park_timeout(PATIENCE);
        }
        Some(())
    }

    fn sleep(&mut self) -> Release {
        let margin = self.margin.current();
        let wake_at = self.due.saturating_sub(margin);
        self.clock.sleep_until(wake_at);
        let woke = self.clock.now();
        let mut started = woke;
        while started < self.due {
            started = self.clock.now();
        }
        let wakeup_latency = woke.saturating_sub(wake_at);
        self.margin.learn(wakeup_latency);
        Release {
            due: self.due,
            started,
            wakeup_latency,
            margin,
            spin: started.saturating_sub(woke),
            cpu: self.cpu.unwrap_or_else(|| self.clock.cpu()),
        }
    }

    /// Goes on after a job that was done at `finished`.
    pub(crate) fn advance(&mut self, overrun: Overrun, finished: Nanos) -> Next {
        let next = match self.kind {
            TaskKind::Cyclic { period, .. } => overrun.next(self.due, period, finished),
            TaskKind::Event { gap } | TaskKind::Status { gap } | TaskKind::Freewheeling { gap } => {
                Next { due: finished + gap, skipped: 0 }
            }
        };
        self.due = next.due;
        next
    }

    /// Moves a cyclic task's releases on to the first that is not past, as after a warm-up.
    pub(crate) fn catch_up(&mut self) {
        if let TaskKind::Cyclic { period, .. } = self.kind {
            let late = self.clock.now().saturating_sub(self.due);
            self.due += period * (late.whole_times(period) + 1);
        }
    }

    /// When the next release is due.
    pub(crate) fn due(&self) -> Nanos {
        self.due
    }
}
