//! Which address bits are colours, from times.
//!
//! A bit is a colour if it decides by itself which set of the last-level cache a line lies in. So
//! it is asked of pairs of times: how long an access takes after a sweep over many pages that agree
//! with the page accessed in this bit, and after one over as many pages that don't. Where the bit
//! is a colour, the first sweep has evicted the line and the second one can't; where it is none (or
//! goes into a hash alone), both have.
//!
//! ```text
//! access the line ─► sweep, bits equal ─────► access it again: slow (memory)        ┐ a pair
//! access the line ─► sweep, this bit other ─► access it again: fast if it is colour ┘
//! ```
//!
//! Pairs are judged by the sign test: were the bit none, the first would be slower by chance, in
//! one pair of two. That holds whatever the times are distributed like, and a disturbed pair is one
//! pair.
//!
//! A bit that the cache before the last looks at too would look like a colour because the other
//! sweep leaves the line in *that* cache. So before such sweeps the line is pushed out of it, by
//! pages that are in its set there and differ in a bit known to be a colour; and where no other bit
//! is known to be one, such bits are not told, and count as none.

use std::fmt;

use crate::colour::choice::Colouring;
use crate::colour::geometry::{Candidates, Ground, NoColours};
use crate::memory::PAGE_BYTES;

/// Number of pairs that are timed for each bit.
const PAIRS: usize = 96;

/// A bit is a colour if chance would make it look like one less often than this, all bits together.
const CHANCE_MOST: f64 = 1e-6;

/// … and the slow access takes so many tenths of the fast one at least.
const SLOWER_TENTHS: u64 = 12;

/// Number of pages to measure with, for each page that the cache holds: a sweep is over half of
/// those that agree in what is known, and shall be twice what there is room for.
const PAGES_FOR_ONE: u64 = 4;

/// Times of accesses to pages that are known by their numbers in a list.
pub trait Timer {
    /// Accesses `line` of page `target`, then this line of all pages of the sweeps, each sweep
    /// twice, and returns how long it takes to access it once more, in ticks.
    fn access_after(&mut self, line: usize, target: usize, sweeps: [&[usize]; 2]) -> u64;
}

/// The certainty of a finding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sureness {
    /// Pairs of times that are not equal.
    pub pairs: usize,
    /// In how many of them the access was slower after pages that agree.
    pub slower: usize,
    /// Probability of so many by chance.
    pub chance: f64,
    /// The median time after pages that agree, in ticks.
    pub same_ticks: u64,
    /// The median time after pages that don't.
    pub other_ticks: u64,
}

impl fmt::Display for Sureness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pairs, slower, chance, same_ticks, other_ticks } = self;
        write!(f, "slower in {slower} of {pairs} pairs (by chance: {chance:.1e}), ")?;
        write!(f, "median {same_ticks} against {other_ticks} ticks")
    }
}

impl Sureness {
    /// From pairs of times: after pages that agree, and after others.
    fn of(pairs: &[(u64, u64)]) -> Self {
        let slower = pairs.iter().filter(|(same, other)| same > other).count();
        let unequal = pairs.iter().filter(|(same, other)| same != other).count();
        let median = |of: fn(&(u64, u64)) -> u64| {
            let mut times: Vec<u64> = pairs.iter().map(of).collect();
            times.sort_unstable();
            times.get(times.len() / 2).copied().unwrap_or_default()
        };
        Self {
            pairs: unequal,
            slower,
            chance: at_least_by_chance(slower, unequal),
            same_ticks: median(|pair| pair.0),
            other_ticks: median(|pair| pair.1),
        }
    }

    fn is_sure(&self, chance_most: f64) -> bool {
        let is_slower = self.same_ticks > self.other_ticks.saturating_mul(SLOWER_TENTHS) / 10;
        self.chance <= chance_most && is_slower
    }
}

/// The probability of at least so many heads of so many coins.
fn at_least_by_chance(heads: usize, coins: usize) -> f64 {
    // The number of ways to have `k` heads, divided by all, one after the other.
    let mut ways = 0.5_f64.powi(i32::try_from(coins).unwrap_or(i32::MAX));
    let mut sum = 0.0;
    for k in 0..=coins {
        if k >= heads {
            sum += ways;
        }
        ways *= (coins - k) as f64 / (k + 1) as f64;
    }
    sum.min(1.0)
}

/// The finding about one bit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BitFound {
    /// Which bit of the address.
    pub bit: u32,
    /// `true` if it is a colour.
    pub is_colour: bool,
    /// The measurement; `None` if it can't be told from the cache before the last.
    pub sureness: Option<Sureness>,
}

/// The findings about all bits.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The colours that were found.
    pub colouring: Colouring,
    /// That pages evict each other at all.
    pub control: Sureness,
    /// All bits that were asked for, in that order.
    pub bits: Vec<BitFound>,
}

