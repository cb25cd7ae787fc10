//! Why a partition is in fault, and what its outputs are then.
//!
//! In fault no step is run. The fieldbus goes on, because SubDevices that hear nothing fall back on
//! watchdogs of their own, and a controlled stop is better than that.

use quietcore_exchange::{Happening, ShortText};
use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

/// What the outputs become when the partition is in fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnFault {
    /// They stay as the last whole cycle left them.
    Hold,
    /// They become zero.
    #[default]
    Zero,
    /// They become the values that the site file names.
    Substitute,
}

/// Why a partition is in fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The program crashed.
    Crash {
        /// The signal.
        signal: u32,
        /// The address that was accessed, where the signal says one.
        address: u64,
        /// The instruction, as an address of the module as linked.
        instruction: u64,
        /// The task of the program's own kernel whose stack overflowed, if that was it.
        overflowed: Option<u32>,
    },
    /// The program did not return and was cancelled.
    Loop {
        /// The instruction at which it was, as an address of the module as linked.
        instruction: u64,
    },
    /// The watchdog of a task expired.
    Watchdog {
        /// Cycles in a row that took longer than the watchdog time.
        cycles: u64,
        /// How long the last of them took.
        execution: Nanos,
    },
    /// The model says that it has an error.
    Model {
        /// Its error status.
        status: ShortText,
    },
    /// A task with the policy `stop` did not finish before its next release.
    Overrun {
        /// How long it took.
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

    /// The fault as an event, with the task that was under way.
    pub fn happening(self, during: Option<u32>) -> Happening {
        match self {
            Self::Crash { signal, address, instruction, overflowed } => {
                Happening::Fault { signal, address, instruction, overflowed }
            }
            Self::Loop { instruction } => Happening::Looped { instruction },
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
