//! Counts the ticks of the machine that are due.
//!
//! Counted from the clock and not from arrivals, so that a tick whose signal was merged with
//! another one, or whose cycle was missed, is not lost: the next arrival brings both.

use crate::configuration::Configuration;

/// Shortest tick, in ns: a shorter one would leave no time for tasks between two signals.
pub(crate) const TICK_NS_MIN: u64 = 10_000;

/// The machine's tick, by its period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticks {
    /// Time of one tick, in ns; zero where no counter needs it.
    pub(crate) period_ns: u64,
    /// When the last one that was counted was due; `None` before the first.
    pub(crate) last_ns: Option<u64>,
}

impl Ticks {
    pub(crate) const NONE: Self = Self { period_ns: 0, last_ns: None };

    /// The tick that a checked configuration asks for. All hardware counters have the same. `None`
    /// where it is shorter than [`TICK_NS_MIN`].
    pub(crate) fn of(configuration: &Configuration<'_>) -> Option<Self> {
        let mut hardware = configuration.counters.iter().filter(|counter| counter.hardware);
        let Some(first) = hardware.next() else { return Some(Self::NONE) };
        let tick = Self { period_ns: first.tick_ns, last_ns: None };
        (first.tick_ns >= TICK_NS_MIN).then_some(tick)
    }

    /// Begins to count at an instant, which is tick zero.
    pub(crate) fn begin(&mut self, now_ns: u64) {
        self.last_ns = Some(now_ns);
    }

    /// The ticks that were due since the last call.
    pub(crate) fn elapsed(&mut self, now_ns: u64) -> u32 {
        let (Some(last_ns), 1..) = (self.last_ns, self.period_ns) else { return 0 };
        let ticks = now_ns.saturating_sub(last_ns) / self.period_ns;
        self.last_ns = Some(last_ns + ticks * self.period_ns);
        u32::try_from(ticks).unwrap_or(u32::MAX)
    }

    /// The ticks of a cycle that was due at an instant: one, and one more for each cycle that was
    /// missed before it. The first cycle is tick zero.
    ///
    /// Cycles may follow another clock than ours, which a fieldbus has; so the time between two is
    /// rounded to whole ticks, and does not add up.
    #[cfg(any(feature = "hosted", test))]
    pub(crate) fn of_cycle(&mut self, due_ns: u64) -> u32 {
        let last_ns = self.last_ns.replace(due_ns);
        let (Some(last_ns), 1..) = (last_ns, self.period_ns) else { return 0 };
        let ticks = (due_ns.saturating_sub(last_ns) + self.period_ns / 2) / self.period_ns;
        u32::try_from(ticks).unwrap_or(u32::MAX).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn ticks() -> Ticks {
        let mut ticks = Ticks { period_ns: MS, last_ns: None };
        ticks.begin(100);
        ticks
    }

    #[test]
    fn ticks_are_counted_by_the_clock() {
        let mut ticks = ticks();
        assert_eq!(ticks.elapsed(99 + MS), 0);
        assert_eq!(ticks.elapsed(100 + MS), 1);
        assert_eq!(ticks.elapsed(100 + MS), 0, "told once");
        assert_eq!(ticks.elapsed(500 + 4 * MS), 3, "three signals merged into one");
        assert_eq!(ticks.elapsed(100 + 5 * MS), 1, "and none of the rest is lost");
        assert_eq!(ticks.last_ns, Some(100 + 5 * MS));
    }

    #[test]
    fn cycles_are_ticks_though_their_clock_drifts() {
        let mut ticks = Ticks { period_ns: MS, last_ns: None };
        assert_eq!(ticks.of_cycle(7), 0, "the first cycle is tick zero");
        let mut due_ns = 7;
        for _ in 0..3000 {
            due_ns += MS + 400;
            assert_eq!(ticks.of_cycle(due_ns), 1);
        }
        assert_eq!(ticks.of_cycle(due_ns + 3 * MS), 3, "two cycles were missed");
        assert_eq!(ticks.of_cycle(due_ns + 3 * MS), 1, "a cycle is a tick whatever the clock says");
    }

    #[test]
    fn without_a_hardware_counter_there_is_no_tick() {
        let mut ticks = Ticks::of(&Configuration::EMPTY).unwrap();
        ticks.begin(0);
        assert_eq!(ticks.elapsed(MS), 0);
        assert_eq!(ticks.of_cycle(MS), 0);
    }
}
