//! Two caches in a model, in place of a machine whose physical addresses are real.

use crate::colour::geometry::CacheShape;
use crate::colour::measure::Timer;
use crate::memory::PAGE_BYTES;

/// Ticks of an access that is answered by the first cache, by the last, by memory.
const TICKS: [u64; 3] = [20, 60, 200];

/// The way in which the last-level cache finds the set of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Index {
    /// By the bits of its address.
    Plain,
    /// By so many of them; the slice is a hash of all that are above the page.
    Sliced { set_bits: u32 },
    /// By a hash of all that are above the page.
    Hashed,
    /// By its bits but for this one of the address, in whose place the next is taken.
    Without { bit: u32 },
}

/// The two caches, each evicting what was not accessed for the longest time.
pub(crate) struct Caches {
    frames: Vec<u64>,
    line_bytes: u64,
    before: Cache,
    last: Cache,
    index: Index,
    noise: u64,
    state: u64,
}

struct Cache {
    sets: Vec<Vec<u64>>,
    ways: usize,
}

impl Cache {
    fn new(shape: CacheShape) -> Self {
        Self { sets: vec![Vec::new(); shape.sets as usize], ways: shape.ways as usize }
    }

    /// Returns `true` if the line was there; it is now.
    fn access(&mut self, set: u64, line: u64) -> bool {
        let count = self.sets.len() as u64;
        let set = &mut self.sets[(set % count) as usize];
        let found = set.iter().position(|other| *other == line);
        if let Some(place) = found {
            set.remove(place);
        } else if set.len() == self.ways {
            set.remove(0);
        }
        set.push(line);
        found.is_some()
    }
}

fn hash(value: u64) -> u64 {
    (value ^ value >> 7).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40
}

impl Caches {
    pub(crate) fn new(
        frames: &[u64],
        before: CacheShape,
        last: CacheShape,
        index: Index,
        noise: u64,
    ) -> Self {
        Self {
            frames: frames.to_vec(),
            line_bytes: u64::from(last.line_bytes),
            before: Cache::new(before),
            last: Cache::new(last),
            index,
            noise,
            state: 99,
        }
    }

    fn access(&mut self, page: usize, line: usize) -> u64 {
        let address = self.frames[page] * PAGE_BYTES + line as u64 * self.line_bytes;
        let number = address / self.line_bytes;
        let count = self.last.sets.len() as u64;
        let set = match self.index {
            Index::Plain => number,
            Index::Sliced { set_bits } => {
                let sets = 1 << set_bits;
                hash(address / PAGE_BYTES) % (count / sets) * sets + number % sets
            }
            Index::Hashed => hash(address / PAGE_BYTES) % (count / 64) * 64 + number % 64,
            Index::Without { bit } => {
                let below = address % (1 << bit);
                (address >> (bit + 1) << bit | below) / self.line_bytes
            }
        };
        let is_before = self.before.access(number, number);
        let is_last = self.last.access(set, number);
        match (is_before, is_last) {
            (true, _) => TICKS[0],
            (false, true) => TICKS[1],
            (false, false) => TICKS[2],
        }
    }

    fn noise(&mut self) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.state >> 33) % (self.noise + 1)
    }
}

impl Timer for Caches {
    fn access_after(&mut self, line: usize, target: usize, sweeps: [&[usize]; 2]) -> u64 {
        self.access(target, line);
        for pages in sweeps {
            for page in pages.iter().chain(pages) {
                self.access(*page, line);
            }
        }
        self.access(target, line) + self.noise()
    }
}
