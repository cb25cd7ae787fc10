//! Why the SubDevices could not be brought up.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use quietcore_units::Nanos;
use quietcore_wire::WireError;

use crate::expectation::Difference;
use crate::mailbox::{Object, SdoError};
use crate::state::AlStatus;
use crate::supervise::Presence;

/// A step of the bring-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// INIT to PRE-OP: addresses, identities, mailboxes, clocks.
    ToPreOp,
    /// Process data are mapped.
    Mapping,
    /// From PRE-OP to SAFE-OP, by all SubDevices.
    ToSafeOp,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ToPreOp => "bringing the SubDevices to PRE-OP",
            Self::Mapping => "mapping the process data",
            Self::ToSafeOp => "bringing the SubDevices to SAFE-OP",
        })
    }
}

/// Why the SubDevices could not be brought up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BringUpError {
    /// The wire failed to send or receive.
    Wire(WireError),
    /// No SubDevice answered at all.
    NoSubDevices,
    /// More SubDevices than the MainDevice handles.
    TooMany {
        /// Number of SubDevices that answered.
        found: u16,
        /// Number of SubDevices that are handled.
        limit: usize,
    },
    /// The line differs from what was expected.
    Different(Vec<Difference>),
    /// A SubDevice shall be synchronised by its clock and has none.
    NoClock {
        /// Its position, from 0.
        position: u16,
        /// The name that the site gives it, else that in its SII.
        name: String,
    },
    /// A SubDevice says that its process data lie beyond the process image.
    BeyondImage {
        /// Its position, from 0.
        position: u16,
        /// The name that the site gives it, else that in its SII.
        name: String,
        /// The end of its process data in logical memory.
        end: usize,
        /// The end of the process image.
        limit: usize,
    },
    /// A start-up value was not taken.
    StartUp {
        /// Position of the SubDevice, from 0.
        position: u16,
        /// The name that the site gives it, else that in its SII.
        name: String,
        /// The object that the value was written to.
        object: Object,
        /// Why it was not taken.
        error: SdoError,
    },
    /// A step failed in `ethercrab`.
    Failed {
        /// The step that failed.
        step: Step,
        /// The error of `ethercrab`, in words.
        cause: String,
        /// The SubDevices that are not in the state that the step leads from or to: position and
        /// AL status, `None` for one that does not answer.
        suspects: Vec<(u16, Option<AlStatus>)>,
    },
    /// Not all SubDevices reached OP.
    NotInOp {
        /// Time that was waited.
        after: Nanos,
        /// Those that did not: position, name, and what is known of them.
        waiting: Vec<(u16, String, Presence)>,
        /// Working counter of the last cycle: found and expected.
        working_counter: (u16, u16),
    },
}

impl From<WireError> for BringUpError {
    fn from(error: WireError) -> Self {
        Self::Wire(error)
    }
}

impl core::error::Error for BringUpError {}

impl fmt::Display for BringUpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wire(error) => write!(f, "{error}"),
            Self::NoSubDevices => f.write_str(
                "no SubDevice answers; check that the cable is plugged and the first one has power",
            ),
            Self::TooMany { found, limit } => {
                write!(f, "{found} SubDevices answer; at most {limit} are handled")
            }
            Self::Different(differences) => {
                f.write_str("the wire is not as the site says:")?;
                differences.iter().try_for_each(|difference| write!(f, "\n  {difference}"))
            }
            Self::NoClock { position, name } => {
                write!(f, "SubDevice {position} (`{name}`) has no clock; synchronise it by frames")
            }
            Self::BeyondImage { position, name, end, limit } => write!(
                f,
                "SubDevice {position} (`{name}`) says that its process data end at byte {end}; at \
                 most {limit} are handled for all SubDevices together"
            ),
            Self::StartUp { position, name, object, error } => {
                write!(f, "SubDevice {position} (`{name}`): start-up value {object}: {error}")
            }
            Self::Failed { step, cause, suspects } => {
                write!(f, "{step} failed: {cause}")?;
                suspects.iter().try_for_each(|(position, status)| match status {
                    Some(status) => write!(
                        f,
                        "\n  SubDevice {position} is in {}, AL status code {:#06x}",
                        status.state, status.code
                    ),
                    None => write!(f, "\n  SubDevice {position} does not answer"),
                })
            }
            Self::NotInOp { after, waiting, working_counter: (found, expected) } => {
                write!(f, "not in OP after {after}; working counter {found} of {expected}:")?;
                waiting.iter().try_for_each(|(position, name, presence)| {
                    write!(f, "\n  SubDevice {position} (`{name}`) ")?;
                    match presence {
                        Presence::Unknown => f.write_str("was not asked yet"),
                        Presence::Absent => f.write_str("does not answer"),
                        Presence::Present(status) => {
                            write!(f, "is in {}, AL status code {:#06x}", status.state, status.code)
                        }
                    }
                })
            }
        }
    }
}
