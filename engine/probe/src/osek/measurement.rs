//! What the program's tasks share: the two readings, what is measured, and what came of it.
//!
//! All of it is written by one thread, whose tasks take turns; atomics are the way to share without
//! `unsafe`. Between the two readings of a routine lie one store of the first and nothing else of
//! the probe, as in the empty measurement.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use quietcore_clock::{Clock as _, Monotonic};
use quietcore_osek::status::Status;
use quietcore_units::Nanos;

use super::machine::{Bring, BySignal, BySoftware};
use super::program::once;
use super::reading::Reading;
use super::sample::{Offset, Sample};
use super::{Routine, Series, Trigger};

/// Loops between two looks at whether to stop, or to rest.
const LOOK_EVERY: u64 = 512;

/// How long is measured without a rest. A real-time thread that never sleeps is stopped by the
/// operating system for 50 ms a second, so that others live; these 50 ms would be a maximum.
const BURST: Nanos = Nanos::from_millis(40);
/// How long a rest takes; what it cools is warmed again before the next value.
const REST: Nanos = Nanos::from_millis(4);

/// How far a measurement is, for who watches it; and whether it shall end.
#[derive(Debug, Default)]
pub struct Progress {
    /// Loops that are done, warm-up included.
    pub done: AtomicU64,
    /// The series that is under way, as an index into the plan's.
    pub series: AtomicUsize,
    /// The largest value of this series so far, in counts of the clock.
    pub worst: AtomicU64,
    /// Ends the measurement with what it has.
    pub stop: AtomicBool,
}

/// What MainTask is given.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) series: Vec<Series>,
    pub(super) warm_up: u64,
    pub(super) hertz: u64,
    pub(super) progress: Arc<Progress>,
}

/// What it leaves behind.
#[derive(Debug, Default)]
pub(super) struct Yield {
    /// A sample for each series that was begun, in their order.
    pub(super) samples: Vec<Sample>,
    /// Whether it was told to stop before its end.
    pub(super) stopped: bool,
}

/// All that the tasks share.
pub(super) struct Shared {
    start: AtomicU64,
    stop: AtomicU64,
    /// Index into [`Routine::ALL`].
    routine: AtomicU8,
    /// The number of the first error that a service found; zero for none.
    failed: AtomicU8,
    /// Loops that did not come to the end of their routine.
    unfinished: AtomicU64,
    job: Mutex<Option<Job>>,
    outcome: Mutex<Yield>,
}

pub(super) static SHARED: Shared = Shared {
    start: AtomicU64::new(0),
    stop: AtomicU64::new(0),
    routine: AtomicU8::new(0),
    failed: AtomicU8::new(0),
    unfinished: AtomicU64::new(0),
    job: Mutex::new(None),
    outcome: Mutex::new(Yield { samples: Vec::new(), stopped: false }),
};

impl Shared {
    /// Takes the first reading down.
    #[inline(always)]
    pub(super) fn start_at(&self, count: u64) {
        self.start.store(count, Relaxed);
    }

    /// Takes the second reading down.
    #[inline(always)]
    pub(super) fn stop_at(&self, count: u64) {
        self.stop.store(count, Relaxed);
    }

    /// The routine that is being measured.
    #[inline(always)]
    pub(super) fn routine(&self) -> Routine {
        Routine::ALL[usize::from(self.routine.load(Relaxed)) % Routine::ALL.len()]
    }

    /// Takes note of a service that failed: there is no measurement then.
    #[inline(always)]
    pub(super) fn note(&self, result: Result<(), Status>) {
        if let Err(status) = result {
            self.failed.store(status as u8, Relaxed);
        }
    }

    /// Prepares the next start.
    pub(super) fn prepare(&self, job: Job) {
        self.failed.store(0, Relaxed);
        self.unfinished.store(0, Relaxed);
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Yield::default();
        *self.job.lock().unwrap_or_else(PoisonError::into_inner) = Some(job);
    }

    /// What came of it.
    ///
    /// # Errors
    /// A service failed, or a routine did not come to its end.
    pub(super) fn take(&self) -> Result<Yield, String> {
        let failed = self.failed.load(Relaxed);
        if failed != 0 {
            return Err(format!("a service of the kernel failed with status {failed}"));
        }
        let unfinished = self.unfinished.load(Relaxed);
        if unfinished != 0 {
            return Err(format!("{unfinished} loops did not come to the end of their routine"));
        }
        Ok(std::mem::take(&mut *self.outcome.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// The body of MainTask.
pub(super) fn carry_out<R: Reading>() {
    let job = SHARED.job.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(job) = job else { return };
    let most = job.series.iter().map(|series| series.loops).max().unwrap_or(0);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    // Written once, so that no page is missing later.
    let mut counts = vec![0; most];
    let mut outcome = Yield::default();
    let mut offset = Offset::default();
    for (index, series) in job.series.iter().enumerate() {
        job.progress.series.store(index, Relaxed);
        job.progress.worst.store(0, Relaxed);
        counts.clear();
        match series.trigger {
            Some(Trigger::Signal) => run::<R, BySignal>(&job, series, &mut counts),
            Some(Trigger::Software) | None => run::<R, BySoftware>(&job, series, &mut counts),
        }
        if series.routine == Routine::Empty {
            let sample = Sample::of(&counts, Offset::default(), job.hertz);
            offset = Offset::of(&sample, &mut counts);
            outcome.samples.push(sample);
        } else {
            outcome.samples.push(Sample::of(&counts, offset, job.hertz));
        }
        if job.progress.stop.load(Relaxed) {
            outcome.stopped = true;
            break;
        }
    }
    *SHARED.outcome.lock().unwrap_or_else(PoisonError::into_inner) = outcome;
}

/// All loops of a series, after those that warm the caches.
fn run<R: Reading, T: Bring>(job: &Job, series: &Series, counts: &mut Vec<u64>) {
    let index = Routine::ALL.iter().position(|routine| *routine == series.routine);
    SHARED.routine.store(index.and_then(|index| u8::try_from(index).ok()).unwrap_or(0), Relaxed);
    let (mut worst, begin) = (0, job.progress.done.load(Relaxed));
    let mut rest_at = None;
    for index in 0..job.warm_up + series.loops {
        if index % LOOK_EVERY == 0 {
            job.progress.done.store(begin + index, Relaxed);
            job.progress.worst.store(worst, Relaxed);
            if job.progress.stop.load(Relaxed) {
                return;
            }
            // Not at the beginning: a short series has no time to rest, and none to read the clock.
            if index > 0 {
                let now = Monotonic.now();
                if now >= *rest_at.get_or_insert(now + BURST) {
                    Monotonic.sleep_until(now + REST);
                    (0..job.warm_up).for_each(|_| once::<R, T>(series.routine));
                    rest_at = None;
                }
            }
        }
        SHARED.stop.store(0, Relaxed);
        once::<R, T>(series.routine);
        let (start, stop) = (SHARED.start.load(Relaxed), SHARED.stop.load(Relaxed));
        if stop == 0 {
            SHARED.unfinished.store(1 + SHARED.unfinished.load(Relaxed), Relaxed);
        }
        let count = stop.saturating_sub(start);
        if index >= job.warm_up {
            worst = worst.max(count);
            counts.push(count);
        }
    }
    job.progress.done.store(begin + job.warm_up + series.loops, Relaxed);
}
