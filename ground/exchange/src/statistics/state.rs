//! The state of a task, and the settings that the kernel granted it.

/// The state of a task, as it writes it itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// Nobody has written to the block yet.
    Unused,
    /// The task prepares itself: priority, memory, first release.
    Starting,
    /// Cycles are being run.
    Running,
    /// All cycles that were asked for have been run.
    Finished,
    /// The task ended early because it was told to.
    Stopped,
    /// The task ended because of a fault.
    Failed,
    /// The number is none of these; the other side is of another kind or broken.
    Unknown(u32),
}

impl TaskState {
    pub(crate) const fn code(self) -> u32 {
        match self {
            Self::Unused => 0,
            Self::Starting => 1,
            Self::Running => 2,
            Self::Finished => 3,
            Self::Stopped => 4,
            Self::Failed => 5,
            Self::Unknown(code) => code,
        }
    }

    pub(crate) const fn from_code(code: u32) -> Self {
        match code {
            0 => Self::Unused,
            1 => Self::Starting,
            2 => Self::Running,
            3 => Self::Finished,
            4 => Self::Stopped,
            5 => Self::Failed,
            other => Self::Unknown(other),
        }
    }

    /// Returns `true` if no further cycle will come.
    pub const fn has_ended(self) -> bool {
        matches!(self, Self::Finished | Self::Stopped | Self::Failed | Self::Unknown(_))
    }
}

/// Something that a task asks of the kernel for itself before its first cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// To run on its CPU only.
    Affinity,
    /// Its scheduling policy and priority.
    Policy,
    /// Memory locked by `mlockall`.
    MemoryLock,
    /// Timers without slack, so that a sleep ends at its instant.
    TimerSlack,
}

impl Setting {
    /// All four, in the order of their bits.
    pub const ALL: [Self; 4] = [Self::Affinity, Self::Policy, Self::MemoryLock, Self::TimerSlack];

    pub(crate) const fn bit(self) -> u64 {
        1 << self as u32
    }
}
