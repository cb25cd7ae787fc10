//! The number of times that load was shed for a partition, and the speed of that.

use std::collections::VecDeque;

use quietcore_units::Nanos;

use crate::control::Reactions;

/// Number of the last reactions of which the median is taken.
const RECENT_MAX: usize = 1024;

/// The reaction times of a partition's monitor.
#[derive(Debug, Default)]
pub(crate) struct ReactionFigures {
    /// All of them, but for the median; `None` while nothing was shed.
    all: Option<Reactions>,
    recent: VecDeque<Nanos>,
}

impl ReactionFigures {
    /// Notes the time from the end of an overrun until the last victim stood.
    pub(crate) fn note(&mut self, reaction: Nanos) {
        let (last, median) = (reaction, reaction);
        let all =
            self.all.get_or_insert(Reactions { count: 0, last, min: last, median, max: last });
        all.count += 1;
        all.last = reaction;
        all.min = all.min.min(reaction);
        all.max = all.max.max(reaction);
        if self.recent.len() == RECENT_MAX {
            self.recent.pop_front();
        }
        self.recent.push_back(reaction);
    }

    /// Returns the figures; `None` while nothing was shed.
    pub(crate) fn figures(&self) -> Option<Reactions> {
        let mut recent: Vec<_> = self.recent.iter().copied().collect();
        recent.sort_unstable();
        let median = *recent.get(recent.len() / 2)?;
        Some(Reactions { median, ..self.all? })
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
