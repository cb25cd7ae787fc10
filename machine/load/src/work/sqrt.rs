//! Spinning on the square root of random numbers.
//!
//! The processor's floating-point unit is busy without a pause and memory is left alone, so what
//! this load disturbs is the share of the CPU and its heat.

use std::convert::Infallible;
use std::hint::black_box;

use crate::board::Beat;
use crate::work::WorkError;
use crate::work::random::Random;

/// About 60 µs of work on a machine of 2020.
const BATCH: u64 = 16_384;

pub(super) fn run(beat: &mut Beat<'_>) -> Result<Infallible, WorkError> {
    let mut random = Random::new();
    beat.start();
    loop {
        for _ in 0..BATCH {
            let number = random.next() as f64;
            black_box(black_box(number).sqrt());
        }
        beat.add(BATCH, 0);
    }
}
