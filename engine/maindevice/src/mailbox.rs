//! SDO transfers through a SubDevice's mailbox (ETG.1000.6, 5.6.2), one datagram at a time.
//!
//! A transfer does no input or output: it says which datagram comes next and takes the answer.
//! So it runs in the supervision's one datagram a cycle as well as in a loop before the first
//! cycle.
//!
//! ```text
//!        full                      full         not ours: emergency or another protocol
//!   ┌── Discard ◄┐              ┌──────┐       ┌───────────────┐
//!   ▼            │              ▼      │       ▼               │
//! Drain ─empty─► Room ─free─► Write ─taken─► Wait ─full─► Read ┴─► done, failed, or next segment
//! ```
//!
//! Emergencies that lie in the mailbox are told and never taken for the answer.

use core::fmt;

use alloc::vec::Vec;
use quietcore_units::Nanos;

use crate::frame::Request;
use crate::frame::register;

/// The longest value of an object, in bytes.
pub const SDO_BYTES_MAX: usize = 1024;
/// How long a SubDevice may take for one step of a transfer.
const PATIENCE: Nanos = Nanos::from_millis(1_000);
/// Mailbox header, CoE header, SDO header.
const HEADERS: usize = 6 + 2 + 4;
/// The smallest mailbox with which SDOs work (ETG.1000.6, 5.6.2): headers and four bytes.
const MAILBOX_BYTES_MIN: u16 = 16;

const TYPE_ERROR: u8 = 0;
const TYPE_COE: u8 = 3;
const SERVICE_EMERGENCY: u16 = 1;
const SERVICE_REQUEST: u16 = 2;
const SERVICE_RESPONSE: u16 = 3;
const ABORT: u8 = 0x80;

/// Which object of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its index.
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
    /// Another transfer is on its way; only one is at a time.
    Busy,
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
            Self::Busy => f.write_str("another SDO transfer is on its way; try again later"),
            Self::Aborted(code) => write!(f, "refused with SDO abort code {code:#010x}"),
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

/// A SubDevice's mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mailbox {
    /// What the MainDevice writes.
    pub(crate) out: Half,
    /// What the MainDevice reads.
    pub(crate) back: Half,
    /// The counter of the message sent last, 1 to 7.
    pub(crate) counter: u8,
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
        Some(Self { out: half(1)?, back: half(0)?, counter: 1 })
    }

    /// Counts on; 0 is reserved. A device takes a repeated number for a repeated message.
    pub(crate) fn count(&mut self) -> u8 {
        self.counter = self.counter % 7 + 1;
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

/// Whether a message is an answer to an SDO request or the mailbox's own error.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Drain,
    Discard,
    Room,
    Write,
    Wait,
    Read,
}

impl Phase {
    /// Which of the three waits of a message it belongs to: until the mailbox is empty, until the
    /// message is taken, until the answer is there. Each is one wait, however often something else
    /// is read meanwhile.
    fn wait(self) -> u8 {
        match self {
            Self::Drain | Self::Discard => 0,
            Self::Room | Self::Write => 1,
            Self::Wait | Self::Read => 2,
        }
    }
}

/// How far a transfer is after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Another datagram is needed.
    More,
    /// The value is transferred.
    Done,
    /// It will not be.
    Failed(SdoError),
}

/// A value on its way to or from a SubDevice's object.
#[derive(Clone, Debug)]
pub(crate) struct Transfer {
    object: Object,
    upload: bool,
    data: Vec<u8>,
    /// Bytes transferred so far, and those of the message on its way.
    done: usize,
    chunk: usize,
    /// The first message has been answered; segments follow.
    segmented: bool,
    toggle: bool,
    phase: Phase,
    counter: u8,
    /// Since when the present wait lasts.
    since: Option<Nanos>,
}

impl Transfer {
    /// A transfer of nothing, with room for any value: beginning one allocates nothing.
    pub(crate) fn idle() -> Self {
        Self {
            object: Object { index: 0, subindex: 0, complete: false },
            upload: false,
            data: Vec::with_capacity(SDO_BYTES_MAX),
            done: 0,
            chunk: 0,
            segmented: false,
            toggle: false,
            phase: Phase::Drain,
            counter: 0,
            since: None,
        }
    }

    /// Begins to write `data` to an object.
    ///
    /// # Errors
    /// [`SdoError::TooLong`].
    pub(crate) fn download(
        &mut self,
        object: Object,
        data: &[u8],
        mailbox: &mut Mailbox,
    ) -> Result<(), SdoError> {
        if data.len() > SDO_BYTES_MAX {
            return Err(SdoError::TooLong);
        }
        self.begin(object, false, mailbox);
        self.data.extend_from_slice(data);
        Ok(())
    }

