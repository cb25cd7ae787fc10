//! EtherCAT frames (ETG.1000.4, 5.3): built in place, read without trust.
//!
//! ```text
//! 0        6        12     14       16                            up to 1514
//! | to     | from   | type | header | datagram | datagram | …     | zeros up to 60 |
//!
//! datagram: | command 1 | index 1 | address 4 | length and more 2 | irq 2 | data | counter 2 |
//! ```
//!
//! Every length in a received frame is checked before it is used: a wire may carry anything.

pub(crate) mod register;

use quietcore_wire::FRAME_BYTES_MAX;

/// Ethernet header and EtherCAT header.
const START: usize = 16;
/// The shortest Ethernet frame, without its check sequence.
const SHORTEST: usize = 60;
/// Bytes of a datagram's header.
const HEADER: usize = 10;
/// Bytes of a datagram besides its data: header and working counter.
pub(crate) const OVERHEAD: usize = HEADER + 2;
/// The most data that one datagram carries, in bytes.
pub(crate) const DATA_BYTES_MAX: usize = FRAME_BYTES_MAX - START - OVERHEAD;
/// To all; from an address of nobody, in which the first SubDevice sets a bit; EtherCAT.
const ETHERNET: [u8; 14] =
    [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x88, 0xA4];
const LENGTH_MASK: u16 = 0x07FF;
const MORE: u16 = 0x8000;
const TYPE_DATAGRAMS: u16 = 0x1000;

/// The command of a datagram, by its number on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Command {
    /// Asks for nothing at all.
    Nop = 0,
    /// Reads by position in the line.
    Aprd = 1,
    /// Writes by position in the line.
    Apwr = 2,
    /// Read by station address.
    Fprd = 4,
    /// Write by station address.
    Fpwr = 5,
    /// Read from all, combined by OR.
    Brd = 7,
    /// Writes to all SubDevices.
    Bwr = 8,
    /// Reads at a logical address.
    Lrd = 10,
    /// Writes at a logical address.
    Lwr = 11,
    /// Read and write logical memory.
    Lrw = 12,
    /// Read from one by station address, write to those behind it.
    Frmw = 14,
}

/// A datagram to be sent: all but its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) command: Command,
    /// Logical address; or device address and, in the upper half, the register.
    pub(crate) address: u32,
    /// Size of its data in bytes.
    pub(crate) bytes: u16,
}

impl Request {
    fn register(command: Command, device: u16, register: u16, bytes: u16) -> Self {
        Self { command, address: u32::from(register) << 16 | u32::from(device), bytes }
    }

    /// Reads a register by station address.
    pub(crate) fn read(station: u16, register: u16, bytes: u16) -> Self {
        Self::register(Command::Fprd, station, register, bytes)
    }

    /// Writes a register by station address.
    pub(crate) fn write(station: u16, register: u16, bytes: u16) -> Self {
        Self::register(Command::Fpwr, station, register, bytes)
    }

    /// Reads a register by position in the line, from 0.
    pub(crate) fn read_at(position: u16, register: u16, bytes: u16) -> Self {
        Self::register(Command::Aprd, 0_u16.wrapping_sub(position), register, bytes)
    }

    /// Writes a register by position in the line, from 0.
    pub(crate) fn write_at(position: u16, register: u16, bytes: u16) -> Self {
        Self::register(Command::Apwr, 0_u16.wrapping_sub(position), register, bytes)
    }

    /// Reads a register of all, combined by OR.
    pub(crate) fn read_all(register: u16, bytes: u16) -> Self {
        Self::register(Command::Brd, 0, register, bytes)
    }

    /// Writes a register of all.
    pub(crate) fn write_all(register: u16, bytes: u16) -> Self {
        Self::register(Command::Bwr, 0, register, bytes)
    }

    /// Reads the system time of the reference clock and hands it to the clocks behind.
    pub(crate) fn distribute_time(reference: u16) -> Self {
        Self::register(Command::Frmw, reference, register::SYSTEM_TIME, 8)
    }

    /// Makes an access to logical memory.
    pub(crate) fn logical(command: Command, address: u32, bytes: u16) -> Self {
        Self { command, address, bytes }
    }
}

/// A frame under construction.
#[derive(Clone)]
pub(crate) struct FrameBuffer {
    bytes: [u8; FRAME_BYTES_MAX],
    used: usize,
    /// Offset of the last datagram; `None` before the first.
    last: Option<usize>,
}

/// The end of a frame's cyclic part; what was added later can be cut off there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    used: usize,
    last: Option<usize>,
}

