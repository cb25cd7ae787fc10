//! The host's monotonic clock, from the time stamp counter.

use quietcore_boot::HostPage;

/// Fraction bits of the factor.
const SHIFT: u32 = 32;

/// A clock that counts ns since the host began to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    counter_then: u64,
    then_ns: u64,
    /// ns a count, times 2^32.
    factor: u64,
}

impl Clock {
    /// The clock of a host that said what it takes.
    pub const fn new(host: &HostPage) -> Self {
        // The frequency was checked to be 1 MHz at least, so that this is below 2^42.
        let factor = ((1_000_000_000_u128 << SHIFT) / host.counter_hz as u128) as u64;
        Self { counter_then: host.counter_then, then_ns: host.host_then_ns, factor }
    }

    /// The instant, in ns, at a value of the counter. One before the host's is the host's.
    pub const fn at(&self, counter: u64) -> u64 {
        let counts = counter.saturating_sub(self.counter_then);
        let passed = (counts as u128 * self.factor as u128) >> SHIFT;
        self.then_ns.saturating_add(passed as u64)
    }

    /// The value of the counter at an instant, or just after it; for timers that go by the counter.
    pub const fn counter_at(&self, instant_ns: u64) -> u64 {
        let passed = instant_ns.saturating_sub(self.then_ns);
        let counts = ((passed as u128) << SHIFT).div_ceil(self.factor as u128);
        let counts = if counts > u64::MAX as u128 { u64::MAX } else { counts as u64 };
        self.counter_then.saturating_add(counts)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn clock(counter_hz: u64) -> Clock {
        let host =
            HostPage { counter_hz, counter_then: 5_000, host_then_ns: 700, ..HostPage::default() };
        Clock::new(&host)
    }

    #[test]
    fn a_second_has_as_many_counts_as_the_host_says() {
        for counter_hz in [1_000_000, 2_499_999_000, 5_000_000_000] {
            let second = clock(counter_hz).at(5_000 + counter_hz);
            // The factor is cut at 2^-32 ns a count.
            assert!((700 + 1_000_000_000 - 2..=700 + 1_000_000_000).contains(&second), "{second}");
        }
    }

    #[test]
    fn before_the_host_began_it_is_when_it_began() {
        assert_eq!(clock(1_000_000_000).at(0), 700);
    }

    proptest! {
        #[test]
        fn a_timer_that_goes_by_the_counter_is_never_early(
            counter_hz in 1_000_000_u64..=5_000_000_000,
            instant_ns in 700_u64..=1 << 50,
        ) {
            let clock = clock(counter_hz);
            let counter = clock.counter_at(instant_ns);
            prop_assert!(clock.at(counter) >= instant_ns);
            prop_assert!(clock.at(counter - 1) <= instant_ns);
        }
    }
}
