//! The SDO server of one device: expedited, normal and segmented transfers, complete access.
//!
//! ```text
//! up    0x40 ──► up to 4 bytes: 0x43 | (4 − n) << 2      down  0x23 | (4 − n) << 2 ──► 0x60
//!            ──► else 0x41, size, data …                       0x21, size, data …  ──► 0x60
//!       0x60 ──► 0x00, data … until bit 0                      0x00, data …        ──► 0x20
//!                (0x10 is the toggle bit of segments, and complete access in the first request)
//! ```
//!
//! Requests come from outside: no length in them is believed before it is compared with what is
//! there.

use crate::coe::abort::Abort;
use crate::coe::information::{Information, answer_information};
use crate::coe::objects::Objects;
use crate::coe::{header, service};

/// Bytes before the data of the first request or answer: CoE header, command, index, subindex.
const INITIATE_BYTES: usize = 6;
/// Bytes before the data of a segment: CoE header, command.
const SEGMENT_BYTES: usize = 3;
/// A segment has at least this much data, padded.
const SEGMENT_DATA_MIN: usize = 7;

/// The object, subindex and access that an SDO is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Target {
    index: u16,
    subindex: u8,
    complete: bool,
}

/// A transfer in several messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transfer {
    None,
    Upload { target: Target, offset: usize, toggle: bool },
    Download { target: Target, size: usize, toggle: bool },
}

/// The SDO server of one SubDevice.
#[derive(Clone, Debug)]
pub(crate) struct SdoServer {
    buffer: Vec<u8>,
    transfer: Transfer,
    information: Information,
    /// A fault: this many requests are served, then one is aborted with this code.
    pub(crate) abort_after: Option<(u32, u32)>,
}

