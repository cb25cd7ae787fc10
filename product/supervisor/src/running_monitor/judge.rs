//! Judges if what was seen is enough for a reaction: a number of one kind within a window.

use std::collections::VecDeque;
use std::fmt;

use quietcore_site::{Monitor, Reaction};
use quietcore_units::Nanos;

use super::counting::News;

/// The kinds of lateness of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Overrun,
    Exceedance,
    MissedCycle,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Overrun, Self::Exceedance, Self::MissedCycle];

    /// Returns the kind that its events have in the log.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Overrun => "overrun-seen",
            Self::Exceedance => "exceedance",
            Self::MissedCycle => "missed-cycle",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Overrun => "overrun",
            Self::Exceedance => "release above the limit",
            Self::MissedCycle => "missed cycle",
        })
    }
}

/// A finding that asks for a reaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) kind: Kind,
    pub(crate) reaction: Reaction,
    /// Number of these since the last reaction to this kind.
    pub(crate) count: u64,
}

/// Judges the lateness of one partition.
#[derive(Debug)]
pub(super) struct Judge {
    after: usize,
    window: Nanos,
    reactions: [Reaction; 3],
    recent: [Recent; 3],
}

/// The times of the last ones of a kind, the oldest first.
#[derive(Debug)]
struct Recent {
    /// Never longer than `after`, for which there is room from the beginning.
    seen: VecDeque<Nanos>,
    count: u64,
}

impl Judge {
    pub(super) fn new(monitor: &Monitor) -> Self {
        let after = monitor.after as usize;
        let recent = || Recent { seen: VecDeque::with_capacity(after), count: 0 };
        Self {
            after,
            window: monitor.window,
            reactions: [monitor.on_overrun, monitor.on_exceedance, monitor.on_missed_cycle],
            recent: [recent(), recent(), recent()],
        }
    }

    /// Takes what was seen at `now`. Once there is enough of a kind, returns a verdict and begins
    /// to count anew.
    pub(super) fn judge(&mut self, news: &News, now: Nanos) -> [Option<Verdict>; 3] {
        let counts = [news.overruns, news.exceedances, news.missed_cycles];
        std::array::from_fn(|index| {
            let (after, window) = (self.after, self.window);
            let recent = &mut self.recent[index];
            let is_enough = recent.add(counts[index], now, after, window);
            let (kind, reaction) = (Kind::ALL[index], self.reactions[index]);
            is_enough.then(|| Verdict { kind, reaction, count: recent.take() })
        })
    }
}

impl Recent {
    /// Adds `count` of them; returns `true` if there are enough within the window.
    fn add(&mut self, count: u64, now: Nanos, after: usize, window: Nanos) -> bool {
        if count == 0 {
            return false;
        }
        self.count += count;
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(after);
        for _ in 0..count {
            if self.seen.len() == after {
                self.seen.pop_front();
            }
            self.seen.push_back(now);
        }
        let oldest = self.seen.front().copied().unwrap_or(now);
        self.seen.len() == after && now.saturating_sub(oldest) <= window
    }

    fn take(&mut self) -> u64 {
        self.seen.clear();
        std::mem::take(&mut self.count)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use quietcore_record::class::catalogue;

    use super::*;

    fn monitor(keys: &str) -> Monitor {
        let text = format!(
            "[site]\nname = \"s\"\n[[partition]]\nname = \"a\"\nclass = \"motion-control\"\n\
             [partition.vcr]\ncpus = [1]\n[partition.program]\nmodel = \"m\"\nperiod = \"1 ms\"\n\
             [partition.monitor]\n{keys}\n"
        );
        let site = quietcore_site::read("s", text.as_bytes(), &catalogue());
        site.unwrap_or_else(|problems| panic!("{problems}")).partitions()[0].monitor
    }

    /// Returns the looks, one a millisecond, at which so many overruns were enough.
    fn enough(keys: &str, overruns: &[u64]) -> Vec<(usize, u64)> {
        let mut judge = Judge::new(&monitor(keys));
        let look = |(at, overruns): (usize, &u64)| {
            let news = News { overruns: *overruns, ..News::default() };
            let [verdict, none @ ..] = judge.judge(&news, Nanos::from_millis(at as u64));
            assert_eq!(none, [None, None]);
            verdict.map(|verdict| (at, verdict.count))
        };
        overruns.iter().enumerate().filter_map(look).collect()
    }

    #[test]
    fn so_many_within_the_window_are_enough_and_are_counted_anew() {
        assert_eq!(enough("", &[0, 1, 0, 2]), [(1, 1), (3, 2)]);
        let three = "after = 3\nwindow = \"2 ms\"";
        assert_eq!(enough(three, &[1, 0, 1, 1, 1, 0, 1, 1]), [(4, 4)]);
        assert_eq!(enough(three, &[1, 1, 1, 1, 1, 1]), [(2, 3), (5, 3)]);
        assert_eq!(enough(three, &[1, 0, 0, 0, 1, 0, 0, 0, 1]), []);
        assert_eq!(enough(three, &[700]), [(0, 700)]);
    }

    #[test]
    fn each_kind_has_its_own_count_and_reaction() {
        let mut judge = Judge::new(&monitor("on_exceedance = \"restart\"\nafter = 2"));
        let news = News { overruns: 1, exceedances: 2, ..News::default() };
        let [overrun, exceedance, missed] = judge.judge(&news, Nanos::ZERO);
        assert_eq!((overrun, missed), (None, None));
        let (kind, reaction) = (Kind::Exceedance, Reaction::Restart);
        assert_eq!(exceedance, Some(Verdict { kind, reaction, count: 2 }));
    }

    proptest! {
        /// None is lost and none counted twice, whatever the window.
        #[test]
        fn all_that_are_told_were_seen(overruns in proptest::collection::vec(0_u64..4, 0..60)) {
            let told: u64 = enough("", &overruns).iter().map(|(_, count)| count).sum();
            prop_assert_eq!(told, overruns.iter().sum::<u64>());
            let several = enough("after = 5\nwindow = \"10 ms\"", &overruns);
            let told: u64 = several.iter().map(|(_, count)| count).sum();
            prop_assert!(told <= overruns.iter().sum::<u64>());
        }
    }
}
