//! What is asked of the kernel for the tasks of a partition, and what of it is not in force.
//!
//! Applied is not effective: a partition's own process writes into the exchange what the kernel
//! refused, and the host reads back what holds.

use quietcore_exchange::{Setting, TaskStatistics};
use quietcore_process::readback::ThreadState;
use quietcore_process::setting::Policy;
use quietcore_units::{ByteSize, CpuId, CpuSet};

/// What is asked of the kernel for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// How it is scheduled.
    pub policy: Policy,
    /// The CPU on which it runs; `None` if it may move.
    pub cpu: Option<u32>,
}

impl Asked {
    /// What the kernel refused, with what that costs and how it is granted.
    pub fn refused(&self, task: &TaskStatistics) -> Vec<String> {
        let refused = Setting::ALL.into_iter().filter(|setting| task.refused(*setting));
        let words = refused.map(|setting| match setting {
            Setting::Affinity if matches!(self.policy, Policy::Deadline { .. }) => {
                "SCHED_DEADLINE threads can't be pinned outside an exclusive cpuset".to_owned()
            }
            Setting::Affinity => "the thread could not be pinned to its CPU".to_owned(),
            Setting::Policy => format!(
                "the kernel refused the real-time policy (error {}), so the task ran as \
                 SCHED_OTHER; run as root, or grant CAP_SYS_NICE or an rtprio limit",
                task.error_number()
            ),
            Setting::MemoryLock => "memory is not locked, so a page fault may delay a release; \
                                    run as root, or raise the memlock limit"
                .to_owned(),
            Setting::TimerSlack => "timers have the kernel's default slack of 50 µs".to_owned(),
        });
        words.collect()
    }

    /// What the kernel granted and something else has taken back before it was read.
    pub fn not_in_force(&self, task: &TaskStatistics, found: &ThreadState) -> Vec<String> {
        let mut words = Vec::new();
        let policy = match self.policy {
            Policy::Fifo(priority) => format!("SCHED_FIFO {priority}"),
            Policy::Deadline { .. } => "SCHED_DEADLINE".to_owned(),
            Policy::Other => "SCHED_OTHER".to_owned(),
        };
        let in_force = found.policy_text();
        if in_force != policy && !task.refused(Setting::Policy) {
            words.push(format!("{policy} was granted and {in_force} is in force"));
        }
        if let Some(cpu) = self.cpu.and_then(CpuId::new)
            && found.affinity != CpuSet::from_iter([cpu])
            && !task.refused(Setting::Affinity)
        {
            let affinity = &found.affinity;
            words.push(format!("the thread was pinned to CPU {cpu} and may run on {affinity}"));
        }
        if found.locked.get() == 0 && !task.refused(Setting::MemoryLock) {
            words.push("memory was locked and nothing of it is locked any more".to_owned());
        }
        words
    }
}

/// What of the memory that is reserved for a process is not locked.
pub fn not_locked(memory: Option<ByteSize>, found: &ThreadState) -> Option<String> {
    let memory = memory.filter(|memory| found.locked < *memory)?;
    Some(format!("{memory} of memory are reserved and {} are locked", found.locked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_reserved_and_not_locked_is_said() {
        let locked = ByteSize::new(1 << 20);
        let state = ThreadState { policy: 1, priority: 90, affinity: CpuSet::EMPTY, locked };
        let words = not_locked(Some(ByteSize::new(64 << 20)), &state);
        assert_eq!(words.unwrap(), "64.0 MiB of memory are reserved and 1.00 MiB are locked");
        assert_eq!(not_locked(Some(locked), &state), None);
        assert_eq!(not_locked(None, &state), None);
    }
}
