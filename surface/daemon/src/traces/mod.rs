//! Traces, which go on without the client that has started them.
//!
//! ```text
//! StartTrace ─► site: the trace begins ─► thread `trace`: ring ─► Rows ─┬─► FetchTrace
//!                                                         at the end: file ┘
//! ```
//!
//! Each trace has a thread and a connection to its site; the site ends a recording whose connection
//! is closed, so that nothing goes on if the daemon is killed. A trace that has ended is a file,
//! which the next daemon finds.

mod asked;
mod kept;
mod rows;
mod running;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_api::v1;
use quietcore_api::v1::fetch_trace_response::Content;
use quietcore_supervisor::places::Places;
use quietcore_supervisor::recording::Prepared;
use quietcore_units::Causes;
use tokio::sync::Semaphore;

use crate::caller::Caller;
use crate::failure::CallError;
use crate::log;
use crate::sites::connect_to;

pub(crate) use asked::CheckedTrace;
pub use asked::{TRACE_BYTES_MAX, TRACE_WINDOWS_MAX};
pub use kept::{TRACES_BYTES_MAX, TRACES_MAX};
use kept::{TraceFile, message};
use running::RunningTrace;

/// The most traces at once, those included that could not be kept on the disk.
pub const TRACES_AT_ONCE_MAX: usize = 8;
/// The longest wait for a trace that was told to end; its thread looks each 2 ms.
const END_MAX: Duration = Duration::from_secs(10);
/// Time between two looks whether it has.
const LOOK: Duration = Duration::from_millis(2);

