//! Chance from a seed: xorshift64*, whose numbers are the same on every machine.

use quietcore_units::Nanos;

/// A source of random numbers.
#[derive(Clone, Debug)]
pub(super) struct Chance {
    state: u64,
    /// `true` if nothing happens by chance.
    is_calm: bool,
}

impl Chance {
    /// Makes the source of a seed. Neighbouring seeds give numbers that have nothing in common.
    pub(super) fn new(seed: u64) -> Self {
        // SplitMix64; its result is zero for one seed only, and xorshift would never get away from
        // zero.
        let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self { state: (mixed ^ (mixed >> 31)).max(1), is_calm: false }
    }

    /// Makes a source for a story: nothing rare happens, and everything takes as long as it usually
    /// does.
    #[cfg(test)]
    pub(super) fn calm() -> Self {
        Self { state: 1, is_calm: true }
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Makes another source, whose numbers have nothing in common with those of this one.
    pub(super) fn split(&mut self) -> Self {
        Self { is_calm: self.is_calm, ..Self::new(self.next()) }
    }

    /// Returns a number below `end`, which is not zero.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        if self.is_calm {
            return end / 2;
        }
        // The upper bits are the better ones; the ends of ranges are far below 2^32.
        (self.next() >> 16) % end
    }

    /// Returns `true` once in `times` calls, on average.
    pub(super) fn one_in(&mut self, times: u64) -> bool {
        !self.is_calm && self.below(times) == 0
    }

    /// Returns a duration of `least` to `most` microseconds, both included.
    pub(super) fn micros(&mut self, least: u64, most: u64) -> Nanos {
        Nanos::from_micros(least + self.below(most - least + 1))
    }

    /// Picks one of several values.
    pub(super) fn pick<'a, T>(&mut self, some: &'a [T]) -> &'a T {
        &some[self.below(some.len() as u64) as usize]
    }
}
