//! Errors of loads, as the caller sees them.

use std::io;
use std::path::PathBuf;

use quietcore_site::LoadKind;
use quietcore_units::{ByteSize, CpuSet, Nanos};

use crate::request::WORKER_LIMIT;

/// Why a load could not be started, verified or stopped.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The requests can't be served on this machine; nothing was started.
    #[error("{}", list(problems))]
    Refused {
        /// All that is wrong, not the first alone.
        problems: Vec<RequestProblem>,
    },
    /// Something about the machine that the checks need could not be read.
    #[error("could not read `{}`", path.display())]
    Facts {
        /// The path that was read.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The shared memory for the counters could not be made.
    #[error("could not make the shared memory for the counters of the load")]
    Board(#[source] io::Error),
    /// The helper program could not be executed.
    #[error("could not start `{}` as a worker; give the path of an executable", program.display())]
    Spawn {
        /// Path of the helper program.
        program: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A worker ended although nobody asked it to.
    #[error("the {worker} ended with {status}{}", said(stderr))]
    WorkerEnded {
        /// Kind, number and process of the worker.
        worker: String,
        /// Exit status or signal.
        status: String,
        /// The beginning of what it wrote on standard error.
        stderr: String,
    },
    /// A worker did nothing countable within the time allowed.
    #[error("the {worker} did no work within {waited}; {state}{}", said(stderr))]
    NotRunning {
        /// Kind, number and process of the worker.
        worker: String,
        /// The time that was waited.
        waited: Nanos,
        /// The state that it reached.
        state: String,
        /// The beginning of what it wrote on standard error.
        stderr: String,
    },
    /// A worker goes on although it was told to rest.
    #[error("the {worker} still works {waited} after it was told to rest{}", said(stderr))]
    NotResting {
        /// Kind, number and process of the worker.
        worker: String,
        /// The time that was waited.
        waited: Nanos,
        /// The beginning of what it wrote on standard error.
        stderr: String,
    },
    /// A worker runs, but not under the conditions asked for.
    #[error("the {worker} runs with {found} instead of {asked}")]
    OtherConditions {
        /// Kind, number and process of the worker.
        worker: String,
        /// The conditions that were read back.
        found: String,
        /// The conditions that were asked for.
        asked: String,
    },
    /// Workers that could not be ended, not even by SIGKILL.
    #[error("could not end {}; they hang inside the kernel", workers.join(", "))]
    NotStopped {
        /// Kind, number and process of each.
        workers: Vec<String>,
    },
}

/// A folder that a disk load can't use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FolderError {
    /// The path leads to no folder.
    #[error("there is no such folder")]
    Missing,
    /// The folder is in a tmpfs or ramfs.
    #[error("its files are kept in memory")]
    InMemory,
    /// The file system doesn't tell its kind or its space.
    #[error("{}", std::io::Error::from_raw_os_error(*errno))]
    Unreadable {
        /// The kernel's number of the error.
        errno: i32,
    },
}

impl FolderError {
    pub(crate) fn of(error: rustix::io::Errno) -> Self {
        Self::Unreadable { errno: error.raw_os_error() }
    }
}

/// One thing that is wrong with a request. `request` counts from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestProblem {
    /// A request for no worker at all.
    #[error("load {request} (`{kind}`): 0 workers; ask for 1 or leave the load out")]
    NoWorkers {
        /// The position of the request.
        request: usize,
        /// The kind of load.
        kind: LoadKind,
    },
    /// The requests add up to too many workers.
    #[error("{workers} workers are more than the {WORKER_LIMIT} possible")]
    TooManyWorkers {
        /// The number that was asked for.
        workers: u64,
    },
    /// A size for a kind that has none.
    #[error("load {request} (`{kind}`): this kind has no size; leave it out")]
    SizeNotUsed {
        /// The position of the request.
        request: usize,
        /// The kind of load.
        kind: LoadKind,
    },
    /// A size outside the range of the kind.
    #[error("load {request} (`{kind}`): a size of {size} is outside {least} to {most}")]
    SizeOutOfRange {
        /// The position of the request.
        request: usize,
        /// The kind of load.
        kind: LoadKind,
        /// The size asked for.
        size: ByteSize,
        /// The smallest possible size.
        least: ByteSize,
        /// The largest possible size.
        most: ByteSize,
    },
    /// A set of CPUs without a CPU.
    #[error("load {request} (`{kind}`): the set of CPUs is empty; leave it out for anywhere")]
    NoCpus {
        /// The position of the request.
        request: usize,
        /// The kind of load.
        kind: LoadKind,
    },
    /// CPUs that this machine doesn't have, or that are switched off.
    #[error("load {request} (`{kind}`): cpus `{missing}` are not online; online are `{online}`")]
    CpusNotOnline {
        /// The position of the request.
        request: usize,
        /// The kind of load.
        kind: LoadKind,
        /// Those that are asked for and not online.
        missing: Box<CpuSet>,
        /// Those that are online.
        online: Box<CpuSet>,
    },
    /// A folder for a kind that has none.
    #[error("load {request} (`{kind}`): this kind has no folder; leave it out")]
    FolderNotUsed {
        /// The position of the request.
        request: usize,
        /// The kind of load.
        kind: LoadKind,
    },
    /// A folder that can't be used.
    #[error(
        "load {request} (`disk`): folder `{}`: {reason}; name a folder on a disk",
        folder.display()
    )]
    FolderUnusable {
        /// The position of the request.
        request: usize,
        /// The folder asked for.
        folder: PathBuf,
        /// The obstacle, for the text.
        reason: FolderError,
    },
    /// Files that would fill the disk.
    #[error(
        "load {request} (`disk`): {needed} of files in `{}` with {free} free; \
         at most 80 % of that is used",
        folder.display()
    )]
    DiskTooFull {
        /// The position of the request.
        request: usize,
        /// The folder asked for.
        folder: PathBuf,
        /// The files of all workers of the request.
        needed: ByteSize,
        /// Space that an ordinary user may still fill there.
        free: ByteSize,
    },
    /// Blocks and sets that would drive the machine out of memory.
    #[error(
        "the loads need {needed} of memory with {available} available; at most 80 % of that is \
         used, so take fewer workers or a smaller size"
    )]
    TooMuchMemory {
        /// Blocks and sets of all workers.
        needed: ByteSize,
        /// `MemAvailable` of the machine.
        available: ByteSize,
    },
}

fn list(problems: &[RequestProblem]) -> String {
    let texts: Vec<_> = problems.iter().map(ToString::to_string).collect();
    texts.join("\n")
}

fn said(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!(": {stderr}") }
}