impl Ground {
    /// Returns the number of pages to measure with.
    ///
    /// # Errors
    /// [`NoColours`]: there is nothing to measure.
    pub fn pages_to_measure(&self) -> Result<usize, NoColours> {
        self.candidates()?;
        let pages = self.shape()?.pages().saturating_mul(PAGES_FOR_ONE);
        Ok(usize::try_from(pages).unwrap_or(usize::MAX))
    }
}

/// Finds the colours. `frames` are the numbers of the physical pages that `timer` knows by their
/// places in this list, [`pages_to_measure`](Ground::pages_to_measure) of them.
///
/// # Errors
/// [`NoColours`]: there are none, or times don't tell.
pub fn measure(
    ground: &Ground,
    frames: &[u64],
    timer: &mut impl Timer,
) -> Result<Measured, NoColours> {
    let Candidates { last_only, both } = ground.candidates()?;
    let cache = ground.shape()?;
    let lines = PAGE_BYTES / u64::from(cache.line_bytes.max(1));
    let all_bits = last_only.len() + both.len();
    let chance_most = CHANCE_MOST / (all_bits + 1) as f64;
    let mut run = Run {
        frames,
        timer,
        lines: usize::try_from(lines).unwrap_or(1).max(1),
        before: frame_mask(&both),
        before_ways: ground.before_last.map_or(0, |cache| cache.ways as usize),
        known: 0,
        random: Random(0x9E37_79B9_7F4A_7C15),
    };
    let control = run.control();
    if !control.is_sure(chance_most) {
        return Err(NoColours::NoEvictions { sureness: control });
    }
    let mut bits = Vec::new();
    for &bit in last_only.iter().chain(&both) {
        let is_both = both.contains(&bit);
        let push_by = if is_both { run.known & !run.before } else { 0 };
        let sureness = (!is_both || push_by != 0).then(|| run.bit(frame_mask(&[bit]), push_by));
        let is_colour = sureness.is_some_and(|sureness| sureness.is_sure(chance_most));
        if is_colour {
            run.known |= frame_mask(&[bit]);
        }
        bits.push(BitFound { bit, is_colour, sureness });
    }
    let hashed = || NoColours::Hashed {
        lowest: both.iter().chain(&last_only).copied().min().unwrap_or_default(),
        highest: both.iter().chain(&last_only).copied().max().unwrap_or_default(),
    };
    let colouring = Colouring::of_mask(run.known * PAGE_BYTES).ok_or_else(hashed)?;
    Ok(Measured { colouring, control, bits })
}

/// These bits of an address, as bits of a page's number.
fn frame_mask(bits: &[u32]) -> u64 {
    bits.iter().map(|bit| (1_u64 << bit) / PAGE_BYTES).sum()
}

struct Run<'a, T> {
    frames: &'a [u64],
    timer: &'a mut T,
    /// Lines in a page.
    lines: usize,
    /// The bits that the cache before the last looks at, in the number of a page.
    before: u64,
    before_ways: usize,
    /// The bits that are known to be colours.
    known: u64,
    random: Random,
}

impl<T: Timer> Run<'_, T> {
    /// Pages of whatever colour, against none but those that push the line out of the cache before.
    fn control(&mut self) -> Sureness {
        let pairs: Vec<_> = (0..PAIRS)
            .map(|_| {
                let (line, target) = self.aim();
                let push = self.push(target, 0);
                let all: Vec<usize> =
                    (0..self.frames.len()).filter(|page| *page != target).collect();
                let other = self.timer.access_after(line, target, [&push, &[]]);
                let same = self.timer.access_after(line, target, [&push, &all]);
                (same, other)
            })
            .collect();
        Sureness::of(&pairs)
    }

    /// Pages that agree in what is known and in this bit, against pages that agree but for it.
    fn bit(&mut self, bit: u64, push_by: u64) -> Sureness {
        let pairs: Vec<_> = (0..PAIRS)
            .map(|round| {
                let (line, target) = self.aim();
                let push = if push_by == 0 { Vec::new() } else { self.push(target, push_by) };
                let of = self.frames[target];
                let sweep = |flip: u64| -> Vec<usize> {
                    let agrees = |frame: u64| (frame ^ of ^ flip) & (self.known | bit) == 0;
                    let pages = (0..self.frames.len()).filter(|page| *page != target);
                    pages.filter(|page| agrees(self.frames[*page])).collect()
                };
                let (mut agree, mut differ) = (sweep(0), sweep(bit));
                // As many of each.
                let count = agree.len().min(differ.len());
                for pages in [&mut agree, &mut differ] {
                    self.random.shuffle(pages);
                    pages.truncate(count);
                }
                let mut time =
                    |pages: &[usize]| self.timer.access_after(line, target, [&push, pages]);
                // In turn, so that whatever goes on beside favours neither.
                if round % 2 == 0 {
                    (time(&agree), time(&differ))
                } else {
                    let other = time(&differ);
                    (time(&agree), other)
                }
            })
            .collect();
        Sureness::of(&pairs)
    }

    /// Any line of any page.
    fn aim(&mut self) -> (usize, usize) {
        (self.random.below(self.lines), self.random.below(self.frames.len().max(1)))
    }

    /// Pages of the target's set in the cache before the last, twice as many as fit there; where
    /// `by` is not zero, they differ in one of these bits.
    fn push(&mut self, target: usize, by: u64) -> Vec<usize> {
        let of = self.frames[target];
        let pushes =
            |frame: u64| (frame ^ of) & self.before == 0 && (by == 0 || (frame ^ of) & by != 0);
        let mut pages: Vec<usize> = (0..self.frames.len())
            .filter(|page| *page != target && pushes(self.frames[*page]))
            .collect();
        self.random.shuffle(&mut pages);
        pages.truncate(self.before_ways * 2);
        pages
    }
}

