//! Why a partition is in fault, and what its outputs are then.
//!
//! In fault no step is run. The fieldbus goes on, because SubDevices that hear nothing fall back on
//! watchdogs of their own, and a controlled stop is better than that.

use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

use crate::watchdog::Expired;

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
    },
    /// The program did not return and was cancelled.
    Loop {
        /// The instruction at which it was, as an address of the module as linked.
        instruction: u64,
    },
    /// The watchdog of a task expired.
    Watchdog(Expired),
    /// The model says that it has an error.
    Model,
    /// A task with the policy `stop` did not finish before its next release.
    Overrun {
        /// How long it took.
        response: Nanos,
    },
}

impl Fault {
    /// The fault as words of an event: its code, then what it says.
    pub fn words(self) -> [u64; 4] {
        match self {
            Self::Crash { signal, address, instruction } => {
                [1, u64::from(signal), address, instruction]
            }
            Self::Loop { instruction } => [2, 0, 0, instruction],
            Self::Watchdog(Expired::InARow { cycles }) => [3, u64::from(cycles), 0, 0],
            Self::Watchdog(Expired::OneCycle { execution }) => [4, execution.get(), 0, 0],
            Self::Model => [5, 0, 0, 0],
            Self::Overrun { response } => [6, response.get(), 0, 0],
        }
    }

    /// Reads what [`words`](Self::words) wrote; `None` for an unknown code.
    pub fn from_words(words: [u64; 4]) -> Option<Self> {
        let [code, first, second, instruction] = words;
        Some(match code {
            1 => Self::Crash {
                signal: u32::try_from(first).unwrap_or(u32::MAX),
                address: second,
                instruction,
            },
            2 => Self::Loop { instruction },
            3 => {
                Self::Watchdog(Expired::InARow { cycles: u32::try_from(first).unwrap_or(u32::MAX) })
            }
            4 => Self::Watchdog(Expired::OneCycle { execution: Nanos::new(first) }),
            5 => Self::Model,
            6 => Self::Overrun { response: Nanos::new(first) },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_survives_the_way_through_an_event() {
        let faults = [
            Fault::Crash { signal: 11, address: 0x40, instruction: 0x1234 },
            Fault::Loop { instruction: 7 },
            Fault::Watchdog(Expired::InARow { cycles: 3 }),
            Fault::Watchdog(Expired::OneCycle { execution: Nanos::from_millis(4) }),
            Fault::Model,
            Fault::Overrun { response: Nanos::from_millis(2) },
        ];
        for fault in faults {
            assert_eq!(Fault::from_words(fault.words()), Some(fault));
        }
        assert_eq!(Fault::from_words([0; 4]), None);
    }
}