impl FrameBuffer {
    pub(crate) fn new() -> Self {
        let mut bytes = [0; FRAME_BYTES_MAX];
        bytes[..ETHERNET.len()].copy_from_slice(&ETHERNET);
        Self { bytes, used: START, last: None }
    }

    /// Bytes of data that another datagram could carry.
    pub(crate) fn room(&self) -> usize {
        (FRAME_BYTES_MAX - self.used).saturating_sub(OVERHEAD)
    }

    /// Adds a datagram with zeros as data and returns where these begin; `None` without room.
    pub(crate) fn push(&mut self, request: Request) -> Option<usize> {
        let bytes = usize::from(request.bytes);
        if self.used + OVERHEAD + bytes > FRAME_BYTES_MAX {
            return None;
        }
        if let Some(last) = self.last {
            let flags = self.flags_at(last) | MORE;
            self.bytes[last + 6..last + 8].copy_from_slice(&flags.to_le_bytes());
        }
        let start = self.used;
        let data = start + HEADER;
        self.bytes[start] = request.command as u8;
        self.bytes[start + 1] = 0;
        self.bytes[start + 2..start + 6].copy_from_slice(&request.address.to_le_bytes());
        self.bytes[start + 6..start + 8].copy_from_slice(&request.bytes.to_le_bytes());
        self.bytes[start + 8..data].fill(0);
        self.bytes[data..data + bytes + 2].fill(0);
        self.used = data + bytes + 2;
        self.last = Some(start);
        Some(data)
    }

    /// The data of a datagram that [`push`](Self::push) returned the place of.
    pub(crate) fn data_mut(&mut self, place: usize, bytes: usize) -> &mut [u8] {
        &mut self.bytes[place..place + bytes]
    }

    /// Changes the command of the datagram of which the data begin at `place`.
    pub(crate) fn set_command(&mut self, place: usize, command: Command) {
        self.bytes[place - HEADER] = command as u8;
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark { used: self.used, last: self.last }
    }

    /// Cuts off the datagrams that were added after `mark`.
    pub(crate) fn cut(&mut self, mark: Mark) {
        self.used = mark.used;
        self.last = mark.last;
        if let Some(last) = self.last {
            let flags = self.flags_at(last) & !MORE;
            self.bytes[last + 6..last + 8].copy_from_slice(&flags.to_le_bytes());
        }
    }

    /// The frame as it goes out, with this index in its first datagram.
    pub(crate) fn finish(&mut self, index: u8) -> &[u8] {
        let payload = (self.used - START) as u16;
        let header = payload & LENGTH_MASK | TYPE_DATAGRAMS;
        self.bytes[14..16].copy_from_slice(&header.to_le_bytes());
        self.bytes[START + 1] = index;
        let end = self.used.max(SHORTEST);
        self.bytes[self.used..end].fill(0);
        &self.bytes[..end]
    }

    /// The data and working counter in `answer` of the datagram of which the data begin at `place`
    /// here; `None` if the answer is not one to this frame.
    pub(crate) fn answer<'a>(
        &self,
        answer: &'a [u8],
        place: usize,
        bytes: usize,
    ) -> Option<(&'a [u8], u16)> {
        let ours = &self.bytes[place - HEADER..place];
        let theirs = answer.get(place - HEADER..place)?;
        // Commands that count positions have changed the address; index and flags are as sent.
        if ours[0] != theirs[0] || ours[6..8] != theirs[6..8] {
            return None;
        }
        let data = answer.get(place..place + bytes)?;
        let counter = answer.get(place + bytes..place + bytes + 2)?;
        Some((data, u16::from_le_bytes([counter[0], counter[1]])))
    }

    fn flags_at(&self, start: usize) -> u16 {
        u16::from_le_bytes([self.bytes[start + 6], self.bytes[start + 7]])
    }
}

/// The index of a frame's first datagram, if it is an EtherCAT frame that came back.
pub(crate) fn index_of(frame: &[u8]) -> Option<u8> {
    if frame.get(12..14)? != &ETHERNET[12..14] {
        return None;
    }
    frame.get(START + 1).copied()
}

/// One datagram of a frame, read without trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Datagram<'a> {
    /// The command by its number.
    pub(crate) command: u8,
    /// Device address or lower half of the logical address.
    pub(crate) device: u16,
    /// Register or upper half of the logical address.
    pub(crate) register: u16,
    pub(crate) data: &'a [u8],
    pub(crate) working_counter: u16,
}

