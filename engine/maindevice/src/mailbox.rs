//! A SubDevice's mailbox (ETG.1000.6, 5.6): where it lies, its messages, and what goes wrong with
//! objects.

mod abort;
mod transfer;

use core::fmt;

use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

use crate::frame::Request;
use crate::frame::register;

pub(crate) use transfer::{Progress, Transfer};

/// The longest value of an object, in bytes.
pub const SDO_BYTES_MAX: usize = 1024;
/// Time that a SubDevice may take for one step of a transfer.
const PATIENCE: Nanos = Nanos::from_millis(1_000);
/// The smallest mailbox with which SDOs work (ETG.1000.6, 5.6.2): headers and four bytes.
const MAILBOX_BYTES_MIN: u16 = 16;

const TYPE_ERROR: u8 = 0;
const TYPE_COE: u8 = 3;
const SERVICE_EMERGENCY: u16 = 1;
const SERVICE_REQUEST: u16 = 2;
const SERVICE_RESPONSE: u16 = 3;

/// Which object of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// Index of the object, such as 0x6060.
    pub index: u16,
    /// Its subindex; with complete access, the first.
    pub subindex: u8,
    /// All subindices as one value.
    pub complete: bool,
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let complete = if self.complete { ", complete" } else { "" };
        write!(f, "{:#06x}:{:02x}{complete}", self.index, self.subindex)
    }
}

/// Why an SDO transfer failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SdoError {
    /// The SubDevice has no mailbox, or none for SDOs.
    NoMailbox,
    /// The SubDevice refused, with this SDO abort code (ETG.1000.6, table 41).
    Aborted(u32),
    /// The SubDevice did not answer in time.
    Silent,
    /// The answer is none that the standard allows.
    Malformed,
    /// The value is longer than [`SDO_BYTES_MAX`].
    TooLong,
    /// The mailbox itself reported this error (ETG.1000.4, table 30).
    Mailbox(u16),
}

impl fmt::Display for SdoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMailbox => f.write_str("the SubDevice has no mailbox for SDOs"),
            Self::Aborted(code) => match abort::words(*code) {
                Some(words) => write!(f, "{words} (SDO abort code {code:#010x})"),
                None => write!(f, "refused with SDO abort code {code:#010x}"),
            },
            Self::Silent => write!(f, "no answer within {PATIENCE}"),
            Self::Malformed => f.write_str("the answer is not as the standard says"),
            Self::TooLong => write!(f, "the value is longer than {SDO_BYTES_MAX} bytes"),
            Self::Mailbox(code) => write!(f, "the mailbox reports error {code}"),
        }
    }
}

impl core::error::Error for SdoError {}

/// An emergency, as found in a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Emergency {
    pub(crate) code: u16,
    pub(crate) register: u8,
    pub(crate) data: [u8; 5],
}

/// One half of a mailbox: a SyncManager and its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Half {
    pub(crate) manager: u8,
    pub(crate) address: u16,
    pub(crate) bytes: u16,
}

impl Half {
    fn status(self, station: u16) -> Request {
        let managers = register::SYNC_MANAGER
            + register::SYNC_MANAGER_BYTES * u16::from(self.manager)
            + register::SYNC_MANAGER_STATUS;
        Request::read(station, managers, 1)
    }
}

/// The mailbox of a SubDevice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mailbox {
    /// The half that the MainDevice writes.
    pub(crate) out: Half,
    /// The half that the MainDevice reads.
    pub(crate) back: Half,
    /// The counter of the message sent last, 1 to 7.
    pub(crate) counter: u8,
    /// A counter that is left out, since somebody else goes on with it; 0 for none.
    pub(crate) reserved: u8,
}

impl Mailbox {
    /// The mailbox that the SyncManagers' registers describe, if they do.
    pub(crate) fn of(managers: &[[u8; 8]]) -> Option<Self> {
        let half = |direction: u8| {
            managers.iter().enumerate().find_map(|(index, manager)| {
                let bytes = u16::from_le_bytes([manager[2], manager[3]]);
                // Control: two bits of mode, 2 is a mailbox; then the direction.
                let fits = manager[4] & 0b1111 == direction << 2 | 0b10
                    && manager[6] & 1 == 1
                    && (MAILBOX_BYTES_MIN..=crate::frame::DATA_BYTES_MAX as u16).contains(&bytes);
                let address = u16::from_le_bytes([manager[0], manager[1]]);
                fits.then_some(Half { manager: index as u8, address, bytes })
            })
        };
        Some(Self { out: half(1)?, back: half(0)?, counter: 1, reserved: 0 })
    }

    /// Counts on; 0 is reserved. A device takes a repeated number for a repeated message.
    pub(crate) fn count(&mut self) -> u8 {
        self.counter = counter_after(self.counter);
        if self.counter == self.reserved {
            self.counter = counter_after(self.counter);
        }
        self.counter
    }

    /// Asks whether there is something to be read.
    pub(crate) fn ask(&self, station: u16) -> Request {
        self.back.status(station)
    }

    /// Reads what is there.
    pub(crate) fn fetch(&self, station: u16) -> Request {
        Request::read(station, self.back.address, self.back.bytes)
    }
}

/// The counter of the message after one with this counter.
pub(crate) fn counter_after(counter: u8) -> u8 {
    counter % 7 + 1
}

/// The emergency in a message that was read from a mailbox, if it is one.
pub(crate) fn emergency_in(message: &[u8]) -> Option<Emergency> {
    let Message::Coe { service: SERVICE_EMERGENCY, body } = Message::parse(message)? else {
        return None;
    };
    let [low, high, register, data @ ..] = body.get(..8)? else { return None };
    Some(Emergency {
        code: u16::from_le_bytes([*low, *high]),
        register: *register,
        data: data.try_into().ok()?,
    })
}

/// Returns `true` if a message is an answer to an SDO request or the mailbox's own error.
pub(crate) fn is_answer(message: &[u8]) -> bool {
    match Message::parse(message) {
        Some(Message::Coe { service, .. }) => service != SERVICE_EMERGENCY,
        Some(Message::Error(_)) => true,
        // Whoever asked shall judge what makes no sense at all.
        Some(Message::Other) => false,
        None => true,
    }
}

/// A message of a mailbox.
enum Message<'a> {
    Error(u16),
    Coe { service: u16, body: &'a [u8] },
    Other,
}

impl<'a> Message<'a> {
    fn parse(message: &'a [u8]) -> Option<Self> {
        let bytes = usize::from(u16::from_le_bytes([*message.first()?, *message.get(1)?]));
        let kind = message.get(5)? & 0x0F;
        let content = message.get(6..)?.get(..bytes)?;
        let word = |at: usize| Some(u16::from_le_bytes([*content.get(at)?, *content.get(at + 1)?]));
        Some(match kind {
            TYPE_ERROR => Self::Error(word(2)?),
            TYPE_COE => Self::Coe { service: word(0)? >> 12, body: content.get(2..)? },
            _ => Self::Other,
        })
    }
}
