//! The pace of workers: as fast as they can, no faster than told, or at rest.
//!
//! A rate holds on average from the moment at which it was told; a worker that was held up does not
//! make good for more than [`CATCH_UP`].

use std::num::NonZeroU32;

use quietcore_units::Nanos;

/// The longest rest without a look, and so without a sign of life.
const REST: Nanos = Nanos::from_millis(500);
/// The largest lag behind its rate that a worker still catches up with.
const CATCH_UP: Nanos = Nanos::from_millis(20);
/// The word of [`Pace::Rest`].
const REST_WORD: u32 = u32::MAX;

/// The pace of the workers of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As fast as they can; the pace at the start.
    Full,
    /// Each at most so many operations a second. A worker counts in batches, and rests between
    /// them.
    AtMost(NonZeroU32),
    /// Not at all, until they are told another pace. They keep their memory.
    Rest,
}

impl Pace {
    /// Returns the word that stands for it, on the board and in the orders of a neighbour.
    pub fn word(self) -> u32 {
        match self {
            Self::Full => 0,
            // The largest rate is as good as none.
            Self::AtMost(rate) if rate.get() == REST_WORD => 0,
            Self::AtMost(rate) => rate.get(),
            Self::Rest => REST_WORD,
        }
    }

    /// Returns the pace that a word stands for; each word stands for one.
    pub fn of_word(word: u32) -> Self {
        match NonZeroU32::new(word) {
            None => Self::Full,
            Some(_) if word == REST_WORD => Self::Rest,
            Some(rate) => Self::AtMost(rate),
        }
    }
}

/// Since when a worker keeps its pace, and what it had done by then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Window {
    word: u32,
    begun_at: Nanos,
    operations: u64,
}

impl Window {
    /// Returns the time for which the worker must rest now, having done so many operations in all;
    /// `None` if it goes on.
    pub(crate) fn rest(&mut self, pace: Pace, now: Nanos, operations: u64) -> Option<Nanos> {
        if self.word != pace.word() {
            *self = Self { word: pace.word(), begun_at: now, operations };
        }
        let rate = match pace {
            Pace::Full => return None,
            Pace::Rest => return Some(REST),
            Pace::AtMost(rate) => u128::from(rate.get()),
        };
        let done = u128::from(operations.saturating_sub(self.operations));
        let takes = u64::try_from(done * 1_000_000_000 / rate).unwrap_or(u64::MAX);
        let due = self.begun_at.checked_add(Nanos::new(takes)).unwrap_or(Nanos::new(u64::MAX));
        if now.saturating_sub(due) > CATCH_UP {
            *self = Self { word: pace.word(), begun_at: now, operations };
        }
        Some(due.saturating_sub(now)).filter(|rest| *rest > Nanos::ZERO).map(|rest| rest.min(REST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at_most(rate: u32) -> Pace {
        Pace::AtMost(NonZeroU32::new(rate).unwrap())
    }

    #[test]
    fn a_rate_holds_from_when_it_was_told() {
        let mut window = Window::default();
        let second = Nanos::from_secs(1);
        assert_eq!(window.rest(Pace::Full, second, 9_000), None);
        // Nothing is done under the new pace yet.
        assert_eq!(window.rest(at_most(1_000), second, 9_000), None);
        assert_eq!(window.rest(at_most(1_000), second, 9_010), Some(Nanos::from_millis(10)));
        let later = second + Nanos::from_millis(10);
        assert_eq!(window.rest(at_most(1_000), later, 9_010), None);
        // A slow one rests in parts, so that it is seen to live.
        assert_eq!(window.rest(at_most(1_000), later, 19_010), Some(REST));
        assert_eq!(window.rest(Pace::Rest, later, 19_010), Some(REST));
    }

    #[test]
    fn who_was_held_up_for_long_does_not_make_good_for_it() {
        let mut window = Window::default();
        assert_eq!(window.rest(at_most(1_000), Nanos::ZERO, 0), None);
        let late = Nanos::from_secs(5);
        assert_eq!(window.rest(at_most(1_000), late, 10), None);
        assert_eq!(window.rest(at_most(1_000), late, 20), Some(Nanos::from_millis(10)));
    }

    proptest! {
        #[test]
        fn every_pace_is_read_back_from_the_board(word in any::<u32>()) {
            prop_assert_eq!(Pace::of_word(word).word(), word);
        }

        #[test]
        fn no_rest_is_too_long(rate in 1_u32.., now in any::<u64>(), done in any::<u64>()) {
            let mut window = Window::default();
            window.rest(at_most(rate), Nanos::ZERO, 0);
            let rest = window.rest(at_most(rate), Nanos::new(now), done);
            prop_assert!(rest.is_none_or(|rest| rest <= REST));
        }
    }
}
