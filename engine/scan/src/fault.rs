//! The faults of a partition, and its outputs then.
//!
//! In fault no step is run. The fieldbus goes on, because SubDevices that hear nothing fall back on
//! watchdogs of their own, and a controlled stop is better than that.

use quietcore_exchange::{Happening, ShortText};
use quietcore_units::Nanos;

/// The reason why a partition is in fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The program crashed in a step.
    Crash {
        /// Number of the signal that the kernel sent.
        signal: u32,
        /// The address that was accessed, where the signal says one.
        address: u64,
        /// The instruction, as an address of the module as linked; `in_library` that of the call
        /// into the library, 0 where it is not known.
        instruction: u64,
        /// `true` if it crashed in a library that it had called.
        in_library: bool,
        /// The task of the program's own kernel whose stack overflowed, if that was it.
        overflowed: Option<u32>,
    },
    /// The program did not return and was cancelled.
    Loop {
        /// The instruction at which it was, as of a crash.
        instruction: u64,
        /// `true` if it was in a library that it had called.
        in_library: bool,
    },
    /// The watchdog of a task expired.
    Watchdog {
        /// Cycles in a row that took longer than the watchdog time.
        cycles: u64,
        /// Execution time of the last of them.
        execution: Nanos,
    },
    /// The model reports an error of its own.
    Model {
        /// Error status of the model, cut to what fits into an event.
        status: ShortText,
    },
    /// A task with the policy `stop` did not finish before its next release.
    Overrun {
        /// Response time of the job.
        response: Nanos,
    },
}

impl Fault {
    /// The task that an event of the fault is about: of a step that was ended the one that was
    /// under way, of all other faults the one that ran the step.
    pub fn task(&self, runs: u32, under_way: Option<u32>) -> u32 {
        match self {
            Self::Crash { .. } | Self::Loop { .. } => under_way.unwrap_or(runs),
            _ => runs,
        }
    }

    /// The fault as an event of the `initialize` of a build, which may take no longer than `limit`.
    pub fn in_initialize(self, generation: u32, limit: Nanos) -> Happening {
        match self {
            Self::Crash { signal, address, instruction, in_library, .. } => {
                Happening::InitializeCrashed {
                    generation,
                    signal,
                    address,
                    instruction,
                    in_library,
                }
            }
            Self::Loop { instruction, in_library } => {
                let limit_ns = limit.get();
                Happening::InitializeLooped { generation, limit_ns, instruction, in_library }
            }
            other => other.happening(None),
        }
    }

    /// The fault as an event, with the task that was under way.
    pub fn happening(self, during: Option<u32>) -> Happening {
        match self {
            Self::Crash { signal, address, instruction, in_library, overflowed } => {
                Happening::Fault { signal, address, instruction, in_library, overflowed }
            }
            Self::Loop { instruction, in_library } => Happening::Looped { instruction, in_library },
            Self::Watchdog { cycles, execution } => {
                Happening::WatchdogExpired { cycles, elapsed_ns: execution.get(), during }
            }
            Self::Model { status } => Happening::ModelError { status },
            Self::Overrun { response } => {
                Happening::StoppedByOverrun { response_ns: response.get() }
            }
        }
    }
}
