//! The request for a real-time thread: scheduling, CPUs, memory, timers.
//!
//! The request is the same type from the site file's plan, over the job that a process is told, to
//! the system calls. What is in force afterwards is [`ThreadSettings`](crate::ThreadSettings).

use crate::{CpuId, CpuSet, Nanos, SchedulingPolicy};

/// A setting that a real-time thread asks for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ThreadSetting {
    /// All memory of its process locked.
    MemoryLock,
    /// The memory that an access probe works on locked.
    WorkingSetLock,
    /// Timers of the thread without slack.
    TimerSlack,
    /// One CPU of its own.
    Affinity,
    /// A real-time policy with its priority.
    Policy,
}

/// The scheduling that is asked for: a policy of Linux with its parameters (sched(7)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "policy", rename_all = "kebab-case"))]
pub enum Scheduling {
    /// `SCHED_FIFO`.
    Fifo {
        /// 1 to [`Scheduling::PRIORITY_MAX`], the highest first.
        priority: u32,
    },
    /// `SCHED_DEADLINE`. The kernel lets such a thread be pinned only inside an exclusive cpuset.
    Deadline {
        /// The CPU time that is reserved in each period.
        run_time: Nanos,
        /// The time from the begin of a period within which it is given.
        deadline: Nanos,
        /// The time between two releases.
        period: Nanos,
    },
    /// `SCHED_OTHER`, the fair scheduler.
    Other,
}

impl Scheduling {
    /// The highest priority of `SCHED_FIFO`.
    pub const PRIORITY_MAX: u32 = 99;

    /// Makes `SCHED_FIFO` with a priority of 1 to 99.
    pub const fn fifo(priority: u8) -> Self {
        Self::Fifo { priority: priority as u32 }
    }

    /// Returns the policy as the kernel reports it where this scheduling is in force.
    pub const fn policy(self) -> SchedulingPolicy {
        match self {
            Self::Fifo { priority } => SchedulingPolicy::Fifo { priority },
            Self::Deadline { .. } => SchedulingPolicy::Deadline,
            Self::Other => SchedulingPolicy::Other,
        }
    }

    /// Returns the scheduling of a thread that comes before those with this one: `SCHED_FIFO` one
    /// priority higher, where there is one; the same of any other policy.
    #[must_use]
    pub fn above(self) -> Self {
        match self {
            Self::Fifo { priority } => {
                Self::Fifo { priority: priority.saturating_add(1).min(Self::PRIORITY_MAX) }
            }
            other => other,
        }
    }

    /// Returns the same with a priority of `highest` at most; it has no effect on other policies.
    #[must_use]
    pub fn at_most(self, highest: u32) -> Self {
        match self {
            Self::Fifo { priority } => Self::Fifo { priority: priority.min(highest) },
            other => other,
        }
    }

    /// Returns `SCHED_FIFO` at a priority above all of these, or the lowest one where none of them
    /// is `SCHED_FIFO`.
    pub fn above_all(others: impl IntoIterator<Item = Self>) -> Self {
        let priorities = others.into_iter().filter_map(|one| one.policy().fifo_priority());
        Self::Fifo { priority: priorities.max().unwrap_or(0) }.above()
    }
}

/// The memory of its process that a thread asks to be locked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum MemoryLock {
    /// None; what is locked stays so.
    #[default]
    Unasked,
    /// The memory that the process has and that is present, now or when it is used first.
    InUse,
    /// All that the process has and will get.
    All,
}

/// The settings that a thread is asked to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ThreadRequest {
    /// Its policy with priority or reservation.
    pub scheduling: Scheduling,
    /// The CPUs on which alone it may run; `None` leaves those that it has.
    pub cpus: Option<CpuSet>,
    /// The memory of its process to be locked.
    pub memory: MemoryLock,
    /// `true` lets its timers go off without slack; else the kernel's default of 50 µs stays.
    pub exact_timers: bool,
}

impl ThreadRequest {
    /// Makes the request of a thread with exact timers that asks for no memory.
    pub const fn new(scheduling: Scheduling) -> Self {
        Self { scheduling, cpus: None, memory: MemoryLock::Unasked, exact_timers: true }
    }

    /// Makes the request of a thread that measures: with exact timers, all memory locked, and
    /// pinned to a CPU if one is named.
    pub fn measuring(scheduling: Scheduling, cpu: Option<CpuId>) -> Self {
        Self { memory: MemoryLock::All, ..Self::new(scheduling) }.on(cpu)
    }

    /// Pins the thread to a CPU if one is named.
    #[must_use]
    pub fn on(self, cpu: Option<CpuId>) -> Self {
        Self { cpus: cpu.map(|cpu| CpuSet::from_iter([cpu])), ..self }
    }

    /// Returns the CPU to which the thread is pinned; `None` where it may move.
    pub fn cpu(&self) -> Option<CpuId> {
        let cpus = self.cpus.filter(|cpus| cpus.len() == 1)?;
        cpus.iter().next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn fifo(priority: u8) -> Scheduling {
        Scheduling::fifo(priority)
    }

    #[test]
    fn a_thread_above_others_has_the_next_priority_up_to_the_highest() {
        assert_eq!(fifo(80).above(), fifo(81));
        assert_eq!(fifo(99).above(), fifo(99));
        assert_eq!(Scheduling::Other.above(), Scheduling::Other);
        let others = [fifo(20), Scheduling::Other, fifo(50)];
        assert_eq!(Scheduling::above_all(others), fifo(51));
        assert_eq!(Scheduling::above_all([Scheduling::Other]), fifo(1));
        assert_eq!((fifo(99).at_most(98), fifo(7).at_most(98)), (fifo(98), fifo(7)));
    }

    #[test]
    fn a_request_is_pinned_where_it_names_one_cpu() {
        let cpu = CpuId::new(3);
        assert_eq!(ThreadRequest::measuring(fifo(90), cpu).cpu(), cpu);
        let request = ThreadRequest::new(fifo(90));
        assert_eq!(request.cpu(), None);
        let cpus = "1-2".parse().ok();
        assert_eq!(ThreadRequest { cpus, ..request }.cpu(), None);
    }
}