/// The datagrams of a frame, up to the first that is not whole.
pub(crate) fn datagrams(frame: &[u8]) -> impl Iterator<Item = Datagram<'_>> {
    let mut rest = frame.get(START..).unwrap_or_default();
    core::iter::from_fn(move || {
        let header = rest.get(..HEADER)?;
        let word = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        let flags = word(6);
        let end = HEADER + usize::from(flags & LENGTH_MASK);
        let data = rest.get(HEADER..end)?;
        let counter = rest.get(end..end + 2)?;
        let datagram = Datagram {
            command: header[0],
            device: word(2),
            register: word(4),
            data,
            working_counter: u16::from_le_bytes([counter[0], counter[1]]),
        };
        rest = if flags & MORE == 0 { &[] } else { &rest[end + 2..] };
        Some(datagram)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_frame_is_laid_out_as_the_standard_says() {
        let mut frame = FrameBuffer::new();
        let place = frame.push(Request::write(0x1001, 0x0120, 2)).unwrap();
        frame.data_mut(place, 2).copy_from_slice(&[8, 0]);
        frame.push(Request::read_at(2, 0x0130, 6)).unwrap();
        let bytes = frame.finish(0x42).to_vec();
        assert_eq!(bytes.len(), 60);
        assert_eq!(bytes[14..16], [32, 0x10]);
        assert_eq!(bytes[16..30], [5, 0x42, 0x01, 0x10, 0x20, 0x01, 2, 0x80, 0, 0, 8, 0, 0, 0]);
        assert_eq!(bytes[30..40], [1, 0, 0xFE, 0xFF, 0x30, 0x01, 6, 0, 0, 0]);
    }

    #[test]
    fn what_is_added_can_be_cut_off() {
        let mut frame = FrameBuffer::new();
        frame.push(Request::read_all(0x0130, 2)).unwrap();
        let before = frame.finish(1).to_vec();
        let mark = frame.mark();
        frame.push(Request::read(0x1000, 0x0300, 20)).unwrap();
        assert_ne!(frame.finish(1), before);
        frame.cut(mark);
        assert_eq!(frame.finish(1), before);
    }

    #[test]
    fn a_frame_holds_what_fits_and_no_more() {
        let mut frame = FrameBuffer::new();
        assert_eq!(frame.room(), DATA_BYTES_MAX);
        assert_eq!(frame.push(Request::logical(Command::Lrw, 0, 1487)), None);
        frame.push(Request::logical(Command::Lrw, 0, 1486)).unwrap();
        assert_eq!(frame.room(), 0);
        assert_eq!(frame.push(Request::read_all(0, 0)), None);
        assert_eq!(frame.finish(0).len(), FRAME_BYTES_MAX);
    }

    #[test]
    fn an_answer_to_another_frame_is_none() {
        let mut frame = FrameBuffer::new();
        let place = frame.push(Request::read_all(0x0130, 2)).unwrap();
        let mut answer = frame.finish(7).to_vec();
        answer[place] = 8;
        answer[place + 2] = 3;
        assert_eq!(frame.answer(&answer, place, 2), Some((&[8, 0][..], 3)));
        assert_eq!(index_of(&answer), Some(7));
        assert_eq!(frame.answer(&answer[..place + 3], place, 2), None);
        answer[place - HEADER] = Command::Brd as u8 + 1;
        assert_eq!(frame.answer(&answer, place, 2), None);
    }

    proptest! {
        #[test]
        fn whatever_the_wire_carries_is_read_without_a_panic(
            frame in prop::collection::vec(any::<u8>(), 0..200)
        ) {
            let mut bytes = 0;
            for datagram in datagrams(&frame) {
                bytes += datagram.data.len() + OVERHEAD;
            }
            prop_assert!(bytes <= frame.len());
            let mut ours = FrameBuffer::new();
            let place = ours.push(Request::read_all(0, 8)).unwrap();
            let _ = (index_of(&frame), ours.answer(&frame, place, 8));
        }

        #[test]
        fn what_is_built_is_read_back(sizes in prop::collection::vec(0_u16..300, 1..5)) {
            let mut frame = FrameBuffer::new();
            for (number, size) in sizes.iter().enumerate() {
                let place = frame.push(Request::read(number as u16, 0x1000, *size)).unwrap();
                frame.data_mut(place, usize::from(*size)).fill(number as u8);
            }
            let bytes = frame.finish(9).to_vec();
            let read: Vec<_> = datagrams(&bytes).collect();
            prop_assert_eq!(read.len(), sizes.len());
            for (number, (datagram, size)) in read.iter().zip(&sizes).enumerate() {
                prop_assert_eq!(datagram.device, number as u16);
                prop_assert_eq!(datagram.data, vec![number as u8; usize::from(*size)]);
            }
        }
    }
}