    /// Begins to read an object.
    pub(crate) fn upload(&mut self, object: Object, mailbox: &mut Mailbox) {
        self.begin(object, true, mailbox);
    }

    fn begin(&mut self, object: Object, upload: bool, mailbox: &mut Mailbox) {
        self.object = object;
        self.upload = upload;
        self.data.clear();
        self.done = 0;
        self.chunk = 0;
        self.segmented = false;
        self.toggle = false;
        self.phase = Phase::Drain;
        self.counter = mailbox.count();
        self.since = None;
    }

    /// The value: what was to be written, or what has been read.
    pub(crate) fn value(&self) -> &[u8] {
        &self.data
    }

    /// The next datagram. If it writes, [`fill`](Self::fill) gives its data.
    pub(crate) fn request(&self, station: u16, mailbox: &Mailbox) -> Request {
        match self.phase {
            Phase::Drain | Phase::Wait => mailbox.ask(station),
            Phase::Discard | Phase::Read => mailbox.fetch(station),
            Phase::Room => mailbox.out.status(station),
            Phase::Write => Request::write(station, mailbox.out.address, mailbox.out.bytes),
        }
    }

    /// Writes the message of a datagram that goes to the mailbox; others carry zeros.
    pub(crate) fn fill(&mut self, mailbox: &Mailbox, message: &mut [u8]) {
        if self.phase != Phase::Write {
            return;
        }
        let length = match (self.upload, self.segmented) {
            (false, false) => self.begin_download(mailbox, message),
            (false, true) => self.download_segment(mailbox, message),
            (true, first) => self.upload_request(!first, message),
        };
        message[..2].copy_from_slice(&(length as u16).to_le_bytes());
        message[5] = TYPE_COE | self.counter << 4;
        message[6..8].copy_from_slice(&(SERVICE_REQUEST << 12).to_le_bytes());
    }

    fn object_into(&self, command: u8, message: &mut [u8]) {
        message[8] = command | u8::from(self.object.complete) << 4;
        message[9..11].copy_from_slice(&self.object.index.to_le_bytes());
        message[11] = self.object.subindex;
    }

    /// The first message of a download; short values go with it whole.
    fn begin_download(&mut self, mailbox: &Mailbox, message: &mut [u8]) -> usize {
        let bytes = self.data.len();
        if (1..=4).contains(&bytes) {
            self.object_into(0x23 | (4 - bytes as u8) << 2, message);
            message[HEADERS..HEADERS + bytes].copy_from_slice(&self.data);
            self.chunk = bytes;
            return 10;
        }
        self.object_into(0x21, message);
        message[HEADERS..HEADERS + 4].copy_from_slice(&(bytes as u32).to_le_bytes());
        self.chunk = bytes.min(usize::from(mailbox.out.bytes) - HEADERS - 4);
        message[HEADERS + 4..HEADERS + 4 + self.chunk].copy_from_slice(&self.data[..self.chunk]);
        10 + self.chunk
    }

    fn download_segment(&mut self, mailbox: &Mailbox, message: &mut [u8]) -> usize {
        let left = self.data.len() - self.done;
        // Behind mailbox, CoE and one byte of segment header.
        self.chunk = left.min(usize::from(mailbox.out.bytes) - 9);
        let unused = 7_usize.saturating_sub(self.chunk) as u8;
        message[8] = u8::from(self.toggle) << 4 | unused << 1 | u8::from(self.chunk == left);
        message[9..9 + self.chunk].copy_from_slice(&self.data[self.done..self.done + self.chunk]);
        3 + self.chunk.max(7)
    }

    fn upload_request(&self, first: bool, message: &mut [u8]) -> usize {
        if first {
            self.object_into(0x40, message);
        } else {
            message[8] = 0x60 | u8::from(self.toggle) << 4;
        }
        10
    }

