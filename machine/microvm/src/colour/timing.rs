//! Times accesses by the time stamp counter.
// UNSAFETY: reads bytes of a mapping by their addresses, and the counter.
#![expect(unsafe_code, reason = "the time of one access to one line is what is measured")]

use core::arch::x86_64::{__rdtscp, _mm_lfence, _rdtsc};

use crate::colour::measure::Timer;
use crate::colour::pool::Pool;

/// Times accesses to the pages of a pool. Pin the thread before: another CPU may have another
/// cache.
#[derive(Debug)]
pub struct PoolTimer<'a> {
    pool: &'a Pool,
    line_bytes: usize,
}

impl<'a> PoolTimer<'a> {
    /// For lines of so many bytes.
    pub fn new(pool: &'a Pool, line_bytes: u32) -> Self {
        Self { pool, line_bytes: line_bytes as usize }
    }

    fn touch(&self, page: usize, line: usize) {
        let place = self.pool.byte(page, line * self.line_bytes);
        // SAFETY: it is a byte of the pool, which is mapped as long as `self`, and which nobody
        // writes.
        unsafe { place.read_volatile() };
    }
}

impl Timer for PoolTimer<'_> {
    fn access_after(&mut self, line: usize, target: usize, sweeps: [&[usize]; 2]) -> u64 {
        self.touch(target, line);
        for pages in sweeps {
            for page in pages.iter().chain(pages) {
                self.touch(*page, line);
            }
        }
        let before = begin();
        self.touch(target, line);
        end().wrapping_sub(before)
    }
}

/// The counter, when all that was to be done before is done.
fn begin() -> u64 {
    // SAFETY: every processor with 64 bits has these two.
    unsafe { _mm_lfence() };
    // SAFETY: as above.
    let now = unsafe { _rdtsc() };
    // SAFETY: as above.
    unsafe { _mm_lfence() };
    now
}

/// The counter, when what was measured is done, and before anything else is.
fn end() -> u64 {
    let mut cpu = 0;
    // SAFETY: every processor that runs guests has it.
    let now = unsafe { __rdtscp(&raw mut cpu) };
    // SAFETY: every processor with 64 bits has it.
    unsafe { _mm_lfence() };
    now
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::{CacheShape, Frames, Ground, NoColours, measure::measure};

    /// Pages in the order in which they are.
    struct InOrder;

    impl Frames for InOrder {
        fn of(&self, _: u64, pages: usize) -> Result<Vec<Option<u64>>, NoColours> {
            Ok((1..=pages as u64).map(Some).collect())
        }
    }

    /// Goal: real times come to an answer, whatever the machine is.
    /// Method: a small cache is said to be there; what is found of it is no matter, but that bits
    /// are asked for in their order, or pages are said not to evict each other.
    #[test]
    fn times_of_this_machine_come_to_an_answer() {
        let shape = CacheShape { sets: 256, ways: 4, line_bytes: 64 };
        let ground = Ground { last_level: Some(shape), ..Ground::default() };
        let pool = Pool::new(ground.pages_to_measure().unwrap(), &InOrder).unwrap();
        let mut timer = PoolTimer::new(&pool, shape.line_bytes);
        assert!(timer.access_after(63, 0, [&[1, 2], &[]]) > 0, "it takes some time");
        match measure(&ground, pool.frames(), &mut timer) {
            Ok(measured) => assert_eq!(measured.bits.iter().map(|it| it.bit).max(), Some(13)),
            Err(NoColours::NoEvictions { .. } | NoColours::Hashed { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    }
}
