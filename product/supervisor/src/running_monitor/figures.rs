//! How often a partition had load shed for it, and how fast that was.

use std::collections::VecDeque;

use quietcore_units::Nanos;

use crate::control::Reactions;

/// Of so many reactions the median is taken.
const RECENT_MAX: usize = 1024;

/// The reactions of a partition's monitor.
#[derive(Debug, Default)]
pub(crate) struct ReactionFigures {
    count: u64,
    min: Nanos,
    max: Nanos,
    recent: VecDeque<Nanos>,
}

impl ReactionFigures {
    /// Notes how long it took from the overrun's end until the last victim stood.
    pub(crate) fn note(&mut self, reaction: Nanos) {
        self.min = if self.count == 0 { reaction } else { self.min.min(reaction) };
        self.max = self.max.max(reaction);
        self.count += 1;
        if self.recent.len() == RECENT_MAX {
            self.recent.pop_front();
        }
        self.recent.push_back(reaction);
    }

    /// The figures; `None` while nothing was shed.
    pub(crate) fn figures(&self) -> Option<Reactions> {
        let mut recent: Vec<_> = self.recent.iter().copied().collect();
        let last = *recent.last()?;
        recent.sort_unstable();
        let median = *recent.get(recent.len() / 2)?;
        Some(Reactions { count: self.count, last, min: self.min, median, max: self.max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallest_and_largest_are_of_all_and_the_median_of_the_last() {
        let mut figures = ReactionFigures::default();
        assert_eq!(figures.figures(), None);
        for micros in [900, 1] {
            figures.note(Nanos::from_micros(micros));
        }
        for _ in 0..RECENT_MAX {
            figures.note(Nanos::from_micros(30));
        }
        let micros = Nanos::from_micros;
        let (min, median, max) = (micros(1), micros(30), micros(900));
        assert_eq!(
            figures.figures(),
            Some(Reactions { count: 1026, last: median, min, median, max })
        );
    }
}
