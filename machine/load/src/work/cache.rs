//! Writing at random places of a set a little larger than the last-level cache.
//!
//! Nearly every write misses, fetches a line, and throws out another one, dirty: the load takes
//! cache space from its neighbours and keeps the path to memory busy with small transfers.

use std::convert::Infallible;
use std::hint::black_box;

use crate::board::Beat;
use crate::work::random::Random;
use crate::work::{WorkError, allocate};

/// About 100 µs of work where each write goes to memory.
const BATCH: u64 = 4096;

pub(super) fn run(size: usize, beat: &mut Beat<'_>) -> Result<Infallible, WorkError> {
    // Written, not only allocated: untouched memory is one and the same page of zeros.
    let mut set = allocate((size / size_of::<u64>()).max(1), 1_u64)?;
    let mut random = Random::new();
    let count = set.len();
    beat.start();
    loop {
        for _ in 0..BATCH {
            let word = &mut set[random.below(count)];
            *word = word.wrapping_add(1);
        }
        black_box(set.as_mut_slice());
        beat.add(BATCH, 0);
    }
}
