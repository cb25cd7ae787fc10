//! The loops of the loads, one module a kind.
//!
//! Each module sets itself up, says that it starts, and works until the process ends. It counts
//! finished work in batches of well under a millisecond where one operation is short. What the
//! compiler could leave out passes through `black_box`.

mod cache;
mod disk;
mod fork;
mod futex;
mod malloc;
mod memory_bandwidth;
mod network;
mod random;
mod sqrt;
mod timer;

use std::convert::Infallible;
use std::io;
use std::path::PathBuf;

use quietcore_site::LoadKind;
use quietcore_units::ByteSize;

use crate::board::Beat;

/// The settings of a loop. The parent has filled in and checked what the kind needs.
pub(crate) struct Settings {
    pub(crate) size: Option<ByteSize>,
    pub(crate) folder: Option<PathBuf>,
}

/// Why a loop can't go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkError {
    /// The command line lacks what the kind needs.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A size that this machine can't address.
    #[error("a size of {0} can't be used")]
    Size(ByteSize),
    /// The system refused something.
    #[error("could not {attempted}")]
    Refused { attempted: String, source: io::Error },
}

impl WorkError {
    /// For `map_err`: names what was attempted.
    fn refused<E: Into<io::Error>>(attempted: &str) -> impl Fn(E) -> Self + Copy {
        move |source| Self::Refused { attempted: attempted.to_owned(), source: source.into() }
    }
}

/// Works until the process ends or the work can't go on.
pub(crate) fn run(
    kind: LoadKind,
    settings: &Settings,
    beat: &mut Beat<'_>,
) -> Result<Infallible, WorkError> {
    match kind {
        LoadKind::Sqrt => sqrt::run(beat),
        LoadKind::Malloc => malloc::run(settings.bytes()?, beat),
        LoadKind::Cache => cache::run(settings.bytes()?, beat),
        LoadKind::MemoryBandwidth => memory_bandwidth::run(settings.bytes()?, beat),
        LoadKind::Disk => {
            let folder = settings.folder.as_deref();
            let folder = folder.ok_or(WorkError::Missing("--folder"))?;
            disk::run(folder, settings.bytes()?, beat)
        }
        LoadKind::Network => network::run(settings.bytes()?, beat),
        LoadKind::Fork => fork::run(beat),
        LoadKind::Timer => timer::run(beat),
        LoadKind::Futex => futex::run(beat),
    }
}

impl Settings {
    fn bytes(&self) -> Result<usize, WorkError> {
        let size = self.size.ok_or(WorkError::Missing("--size"))?;
        match usize::try_from(size.get()) {
            // No block of memory may be larger than half of the address space.
            Ok(bytes) if bytes > 0 && bytes <= isize::MAX as usize => Ok(bytes),
            _ => Err(WorkError::Size(size)),
        }
    }
}

/// A block that is written throughout, or an error where `vec![]` would abort the process.
fn allocate<T: Clone + Default>(count: usize, value: T) -> Result<Vec<T>, WorkError> {
    let mut block = Vec::new();
    block
        .try_reserve_exact(count)
        .map_err(|error| io::Error::new(io::ErrorKind::OutOfMemory, error))
        .map_err(WorkError::refused("allocate the set"))?;
    block.resize(count, value);
    Ok(block)
}
