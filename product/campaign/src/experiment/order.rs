//! Random orders that can be repeated.

/// A generator of random orders; the same seed makes the same ones. (Marsaglia's xorshift, 2003,
/// with the triple 13, 7, 17.)
#[derive(Debug)]
pub(super) struct Order(u64);

impl Order {
    /// Starts from a seed; 0, which the generator can't leave, counts as 1.
    pub(super) const fn new(seed: u64) -> Self {
        Self(if seed == 0 { 1 } else { seed })
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
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
}