impl SdoServer {
    /// A server for objects of at most `bytes_max` bytes.
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self {
            buffer: Vec::with_capacity(bytes_max),
            transfer: Transfer::None,
            information: Information::default(),
            abort_after: None,
        }
    }

    /// Forgets transfers in progress.
    pub(crate) fn reset(&mut self) {
        self.transfer = Transfer::None;
        self.information = Information::default();
    }

    /// Answers a CoE message into `reply`, of at most `room` bytes. No reply where none is due.
    pub(crate) fn answer(
        &mut self,
        request: &[u8],
        objects: &mut Objects<'_>,
        reply: &mut Vec<u8>,
        room: usize,
    ) {
        let [low, high, rest @ ..] = request else {
            return;
        };
        match u16::from_le_bytes([*low, *high]) >> 12 {
            service::SDO_REQUEST => self.sdo(rest, objects, reply, room),
            service::SDO_INFORMATION => {
                answer_information(&mut self.information, rest, objects, reply, room);
            }
            _ => {}
        }
    }

    /// The next part of an answer that did not fit into one mailbox; false when there is none.
    pub(crate) fn go_on(
        &mut self,
        objects: &Objects<'_>,
        reply: &mut Vec<u8>,
        room: usize,
    ) -> bool {
        self.information.go_on(objects, reply, room)
    }

    /// `request` starts with the command.
    fn sdo(&mut self, request: &[u8], objects: &mut Objects<'_>, reply: &mut Vec<u8>, room: usize) {
        let Some(&command) = request.first() else {
            return;
        };
        let target = target(request);
        let result = match (command >> 5, target) {
            _ if self.must_abort().is_some() => Err(Abort(self.abort_code())),
            (0, _) => self.download_segment(command, &request[1..], objects, reply),
            (1, Some(target)) => self.download(command, target, &request[4..], objects, reply),
            (2, Some(target)) => self.upload(target, objects, reply, room),
            (3, _) => self.upload_segment(command, reply, room),
            (4, _) => {
                self.transfer = Transfer::None;
                return;
            }
            _ => Err(Abort::COMMAND),
        };
        if let Err(abort) = result {
            let named = match (self.transfer, command >> 5) {
                (Transfer::Upload { target, .. } | Transfer::Download { target, .. }, 0 | 3) => {
                    Some(target)
                }
                _ => target,
            };
            self.transfer = Transfer::None;
            write_abort(reply, named, abort);
        }
    }

    /// Counts requests down to the one that a fault aborts.
    fn must_abort(&mut self) -> Option<()> {
        let (left, _) = self.abort_after.as_mut()?;
        if *left == 0 {
            return Some(());
        }
        *left -= 1;
        None
    }

    fn abort_code(&mut self) -> u32 {
        self.abort_after.take().map_or(0, |(_, code)| code)
    }

    fn upload(
        &mut self,
        target: Target,
        objects: &Objects<'_>,
        reply: &mut Vec<u8>,
        room: usize,
    ) -> Result<(), Abort> {
        self.transfer = Transfer::None;
        self.buffer.clear();
        if target.complete {
            objects.read_all(target.index, target.subindex, &mut self.buffer)?;
        } else {
            objects.read(target.index, target.subindex, &mut self.buffer)?;
        }
        let complete = u8::from(target.complete) << 4;
        let size = self.buffer.len();
        if (1..=4).contains(&size) {
            let command = 0x43 | ((4 - size as u8) << 2) | complete;
            write_initiate(reply, command, target);
            reply.extend_from_slice(&self.buffer);
            reply.resize(INITIATE_BYTES + 4, 0);
            return Ok(());
        }
        write_initiate(reply, 0x41 | complete, target);
        reply.extend((size as u32).to_le_bytes());
        let now = size.min(room.saturating_sub(INITIATE_BYTES + 4));
        reply.extend_from_slice(&self.buffer[..now]);
        if now < size {
            self.transfer = Transfer::Upload { target, offset: now, toggle: false };
        }
        Ok(())
    }

    fn upload_segment(
        &mut self,
        command: u8,
        reply: &mut Vec<u8>,
        room: usize,
    ) -> Result<(), Abort> {
        let Transfer::Upload { target, offset, toggle } = self.transfer else {
            return Err(Abort::COMMAND);
        };
        if (command & 0x10 != 0) != toggle {
            return Err(Abort::TOGGLE);
        }
        let left = &self.buffer[offset.min(self.buffer.len())..];
        let now = left.len().min(room.saturating_sub(SEGMENT_BYTES).max(SEGMENT_DATA_MIN));
        let last = now == left.len();
        let unused = SEGMENT_DATA_MIN.saturating_sub(now) as u8;
        reply.extend(header(service::SDO_RESPONSE));
        reply.push((u8::from(toggle) << 4) | (unused << 1) | u8::from(last));
        reply.extend_from_slice(&left[..now]);
        if reply.len() < SEGMENT_BYTES + SEGMENT_DATA_MIN {
            reply.resize(SEGMENT_BYTES + SEGMENT_DATA_MIN, 0);
        }
        self.transfer = if last {
            Transfer::None
        } else {
            Transfer::Upload { target, offset: offset + now, toggle: !toggle }
        };
        Ok(())
    }

    /// `data` is what follows index and subindex.
    fn download(
        &mut self,
        command: u8,
        target: Target,
        data: &[u8],
        objects: &mut Objects<'_>,
        reply: &mut Vec<u8>,
    ) -> Result<(), Abort> {
        self.transfer = Transfer::None;
        self.buffer.clear();
        // The four bytes behind are reserved; real devices answer in the buffer of the request, so
        // an expedited value stands there still.
        let mut reserved = [0; 4];
        if command & 0x02 != 0 {
            let told = if command & 0x01 != 0 { 4 - usize::from((command >> 2) & 3) } else { 4 };
            let value = data.get(..told).ok_or(Abort::LENGTH)?;
            write_target(objects, target, value)?;
            let shown = data.len().min(4);
            reserved[..shown].copy_from_slice(&data[..shown]);
        } else {
            let (size, data) = data.split_at_checked(4).ok_or(Abort::LENGTH)?;
            let size = u32::from_le_bytes([size[0], size[1], size[2], size[3]]) as usize;
            if size > self.buffer.capacity() {
                // Distinguishes what does not exist from what is too long.
                probe(objects, target)?;
                return Err(Abort::TOO_LONG);
            }
            self.buffer.extend_from_slice(&data[..data.len().min(size)]);
            if self.buffer.len() < size {
                probe(objects, target)?;
                self.transfer = Transfer::Download { target, size, toggle: false };
            } else {
                write_target(objects, target, &self.buffer)?;
            }
        }
        write_initiate(reply, 0x60 | (u8::from(target.complete) << 4), target);
        reply.extend(reserved);
        Ok(())
    }

    /// `data` is what follows the command.
    fn download_segment(
        &mut self,
        command: u8,
        data: &[u8],
        objects: &mut Objects<'_>,
        reply: &mut Vec<u8>,
    ) -> Result<(), Abort> {
        let Transfer::Download { target, size, toggle } = self.transfer else {
            return Err(Abort::COMMAND);
        };
        if (command & 0x10 != 0) != toggle {
            return Err(Abort::TOGGLE);
        }
        let mut length = data.len();
        if length <= SEGMENT_DATA_MIN {
            length = length.min(SEGMENT_DATA_MIN - usize::from((command >> 1) & 7).min(7));
        }
        if self.buffer.len() + length > size {
            return Err(Abort::TOO_LONG);
        }
        self.buffer.extend_from_slice(&data[..length]);
        if command & 1 != 0 {
            if self.buffer.len() < size {
                return Err(Abort::TOO_SHORT);
            }
            self.transfer = Transfer::None;
            write_target(objects, target, &self.buffer)?;
        } else {
            self.transfer = Transfer::Download { target, size, toggle: !toggle };
        }
        reply.extend(header(service::SDO_RESPONSE));
        reply.push(0x20 | (u8::from(toggle) << 4));
        reply.resize(SEGMENT_BYTES + SEGMENT_DATA_MIN, 0);
        Ok(())
    }
}

/// The object that a first request names.
fn target(request: &[u8]) -> Option<Target> {
    let [command, low, high, subindex, ..] = *request else {
        return None;
    };
    let index = u16::from_le_bytes([low, high]);
    Some(Target { index, subindex, complete: command & 0x10 != 0 })
}

fn write_initiate(reply: &mut Vec<u8>, command: u8, target: Target) {
    reply.extend(header(service::SDO_RESPONSE));
    reply.push(command);
    reply.extend(target.index.to_le_bytes());
    reply.push(target.subindex);
}

fn write_abort(reply: &mut Vec<u8>, target: Option<Target>, abort: Abort) {
    reply.clear();
    reply.extend(header(service::SDO_REQUEST));
    reply.push(0x80);
    let (index, subindex) = target.map_or((0, 0), |target| (target.index, target.subindex));
    reply.extend(index.to_le_bytes());
    reply.push(subindex);
    reply.extend(abort.0.to_le_bytes());
}

fn write_target(objects: &mut Objects<'_>, target: Target, data: &[u8]) -> Result<(), Abort> {
    if target.complete {
        objects.write_all(target.index, target.subindex, data)
    } else {
        objects.write(target.index, target.subindex, data)
    }
}

/// Refuses an object that doesn't exist, before a long download begins.
fn probe(objects: &Objects<'_>, target: Target) -> Result<(), Abort> {
    let object = objects.dictionary.object(target.index).ok_or(Abort::NO_OBJECT)?;
    object.entry(target.subindex).map(|_| ()).ok_or(Abort::NO_SUBINDEX)
}
