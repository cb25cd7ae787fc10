//! Settings that are requested from the kernel for a partition's tasks, and those not in force.
//!
//! A setting that was applied need not be in effect: the partition's process writes into the
//! exchange what the kernel refused, and the host reads back what holds.

use std::io;

use quietcore_exchange::{TASK_SETTINGS, TaskStatistics};
use quietcore_record::reason::NotInForce;
use quietcore_units::{ByteSize, CpuId, CpuSet, Scheduling, ThreadSetting, ThreadSettings};

/// The settings that are requested from the kernel for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Scheduling policy with its parameters.
    pub policy: Scheduling,
    /// CPU that the task is pinned to; `None` if it may move.
    pub cpu: Option<u32>,
    /// `true` if an emulator runs the task, whose memory is left unlocked.
    pub is_emulated: bool,
}

impl Asked {
    /// Lists the settings that the kernel refused.
    pub fn refused(&self, task: &TaskStatistics) -> Vec<NotInForce> {
        let refused = TASK_SETTINGS.into_iter().filter(|setting| task.refused(*setting));
        let reasons = refused.map(|setting| match setting {
            ThreadSetting::Affinity if matches!(self.policy, Scheduling::Deadline { .. }) => {
                NotInForce::DeadlineNotPinned
            }
            ThreadSetting::Policy => NotInForce::refused(
                ThreadSetting::Policy,
                io::Error::from_raw_os_error(task.error_number()),
            ),
            // The exchange keeps no other error.
            setting => NotInForce::SettingRefused { setting, error: None },
        });
        reasons.collect()
    }

    /// Lists the settings that the kernel granted, but that something else has changed since.
    pub fn not_in_force(&self, task: &TaskStatistics, found: &ThreadSettings) -> Vec<NotInForce> {
        let mut reasons = Vec::new();
        if !task.refused(ThreadSetting::Policy) {
            reasons.extend(NotInForce::other_policy(self.policy.policy(), found.policy));
        }
        if let Some(cpu) = self.cpu.and_then(CpuId::new)
            && found.affinity != CpuSet::from_iter([cpu])
            && !task.refused(ThreadSetting::Affinity)
        {
            let (cpu, may_run_on) = (cpu.get(), found.affinity);
            reasons.push(NotInForce::OtherCpus { cpu, may_run_on });
        }
        if found.locked.get() == 0 && !task.refused(ThreadSetting::MemoryLock) {
            reasons.push(match self.is_emulated {
                true => NotInForce::LeftUnlocked,
                false => NotInForce::Unlocked,
            });
        }
        reasons
    }
}

/// Compares the memory reserved for a process with what is locked; returns `None` unless less is
/// locked.
pub fn not_locked(memory: Option<ByteSize>, found: &ThreadSettings) -> Option<NotInForce> {
    let memory = memory.filter(|memory| found.locked < *memory)?;
    let (reserved_bytes, locked_bytes) = (memory.get(), found.locked.get());
    Some(NotInForce::LessLocked { reserved_bytes, locked_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use quietcore_units::SchedulingPolicy;

    #[test]
    fn memory_that_is_reserved_and_not_locked_is_said() {
        let locked = ByteSize::new(1 << 20);
        let policy = SchedulingPolicy::Fifo { priority: 90 };
        let settings = ThreadSettings { policy, affinity: CpuSet::EMPTY, locked };
        let reason = not_locked(Some(ByteSize::new(64 << 20)), &settings).unwrap();
        let said = "64.0 MiB of memory are reserved and 1.00 MiB are locked";
        assert_eq!(reason.to_string(), said);
        assert_eq!(not_locked(Some(locked), &settings), None);
        assert_eq!(not_locked(None, &settings), None);
    }
}
