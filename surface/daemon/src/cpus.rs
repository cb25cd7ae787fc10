//! The CPUs that the daemon runs on: those of no partition.
//!
//! Sites come and go while the daemon runs, so a thread looks for their partitions again and again,
//! and moves all threads of this process, and those of compilers that it runs. A thread or process
//! that is made later runs where its maker does. A run that the daemon has started measures on the
//! CPUs of partitions, and is left alone.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use quietcore_host::Source;
use quietcore_host::running_partitions::RunningPartition;
use quietcore_process::thread::setting;
use quietcore_units::CpuSet;

/// Time between two looks; for so long a new partition may find the daemon on its CPU.
const LOOK: Duration = Duration::from_secs(1);

/// The CPUs that the daemon was given when it began.
static GIVEN: OnceLock<CpuSet> = OnceLock::new();
/// Numbers of the processes that are started apart. Held while one is started, and while threads
/// are moved.
static APART: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Starts a process on all CPUs that the daemon was given, which is never moved: its partitions
/// need theirs. To be forgotten once it has ended.
///
/// # Errors
/// Those of the operating system.
pub(crate) fn start_apart(command: &mut Command) -> io::Result<Child> {
    let mut apart = APART.lock().unwrap_or_else(PoisonError::into_inner);
    // The CPUs of a thread are those of what it starts; this one ends with that.
    let started = thread::scope(|scope| {
        let starter = scope.spawn(|| {
            if let Some(given) = GIVEN.get() {
                // Where it can't be there, the process says which CPUs it lacks.
                let _ = setting::allow(*given);
            }
            command.spawn()
        });
        starter.join()
    });
    let child = started.map_err(|_| io::Error::other("the thread that starts it has ended"))??;
    apart.insert(child.id());
    Ok(child)
}

/// Forgets a process that has ended.
pub(crate) fn forget(process: u32) {
    APART.lock().unwrap_or_else(PoisonError::into_inner).remove(&process);
}

/// Keeps the threads of this process off the CPUs of partitions. Dropping it ends the watch, and
/// leaves the threads where they are.
#[derive(Debug)]
pub(crate) struct OffPartitions {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl OffPartitions {
    /// Moves the threads now, and whenever partitions have come or gone.
    pub(crate) fn watch() -> Self {
        let allowed = setting::allowed().unwrap_or_default();
        GIVEN.get_or_init(|| allowed);
        let (end, ended) = channel();
        let watch = thread::Builder::new().name("cpus".to_owned());
        // Without the thread the daemon runs anywhere, at ordinary priority, which a real-time task
        // notices by its caches at most.
        let thread = watch.spawn(move || keep_off(allowed, &ended)).ok();
        Self { end: Some(end), thread }
    }
}

impl Drop for OffPartitions {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn keep_off(allowed: CpuSet, ended: &Receiver<()>) {
    let mut last = None;
    loop {
        let partitions = RunningPartition::find_others(&Source::live());
        let claimed = partitions.iter().filter_map(|it| it.owner.as_ref().map(|it| it.cpus));
        let house = house(allowed, claimed);
        if last != Some(house) {
            move_threads(house);
            last = Some(house);
        }
        if ended.recv_timeout(LOOK) != Err(RecvTimeoutError::Timeout) {
            return;
        }
    }
}

/// Returns the allowed CPUs that no partition claims; all of them where partitions claim all.
fn house(allowed: CpuSet, claimed: impl Iterator<Item = CpuSet>) -> CpuSet {
    let claimed = claimed.fold(CpuSet::default(), |all, cpus| all.union(&cpus));
    let house = allowed.without(&claimed);
    if house.is_empty() { allowed } else { house }
}

/// The most generations of processes that are looked for below this one.
const GENERATIONS_MAX: usize = 16;

fn move_threads(cpus: CpuSet) {
    let apart = APART.lock().unwrap_or_else(PoisonError::into_inner);
    let mut processes = vec![std::process::id()];
    for _ in 0..GENERATIONS_MAX {
        let threads = processes.iter().flat_map(|process| threads_of(*process));
        let threads: Vec<(u32, u32)> = threads.collect();
        for (_, thread) in &threads {
            // It may have ended meanwhile.
            let _ = setting::allow_other(*thread, cpus);
        }
        let children = threads.into_iter().flat_map(children_of);
        processes = children.filter(|process| !apart.contains(process)).collect();
        if processes.is_empty() {
            return;
        }
    }
}

fn threads_of(process: u32) -> impl Iterator<Item = (u32, u32)> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let numbers = threads.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.map(move |thread| (process, thread))
}

fn children_of((process, thread): (u32, u32)) -> Vec<u32> {
    let listed = fs::read_to_string(format!("/proc/{process}/task/{thread}/children"));
    let listed = listed.unwrap_or_default();
    listed.split_ascii_whitespace().filter_map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt as _;
    use std::time::Instant;

    use super::*;

    fn cpus(text: &str) -> CpuSet {
        text.parse().expect("a list of CPUs")
    }

    #[test]
    fn the_daemon_has_the_cpus_that_no_partition_claims() {
        let house = |claimed: &[&str]| house(cpus("0-3"), claimed.iter().map(|it| cpus(it)));
        assert_eq!(house(&[]), cpus("0-3"));
        assert_eq!(house(&["1", "3", "7"]), cpus("0,2"));
        assert_eq!(house(&["0-1", "2-3"]), cpus("0-3"), "it has to run somewhere");
    }

    #[test]
    fn what_a_compiler_runs_is_found_below_the_daemon() {
        let mut shell = std::process::Command::new("sh")
            .args(["-c", "sh -c 'sleep 1000 & wait; :' & wait; :"])
            .process_group(0)
            .spawn()
            .expect("a shell");
        let below = |process: u32| threads_of(process).flat_map(children_of).collect::<Vec<_>>();
        let end = Instant::now() + Duration::from_secs(60);
        let found = loop {
            let own = below(std::process::id()).contains(&shell.id());
            let deeper: Vec<u32> = below(shell.id()).into_iter().flat_map(below).collect();
            if (own && !deeper.is_empty()) || Instant::now() > end {
                break (own, deeper.len());
            }
            thread::sleep(Duration::from_millis(5));
        };
        let group = rustix::process::Pid::from_raw(shell.id().cast_signed()).expect("a number");
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).expect("ours");
        shell.wait().expect("it ends");
        assert_eq!(found, (true, 1), "the child, and the child of its child");
    }
}
