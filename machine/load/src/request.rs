//! The request of a caller.

use std::path::PathBuf;

use quietcore_site::LoadKind;
use quietcore_units::{ByteSize, CpuSet};

/// The most workers that one [`LoadSet`](crate::LoadSet) starts.
pub const WORKER_LIMIT: u32 = 256;

/// A number of workers of one kind. Unchecked; [`LoadSet::start`](crate::LoadSet::start) checks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadRequest {
    /// The work of the workers.
    pub kind: LoadKind,
    /// Number of workers, 1 to [`WORKER_LIMIT`] over all requests of a set.
    pub workers: u32,
    /// Bytes that each worker works on. `None` takes the default of the kind:
    ///
    /// | kind | meaning | default | range |
    /// |------|---------|---------|-------|
    /// | `malloc` | the allocated block | 64 MiB | 4 KiB … 64 GiB |
    /// | `cache` | the set written to | last-level cache × 5/4 | 64 KiB … 64 GiB |
    /// | `memory-bandwidth` | source and destination together | last-level cache × 4 | 4 MiB … 64 GiB |
    /// | `disk` | the file | 16 MiB | 4 KiB … 1 GiB |
    /// | `network` | one message | 16 KiB | 1 B … 1 MiB |
    ///
    /// The other kinds have no size.
    pub size: Option<ByteSize>,
    /// The CPUs on which the workers may run. `None` is anywhere: the CPUs of the first process of
    /// the system, thus all but isolated ones, whatever the caller is bound to.
    pub cpus: Option<CpuSet>,
    /// The file through which the workers enter a control group that has their CPUs for itself, its
    /// `cgroup.procs`; `None` is the group of the caller.
    pub entrance: Option<PathBuf>,
    /// Folder in which `disk` makes its files; `None` is `/var/tmp`. The other kinds have no
    /// folder.
    pub folder: Option<PathBuf>,
}

impl LoadRequest {
    /// Workers of a kind with the default size, running anywhere.
    pub const fn new(kind: LoadKind, workers: u32) -> Self {
        Self { kind, workers, size: None, cpus: None, entrance: None, folder: None }
    }
}
