//! From requests to checked loads: what is asked for is complete, possible and bounded.

use std::path::{Path, PathBuf};

use quietcore_site::LoadKind;
use quietcore_units::{ByteSize, CpuSet};

use crate::error::{FolderError, LoadError, RequestProblem};
use crate::parent::facts::{Facts, FolderFacts};
use crate::request::{LoadRequest, WORKER_LIMIT};

/// Memory and disk space that loads may take of what is available, in percent.
const SHARE_MAX_PERCENT: u64 = 80;

/// Kept on disk by every distribution, unlike `/tmp`.
const FOLDER_DEFAULT: &str = "/var/tmp";

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// A request with all defaults filled in. Only [`check`] makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckedLoad {
    pub(crate) kind: LoadKind,
    pub(crate) workers: u32,
    /// Present for the kinds that have a size.
    pub(crate) size: Option<ByteSize>,
    pub(crate) cpus: Option<CpuSet>,
    pub(crate) entrance: Option<PathBuf>,
    /// Present for `disk`.
    pub(crate) folder: Option<PathBuf>,
}

/// Checks all requests together.
///
/// # Errors
/// Every problem that was found.
pub(crate) fn check(
    requests: &[LoadRequest],
    facts: &Facts,
    folder_facts: impl Fn(&Path) -> Result<FolderFacts, FolderError>,
) -> Result<Vec<CheckedLoad>, Vec<RequestProblem>> {
    let mut problems = Vec::new();
    let mut loads = Vec::new();
    for (position, request) in requests.iter().enumerate() {
        let size = check_size(position, request, facts, &mut problems);
        check_cpus(position, request, facts, &mut problems);
        let load = CheckedLoad {
            kind: request.kind,
            workers: request.workers,
            size,
            cpus: request.cpus,
            entrance: request.entrance.clone(),
            folder: folder_of(position, request, &mut problems),
        };
        if load.workers == 0 {
            problems.push(RequestProblem::NoWorkers { request: position, kind: request.kind });
        }
        if let Some(folder) = &load.folder {
            problems.extend(check_folder(position, &load, folder, &folder_facts));
        }
        loads.push(load);
    }
    problems.extend(check_totals(&loads, facts));
    if problems.is_empty() { Ok(loads) } else { Err(problems) }
}

/// The default, least and largest size of a kind; `None` for a kind without a size.
fn sizes(kind: LoadKind, facts: &Facts) -> Option<[u64; 3]> {
    let cache = facts.last_level_cache.get();
    match kind {
        LoadKind::Malloc => Some([64 * MIB, 4 * KIB, 64 * GIB]),
        LoadKind::Cache => Some([cache.saturating_mul(5) / 4, 64 * KIB, 64 * GIB]),
        LoadKind::MemoryBandwidth => Some([cache.saturating_mul(4), 4 * MIB, 64 * GIB]),
        LoadKind::Disk => Some([16 * MIB, 4 * KIB, GIB]),
        LoadKind::Network => Some([16 * KIB, 1, MIB]),
        LoadKind::Sqrt | LoadKind::Fork | LoadKind::Timer | LoadKind::Futex => None,
    }
}

/// Returns the bytes that each worker of a kind works on by default on this machine; `None` for a
/// kind without a size. What a container or a guest sees of the caches is not what there is.
///
/// # Errors
/// [`LoadError::Facts`] when the kernel does not tell.
pub fn default_size(kind: LoadKind) -> Result<Option<ByteSize>, LoadError> {
    let sizes = sizes(kind, &Facts::read()?);
    Ok(sizes.map(|[default, least, most]| ByteSize::new(default.clamp(least, most))))
}

fn check_size(
    position: usize,
    request: &LoadRequest,
    facts: &Facts,
    problems: &mut Vec<RequestProblem>,
) -> Option<ByteSize> {
    let kind = request.kind;
    match (sizes(kind, facts), request.size) {
        (None, None) => None,
        (None, Some(_)) => {
            problems.push(RequestProblem::SizeNotUsed { request: position, kind });
            None
        }
        (Some([default, least, most]), None) => Some(ByteSize::new(default.clamp(least, most))),
        (Some([_, least, most]), Some(size)) => {
            if !(least..=most).contains(&size.get()) {
                problems.push(RequestProblem::SizeOutOfRange {
                    request: position,
                    kind,
                    size,
                    least: ByteSize::new(least),
                    most: ByteSize::new(most),
                });
            }
            Some(size)
        }
    }
}

fn check_cpus(
    position: usize,
    request: &LoadRequest,
    facts: &Facts,
    problems: &mut Vec<RequestProblem>,
) {
    let kind = request.kind;
    let Some(cpus) = request.cpus else {
        return;
    };
    let missing = cpus.without(&facts.online);
    if cpus.is_empty() {
        problems.push(RequestProblem::NoCpus { request: position, kind });
    } else if !missing.is_empty() {
        problems.push(RequestProblem::CpusNotOnline {
            request: position,
            kind,
            missing: Box::new(missing),
            online: Box::new(facts.online),
        });
    }
}

fn folder_of(
    position: usize,
    request: &LoadRequest,
    problems: &mut Vec<RequestProblem>,
) -> Option<PathBuf> {
    match (request.kind, &request.folder) {
        (LoadKind::Disk, Some(folder)) => Some(folder.clone()),
        (LoadKind::Disk, None) => Some(PathBuf::from(FOLDER_DEFAULT)),
        (_, None) => None,
        (kind, Some(_)) => {
            problems.push(RequestProblem::FolderNotUsed { request: position, kind });
            None
        }
    }
}

fn check_folder(
    position: usize,
    load: &CheckedLoad,
    folder: &Path,
    folder_facts: impl Fn(&Path) -> Result<FolderFacts, FolderError>,
) -> Option<RequestProblem> {
    let folder = folder.to_owned();
    let facts = match folder_facts(&folder) {
        Ok(facts) => facts,
        Err(reason) => {
            return Some(RequestProblem::FolderUnusable { request: position, folder, reason });
        }
    };
    let needed = total(load);
    exceeds_share(needed, facts.free).then_some(RequestProblem::DiskTooFull {
        request: position,
        folder,
        needed,
        free: facts.free,
    })
}

fn check_totals(loads: &[CheckedLoad], facts: &Facts) -> Vec<RequestProblem> {
    let mut problems = Vec::new();
    let workers: u64 = loads.iter().map(|load| u64::from(load.workers)).sum();
    if workers > u64::from(WORKER_LIMIT) {
        problems.push(RequestProblem::TooManyWorkers { workers });
    }
    let needed = loads
        .iter()
        .filter(|load| load.kind.fills_memory())
        .fold(0, |sum: u64, load| sum.saturating_add(total(load).get()));
    let needed = ByteSize::new(needed);
    if exceeds_share(needed, facts.available_memory) {
        problems.push(RequestProblem::TooMuchMemory { needed, available: facts.available_memory });
    }
    problems
}

/// Returns the bytes that all workers of a load take together.
fn total(load: &CheckedLoad) -> ByteSize {
    let each = load.size.map_or(0, ByteSize::get);
    ByteSize::new(each.saturating_mul(u64::from(load.workers)))
}

fn exceeds_share(needed: ByteSize, available: ByteSize) -> bool {
    u128::from(needed.get()) * 100 > u128::from(available.get()) * u128::from(SHARE_MAX_PERCENT)
}

#[cfg(test)]
mod tests;