/// The reason why traces can't be used so.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TraceError {
    /// No such trace is kept, or it is of a partition that is not granted.
    #[error("there is no trace {number}; see which are kept with `ListTraces`")]
    NoTrace { number: u64 },
    /// There are as many traces as may be.
    #[error("{TRACES_AT_ONCE_MAX} traces run already; stop one of them, or wait for its end")]
    TooMany,
    /// A trace was told to end and has not.
    #[error("trace {number} has not ended yet; try again")]
    Goes { number: u64 },
    /// The thread of a trace can't be started.
    #[error("there is no thread for the trace")]
    Thread(#[source] io::Error),
    /// The file of a trace is not as it was written.
    #[error("`{}` is damaged; delete the trace", path.display())]
    Damaged { path: PathBuf, source: io::Error },
    /// Something of the folder can't be used.
    #[error("`{}` can't be used", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl TraceError {
    fn at(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}

/// The traces of the daemon, as services share them.
#[derive(Clone, Debug)]
pub(crate) struct Traces {
    places: Places,
    running: Arc<Mutex<BTreeMap<u64, Arc<RunningTrace>>>>,
    at_once: Arc<Semaphore>,
}

/// A trace as it is found: in memory, or on the disk.
enum Found {
    Running(Arc<RunningTrace>),
    Kept(Box<TraceFile>),
}

/// The messages of a trace that is sent.
pub(crate) type Messages =
    Box<dyn Iterator<Item = Result<v1::FetchTraceResponse, TraceError>> + Send>;

impl Traces {
    /// Takes the traces in the state of these places.
    pub(crate) fn new(places: &Places) -> Self {
        let at_once = Arc::new(Semaphore::new(TRACES_AT_ONCE_MAX));
        Self { places: places.clone(), running: Arc::default(), at_once }
    }

    /// Starts a trace on behalf of a caller, whom the site hears as the one that records.
    ///
    /// # Errors
    /// [`TraceError::TooMany`]; those of the site, which refuses a second recording of a partition;
    /// of variables that can't be traced so, and of the folder.
    pub(crate) fn start(
        &self,
        asked: &CheckedTrace,
        caller: &Caller,
    ) -> Result<v1::Trace, CallError> {
        let place = Arc::clone(&self.at_once).try_acquire_owned();
        let place = place.map_err(|_| TraceError::TooMany)?;
        let of = (asked.site.as_str(), asked.partition.as_str());
        let mut client = connect_to(&self.places, of, caller)?;
        let prepared = Prepared::new(&mut client, &asked.partition, &asked.recording)?;
        asked.check_size(prepared.columns().len())?;
        let folder = kept::folder(&self.places)?;
        let mut trace = asked.described(&prepared);
        client.site().clone_into(&mut trace.site);
        caller.name().clone_into(&mut trace.started_by);
        trace.started_at = jiff::Timestamp::now().to_string();
        trace.utc_offset_ns = running::utc_offset_ns();
        let started = prepared.start(&mut client)?;
        let running = {
            let mut all = self.lock();
            trace.number = kept::take_number(&folder)?;
            let running = Arc::new(RunningTrace::new(trace, place));
            all.insert(running.number(), Arc::clone(&running));
            running
        };
        let (traces, recorded) = (self.clone(), Arc::clone(&running));
        let record = move || {
            recorded.record(started, client);
            traces.conclude(&folder, &recorded);
        };
        let thread = thread::Builder::new().name("trace".to_owned()).spawn(record);
        if let Err(error) = thread {
            self.lock().remove(&running.number());
            return Err(TraceError::Thread(error).into());
        }
        Ok(running.described())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<RunningTrace>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a trace whose recording has ended on the disk, and forgets it here.
    fn conclude(&self, folder: &Path, trace: &RunningTrace) {
        let (described, chunks) = trace.snapshot();
        let written = kept::write(folder, &described, &chunks);
        let written = written.and_then(|()| kept::remove_surplus(folder));
        match written {
            Ok(()) => {
                self.lock().remove(&trace.number());
            }
            Err(error) => {
                let why = Causes(&error).to_string();
                log::say(format_args!("trace {} is in memory alone: {why}", trace.number()));
                trace.stays_in_memory(why);
            }
        }
    }

    /// Finds a trace that a caller may see: one that is damaged may be of any partition.
    fn find(&self, number: u64, caller: &Caller) -> Result<Found, CallError> {
        let running = self.lock().get(&number).cloned();
        let found = match running {
            Some(running) => Found::Running(running),
            None => match TraceFile::open(&kept::folder(&self.places)?, number) {
                Ok(file) => Found::Kept(Box::new(file)),
                Err(TraceError::Damaged { .. }) if !caller.grants().is_everything() => {
                    return Err(TraceError::NoTrace { number }.into());
                }
                Err(error) => return Err(error.into()),
            },
        };
        let trace = match &found {
            Found::Running(running) => running.begun(),
            Found::Kept(file) => file.trace(),
        };
        match caller.grants().has_partition(&trace.site, &trace.partition) {
            true => Ok(found),
            false => Err(TraceError::NoTrace { number }.into()),
        }
    }

    /// Returns the site and the partition of a trace; empty names for one that is damaged.
    ///
    /// # Errors
    /// [`TraceError::NoTrace`]; those of the folder.
    pub(crate) fn partition_of(
        &self,
        number: u64,
        caller: &Caller,
    ) -> Result<(String, String), CallError> {
        match self.get(number, caller) {
            Ok(trace) => Ok((trace.site, trace.partition)),
            Err(CallError::Trace(TraceError::Damaged { .. })) => Ok(<_>::default()),
            Err(error) => Err(error),
        }
    }

    /// Returns a trace with its progress.
    ///
    /// # Errors
    /// [`TraceError::NoTrace`]; those of the folder.
    pub(crate) fn get(&self, number: u64, caller: &Caller) -> Result<v1::Trace, CallError> {
        Ok(match self.find(number, caller)? {
            Found::Running(running) => running.described(),
            Found::Kept(file) => file.trace().clone(),
        })
    }

    /// Lists the traces that a caller may see, the oldest first, without their windows.
    ///
    /// # Errors
    /// Those of the folder. A file that is damaged is left out, and the log says so.
    pub(crate) fn list(&self, caller: &Caller) -> Result<Vec<v1::Trace>, CallError> {
        let folder = kept::folder(&self.places)?;
        let running: Vec<_> = self.lock().values().cloned().collect();
        // Those in memory first: one that ends meanwhile is found on the disk, too.
        let mut all: BTreeMap<u64, v1::Trace> =
            running.iter().map(|trace| (trace.number(), trace.described())).collect();
        for number in kept::numbers(&folder)? {
            match TraceFile::open(&folder, number) {
                Ok(file) => drop(all.insert(number, file.trace().clone())),
                Err(TraceError::NoTrace { .. }) => {}
                Err(error) => log::say(format_args!("{}", Causes(&error))),
            }
        }
        let granted =
            |trace: &v1::Trace| caller.grants().has_partition(&trace.site, &trace.partition);
        let without_windows = |trace| v1::Trace { begun: Vec::new(), ..trace };
        Ok(all.into_values().filter(granted).map(without_windows).collect())
    }

    /// Returns the messages of a trace as it is now.
    ///
    /// # Errors
    /// [`TraceError::NoTrace`]; those of the folder.
    pub(crate) fn messages(&self, number: u64, caller: &Caller) -> Result<Messages, CallError> {
        Ok(match self.find(number, caller)? {
            Found::Kept(file) => Box::new(file.messages()),
            Found::Running(running) => {
                let (trace, chunks) = running.snapshot();
                let first = std::iter::once(Content::Trace(trace));
                let rows = chunks.into_iter().map(|it| Content::Rows(v1::TraceRows::clone(&it)));
                Box::new(first.chain(rows).map(|content| Ok(message(content))))
            }
        })
    }

    /// Ends a trace on behalf of a caller, and waits until it has.
    ///
    /// # Errors
    /// [`TraceError::NoTrace`]; [`TraceError::Goes`] if it takes too long; those of the folder.
    pub(crate) fn stop(&self, number: u64, caller: &Caller) -> Result<v1::Trace, CallError> {
        if let Found::Running(running) = self.find(number, caller)? {
            running.stop(format!("stopped by {}", caller.name()));
            self.wait_for_end(number)?;
        }
        self.get(number, caller)
    }

    /// Removes a trace with its rows, and one that is damaged.
    ///
    /// # Errors
    /// Those of [`Self::stop`].
    pub(crate) fn delete(&self, number: u64, caller: &Caller) -> Result<(), CallError> {
        match self.stop(number, caller) {
            Ok(_) | Err(CallError::Trace(TraceError::Damaged { .. })) => {}
            Err(error) => return Err(error),
        }
        if self.lock().remove(&number).is_none() {
            kept::remove(&kept::folder(&self.places)?, number)?;
        }
        Ok(())
    }

    fn wait_for_end(&self, number: u64) -> Result<(), TraceError> {
        let end = Instant::now() + END_MAX;
        while self.lock().get(&number).is_some_and(|trace| !trace.is_in_memory_alone()) {
            if Instant::now() > end {
                return Err(TraceError::Goes { number });
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }

    /// Ends all traces, as the daemon does, and waits until they are kept.
    pub(crate) fn end(&self) {
        let running: Vec<_> = self.lock().values().cloned().collect();
        for trace in &running {
            trace.stop("the daemon has ended".to_owned());
        }
        for trace in running {
            // One that hangs is lost with the daemon, and its site ends the recording.
            let _ = self.wait_for_end(trace.number());
        }
    }
}
