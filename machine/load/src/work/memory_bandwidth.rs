//! Copying through a set much larger than the last-level cache.
//!
//! Half of the set is the source and half the destination. Prefetchers run at full speed, so the
//! load takes as much of the path to memory as one CPU can.

use std::convert::Infallible;
use std::hint::black_box;

use crate::board::Beat;
use crate::work::{WorkError, allocate};

/// Bytes that are copied between two signs of progress. Smaller than the size from which the C
/// library copies past the caches, so that the caches suffer too.
const BLOCK: usize = 64 << 10;

pub(super) fn run(size: usize, beat: &mut Beat<'_>) -> Result<Infallible, WorkError> {
    let half = (size / 2).max(1);
    // Written, not only allocated: untouched memory is one and the same page of zeros.
    let source = allocate(half, 0x5a_u8)?;
    let mut destination = allocate(half, 0xa5_u8)?;
    beat.start();
    loop {
        for (to, from) in destination.chunks_mut(BLOCK).zip(source.chunks(BLOCK)) {
            to.copy_from_slice(black_box(from));
            black_box(&mut *to);
            beat.add(1, to.len() as u64);
        }
    }
}
