//! The wait for one release.
//!
//! Bound: one sleep and two clock readings, and those that are spun; no allocation, lock or I/O
//! (promises P23 and P57 of SPECIFICATION.md). Spinning reads the clock without a PAUSE
//! instruction: a hypervisor may take repeated PAUSE as a reason to leave the guest, and it makes
//! the instant coarser.

use quietcore_clock::Clock;
use quietcore_exchange::Release;
use quietcore_units::Nanos;

use crate::margin::Margin;

/// Sleeps until `margin` before `due`, spins to the instant, and learns how late the wake-up was.
/// A release that has already passed is not waited for, and has its true latency.
///
/// `cpu` is the one that the thread is pinned to; `None` asks the clock. `delay` is an injected
/// one: the release is held up by so much, from `due` or from the wake-up if that is later.
#[inline]
pub fn wait_for(
    clock: &impl Clock,
    due: Nanos,
    margin: &mut Margin,
    cpu: Option<u32>,
    delay: Option<Nanos>,
) -> Release {
    let wake_at = due.saturating_sub(margin.current());
    clock.sleep_until(wake_at);
    let mut woke = clock.now();
    if let Some(delay) = delay {
        woke = spin_until(clock, woke, due.max(woke) + delay);
    }
    let started = spin_until(clock, woke, due);
    let wakeup_latency = woke.saturating_sub(wake_at);
    let release = Release {
        due,
        started,
        wakeup_latency,
        margin: margin.current(),
        spin: started.saturating_sub(woke),
        cpu: cpu.unwrap_or_else(|| clock.cpu()),
    };
    margin.learn(wakeup_latency);
    release
}

/// Reads the clock until `due`; returns the last reading, or `now` if that is late enough.
#[inline]
pub fn spin_until(clock: &impl Clock, now: Nanos, due: Nanos) -> Nanos {
    let mut now = now;
    while now < due {
        now = clock.now();
    }
    now
}

#[cfg(test)]
mod tests {
    use quietcore_clock::FakeClock;
    use quietcore_units::Wake;

    use super::*;

    const DUE: Nanos = Nanos::from_millis(10);
    const EARLY: Nanos = Nanos::from_micros(50);

    /// A wait on a clock whose readings take `reading` ns and whose sleep ends `late` µs late.
    fn wait(wake: Wake, reading: u64, late: u64, delay: Option<Nanos>) -> (Release, Margin) {
        let late = [Nanos::from_micros(late)];
        let clock = FakeClock::new(Nanos::ZERO, Nanos::new(reading), late);
        let mut margin = Margin::new(wake, Nanos::from_millis(1));
        (wait_for(&clock, DUE, &mut margin, Some(3), delay), margin)
    }

    #[test]
    fn a_sleep_to_the_release_is_as_late_as_the_wakeup() {
        let (release, _) = wait(Wake::Sleep, 0, 7, None);
        assert_eq!(release.latency(), Some(Nanos::from_micros(7)));
        assert_eq!(release.wakeup_latency, Nanos::from_micros(7));
        assert_eq!((release.margin, release.spin, release.cpu), (Nanos::ZERO, Nanos::ZERO, 3));
    }

    #[test]
    fn an_early_wakeup_is_spun_to_the_instant() {
        let (release, _) = wait(Wake::Early { margin: EARLY }, 20, 30, None);
        assert!(release.latency().unwrap() < Nanos::new(20), "{release:?}");
        assert!(release.wakeup_latency >= Nanos::from_micros(30));
        assert!(release.spin >= Nanos::from_micros(19) && release.spin <= Nanos::from_micros(20));
        assert_eq!(release.margin, EARLY);
    }

    #[test]
    fn the_margin_seen_is_the_one_waited_with_and_the_next_one_is_learned() {
        let (release, margin) = wait(Wake::Adaptive { share_percent: 25 }, 0, 300, None);
        assert_eq!(release.margin, Nanos::from_micros(125));
        assert_eq!(release.latency(), Some(Nanos::from_micros(175)));
        assert_eq!(margin.current(), Nanos::from_micros(145));
    }

    #[test]
    fn an_injected_delay_counts_from_the_instant_or_from_a_later_wakeup() {
        let delay = Some(Nanos::from_micros(90));
        let (release, _) = wait(Wake::Early { margin: EARLY }, 1, 0, delay);
        assert_eq!(release.latency(), delay);
        let (release, _) = wait(Wake::Sleep, 1, 10, delay);
        assert_eq!(release.started, DUE + Nanos::from_micros(100) + Nanos::new(1));
    }
}
