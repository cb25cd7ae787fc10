//! EtherCAT frames: datagrams one after the other (ETG.1000.4, 5.3).
//!
//! ```text
//! Ethernet  destination 6 · source 6 · 0x88A4
//! EtherCAT  length, 11 bits · type, 4 bits: 1
//! datagram  command · index · address 4 · length, 11 bits, circulating, more · events 2 · data ·
//!           working counter 2
//! ```

use std::ops::Range;

/// The Ethernet type of EtherCAT, as it stands in a frame.
const ETHERCAT: [u8; 2] = [0x88, 0xA4];
/// Ethernet header and EtherCAT header.
const FRAME_HEADER_BYTES: usize = 16;
const DATAGRAM_HEADER_BYTES: usize = 10;
const COUNTER_BYTES: usize = 2;
const LENGTH_MASK: u16 = 0x07FF;
const MORE: u16 = 0x8000;

/// The command of a datagram (ETG.1000.4, 5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Command {
    /// Asks no SubDevice for anything.
    Nop = 0,
    /// Reads by position in the line.
    Aprd = 1,
    /// Writes by position in the line.
    Apwr = 2,
    /// Read and write by position.
    Aprw = 3,
    /// Read by station address.
    Fprd = 4,
    /// Write by station address.
    Fpwr = 5,
    /// Read and write by station address.
    Fprw = 6,
    /// Read from all, combined by or.
    Brd = 7,
    /// Writes to all SubDevices.
    Bwr = 8,
    /// Read from all, combined by or, and write to all.
    Brw = 9,
    /// Read from logical addresses.
    Lrd = 10,
    /// Write to logical addresses.
    Lwr = 11,
    /// Read from and write to logical addresses.
    Lrw = 12,
    /// Read by position, the others write.
    Armw = 13,
    /// Read by station address, the others write.
    Frmw = 14,
}

impl Command {
    const ALL: [Self; 15] = [
        Self::Nop,
        Self::Aprd,
        Self::Apwr,
        Self::Aprw,
        Self::Fprd,
        Self::Fpwr,
        Self::Fprw,
        Self::Brd,
        Self::Bwr,
        Self::Brw,
        Self::Lrd,
        Self::Lwr,
        Self::Lrw,
        Self::Armw,
        Self::Frmw,
    ];

    /// The command with this number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Returns `true` if it carries process data at logical addresses.
    pub(crate) fn is_logical(self) -> bool {
        matches!(self, Self::Lrd | Self::Lwr | Self::Lrw)
    }
}

/// A datagram in a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Datagram {
    /// Offset of its header in the frame.
    pub(crate) start: usize,
    /// The command; `None` for a number that stands for none.
    pub(crate) command: Option<Command>,
    /// Range of its data in the frame.
    pub(crate) data: Range<usize>,
}

impl Datagram {
    /// Its address: two 16-bit halves, or a logical one of 32 bits.
    pub(crate) fn address(&self, frame: &[u8]) -> u32 {
        let at = self.start + 2;
        u32::from_le_bytes([frame[at], frame[at + 1], frame[at + 2], frame[at + 3]])
    }

    /// Replaces the first half of its address.
    pub(crate) fn set_position(&self, frame: &mut [u8], position: u16) {
        frame[self.start + 2..self.start + 4].copy_from_slice(&position.to_le_bytes());
    }

    /// Adds bits to its field of events.
    pub(crate) fn add_events(&self, frame: &mut [u8], events: u16) {
        let [low, high] = events.to_le_bytes();
        frame[self.start + 8] |= low;
        frame[self.start + 9] |= high;
    }

    /// Adds to its working counter, which wraps.
    pub(crate) fn count(&self, frame: &mut [u8], increment: u16) {
        let counter = &mut frame[self.data.end..self.data.end + COUNTER_BYTES];
        let sum = u16::from_le_bytes([counter[0], counter[1]]).wrapping_add(increment);
        counter.copy_from_slice(&sum.to_le_bytes());
    }
}

/// The walk over the datagrams of a frame. It ends at the first one that does not fit into the
/// frame.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    at: usize,
    end: usize,
}

impl Walk {
    /// The datagrams of a frame; `None` when it is no EtherCAT frame.
    pub(crate) fn new(frame: &[u8]) -> Option<Self> {
        if frame.len() < FRAME_HEADER_BYTES || frame[12..14] != ETHERCAT {
            return None;
        }
        let header = u16::from_le_bytes([frame[14], frame[15]]);
        let end = FRAME_HEADER_BYTES + usize::from(header & LENGTH_MASK);
        (header >> 12 == 1).then_some(Self { at: FRAME_HEADER_BYTES, end: end.min(frame.len()) })
    }

    /// The next datagram. Each has a header, so a frame of n bytes has fewer than n / 12 of them.
    pub(crate) fn next(&mut self, frame: &[u8]) -> Option<Datagram> {
        let start = self.at;
        let data = start + DATAGRAM_HEADER_BYTES;
        if data + COUNTER_BYTES > self.end {
            return None;
        }
        let word = u16::from_le_bytes([frame[start + 6], frame[start + 7]]);
        let data_end = data + usize::from(word & LENGTH_MASK);
        if data_end + COUNTER_BYTES > self.end {
            return None;
        }
        self.at = if word & MORE == 0 { self.end } else { data_end + COUNTER_BYTES };
        let command = Command::from_number(frame[start]);
        Some(Datagram { start, command, data: data..data_end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame with two datagrams: BRD of one byte and FPRD of two.
    fn two_datagrams() -> Vec<u8> {
        let mut frame = vec![0x10; 12];
        frame.extend([0x88, 0xA4]);
        frame.extend((0x1000_u16 | 27).to_le_bytes());
        frame.extend([7, 1, 0, 0, 0, 0, 0x01, 0x80, 0, 0, 0xAA, 0, 0]);
        frame.extend([4, 2, 0x01, 0x10, 0x30, 0x01, 0x02, 0x00, 0, 0, 1, 2, 5, 0]);
        frame
    }

    #[test]
    fn datagrams_follow_each_other() {
        let mut frame = two_datagrams();
        let mut walk = Walk::new(&frame).unwrap();
        let first = walk.next(&frame).unwrap();
        assert_eq!((first.command, first.data.len()), (Some(Command::Brd), 1));
        let second = walk.next(&frame).unwrap();
        assert_eq!((second.command, second.data.len()), (Some(Command::Fprd), 2));
        assert_eq!(second.address(&frame), 0x0130_1001);
        assert_eq!(walk.next(&frame), None);
        second.count(&mut frame, 3);
        assert_eq!(frame[frame.len() - 2..], [8, 0]);
    }

    #[test]
    fn a_datagram_that_is_cut_off_ends_the_walk() {
        let frame = two_datagrams();
        for length in 0..frame.len() {
            let cut = &frame[..length];
            let mut seen = 0;
            if let Some(mut walk) = Walk::new(cut) {
                while walk.next(cut).is_some() {
                    seen += 1;
                }
            }
            assert_eq!(seen, usize::from(length >= 29), "{length} bytes");
        }
    }

    #[test]
    fn other_frames_are_not_walked() {
        let mut frame = two_datagrams();
        frame[13] = 0xA5;
        assert!(Walk::new(&frame).is_none());
        let mut frame = two_datagrams();
        frame[15] = 0x40;
        assert!(Walk::new(&frame).is_none(), "network variables are type 4");
    }
}
