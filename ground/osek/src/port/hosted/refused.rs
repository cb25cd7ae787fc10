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
    /// The image was linked with less memory for stacks than they take.
    ImageTooSmall,
    /// The loader tells no time.
    NoClock,
    /// A program of its own needs an operating system.
    NoProcess,
    /// The operating system refuses something.
    System {
        /// The system call, by its name.
        what: &'static str,
        /// The number of its error.
        errno: c_int,
    },
}

impl Refused {
    /// The operating system refused it just now.
    #[cfg(not(target_os = "none"))]
    pub(super) fn system(what: &'static str) -> Self {
        Self::System { what, errno: super::surroundings::errno() }
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
            Self::ImageTooSmall => {
                write!(f, "the image has less memory for stacks than they take; build it again")
            }
            Self::NoClock => write!(f, "the loader tells no time, which a guest's kernel asks"),
            Self::NoProcess => write!(f, "in a guest the loader starts the kernel"),
            Self::System { what, errno } => {
                write!(f, "{what} failed with error {errno} of the operating system")
            }
        }
    }
}

impl core::error::Error for Refused {}
