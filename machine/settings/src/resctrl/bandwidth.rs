//! Limits of the memory's bandwidth: read and written, in percent.

use std::collections::BTreeMap;
use std::fmt;

/// Name of the memory's bandwidth in resctrl.
pub(super) const BANDWIDTH: &str = "MB";
/// A group without a limit, where limits are in percent.
pub(super) const ALL_PERCENT: u64 = 100;

/// The limits of a group, by the number of the memory's domain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Limits {
    domains: BTreeMap<u32, u64>,
}

impl Limits {
    /// Reads `schemata`; what is no bandwidth is passed over.
    pub(super) fn parse(text: &str) -> Self {
        let rows = text.lines().filter_map(|line| line.trim().split_once(':'));
        let own = rows.filter(|(name, _)| name.trim() == BANDWIDTH);
        let pairs = own.flat_map(|(_, limits)| limits.split(';')).filter_map(|pair| {
            let (domain, limit) = pair.split_once('=')?;
            Some((domain.trim().parse().ok()?, limit.trim().parse().ok()?))
        });
        Self { domains: pairs.collect() }
    }

    /// Each limit changed by `change`.
    pub(super) fn map(&self, change: impl Fn(u64) -> u64) -> Self {
        let changed = self.domains.iter().map(|(domain, limit)| (*domain, change(*limit)));
        Self { domains: changed.collect() }
    }

    /// The same limit in each domain.
    pub(super) fn all_at(&self, limit: u64) -> Self {
        self.map(|_| limit)
    }

    /// Returns the limits of all domains.
    pub(super) fn all(&self) -> impl Iterator<Item = u64> + '_ {
        self.domains.values().copied()
    }

    /// Returns `true` if there is no limit.
    pub(super) fn is_empty(&self) -> bool {
        self.domains.is_empty()
    }
}

impl fmt::Display for Limits {
    /// As it is written into `schemata`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = self.domains.iter().map(|(domain, limit)| format!("{domain}={limit}"));
        writeln!(f, "{BANDWIDTH}:{}", pairs.collect::<Vec<_>>().join(";"))
    }
}

/// The limits that the processor keeps: a lowest one, and steps from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Steps {
    /// The lowest limit that there is.
    pub(super) least: u64,
    /// The distance from one to the next.
    pub(super) step: u64,
}

impl Steps {
    /// The limit that is in force where this one is written: the next one that there is.
    pub(super) fn next(self, percent: u64) -> u64 {
        percent.next_multiple_of(self.step.max(1)).min(ALL_PERCENT)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn limits_are_read_and_written() {
        let limits = Limits::parse("    L3:0=fff;1=fff\n    MB:0=100;1= 50;x=1\n");
        assert_eq!(limits.to_string(), "MB:0=100;1=50\n");
        assert_eq!(limits.all_at(40).to_string(), "MB:0=40;1=40\n");
        assert!(Limits::parse("L3:0=fff").is_empty());
    }

    #[test]
    fn a_limit_between_two_steps_is_the_higher_one() {
        let steps = Steps { least: 10, step: 10 };
        assert_eq!(
            [10, 31, 40, 99, 100].map(|percent| steps.next(percent)),
            [10, 40, 40, 100, 100]
        );
        assert_eq!(Steps { least: 1, step: 0 }.next(7), 7);
        assert_eq!(Steps { least: 1, step: 30 }.next(95), 100);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(MB)?:?[0-9=;: ]{0,60}\\n?\\PC{0,20}") {
            let limits = Limits::parse(&text);
            prop_assert_eq!(Limits::parse(&limits.to_string()), limits);
        }
    }
}
