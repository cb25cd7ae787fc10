//! The watchdog of the process data: outputs must come within its time.
//!
//! time = (divider + 2) × 40 ns × ticks; 2498 and 1000 at power-up make 100 ms. Zero ticks switch
//! it off.

/// Divider at power-up (ETG.1000.4, 6.3).
pub(crate) const DIVIDER_DEFAULT: u16 = 2498;
/// Ticks of the watchdog at power-up.
pub(crate) const TICKS_DEFAULT: u16 = 1000;
const DIVIDER_TICK_NS: u64 = 40;

/// The watchdog of the process data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Watchdog {
    timeout_ns: u64,
    /// When the outputs last came; `None` while it does not run.
    fed_ns: Option<u64>,
    expired: bool,
}

impl Watchdog {
    /// Sets the time from its registers.
    pub(crate) fn set(&mut self, divider: u16, ticks: u16) {
        self.timeout_ns = (u64::from(divider) + 2) * DIVIDER_TICK_NS * u64::from(ticks);
    }

    /// Complete outputs came; it runs from now on.
    pub(crate) fn feed(&mut self, now_ns: u64) {
        self.fed_ns = Some(now_ns);
        self.expired = false;
    }

    /// It no longer runs.
    pub(crate) fn stop(&mut self) {
        self.fed_ns = None;
        self.expired = false;
    }

    /// When it expires if nothing comes.
    pub(crate) fn expires_ns(&self) -> Option<u64> {
        let fed_ns = self.fed_ns.filter(|_| self.timeout_ns > 0 && !self.expired)?;
        Some(fed_ns.saturating_add(self.timeout_ns))
    }

    /// Moves time; true at the moment of expiry.
    pub(crate) fn expires_by(&mut self, now_ns: u64) -> bool {
        let expires = self.expires_ns().is_some_and(|at| at <= now_ns);
        self.expired |= expires;
        expires
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_at_power_up_make_100_ms() {
        let mut watchdog = Watchdog::default();
        watchdog.set(DIVIDER_DEFAULT, TICKS_DEFAULT);
        watchdog.feed(5);
        assert_eq!(watchdog.expires_ns(), Some(100_000_005));
        assert!(!watchdog.expires_by(100_000_004));
        assert!(watchdog.expires_by(100_000_005));
        assert!(!watchdog.expires_by(200_000_000), "once");
        watchdog.feed(200_000_001);
        assert_eq!(watchdog.expires_ns(), Some(300_000_001));
    }

    #[test]
    fn without_ticks_it_is_off() {
        let mut watchdog = Watchdog::default();
        watchdog.set(DIVIDER_DEFAULT, 0);
        watchdog.feed(0);
        assert!(!watchdog.expires_by(u64::MAX));
    }
}
