//! A thread's settings as the kernel reports them, seen from outside.
//!
//! Applied is not effective: the host reads what is in force, at the start of a run and at its end.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use quietcore_units::{ByteSize, CpuSet};

/// What is in force for a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadState {
    /// Scheduling policy by its kernel number.
    pub policy: u32,
    /// Real-time priority; 0 for other policies.
    pub priority: u32,
    /// CPUs it may run on.
    pub affinity: CpuSet,
    /// Memory that its process has locked.
    pub locked: ByteSize,
}

/// Field numbers of `/proc/PID/stat`, counted after the command (proc(5): 40 and 41).
const PRIORITY_FIELD: usize = 40 - 3;
const POLICY_FIELD: usize = 41 - 3;

impl ThreadState {
    /// Reads the state of thread `thread` of process `process`.
    ///
    /// # Errors
    /// When the thread has ended or the kernel's text isn't as documented.
    pub fn read(process: u32, thread: u32) -> io::Result<Self> {
        Self::read_in(Path::new("/proc"), process, thread)
    }

    fn read_in(proc: &Path, process: u32, thread: u32) -> io::Result<Self> {
        let folder = proc.join(format!("{process}/task/{thread}"));
        let stat = fs::read_to_string(folder.join("stat"))?;
        let status = fs::read_to_string(folder.join("status"))?;
        Self::parse(&stat, &status).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, "the kernel's text is not as documented")
        })
    }

    fn parse(stat: &str, status: &str) -> Option<Self> {
        // The command is in parentheses and may hold anything, parentheses too.
        let (_, after_command) = stat.rsplit_once(')')?;
        let field = |index: usize| after_command.split_whitespace().nth(index)?.parse().ok();
        let line = |name: &str| {
            status
                .lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
                .map(str::trim)
        };
        let locked_kib: u64 = line("VmLck")?.strip_suffix("kB")?.trim().parse().ok()?;
        Some(Self {
            policy: field(POLICY_FIELD)?,
            priority: field(PRIORITY_FIELD)?,
            affinity: line("Cpus_allowed_list")?.parse().ok()?,
            locked: ByteSize::new(locked_kib << 10),
        })
    }

    /// The policy and priority in words, such as `SCHED_FIFO 90`.
    pub fn policy_text(&self) -> String {
        let name = match self.policy {
            0 => "SCHED_OTHER",
            1 => return format!("SCHED_FIFO {}", self.priority),
            2 => return format!("SCHED_RR {}", self.priority),
            3 => "SCHED_BATCH",
            5 => "SCHED_IDLE",
            6 => "SCHED_DEADLINE",
            other => return format!("policy {other}"),
        };
        name.to_owned()
    }

    /// The priority under SCHED_FIFO; `None` under any other policy.
    pub fn fifo_priority(&self) -> Option<u32> {
        (self.policy == 1).then_some(self.priority)
    }
}

impl ThreadState {
    /// Describes what differs in a later state of the same thread.
    pub fn became(&self, later: &Self) -> String {
        let policies = [self, later].map(Self::policy_text);
        let cpus = [self, later].map(|state| format!("CPU {}", state.affinity));
        let memory = [self, later].map(|state| format!("{} locked", state.locked));
        let all = [policies, cpus, memory];
        let differing = all.iter().filter(|[before, after]| before != after);
        let words: Vec<_> =
            differing.map(|[before, after]| format!("{before} became {after}")).collect();
        if words.is_empty() { format!("{self}, which is as before") } else { words.join(", ") }
    }
}

impl fmt::Display for ThreadState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on CPU {}, {} locked", self.policy_text(), self.affinity, self.locked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "19150 (a (b) c) R 19145 19145 1470 0 -1 4194560 179 0 1 0 0 0 0 0 -91 0 1 \
                        0 209903 3133440 416 18446744073709551615 9 9 9 0 0 0 0 0 0 0 0 0 17 1 90 \
                        1 0 0 0 9 9 9 0\n";
    const STATUS: &str = "Name:\ta\nVmLck:\t    5120 kB\nCpus_allowed_list:\t1\n";

    #[test]
    fn the_kernels_text_is_understood() {
        let state = ThreadState::parse(STAT, STATUS).unwrap();
        assert_eq!(state.to_string(), "SCHED_FIFO 90 on CPU 1, 5.00 MiB locked");
    }

    #[test]
    fn what_changed_is_named_and_nothing_else() {
        let state = ThreadState::parse(STAT, STATUS).unwrap();
        let moved = ThreadState { affinity: "0-1".parse().unwrap(), ..state.clone() };
        assert_eq!(state.became(&moved), "CPU 1 became CPU 0,1");
        let locked = ByteSize::new(1 << 20);
        let other = ThreadState { policy: 0, priority: 0, locked, ..state.clone() };
        assert_eq!(
            state.became(&other),
            "SCHED_FIFO 90 became SCHED_OTHER, 5.00 MiB locked became 1.00 MiB locked"
        );
    }

    #[test]
    fn text_that_is_cut_off_is_not_taken_for_a_state() {
        assert_eq!(ThreadState::parse(&STAT[..60], STATUS), None);
        assert_eq!(ThreadState::parse(STAT, "VmLck:\t 1 MB\n"), None);
        assert_eq!(ThreadState::parse("", ""), None);
    }

    #[test]
    fn the_own_thread_can_be_read() {
        let own = std::process::id();
        let state = ThreadState::read(own, own).unwrap();
        assert!(!state.affinity.is_empty());
        assert!(ThreadState::read(own, u32::MAX).is_err());
    }
}
