//! SDO downloads through a SubDevice's mailbox (ETG.1000.6, 5.6.2), one datagram at a time.
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

use alloc::vec::Vec;

use quietcore_units::Nanos;

use super::{
    Emergency, Mailbox, Message, Object, PATIENCE, SDO_BYTES_MAX, SERVICE_REQUEST,
    SERVICE_RESPONSE, SdoError, TYPE_COE, emergency_in,
};
use crate::frame::{Request, register};

/// Mailbox header, CoE header, SDO header.
const HEADERS: usize = 6 + 2 + 4;
const ABORT: u8 = 0x80;

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

/// The progress of a transfer after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Another datagram is needed.
    More,
    /// The value is transferred.
    Done,
    /// It will not be.
    Failed(SdoError),
}

/// A value on its way to a SubDevice's object.
#[derive(Clone, Debug)]
pub(crate) struct Transfer {
    object: Object,
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
        self.object = object;
        self.data.clear();
        self.data.extend_from_slice(data);
        self.done = 0;
        self.chunk = 0;
        self.segmented = false;
        self.toggle = false;
        self.phase = Phase::Drain;
        self.counter = mailbox.count();
        self.since = None;
        Ok(())
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
        let length = if self.segmented {
            self.segment(mailbox, message)
        } else {
            self.first(mailbox, message)
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

    /// The first message; short values go with it whole.
    fn first(&mut self, mailbox: &Mailbox, message: &mut [u8]) -> usize {
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

    fn segment(&mut self, mailbox: &Mailbox, message: &mut [u8]) -> usize {
        let left = self.data.len() - self.done;
        // Behind mailbox, CoE and one byte of segment header.
        self.chunk = left.min(usize::from(mailbox.out.bytes) - 9);
        let unused = 7_usize.saturating_sub(self.chunk) as u8;
        message[8] = u8::from(self.toggle) << 4 | unused << 1 | u8::from(self.chunk == left);
        message[9..9 + self.chunk].copy_from_slice(&self.data[self.done..self.done + self.chunk]);
        3 + self.chunk.max(7)
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
        let expected = if self.segmented { 1 } else { 3 };
        if command >> 5 != expected {
            return None;
        }
        self.done += self.chunk;
        self.segmented = true;
        Some(if self.done == self.data.len() { Progress::Done } else { Progress::More })
    }
}

#[cfg(test)]
mod tests;
