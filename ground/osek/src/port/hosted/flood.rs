//! Keeps what is told within what is read: an error in a loop comes a million times a second.

const SECOND_NS: u64 = 1_000_000_000;

/// Counts errors that were told lately, and those that were not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flood {
    /// When this second began, on the machine's clock.
    began_ns: u64,
    told: u32,
    untold: u64,
    /// Most errors that are told in a second.
    told_max: u32,
}

impl Flood {
    pub(super) const fn new(told_max: u32) -> Self {
        Self { began_ns: 0, told: 0, untold: 0, told_max }
    }

    /// Returns `Some` if an error is to be told, with the number of those before it that were not.
    /// Counts it otherwise.
    pub(super) fn pass(&mut self, now_ns: u64) -> Option<u64> {
        if now_ns.saturating_sub(self.began_ns) >= SECOND_NS {
            (self.began_ns, self.told) = (now_ns, 0);
        }
        if self.told == self.told_max {
            self.untold = self.untold.saturating_add(1);
            return None;
        }
        self.told += 1;
        Some(self.take_untold())
    }

    /// Returns how many errors were not told since the last one that was.
    pub(super) fn take_untold(&mut self) -> u64 {
        core::mem::take(&mut self.untold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_a_second_are_told_and_the_others_counted() {
        let mut flood = Flood::new(100);
        let begin_ns = 5 * SECOND_NS;
        let mut told = |range: core::ops::Range<u64>| {
            range.filter(|at| flood.pass(begin_ns + at) == Some(0)).count()
        };
        assert_eq!(told(0..1_000), 100);
        assert_eq!(told(SECOND_NS - 5..SECOND_NS), 0, "it is the same second");
        assert_eq!(flood.pass(begin_ns + SECOND_NS), Some(905));
        assert_eq!(flood.pass(begin_ns + SECOND_NS), Some(0), "told once");
        assert_eq!(flood.take_untold(), 0);
    }
}
