//! The settings of a thread, as a kernel holds them: policy with priority, CPUs, locked memory.

use core::fmt;

use crate::{ByteSize, CpuSet};

/// A scheduling policy of Linux, with its priority where it has one (sched(7)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum SchedulingPolicy {
    /// `SCHED_OTHER`, the fair scheduler.
    Other,
    /// `SCHED_FIFO`.
    Fifo {
        /// 1 to 99, the highest first.
        priority: u32,
    },
    /// `SCHED_RR`.
    RoundRobin {
        /// 1 to 99, the highest first.
        priority: u32,
    },
    /// `SCHED_BATCH`.
    Batch,
    /// `SCHED_IDLE`.
    Idle,
    /// `SCHED_DEADLINE`.
    Deadline,
    /// A policy that this version doesn't know.
    Unknown {
        /// Its number in the kernel.
        number: u32,
    },
}

impl SchedulingPolicy {
    /// Makes a policy of the kernel's numbers, as in fields 40 and 41 of `/proc/PID/stat`.
    pub const fn from_kernel(number: u32, priority: u32) -> Self {
        match number {
            0 => Self::Other,
            1 => Self::Fifo { priority },
            2 => Self::RoundRobin { priority },
            3 => Self::Batch,
            5 => Self::Idle,
            6 => Self::Deadline,
            number => Self::Unknown { number },
        }
    }

    /// Returns the rank of a real-time policy, the highest first: `SCHED_DEADLINE` comes before all
    /// priorities. `None` under any other policy.
    pub const fn real_time_rank(self) -> Option<u32> {
        match self {
            Self::Deadline => Some(u32::MAX),
            Self::Fifo { priority } | Self::RoundRobin { priority } => Some(priority),
            _ => None,
        }
    }

    /// Returns the priority under `SCHED_FIFO`; `None` under any other policy.
    pub const fn fifo_priority(self) -> Option<u32> {
        match self {
            Self::Fifo { priority } => Some(priority),
            _ => None,
        }
    }
}

impl fmt::Display for SchedulingPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other => f.write_str("SCHED_OTHER"),
            Self::Fifo { priority } => write!(f, "SCHED_FIFO {priority}"),
            Self::RoundRobin { priority } => write!(f, "SCHED_RR {priority}"),
            Self::Batch => f.write_str("SCHED_BATCH"),
            Self::Idle => f.write_str("SCHED_IDLE"),
            Self::Deadline => f.write_str("SCHED_DEADLINE"),
            Self::Unknown { number } => write!(f, "policy {number}"),
        }
    }
}

/// The settings that are in force for a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ThreadSettings {
    /// Scheduling policy with its priority or budget.
    pub policy: SchedulingPolicy,
    /// The CPUs it may run on.
    pub affinity: CpuSet,
    /// The memory that its process has locked.
    pub locked: ByteSize,
}

impl ThreadSettings {
    /// Describes the difference to `later` settings of the same thread.
    pub const fn became<'a>(&'a self, later: &'a Self) -> SettingsChange<'a> {
        SettingsChange { before: self, after: later }
    }
}

impl fmt::Display for ThreadSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on CPU {}, {} locked", self.policy, self.affinity, self.locked)
    }
}

/// The difference between two settings of one thread, written as `CPU 1 became CPU 0,1`; each
/// setting that is the same is left out.
#[derive(Clone, Copy, Debug)]
pub struct SettingsChange<'a> {
    before: &'a ThreadSettings,
    after: &'a ThreadSettings,
}

impl fmt::Display for SettingsChange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { before, after } = self;
        if before == after {
            return write!(f, "{before}, which is as before");
        }
        let mut separator = "";
        if before.policy != after.policy {
            write!(f, "{} became {}", before.policy, after.policy)?;
            separator = ", ";
        }
        if before.affinity != after.affinity {
            write!(f, "{separator}CPU {} became CPU {}", before.affinity, after.affinity)?;
            separator = ", ";
        }
        if before.locked != after.locked {
            write!(f, "{separator}{} locked became {} locked", before.locked, after.locked)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> ThreadSettings {
        ThreadSettings {
            policy: SchedulingPolicy::from_kernel(1, 90),
            affinity: "1".parse().unwrap(),
            locked: ByteSize::new(5 << 20),
        }
    }

    #[test]
    fn a_change_names_each_setting_that_differs_and_no_other() {
        let settings = settings();
        let moved = ThreadSettings { affinity: "0-1".parse().unwrap(), ..settings.clone() };
        assert_eq!(settings.became(&moved).to_string(), "CPU 1 became CPU 0,1");
        let locked = ByteSize::new(1 << 20);
        let other = ThreadSettings { policy: SchedulingPolicy::Other, locked, ..settings.clone() };
        assert_eq!(
            settings.became(&other).to_string(),
            "SCHED_FIFO 90 became SCHED_OTHER, 5.00 MiB locked became 1.00 MiB locked"
        );
        let same = settings.became(&settings).to_string();
        assert_eq!(same, "SCHED_FIFO 90 on CPU 1, 5.00 MiB locked, which is as before");
    }

    #[test]
    fn real_time_policies_have_a_rank_and_the_deadline_comes_first() {
        let rank = |number| SchedulingPolicy::from_kernel(number, 7).real_time_rank();
        assert_eq!([1, 2].map(rank), [Some(7); 2]);
        assert!(rank(6) > rank(1));
        assert_eq!([0, 3, 4, 5].map(rank), [None; 4]);
    }

    #[test]
    fn every_policy_of_the_kernel_has_its_name() {
        let names = (0..8).map(|number| SchedulingPolicy::from_kernel(number, 7).to_string());
        let names: Vec<String> = names.collect();
        assert_eq!(
            names,
            [
                "SCHED_OTHER",
                "SCHED_FIFO 7",
                "SCHED_RR 7",
                "SCHED_BATCH",
                "policy 4",
                "SCHED_IDLE",
                "SCHED_DEADLINE",
                "policy 7"
            ]
        );
    }
}
