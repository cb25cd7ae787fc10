//! The series that MainTask carries out on the hosted port, and their outcome.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use quietcore_clock::{Clock as _, Monotonic};

use super::machine::{BySignal, BySoftware, OnHost};
use super::sample::{Offset, Sample};
use super::{Routine, Series, Trigger};
use crate::routines::series::{self, BURST, Look, REST};
use crate::routines::{Bring, MARKS, Reading};

/// The progress of a measurement, for its observer, and the flag that ends it.
#[derive(Debug, Default)]
pub struct Progress {
    /// Loops that are done, warm-up included.
    pub done: AtomicU64,
    /// Index of the series under way in the plan.
    pub series: AtomicUsize,
    /// The largest value of that series so far, in counts of the clock.
    pub worst: AtomicU64,
    /// Set to end the measurement with the results so far.
    pub stop: AtomicBool,
}

/// The job of MainTask: series, warm-up and clock.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) series: Vec<Series>,
    pub(super) warm_up: u64,
    pub(super) hertz: u64,
    pub(super) progress: Arc<Progress>,
}

/// The samples that MainTask leaves behind.
#[derive(Debug, Default)]
pub(super) struct Yield {
    /// A sample for each series that was begun, in their order.
    pub(super) samples: Vec<Sample>,
    /// `true` if it was told to stop before its end.
    pub(super) stopped: bool,
}

/// The state shared by MainTask and the function that starts it.
pub(super) struct Shared {
    /// Series with a loop that did not come to the end of its routine.
    unfinished: AtomicU64,
    job: Mutex<Option<Job>>,
    outcome: Mutex<Yield>,
}

pub(super) static SHARED: Shared = Shared {
    unfinished: AtomicU64::new(0),
    job: Mutex::new(None),
    outcome: Mutex::new(Yield { samples: Vec::new(), stopped: false }),
};

impl Shared {
    /// Prepares the next start of the kernel.
    pub(super) fn prepare(&self, job: Job) {
        MARKS.take_failed();
        self.unfinished.store(0, Relaxed);
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Yield::default();
        *self.job.lock().unwrap_or_else(PoisonError::into_inner) = Some(job);
    }

    /// Takes the outcome of the last start.
    ///
    /// # Errors
    /// Returns in words which service failed, or how many series did not come to their end.
    pub(super) fn take(&self) -> Result<Yield, String> {
        let failed = MARKS.take_failed();
        if failed != 0 {
            return Err(format!("a service of the kernel failed with status {failed}"));
        }
        let unfinished = self.unfinished.load(Relaxed);
        if unfinished != 0 {
            return Err(format!(
                "in {unfinished} series a loop did not come to the end of its routine"
            ));
        }
        Ok(std::mem::take(&mut *self.outcome.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// Carries out all series of the job; the body of MainTask.
pub(super) fn carry_out<R: Reading>() {
    let job = SHARED.job.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(job) = job else { return };
    let most = job.series.iter().map(|series| series.loops).max().unwrap_or(0);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    // Written once here, so that no page is missing later.
    let mut counts = vec![0; most];
    let mut outcome = Yield::default();
    let mut offset = Offset::default();
    for (index, series) in job.series.iter().enumerate() {
        job.progress.series.store(index, Relaxed);
        job.progress.worst.store(0, Relaxed);
        counts.clear();
        match series.trigger {
            Some(Trigger::Signal) => run::<R, BySignal>(&job, series, &mut counts),
            // A process has no other way of bringing an interrupt.
            _ => run::<R, BySoftware>(&job, series, &mut counts),
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

/// Runs all loops of a series, after those that warm the caches.
fn run<R: Reading, T: Bring>(job: &Job, series: &Series, counts: &mut Vec<u64>) {
    let begin = job.progress.done.load(Relaxed);
    let mut rest_at = None;
    let look = |progress: series::Progress| {
        job.progress.done.store(begin + progress.done, Relaxed);
        job.progress.worst.store(progress.worst, Relaxed);
        if job.progress.stop.load(Relaxed) {
            return Look::Stop;
        }
        // Not at the beginning: a short series needs neither a rest nor a reading of the clock.
        if progress.done > 0 {
            let now = Monotonic.now();
            if now >= *rest_at.get_or_insert(now + BURST) {
                Monotonic.sleep_until(now + REST);
                rest_at = None;
                return Look::WarmUp(job.warm_up);
            }
        }
        Look::GoOn
    };
    let take = |count| counts.push(count);
    let finishes =
        series::run::<OnHost, R, T>(series.routine, job.warm_up, series.loops, look, take);
    SHARED.unfinished.fetch_add(u64::from(!finishes), Relaxed);
    if !job.progress.stop.load(Relaxed) {
        job.progress.done.store(begin + job.warm_up + series.loops, Relaxed);
    }
}
