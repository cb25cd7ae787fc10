//! Locks on the CPUs that a site's real-time tasks are to be pinned to, held while it starts.
//!
//! ```text
//! lock ─ look who has the CPUs ─ start ─ own tasks run there ─ unlock
//!        └ refused ─ unlock
//! ```
//!
//! Without them, two sites that come up at the same instant would each look before the other's
//! tasks run, and both would go on. The lock is `flock` on the kernel's own folder of a CPU: it is
//! there for all users and needs no right and no folder of ours, the kernel releases it with the
//! process, and sites on other CPUs do not wait. The locks are taken in the order of the CPUs, so
//! that no two sites wait for each other.
//!
//! Anybody may hold such a lock for as long as they like. So the wait has a bound; a site that
//! reaches it goes on without the lock and remarks on that. A site in another network namespace,
//! which has such folders of its own, is not waited for either.

use std::fs::File;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use quietcore_units::{CpuId, CpuSet};
use rustix::fs::{FlockOperation, flock};

/// Folder that holds a folder for each CPU.
const CPUS: &str = "/sys/devices/system/cpu";
/// Longest wait for all locks. A process begins within a second, a guest may take longer.
const WAIT_MAX: Duration = Duration::from_secs(15);
/// Time between two tries.
const TRY_AGAIN: Duration = Duration::from_millis(10);

/// Locks that are held until this is dropped.
#[derive(Debug)]
pub(crate) struct CpuLocks {
    _held: Vec<File>,
    not_had: CpuSet,
}

impl CpuLocks {
    /// Waits for the locks of these CPUs and takes them. Where a folder can't be opened, there is
    /// no lock to wait for.
    pub(crate) fn take(cpus: CpuSet) -> Self {
        Self::take_in(Path::new(CPUS), cpus, WAIT_MAX)
    }

    fn take_in(folder: &Path, cpus: CpuSet, within: Duration) -> Self {
        let end = Instant::now() + within;
        let mut locks = Self { _held: Vec::new(), not_had: CpuSet::default() };
        for cpu in cpus.iter() {
            let Ok(file) = File::open(folder.join(format!("cpu{cpu}"))) else { continue };
            if try_until(&file, end) {
                locks._held.push(file);
            } else {
                locks.not_had.insert(cpu);
            }
        }
        locks
    }

    /// Returns the CPUs whose locks somebody else held all the time.
    pub(crate) fn not_had(&self) -> impl Iterator<Item = CpuId> + '_ {
        self.not_had.iter()
    }
}

/// Locks the file; returns `false` if that was not possible until `end`. Tries once at least.
fn try_until(file: &File, end: Instant) -> bool {
    loop {
        if flock(file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        thread::sleep(TRY_AGAIN);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const NO_TIME: Duration = Duration::ZERO;
    const LONG: Duration = Duration::from_secs(60);

    /// Makes a folder with four CPUs.
    fn cpus() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        (0..4)
            .for_each(|cpu| std::fs::create_dir(folder.path().join(format!("cpu{cpu}"))).unwrap());
        folder
    }

    fn set(text: &str) -> CpuSet {
        text.parse().unwrap()
    }

    fn not_had(locks: &CpuLocks) -> CpuSet {
        locks.not_had().collect()
    }

    #[test]
    fn who_comes_second_waits_until_the_first_lets_go() {
        let folder = cpus();
        let first = CpuLocks::take_in(folder.path(), set("1-2"), NO_TIME);
        assert!(not_had(&first).is_empty());
        let (tell, told) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| {
                let second = CpuLocks::take_in(folder.path(), set("2-3"), LONG);
                tell.send(not_had(&second)).unwrap();
            });
            assert!(told.recv_timeout(Duration::from_millis(50)).is_err(), "it waits");
            drop(first);
            assert!(told.recv().unwrap().is_empty());
        });
    }

    #[test]
    fn the_wait_has_an_end_and_names_the_cpus() {
        let folder = cpus();
        let _first = CpuLocks::take_in(folder.path(), set("1"), NO_TIME);
        let second = CpuLocks::take_in(folder.path(), set("0-1"), NO_TIME);
        assert_eq!(not_had(&second), set("1"));
    }

    #[test]
    fn sites_on_other_cpus_do_not_wait() {
        let folder = cpus();
        let _first = CpuLocks::take_in(folder.path(), set("0-1"), NO_TIME);
        assert!(not_had(&CpuLocks::take_in(folder.path(), set("2-3,100"), NO_TIME)).is_empty());
    }

    #[test]
    fn this_kernel_has_such_locks() {
        let cpu = set("0");
        let locks = CpuLocks::take(cpu);
        let again = CpuLocks::take_in(Path::new(CPUS), cpu, NO_TIME);
        assert!(locks.not_had().chain(again.not_had()).any(|it| cpu.contains(it)));
    }
}