    /// Takes the answer to the datagram: its data and working counter, or `None` if it was lost.
    /// Emergencies that were in the mailbox go to `tell`.
    pub(crate) fn answered(
        &mut self,
        now: Nanos,
        mailbox: &mut Mailbox,
        answer: Option<(&[u8], u16)>,
        tell: &mut dyn FnMut(Emergency),
    ) -> Progress {
        let since = *self.since.get_or_insert(now);
        let (data, reached) =
            answer.map_or((&[][..], false), |(data, counter)| (data, counter > 0));
        let full =
            reached && data.first().is_some_and(|status| status & register::MAILBOX_FULL != 0);
        let next = match self.phase {
            Phase::Drain if !reached => None,
            Phase::Drain => Some(if full { Phase::Discard } else { Phase::Room }),
            Phase::Discard => {
                if let Some(emergency) = emergency_in(data) {
                    tell(emergency);
                }
                Some(Phase::Drain)
            }
            Phase::Room if reached && !full => Some(Phase::Write),
            // A mailbox that is full after all counts nothing. A lost frame may have arrived.
            Phase::Write if reached || answer.is_none() => Some(Phase::Wait),
            Phase::Write => Some(Phase::Room),
            Phase::Wait if full => Some(Phase::Read),
            Phase::Room | Phase::Wait => None,
            Phase::Read if !reached => Some(Phase::Wait),
            Phase::Read => return self.read(now, mailbox, data, tell),
        };
        if now.saturating_sub(since) > PATIENCE {
            return Progress::Failed(SdoError::Silent);
        }
        if let Some(next) = next {
            if self.phase.wait() != next.wait() {
                self.since = Some(now);
            }
            self.phase = next;
        }
        Progress::More
    }

    /// Takes a message that was read.
    fn read(
        &mut self,
        now: Nanos,
        mailbox: &mut Mailbox,
        message: &[u8],
        tell: &mut dyn FnMut(Emergency),
    ) -> Progress {
        if let Some(emergency) = emergency_in(message) {
            tell(emergency);
        }
        let body = match Message::parse(message) {
            Some(Message::Error(code)) => return Progress::Failed(SdoError::Mailbox(code)),
            Some(Message::Coe { service: SERVICE_REQUEST | SERVICE_RESPONSE, body }) => body,
            _ => {
                self.phase = Phase::Wait;
                return Progress::More;
            }
        };
        let Some(outcome) = self.response(body) else {
            return Progress::Failed(SdoError::Malformed);
        };
        match outcome {
            Progress::More => {
                self.counter = mailbox.count();
                self.phase = Phase::Room;
                self.since = Some(now);
                Progress::More
            }
            ended => ended,
        }
    }

    /// Takes an SDO response; `None` if it makes no sense.
    fn response(&mut self, body: &[u8]) -> Option<Progress> {
        let command = *body.first()?;
        if command == ABORT {
            let code = body.get(4..8)?.try_into().ok()?;
            return Some(Progress::Failed(SdoError::Aborted(u32::from_le_bytes(code))));
        }
        if self.segmented {
            if command >> 4 & 1 != u8::from(self.toggle) {
                return None;
            }
            self.toggle = !self.toggle;
        } else if body.get(1..3)? != self.object.index.to_le_bytes() {
            return None;
        }
        match (self.upload, self.segmented, command >> 5) {
            (false, false, 3) | (false, true, 1) => {
                self.done += self.chunk;
                self.segmented = true;
                Some(if self.done == self.data.len() { Progress::Done } else { Progress::More })
            }
            (true, false, 2) => self.first_of_upload(command, body),
            (true, true, 0) => self.segment_of_upload(command, body),
            _ => None,
        }
    }

    fn first_of_upload(&mut self, command: u8, body: &[u8]) -> Option<Progress> {
        if command & 0b10 != 0 {
            let unused = if command & 1 == 1 { usize::from(command >> 2 & 0b11) } else { 0 };
            self.data.extend_from_slice(body.get(4..8 - unused)?);
            return Some(Progress::Done);
        }
        let whole = u32::from_le_bytes(body.get(4..8)?.try_into().ok()?) as usize;
        if whole > SDO_BYTES_MAX {
            return Some(Progress::Failed(SdoError::TooLong));
        }
        let here = body.get(8..)?;
        self.data.extend_from_slice(&here[..here.len().min(whole)]);
        // From here on `chunk` is the length of the whole value.
        self.chunk = whole;
        self.segmented = true;
        Some(if self.data.len() == whole { Progress::Done } else { Progress::More })
    }

    fn segment_of_upload(&mut self, command: u8, body: &[u8]) -> Option<Progress> {
        let mut here = body.get(1..)?;
        if here.len() == 7 {
            here = &here[..7 - usize::from(command >> 1 & 0b111)];
        }
        if self.data.len() + here.len() > self.chunk {
            return None;
        }
        self.data.extend_from_slice(here);
        let last = command & 1 == 1;
        // An empty segment that is not the last would go on for ever.
        match (last, here.is_empty(), self.data.len() == self.chunk) {
            (true, _, true) => Some(Progress::Done),
            (false, false, _) => Some(Progress::More),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
