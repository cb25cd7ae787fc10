//! A task of a program: the rule of its releases, the account of its jobs, and what follows when it
//! is late or at fault.
//!
//! The same types go from the site file to the thread that runs the task, and from a kernel inside
//! of a program to the scan cycle around it.

use crate::Nanos;

/// The rule by which a task is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum ReleaseRule {
    /// Released by the clock, once in each period.
    Cyclic {
        /// Time between two releases, 20 µs to 10 s.
        period: Nanos,
        /// Time from the common start to its first release; less than the period.
        offset: Nanos,
    },
    /// Released when its trigger becomes true, looked at in each cycle of the leading task.
    Event {
        /// The least time between two releases.
        gap: Nanos,
    },
    /// Released again and again while its trigger is true.
    Status {
        /// The least time between two releases.
        gap: Nanos,
    },
    /// Released again as soon as a job is done.
    Freewheeling {
        /// The pause after a job.
        gap: Nanos,
    },
}

impl ReleaseRule {
    /// Returns the word in the site file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cyclic { .. } => "cyclic",
            Self::Event { .. } => "event",
            Self::Status { .. } => "status",
            Self::Freewheeling { .. } => "freewheeling",
        }
    }

    /// Returns the period of a cyclic task; `None` for the others.
    pub const fn period(self) -> Option<Nanos> {
        match self {
            Self::Cyclic { period, .. } => Some(period),
            Self::Event { .. } | Self::Status { .. } | Self::Freewheeling { .. } => None,
        }
    }

    /// Returns the period or gap: the shortest time between two releases.
    pub const fn interval(self) -> Nanos {
        match self {
            Self::Cyclic { period: interval, .. }
            | Self::Event { gap: interval }
            | Self::Status { gap: interval }
            | Self::Freewheeling { gap: interval } => interval,
        }
    }
}

/// A job of a kernel's task that ended, or a stretch of one after which the task began to wait.
///
/// It is `struct quietcore_job` of `quietcore_services.h`, through which a kernel in C tells it, so
/// that its layout is that of C. All instants are on the clock of whoever tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct KernelJob {
    /// The task: its place in the module's list of names, which is its number in the kernel.
    pub task: u32,
    /// 1 if the task waits now, 0 if it ended.
    pub waits: u32,
    /// When it was released, in ns: its activation, the event it had waited for, or the tick that
    /// caused either.
    pub released_ns: u64,
    /// When it first ran, in ns.
    pub started_ns: u64,
    /// When it ended, in ns.
    pub finished_ns: u64,
    /// Time in which it ran, in ns, without those that preempted it.
    pub execution_ns: u64,
}

/// Treatment of releases that pass while a cycle is still running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Overrun {
    /// They are skipped and counted; the next one comes on time.
    #[default]
    Skip,
    /// They are run one after the other without a pause until the program has caught up.
    CatchUp,
    /// The program is at fault.
    Stop,
}

/// Values of the outputs when the program is at fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FaultReaction {
    /// They keep the values of the last good cycle.
    Hold,
    /// They become zero or `false`.
    #[default]
    Zero,
    /// They take the values in `substitute`.
    Substitute,
}

impl Overrun {
    /// Returns the response time beyond which a job of a task with this rule is a fault: until its
    /// next release under [`Overrun::Stop`]; `None` where a late job is none.
    pub fn stop_beyond(self, rule: ReleaseRule) -> Option<Nanos> {
        rule.period().filter(|_| self == Self::Stop)
    }
}
