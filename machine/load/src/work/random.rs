//! A fast stream of random numbers: xorshift with a multiplication at the end (Vigna, 2016,
//! "An experimental exploration of Marsaglia's xorshift generators, scrambled").
//!
//! It must be cheap, so that a load does its work and not the making of random numbers, and
//! irregular enough that no prefetcher guesses the next place.

/// The stream. The state is never 0.
pub(super) struct Random(u64);

impl Random {
    /// A stream of its own for each worker.
    pub(super) fn new() -> Self {
        let process = u64::from(std::process::id());
        Self(process.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        let mut state = self.0;
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        self.0 = state;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `limit`; the bias is below `limit` / 2⁶⁴.
    #[inline]
    pub(super) fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_inside_and_reach_every_part() {
        let mut random = Random::new();
        let mut parts = [0_u32; 16];
        for _ in 0..16_000 {
            parts[random.below(16)] += 1;
        }
        assert!(parts.iter().all(|part| (700..1300).contains(part)), "{parts:?}");
    }
}
