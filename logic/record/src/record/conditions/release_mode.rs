//! The way in which the releases of a task are made.

use std::fmt;

use quietcore_units::{Wake, WakeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The context in which another program's tracer measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TracedContext {
    /// The interrupt of the timer.
    Interrupt,
    /// A thread of the kernel.
    KernelThread,
    /// A thread of a process.
    UserThread,
    /// Every interruption of a thread that spins.
    Noise,
}

/// The way in which the releases of a task are made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum ReleaseMode {
    /// The data don't say.
    #[default]
    Unknown,
    /// A timer, for which the task waits.
    Timer {
        /// The way in which it waits.
        wait: Wake,
        /// `true` if task and timer are those of a guest.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        in_guest: bool,
    },
    /// The program's own kernel.
    Kernel,
    /// The tracer of another program measured a context of the kernel.
    Traced {
        /// The context that was measured.
        context: TracedContext,
    },
    /// No timer: an event, a procedure of blocks, or one cycle right after the other.
    NotTimed {
        /// A description for people.
        procedure: String,
    },
    /// Words of an earlier version that say no more than they do.
    Stated {
        /// The words as they stood there.
        words: String,
        /// The way of waiting that stood beside the words or begins them; absent for none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wake: Option<WakeKind>,
    },
}

impl ReleaseMode {
    /// Makes the mode of a task on the host that waits for a timer.
    pub const fn timer(wait: Wake) -> Self {
        Self::Timer { wait, in_guest: false }
    }

    /// Makes the mode of a task that no timer releases.
    pub fn not_timed(procedure: impl Into<String>) -> Self {
        Self::NotTimed { procedure: procedure.into() }
    }

    /// Returns how the task waits; `None` where no timer releases it.
    pub const fn wake(&self) -> Option<WakeKind> {
        match self {
            Self::Timer { wait, .. } => Some(wait.kind()),
            Self::Stated { wake, .. } => *wake,
            Self::Unknown | Self::Kernel | Self::Traced { .. } | Self::NotTimed { .. } => None,
        }
    }

    /// Returns `true` where the data say something.
    pub fn is_known(&self) -> bool {
        *self != Self::Unknown
    }

    /// Returns `true` where the data say nothing.
    pub(super) fn is_unknown(&self) -> bool {
        !self.is_known()
    }
}

impl fmt::Display for ReleaseMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => Ok(()),
            Self::Timer { wait, in_guest: false } => wait.fmt(f),
            Self::Timer { wait, in_guest: true } => write!(f, "{wait}, in a guest"),
            Self::Kernel => f.write_str("released by the program's kernel"),
            Self::Traced { context } => f.write_str(match context {
                TracedContext::Interrupt => "interrupt",
                TracedContext::KernelThread => "kernel thread",
                TracedContext::UserThread => "user thread",
                TracedContext::Noise => "noise",
            }),
            Self::NotTimed { procedure: words } | Self::Stated { words, .. } => f.write_str(words),
        }
    }
}