/// A sequence of numbers without a pattern that a prefetcher would know, the same each time
/// (Marsaglia's xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 32).unwrap_or_default() % limit
    }

    fn shuffle(&mut self, pages: &mut [usize]) {
        for last in (1..pages.len()).rev() {
            pages.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::CacheShape;
    use crate::colour::model::{Caches, Index};

    const LAST: CacheShape = CacheShape { sets: 1024, ways: 8, line_bytes: 64 };
    const BEFORE: CacheShape = CacheShape { sets: 128, ways: 4, line_bytes: 64 };

    fn ground() -> Ground {
        Ground { hypervisor: None, last_level: Some(LAST), before_last: Some(BEFORE) }
    }

    /// Measures on a machine of this kind, with times off by up to `noise`.
    fn measured(index: Index, noise: u64) -> Result<Measured, NoColours> {
        let ground = ground();
        let count = ground.pages_to_measure().unwrap();
        let mut random = Random(7);
        let mut frames: Vec<u64> = (0..count as u64 * 3).collect();
        for last in (1..frames.len()).rev() {
            frames.swap(last, random.below(last + 1));
        }
        frames.truncate(count);
        let mut caches = Caches::new(&frames, BEFORE, LAST, index, noise);
        measure(&ground, &frames, &mut caches)
    }

    #[test]
    fn the_bits_of_a_plain_cache_are_found() {
        let measured = measured(Index::Plain, 40).unwrap();
        assert_eq!(measured.colouring.mask(), 0xF000, "{measured:?}");
        assert_eq!(measured.colouring.count(), 16);
        for bit in measured.bits {
            let sureness = bit.sureness.unwrap();
            assert!(sureness.chance < 1e-7 && sureness.same_ticks > 150, "{bit:?}");
        }
    }

    #[test]
    fn a_cache_in_slices_has_the_colours_of_a_slice() {
        // 4 slices of 256 sets: bits 6 to 13 are the set, 14 and 15 go into the hash alone.
        let measured = measured(Index::Sliced { set_bits: 8 }, 40).unwrap();
        assert_eq!(measured.colouring.mask(), 0x3000, "{measured:?}");
    }

    #[test]
    fn a_cache_whose_sets_are_a_hash_has_none() {
        let refused = measured(Index::Hashed, 40).unwrap_err();
        assert_eq!(refused, NoColours::Hashed { lowest: 12, highest: 15 });
        assert!(refused.to_string().contains("slices by a hash"));
    }

    #[test]
    fn bits_of_the_cache_before_are_no_colours_of_the_last() {
        // The last level looks at no bit above a page but those that are told apart by the other.
        let refused = measured(Index::Sliced { set_bits: 6 }, 40).unwrap_err();
        assert_eq!(refused, NoColours::Hashed { lowest: 12, highest: 15 });
        // It looks at 13, and not at 12: the cache before does, and must not be taken for it.
        let measured = measured(Index::Without { bit: 12 }, 40).unwrap();
        assert_eq!(measured.colouring.mask(), 0xE000, "{measured:?}");
    }

    #[test]
    fn times_that_mean_nothing_are_not_believed() {
        let refused = measured(Index::Plain, 100_000).unwrap_err();
        assert!(matches!(refused, NoColours::NoEvictions { .. }), "{refused}");
        assert!(refused.to_string().contains("pairs (by chance: "), "{refused}");
    }

    #[test]
    fn chance_is_that_of_coins() {
        assert!((at_least_by_chance(0, 10) - 1.0).abs() < 1e-12);
        assert!((at_least_by_chance(10, 10) - 1.0 / 1024.0).abs() < 1e-12);
        assert!((at_least_by_chance(9, 10) - 11.0 / 1024.0).abs() < 1e-12);
        assert!(at_least_by_chance(96, 96) < 1e-28);
    }
}
