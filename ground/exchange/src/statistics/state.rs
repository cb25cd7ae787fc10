//! The state of a task, and the settings that the kernel granted it.

use quietcore_units::ThreadSetting;

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

/// The settings that a task asks of the kernel for itself before its first cycle, in the order of
/// their bits.
pub const TASK_SETTINGS: [ThreadSetting; 4] = [
    ThreadSetting::Affinity,
    ThreadSetting::Policy,
    ThreadSetting::MemoryLock,
    ThreadSetting::TimerSlack,
];

/// Returns the bit that says that a setting was refused; zero for one that no task asks for.
pub(crate) fn bit_of(setting: ThreadSetting) -> u64 {
    TASK_SETTINGS.iter().position(|one| *one == setting).map_or(0, |place| 1 << place)
}
