//! Bytes through a page that is shared with a program of the host: one side writes, the other
//! reads, and each has its index, which only grows. The other side's index counts for nothing where
//! it can't be one.

use core::sync::atomic::{
    AtomicU8, AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};

/// One direction of such a page.
#[derive(Clone, Copy, Debug)]
pub struct Ring<'a> {
    bytes: &'a [AtomicU8],
    read: &'a AtomicU32,
    written: &'a AtomicU32,
}

impl<'a> Ring<'a> {
    /// Takes a ring of bytes, whose number is a power of two, and its indices.
    pub fn new(bytes: &'a [AtomicU8], read: &'a AtomicU32, written: &'a AtomicU32) -> Self {
        assert!(bytes.len().is_power_of_two(), "so that indices may wrap");
        Self { bytes, read, written }
    }

    /// Writes the first of these bytes, as many as there is room for, and returns their number.
    pub fn write(&self, from: &[u8]) -> usize {
        let (read, written) = (self.read.load(Acquire), self.written.load(Relaxed));
        let room = self.bytes.len().saturating_sub(written.wrapping_sub(read) as usize);
        let count = from.len().min(room);
        for (place, byte) in (0..).zip(&from[..count]) {
            self.at(written, place).store(*byte, Relaxed);
        }
        self.written.store(written.wrapping_add(count as u32), Release);
        count
    }

    /// Reads the next bytes, as many as there are and `into` has room for. Returns their number.
    pub fn read(&self, into: &mut [u8]) -> usize {
        let (read, written) = (self.read.load(Relaxed), self.written.load(Acquire));
        let waiting = written.wrapping_sub(read) as usize;
        let count = if waiting > self.bytes.len() { 0 } else { waiting.min(into.len()) };
        for (place, byte) in (0..).zip(&mut into[..count]) {
            *byte = self.at(read, place).load(Relaxed);
        }
        self.read.store(read.wrapping_add(count as u32), Release);
        count
    }

    fn at(&self, index: u32, offset: u32) -> &AtomicU8 {
        &self.bytes[index.wrapping_add(offset) as usize % self.bytes.len()]
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn memory(bytes: usize) -> Vec<AtomicU8> {
        (0..bytes).map(|_| AtomicU8::new(0)).collect()
    }

    #[test]
    fn what_has_no_room_waits_until_some_was_read() {
        let (bytes, read, written) = (memory(4), AtomicU32::new(0), AtomicU32::new(0));
        let ring = Ring::new(&bytes, &read, &written);
        assert_eq!((ring.write(b"abcdef"), ring.write(b"ef")), (4, 0));
        let mut into = [0; 3];
        assert_eq!((ring.read(&mut into), &into), (3, b"abc"));
        assert_eq!(ring.write(b"ef"), 2);
        assert_eq!((ring.read(&mut into), &into), (3, b"def"));
        assert_eq!(ring.read(&mut into), 0);
    }

    #[test]
    fn an_index_that_can_be_none_moves_nothing() {
        let (bytes, read, written) = (memory(4), AtomicU32::new(0), AtomicU32::new(5));
        let ring = Ring::new(&bytes, &read, &written);
        assert_eq!((ring.read(&mut [0; 4]), ring.write(b"x")), (0, 0));
    }

    proptest! {
        #[test]
        fn bytes_arrive_as_they_were_written(
            text in vec(any::<u8>(), 0..60), start in any::<u32>(), pieces in vec(1..9_usize, 1..9),
        ) {
            let (bytes, read, written) = (memory(8), AtomicU32::new(start), AtomicU32::new(start));
            let ring = Ring::new(&bytes, &read, &written);
            let (mut sent, mut got) = (0, Vec::new());
            for piece in pieces.iter().cycle() {
                if got.len() == text.len() {
                    break;
                }
                sent += ring.write(&text[sent..text.len().min(sent + piece)]);
                let mut into = [0; 5];
                let count = ring.read(&mut into);
                got.extend_from_slice(&into[..count]);
            }
            prop_assert_eq!(got, text);
        }
    }
}
