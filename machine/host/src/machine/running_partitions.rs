//! The partitions that run on this machine, whoever started them and wherever that one keeps his
//! files.
//!
//! Running partitions are found among the processes, so that nothing is ever left of one that has
//! ended. Each process of a partition bears its owner in its arguments:
//!
//! ```text
//! quietcore-runtime partition 7 of=press/axis cpus=1 by=4711-883721-4026531836
//!                                  │     │         │    └ supervisor: process, begin, namespace
//!                                  site  partition └ the CPUs that its tasks are pinned to
//! ```
//!
//! That of a campaign or a probe bears nothing: it ends by itself, and what it has is seen from its
//! threads alone. Policies and CPUs are always those that the kernel says of the threads. Processes
//! in containers are seen by who is outside of them, and not the other way round.

use std::path::Path;
use std::str::FromStr;

use quietcore_units::{CpuId, CpuSet, SchedulingPolicy};

use crate::cpu_list::CpuList;
use crate::process::ProcessName;
use crate::source::Source;

/// The program that partitions run in, and what its first argument is then.
const RUNTIME: &str = "quietcore-runtime";
const PARTITION: &str = "partition";
/// Threads looked at of one process.
const THREADS_MAX: usize = 256;
/// The fields of `/proc/PID/stat` (proc_pid_stat(5)), counted from the one behind the name.
const REAL_TIME_PRIORITY: usize = 37;
const POLICY: usize = 38;

/// The owner of a partition's process, for as long as its site is up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionOwner {
    /// Name of the site.
    pub site: String,
    /// Name of the partition.
    pub partition: String,
    /// The CPUs that its tasks are pinned to.
    pub cpus: CpuSet,
    /// The process of the supervisor.
    pub supervisor: ProcessName,
}

impl PartitionOwner {
    /// A partition of this process.
    pub fn own(site: &str, partition: &str, cpus: CpuSet) -> Self {
        let supervisor = ProcessName::own(&Source::live());
        Self { site: site.to_owned(), partition: partition.to_owned(), cpus, supervisor }
    }

    /// Returns the arguments that say so.
    pub fn arguments(&self) -> [String; 3] {
        let Self { site, partition, cpus, supervisor } = self;
        [format!("of={site}/{partition}"), format!("cpus={cpus}"), format!("by={supervisor}")]
    }

    /// Parses the arguments of a process.
    fn of_arguments(arguments: &[&str]) -> Option<Self> {
        let value = |key: &str| arguments.iter().find_map(|it| it.strip_prefix(key));
        let (site, partition) = value("of=")?.split_once('/')?;
        Some(Self {
            site: site.to_owned(),
            partition: partition.to_owned(),
            cpus: value("cpus=")?.parse().ok()?,
            supervisor: ProcessName::from_str(value("by=")?).ok()?,
        })
    }
}

/// A real-time thread, and where it may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RealTimeThread {
    /// The real-time policy that it has, with its priority if that has one.
    pub policy: SchedulingPolicy,
    /// The CPUs that it may run on.
    pub cpus: CpuSet,
}

/// A partition that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningPartition {
    /// Number of its process.
    pub process: u32,
    /// The user whose process it is: the name, or the number where it has none here.
    pub user: String,
    /// Whose it is; `None` where a campaign or a probe measures.
    pub owner: Option<PartitionOwner>,
    /// Its threads under a real-time policy.
    pub threads: Vec<RealTimeThread>,
}

impl RunningPartition {
    /// Finds all of them but those that this process has started, ordered by their processes.
    pub fn find_others(source: &Source) -> Vec<Self> {
        Self::find_others_but(source, &[])
    }

    /// Finds all of them but those that this process has started and those of the processes
    /// `known`, of which no file is read: that would hold up a process that maps memory.
    pub fn find_others_but(source: &Source, known: &[u32]) -> Vec<Self> {
        let own = ProcessName::own(source);
        let processes = source.numbered("/proc", "");
        let processes = processes.into_iter().filter(|process| !known.contains(process));
        processes.filter_map(|process| Self::read(source, process, &own)).collect()
    }

