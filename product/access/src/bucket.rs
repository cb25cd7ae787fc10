//! A rate with a burst, as a bucket that fills by itself and that each use takes from.
//!
//! Kept as one instant, at which the bucket will be full again (the virtual scheduling of ATM's
//! generic cell rate algorithm, ITU-T I.371): nothing has to be done as time passes.

use std::time::{Duration, Instant};

/// The state of one bucket; rate and burst are its user's.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    full_at: Instant,
}

impl Bucket {
    /// Makes a full bucket.
    pub fn full(now: Instant) -> Self {
        Self { full_at: now }
    }

    /// Takes one use, of which `burst` fit in and a new one comes each `each`; `false` if it is
    /// empty.
    pub fn take(&mut self, now: Instant, each: Duration, burst: u32) -> bool {
        let then = self.full_at.max(now) + each;
        if then > now + each * burst {
            return false;
        }
        self.full_at = then;
        true
    }

    /// Returns `true` if it is full again, so that it need not be remembered.
    pub fn is_full(&self, now: Instant) -> bool {
        self.full_at <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_taken_at_once_and_then_one_for_each_interval() {
        let begin = Instant::now();
        let each = Duration::from_millis(100);
        let mut bucket = Bucket::full(begin);
        let taken = (0..10).filter(|_| bucket.take(begin, each, 3)).count();
        assert_eq!(taken, 3);
        assert!(!bucket.is_full(begin));
        let later = begin + each;
        assert!(bucket.take(later, each, 3) && !bucket.take(later, each, 3));
        let much_later = begin + each * 1000;
        assert!(bucket.is_full(much_later));
        assert_eq!((0..10).filter(|_| bucket.take(much_later, each, 3)).count(), 3);
    }
}
