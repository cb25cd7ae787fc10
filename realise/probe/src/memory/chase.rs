//! Two ways through a working set: along a random cycle, and from begin to end.
//!
//! ```text
//! line 0    line 1    line 2    line 3       a line is one stride of words; the first of them
//! ┌──────┐  ┌──────┐  ┌──────┐  ┌──────┐     holds where the next line begins, as an index of
//! │ → 2  │  │ → 0  │  │ → 3  │  │ → 1  │     words
//! └──────┘  └──────┘  └──────┘  └──────┘
//! ```
//!
//! The cycle grows line by line: a new line is inserted behind a random one of those already in it.
//! Each of the possible cycles through n lines is then as likely as any other, and a larger working
//! set keeps the work that was done for a smaller one.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Number of accesses written out in the loop of a sweep, so that its other instructions count once
/// for all of them.
pub const UNROLLED: usize = 8;

/// A cycle through the first lines of a field.
#[derive(Debug)]
pub struct Chase<'field> {
    words: &'field [AtomicU64],
    /// Words of a line.
    stride: usize,
    /// Number of lines that the cycle goes through.
    lines: usize,
    random: Random,
}

impl<'field> Chase<'field> {
    /// Starts a cycle through no line yet; `seed` decides how it grows.
    pub fn new(words: &'field [AtomicU64], stride: usize, seed: u64) -> Self {
        Self { words, stride: stride.max(1), lines: 0, random: Random::new(seed) }
    }

    /// Returns the number of lines that it goes through.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// Returns the words of the lines that it goes through.
    pub fn words(&self) -> &'field [AtomicU64] {
        &self.words[..self.lines * self.stride]
    }

    /// Lets the cycle grow to `lines` lines, or to as many as the field has; it never shrinks.
    /// `breathe` is called now and then.
    pub fn grow(&mut self, lines: usize, mut breathe: impl FnMut()) {
        /// Lines between two calls of `breathe`, which take some hundred microseconds.
        const BREATH: usize = 4096;
        let lines = lines.min(self.words.len() / self.stride);
        for line in self.lines..lines {
            let new = &self.words[line * self.stride];
            // The first line is its own successor.
            let before = &self.words[self.random.below(line.max(1)) * self.stride];
            new.store(if line == 0 { 0 } else { before.load(Relaxed) }, Relaxed);
            before.store((line * self.stride) as u64, Relaxed);
            if line % BREATH == BREATH - 1 {
                breathe();
            }
        }
        self.lines = self.lines.max(lines);
    }
}

/// Follows a cycle for `accesses` accesses, each of which needs the value of the one before;
/// returns the index of the word that it came to.
#[inline(never)]
pub fn walk(words: &[AtomicU64], from: usize, accesses: u64) -> usize {
    let mut at = from;
    for _ in 0..accesses {
        at = words[at].load(Relaxed) as usize;
    }
    at
}

/// Reads one word of each `stride`, `chunks` chunks of [`UNROLLED`] strides from chunk `from` on,
/// and from the begin again behind the last one; returns the chunk that it came to.
///
/// # Panics
/// Panics for a stride other than 1, 8 and 16 words, and where there is no whole chunk.
pub fn sweep(words: &[AtomicU64], stride: usize, from: usize, chunks: u64) -> usize {
    match stride {
        1 => sweep_by::<UNROLLED>(words, from, chunks),
        8 => sweep_by::<{ UNROLLED * 8 }>(words, from, chunks),
        16 => sweep_by::<{ UNROLLED * 16 }>(words, from, chunks),
        _ => panic!("the plan has checked the stride"),
    }
}

#[inline(never)]
fn sweep_by<const WORDS: usize>(words: &[AtomicU64], from: usize, chunks: u64) -> usize {
    let (all, _) = words.as_chunks::<WORDS>();
    let (mut at, mut left) = (from % all.len(), chunks);
    let mut mixed = 0;
    while left > 0 {
        let run = (all.len() - at).min(usize::try_from(left).unwrap_or(usize::MAX));
        for chunk in &all[at..at + run] {
            let word = |index: usize| chunk[index * (WORDS / UNROLLED)].load(Relaxed);
            mixed ^= word(0) ^ word(1) ^ word(2) ^ word(3);
            mixed ^= word(4) ^ word(5) ^ word(6) ^ word(7);
        }
        at = (at + run) % all.len();
        left -= run as u64;
    }
    black_box(mixed);
    at
}

/// Random numbers: a counter whose bits are mixed (Steele, Lea, Flood, 2014, "Fast splittable
/// pseudorandom number generators"). They decide about places, and nothing else.
#[derive(Clone, Copy, Debug)]
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `limit`; the bias is below `limit` / 2⁶⁴.
    fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn field(words: usize) -> Vec<AtomicU64> {
        // Not zeros: nothing may depend on what was there.
        (0..words as u64).map(|index| AtomicU64::new(index.wrapping_mul(7) + 3)).collect()
    }

    /// Returns the lines in the order of the cycle, from the first one until it comes round.
    fn order(chase: &Chase<'_>) -> Vec<usize> {
        let mut lines = Vec::new();
        let mut at = 0;
        loop {
            lines.push(at / chase.stride);
            at = walk(chase.words(), at, 1);
            if at == 0 || lines.len() > chase.lines {
                return lines;
            }
        }
    }

    proptest! {
        /// Goal: one cycle, and every line in it once, however it was made to grow.
        #[test]
        fn the_chase_comes_by_every_line_exactly_once(
            stride in prop_oneof![Just(1_usize), Just(8), Just(16)],
            sizes in proptest::collection::vec(1_usize..600, 1..6),
            seed in any::<u64>(),
        ) {
            let words = field(600 * stride);
            let mut chase = Chase::new(&words, stride, seed);
            for size in sizes {
                let before = chase.lines();
                chase.grow(size, || {});
                prop_assert_eq!(chase.lines(), before.max(size), "it never shrinks");
                let mut order = order(&chase);
                prop_assert_eq!(order.len(), chase.lines());
                order.sort_unstable();
                prop_assert!(order.into_iter().eq(0..chase.lines()));
                let middle = stride * (chase.lines() / 2);
                prop_assert_eq!(walk(chase.words(), middle, chase.lines() as u64), middle);
            }
        }

        #[test]
        fn a_sweep_goes_on_where_it_ended(
            stride in prop_oneof![Just(1_usize), Just(8), Just(16)],
            chunks in 1_usize..40,
            steps in proptest::collection::vec(0_u64..200, 1..5),
        ) {
            let words = field(chunks * UNROLLED * stride);
            let (mut at, mut sum) = (0, 0);
            for step in steps {
                at = sweep(&words, stride, at, step);
                sum += step;
                prop_assert_eq!(at as u64, sum % chunks as u64);
            }
        }
    }

    #[test]
    fn all_cycles_through_four_lines_are_equally_likely() {
        let mut seen: BTreeMap<Vec<usize>, u32> = BTreeMap::new();
        for seed in 0..6_000 {
            let words = field(4);
            let mut chase = Chase::new(&words, 1, seed);
            chase.grow(4, || {});
            *seen.entry(order(&chase)).or_default() += 1;
        }
        assert_eq!(seen.len(), 6, "three of four lines can follow the first in six orders");
        assert!(seen.values().all(|count| (880..1_120).contains(count)), "{seen:?}");
    }

    #[test]
    fn a_cycle_ends_with_its_field() {
        let words = field(64);
        let mut chase = Chase::new(&words, 8, 1);
        let mut breaths = 0;
        chase.grow(usize::MAX, || breaths += 1);
        assert_eq!((chase.lines(), breaths), (8, 0));
    }
}