    fn read(source: &Source, process: u32, own: &ProcessName) -> Option<Self> {
        let bytes = source.bytes(&format!("/proc/{process}/cmdline"));
        let text = String::from_utf8_lossy(bytes.get()?).into_owned();
        let mut arguments = text.split('\0');
        let program = Path::new(arguments.next()?).file_name()?.to_str()?;
        let _exchange: u32 =
            (arguments.next() == Some(PARTITION)).then(|| arguments.next())??.parse().ok()?;
        let owner = PartitionOwner::of_arguments(&arguments.collect::<Vec<_>>());
        match &owner {
            // It is about to end along with its supervisor.
            Some(owner) if owner.supervisor == *own || !owner.supervisor.lives(source) => {
                return None;
            }
            None if program != RUNTIME || parent(source, process) == Some(own.process) => {
                return None;
            }
            Some(_) | None => {}
        }
        let user = user(source, process)?;
        Some(Self { process, user, owner, threads: threads(source, process) })
    }

    /// Returns the highest policy of its threads that may run on `cpu`; of those alone that may run
    /// nowhere else where that is asked.
    pub fn policy_on(&self, cpu: CpuId, is_pinned: bool) -> Option<SchedulingPolicy> {
        let runs_there = |thread: &&RealTimeThread| {
            thread.cpus.contains(cpu) && (!is_pinned || thread.cpus.len() == 1)
        };
        let there = self.threads.iter().filter(runs_there).map(|thread| thread.policy);
        there.max_by_key(|policy| policy.real_time_rank())
    }
}

/// The value of a line of a status file.
fn status(source: &Source, path: &str, key: &str) -> Option<String> {
    let text = source.text(path);
    let line = text.get()?.lines().find_map(|line| line.strip_prefix(key))?;
    Some(line.trim().to_owned())
}

fn parent(source: &Source, process: u32) -> Option<u32> {
    status(source, &format!("/proc/{process}/status"), "PPid:")?.parse().ok()
}

fn user(source: &Source, process: u32) -> Option<String> {
    let numbers = status(source, &format!("/proc/{process}/status"), "Uid:")?;
    let number = numbers.split_whitespace().next()?.parse().ok()?;
    Some(user_name(source, number))
}

/// Returns the name of a user; `user NUMBER` where the machine's table of users does not have it.
pub fn user_name(source: &Source, number: u32) -> String {
    let users = source.text("/etc/passwd");
    let named = users.get().and_then(|users| {
        users.lines().find_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?;
            (fields.nth(1)?.parse() == Ok(number)).then(|| name.to_owned())
        })
    });
    named.unwrap_or_else(|| format!("user {number}"))
}

fn threads(source: &Source, process: u32) -> Vec<RealTimeThread> {
    let numbers = source.numbered(&format!("/proc/{process}/task"), "");
    let read = |number: u32| {
        let own = format!("/proc/{process}/task/{number}");
        let stat = source.text(&format!("{own}/stat"));
        // The name in parentheses may have anything in it.
        let fields: Vec<&str> = stat.get()?.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |field: usize| fields.get(field)?.parse::<u32>().ok();
        let policy = SchedulingPolicy::from_kernel(number(POLICY)?, number(REAL_TIME_PRIORITY)?);
        policy.real_time_rank()?;
        let cpus = status(source, &format!("{own}/status"), "Cpus_allowed_list:")?;
        Some(RealTimeThread { policy, cpus: cpus.parse::<CpuList>().ok()?.0 })
    };
    // One that has ended meanwhile runs nowhere.
    numbers.into_iter().take(THREADS_MAX).filter_map(read).collect()
}

#[cfg(test)]
mod tests;
