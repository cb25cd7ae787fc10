//! A trace that runs, with the rows that it has kept so far.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use quietcore_api::v1;
use quietcore_record::trace::{Moment, Number};
use quietcore_supervisor::client::Client;
use quietcore_supervisor::recording::{Column, Output, Progress, Started};
use quietcore_units::Causes;
use tokio::sync::OwnedSemaphorePermit;

use super::rows::Rows;

/// A trace in memory.
#[derive(Debug)]
pub(super) struct RunningTrace {
    begun: v1::Trace,
    rows: Mutex<Rows>,
    lost: AtomicU64,
    stop: AtomicBool,
    /// The reason for its end, the first that was told.
    why: Mutex<Option<String>>,
    /// The reason why it has ended and is not on the disk.
    not_kept: Mutex<Option<String>>,
    ended: AtomicBool,
    /// Its place among those that run at once.
    _place: OwnedSemaphorePermit,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RunningTrace {
    /// Makes a trace without rows.
    pub(super) fn new(begun: v1::Trace, place: OwnedSemaphorePermit) -> Self {
        Self {
            rows: Mutex::new(Rows::of(begun.variables.len())),
            begun,
            lost: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            why: Mutex::default(),
            not_kept: Mutex::default(),
            ended: AtomicBool::new(false),
            _place: place,
        }
    }

    pub(super) fn number(&self) -> u64 {
        self.begun.number
    }

    /// Returns the trace as it began.
    pub(super) fn begun(&self) -> &v1::Trace {
        &self.begun
    }

    /// Lets it end, for this reason unless there was one before.
    pub(super) fn stop(&self, why: String) {
        locked(&self.why).get_or_insert(why);
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Keeps its rows until it is complete, is stopped, or can't go on.
    pub(super) fn record(&self, started: Started, mut client: Client) {
        let mut tell = |progress: Progress| self.lost.store(progress.lost, Ordering::Relaxed);
        let (windows, mut output) = (self.begun.windows, Kept(self));
        let why = match started.keep(&mut client, windows, &mut output, &mut tell, &self.stop) {
            Ok(summary) => {
                self.lost.store(summary.lost, Ordering::Relaxed);
                summary.ended_early
            }
            Err(error) => Some(Causes(&error).to_string()),
        };
        if let Some(why) = why {
            locked(&self.why).get_or_insert(why);
        }
        self.ended.store(true, Ordering::Release);
    }

    /// Takes note that it has ended and can't be kept on the disk.
    pub(super) fn stays_in_memory(&self, why: String) {
        *locked(&self.not_kept) = Some(why);
    }

    /// Returns `true` if it has ended and stays in memory.
    pub(super) fn is_in_memory_alone(&self) -> bool {
        locked(&self.not_kept).is_some()
    }

    /// Returns the trace with its progress.
    pub(super) fn described(&self) -> v1::Trace {
        self.described_with(&locked(&self.rows))
    }

    /// Returns the trace and its rows, all of one moment.
    pub(super) fn snapshot(&self) -> (v1::Trace, Vec<Arc<v1::TraceRows>>) {
        let rows = locked(&self.rows);
        (self.described_with(&rows), rows.chunks())
    }

    fn described_with(&self, rows: &Rows) -> v1::Trace {
        let v1::Trace { before, after, windows, .. } = self.begun;
        let is_complete = rows.count() == (before + after) * u64::from(windows);
        let state = match (self.ended.load(Ordering::Acquire), rows.windows()) {
            (true, _) if is_complete => v1::TraceState::Complete,
            (true, _) => v1::TraceState::Ended,
            (false, []) => v1::TraceState::Armed,
            (false, _) => v1::TraceState::Triggered,
        };
        let why = match state {
            v1::TraceState::Ended => locked(&self.why).clone().unwrap_or_default(),
            _ => String::new(),
        };
        v1::Trace {
            state: state.into(),
            why,
            begun: rows.windows().to_vec(),
            rows: rows.count(),
            lost: self.lost.load(Ordering::Relaxed),
            not_kept: locked(&self.not_kept).clone().unwrap_or_default(),
            ..self.begun.clone()
        }
    }
}

/// Keeps the rows of a trace, each of which can be read at once.
struct Kept<'a>(&'a RunningTrace);

impl Output for Kept<'_> {
    fn begin(&mut self, _columns: &[Column]) -> io::Result<()> {
        Ok(())
    }

    fn row(&mut self, moment: &Moment, values: &[Number]) -> io::Result<()> {
        locked(&self.0.rows).push(moment, values);
        Ok(())
    }

    fn window(&mut self, cycle: u64, before: u64) {
        locked(&self.0.rows).begin_window(cycle, before);
    }
}

/// Returns the nanoseconds from the monotonic clock's zero to 1970, as the clocks stand now.
pub(super) fn utc_offset_ns() -> i64 {
    let monotonic = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let realtime = i64::try_from(since.as_nanos()).unwrap_or(i64::MAX);
    realtime - (monotonic.tv_sec * 1_000_000_000 + monotonic.tv_nsec)
}
