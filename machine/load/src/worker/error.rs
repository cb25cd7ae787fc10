//! The reasons why a worker could not begin.
//!
//! They are told once, on standard error, before the process ends with status 2. A worker that
//! can't set one of its conditions does no work: a load must be the same whoever starts it.

use std::io;
use std::path::PathBuf;

use quietcore_units::CpuSet;

/// Reason and remedy of CPUs that can't be had.
const NOT_ITS: &str = "its control group lacks some, as it does where the controls `programs` or \
                       `load-balance` keep them for partitions";

/// The worker could not begin.
#[derive(Debug, thiserror::Error)]
pub(super) enum BeginError {
    /// The parent's memory can't be mapped.
    #[error("could not open the board at descriptor {descriptor}: {cause}")]
    Board {
        /// The descriptor on the command line.
        descriptor: u32,
        /// The error of the kernel.
        cause: io::Error,
    },
    /// The number on the command line is beyond the board's slots.
    #[error("the board has no slot {0}")]
    NoSlot(u32),
    /// The kernel refused a setting or a thread.
    #[error("could not {action}: {cause}")]
    Refused {
        /// The action, as it stands behind "could not".
        action: &'static str,
        /// The error of the kernel.
        cause: io::Error,
    },
    /// The timer slack reads back as another one.
    #[error("the timer slack is {found} ns, not {asked} ns")]
    TimerSlack {
        /// The value that was read back, in ns.
        found: u64,
        /// The value that was set, in ns.
        asked: u64,
    },
    /// The parent is nice, and this user may not be less so.
    #[error("could not reset the niceness {inherited}: {cause}; start without `nice`, or as root")]
    Niceness {
        /// The niceness of the parent.
        inherited: i32,
        /// The error of the kernel.
        cause: io::Error,
    },
    /// The niceness reads back as another one than 0.
    #[error("the niceness is still {0}")]
    NicenessStays(i32),
    /// The control group can't be entered.
    #[error("could not enter a control group by `{}`: {cause}", entrance.display())]
    ControlGroup {
        /// The file of the group that was written.
        entrance: PathBuf,
        /// The error of the kernel.
        cause: io::Error,
    },
    /// The kernel refused all of the CPUs.
    #[error("could not bind to cpus `{asked}`: {cause}; {NOT_ITS}")]
    NotBound {
        /// The CPUs of the request.
        asked: Box<CpuSet>,
        /// The error of the kernel.
        cause: io::Error,
    },
    /// The kernel granted some of the CPUs.
    #[error("asked for cpus `{asked}` and got `{bound}`; {NOT_ITS}")]
    OtherCpus {
        /// The CPUs of the request.
        asked: Box<CpuSet>,
        /// The CPUs that were read back.
        bound: Box<CpuSet>,
    },
}

impl BeginError {
    /// Returns a closure for `map_err` that names the action the kernel refused.
    pub(super) fn refused<E: Into<io::Error>>(action: &'static str) -> impl FnOnce(E) -> Self {
        move |cause| Self::Refused { action, cause: cause.into() }
    }
}
