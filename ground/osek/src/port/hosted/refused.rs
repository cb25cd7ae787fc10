//! Why a machine does not run.

use core::ffi::c_int;

use crate::check::Refusal;
use crate::port::ticks::TICK_NS_MIN;
use crate::stacks::STACKS_BYTES_MAX;
use crate::system::StartError;

/// Why a machine does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The kernel refuses the configuration, or the mode.
    Start(StartError),
    /// Another one runs in this process, or this one already does.
    AlreadyRuns,
    /// The tick is too short for a process.
    TickTooShort,
    /// The stacks are larger than all together may be.
    StacksTooLarge,
    /// The operating system refuses something.
    System {
        /// What it was.
        what: &'static str,
        /// The number of its error.
        errno: c_int,
    },
}

impl Refused {
    /// The operating system refused it just now.
    pub(super) fn system(what: &'static str) -> Self {
        Self::System { what, errno: super::errno::get() }
    }
}

impl From<StartError> for Refused {
    fn from(error: StartError) -> Self {
        Self::Start(error)
    }
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self::Start(StartError::Refused(refusal))
    }
}

impl core::fmt::Display for Refused {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Start(error) => write!(f, "{error}"),
            Self::AlreadyRuns => write!(f, "a kernel runs in this process already"),
            Self::TickTooShort => {
                write!(f, "the tick is shorter than {} µs; use a longer one", TICK_NS_MIN / 1000)
            }
            Self::StacksTooLarge => {
                let mib = STACKS_BYTES_MAX >> 20;
                write!(f, "all stacks together exceed {mib} MiB; give tasks smaller ones")
            }
            Self::System { what, errno } => {
                write!(f, "{what} failed with error {errno} of the operating system")
            }
        }
    }
}

impl core::error::Error for Refused {}
