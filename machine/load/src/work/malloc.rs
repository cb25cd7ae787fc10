//! Allocating a block, writing and reading one byte of each page, and freeing it.
//!
//! glibc takes a block of this size from the kernel and gives it back each time, so every round
//! makes and destroys a mapping and faults in each of its pages: the load is on the kernel's memory
//! management, on zeroing pages, and on the caches. (Below 32 MiB glibc begins to keep freed
//! blocks after the first round, and the load becomes one on the caches alone.)
//!
//! One byte is written in every 4096, as `stress --vm` does by default; it reads each of them back
//! too, and so do we.
//!
// UNSAFETY: the subject of the load is the C library's malloc itself.

#![expect(unsafe_code, reason = "the subject of the load is the C library's malloc itself")]

use std::convert::Infallible;
use std::hint::black_box;
use std::io;
use std::ptr::NonNull;

use crate::board::Beat;
use crate::work::WorkError;

const STRIDE: usize = 4096;
/// A sign of progress within a round, which takes long where many workers share a CPU.
const STRIDES_PER_BEAT: usize = 1024;
const MARK: u8 = b'Z';

pub(super) fn run(size: usize, beat: &mut Beat<'_>) -> Result<Infallible, WorkError> {
    beat.start();
    loop {
        let block = Block::new(size).map_err(WorkError::refused("allocate a block"))?;
        let mut strides_done = 0;
        for offset in (0..size).step_by(STRIDE) {
            block.write(offset, MARK);
            strides_done += 1;
            if strides_done == STRIDES_PER_BEAT {
                beat.add(0, (STRIDES_PER_BEAT * STRIDE) as u64);
                strides_done = 0;
            }
        }
        for offset in (0..size).step_by(STRIDE) {
            let found = block.read(offset);
            assert!(found == MARK, "memory at {offset} lost what was written");
        }
        drop(black_box(block));
        beat.add(1, (size % (STRIDES_PER_BEAT * STRIDE)) as u64);
    }
}

/// A block of the C library, freed when dropped.
struct Block {
    begin: NonNull<u8>,
    size: usize,
}

impl Block {
    fn new(size: usize) -> io::Result<Self> {
        // SAFETY: malloc may be called with any size.
        let begin = unsafe { libc::malloc(size) };
        match NonNull::new(begin.cast()) {
            Some(begin) => Ok(Self { begin, size }),
            None => Err(io::Error::last_os_error()),
        }
    }

    fn write(&self, offset: usize, value: u8) {
        assert!(offset < self.size, "the loop ends at the size");
        // SAFETY: the offset lies inside the block.
        let place = unsafe { self.begin.add(offset) };
        // SAFETY: the place belongs to this block, and a byte needs no alignment.
        unsafe { place.write_volatile(value) }
    }

    /// Only for places written before.
    fn read(&self, offset: usize) -> u8 {
        assert!(offset < self.size, "the loop ends at the size");
        // SAFETY: the offset lies inside the block.
        let place = unsafe { self.begin.add(offset) };
        // SAFETY: the place belongs to this block, and the loop before has written it.
        unsafe { place.read_volatile() }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the pointer came from malloc and is freed nowhere else.
        unsafe { libc::free(self.begin.as_ptr().cast()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_keeps_what_is_written_to_it() {
        let block = Block::new(3 * STRIDE).unwrap();
        for offset in [0, STRIDE, 3 * STRIDE - 1] {
            block.write(offset, MARK);
            assert_eq!(block.read(offset), MARK);
        }
    }

    #[test]
    #[should_panic(expected = "the loop ends at the size")]
    fn a_place_behind_the_block_is_refused() {
        Block::new(STRIDE).unwrap().write(STRIDE, MARK);
    }
}
