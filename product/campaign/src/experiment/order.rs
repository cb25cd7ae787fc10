//! Random orders that can be repeated.

/// A generator of random orders; the same seed makes the same ones. (SplitMix64: Steele, Lea and
/// Flood, "Fast splittable pseudorandom number generators", 2014.) Small seeds are as good as large
/// ones, from the first order on.
#[derive(Debug)]
pub(super) struct Order(u64);

impl Order {
    /// Starts from a seed.
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns the numbers below `count` in random order.
    pub(super) fn shuffled(&mut self, count: usize) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..count).collect();
        for place in (1..count).rev() {
            // The remainder prefers some by less than one in 10^16.
            let other = usize::try_from(self.next() % (place as u64 + 1)).unwrap_or(place);
            numbers.swap(place, other);
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_comes_and_a_seed_repeats_them() {
        let orders = |seed| {
            let mut order = Order::new(seed);
            (0..600).map(|_| order.shuffled(3)).collect::<Vec<_>>()
        };
        let found = orders(7);
        assert_eq!(found, orders(7));
        assert_ne!(found, orders(8));
        for expected in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let times = found.iter().filter(|order| **order == expected).count();
            assert!((60..=140).contains(&times), "{expected:?}: {times} of 600");
        }
        assert_eq!(orders(0)[0].len(), 3);
        assert!(Order::new(1).shuffled(0).is_empty());
    }

    /// Goal: neither of two that are compared comes first more often, in an experiment as short as
    /// they are and with the seeds that people choose.
    #[test]
    fn the_first_orders_of_small_seeds_prefer_nothing() {
        let firsts = |seed| {
            let mut order = Order::new(seed);
            (0..12).filter(|_| order.shuffled(2)[0] == 0).count()
        };
        assert!((3..=9).contains(&firsts(1)), "{} of 12", firsts(1));
        let all: usize = (0..64).map(firsts).sum();
        assert!((330..=438).contains(&all), "{all} of 768");
    }

    /// The first numbers of seed 0, as other implementations have them.
    #[test]
    fn its_numbers_are_those_of_splitmix64() {
        let mut order = Order::new(0);
        assert_eq!(order.next(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(order.next(), 0x6e78_9e6a_a1b9_65f4);
    }
}
