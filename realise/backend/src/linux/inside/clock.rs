//! The guest's clock, made the host's: shifted once, then steered.
//!
//! The host says again and again which value of the guest's counter was which instant of its own
//! clock. Both sides have compared their counters before.

use std::sync::atomic::AtomicU64;
use std::thread;
use std::time::Duration;

use quietcore_boot::devices::{INTRODUCTION, INTRODUCTION_WORDS, Introduction, RECORDS_PLACE};
use quietcore_boot::{
    HOST_PAGE, HOST_TIME, HOST_TIME_WORDS, HostPage, HostTime, Moment, RECORD_BYTES,
};
use quietcore_clock::{Clock as _, Counter, Monotonic};
use quietcore_process::in_guest::clock::{STEERING_MAX_PPB, steer};
use quietcore_process::in_guest::words::DeviceWords;
use quietcore_process::memory::MemorySource;
use quietcore_units::Causes;

const WORD_BYTES: u64 = size_of::<AtomicU64>() as u64;
/// Time between two comparisons of the clocks.
const COMPARED_EVERY: Duration = Duration::from_secs(1);
const NANOS_OF_SECOND: i128 = 1_000_000_000;

/// The host's clock, as it is seen from the guest.
#[derive(Debug)]
pub(super) struct HostClock {
    words: &'static DeviceWords,
    counter_hz: u64,
    /// Time by which the host's clock is ahead of this kernel's own, at the beginning.
    ahead_ns: i64,
}

impl HostClock {
    /// Compares the counters with the host, and reads its clock.
    pub(super) fn begin(control: &MemorySource) -> Result<Self, String> {
        let words = DeviceWords::open(control).map_err(|error| Causes(&error).to_string())?;
        // It is used for as long as the guest runs.
        let words: &'static DeviceWords = Box::leak(Box::new(words));
        let introduction: &[AtomicU64; INTRODUCTION_WORDS] = stretch(words, INTRODUCTION)?;
        Introduction::new(introduction).ask(Counter::read);
        let page: &[AtomicU64; RECORD_BYTES / WORD_BYTES as usize] =
            stretch(words, HOST_PAGE - RECORDS_PLACE)?;
        let mut bytes = [0; RECORD_BYTES];
        for (into, word) in bytes.chunks_exact_mut(WORD_BYTES as usize).zip(page) {
            let word = word.load(std::sync::atomic::Ordering::Relaxed);
            into.copy_from_slice(&word.to_le_bytes());
        }
        let page = HostPage::from_bytes(&bytes).map_err(|refused| refused.to_string())?;
        let then = Moment { counter: page.counter_then, host_ns: page.host_then_ns };
        let mut clock = Self { words, counter_hz: page.counter_hz, ahead_ns: 0 };
        clock.ahead_ns = clock.ahead_of_own(then);
        Ok(clock)
    }

    /// Returns the time by which the host's clock is ahead of this kernel's, at the beginning.
    pub(super) fn ahead_ns(&self) -> i64 {
        self.ahead_ns
    }

    /// Starts the thread that keeps this kernel's clock at the host's rate.
    pub(super) fn follow(self) -> Result<(), String> {
        let thread = thread::Builder::new().name("clock".to_owned());
        let started = thread.spawn(move || self.follow_for_ever());
        started.map(drop).map_err(|error| format!("no thread: {error}"))
    }

    fn follow_for_ever(&self) {
        let Ok(words): Result<&[AtomicU64; HOST_TIME_WORDS], _> =
            stretch(self.words, HOST_TIME - RECORDS_PLACE)
        else {
            return;
        };
        let time = HostTime::new([&words[0], &words[1], &words[2]]);
        let mut steering = Steering::default();
        loop {
            thread::sleep(COMPARED_EVERY);
            let Some(reading) = time.read().filter(|it| it.moment.counter != 0) else { continue };
            let behind = self.ahead_of_own(reading.moment).saturating_sub(self.ahead_ns);
            if let Err(error) = steer(steering.rate(behind)) {
                eprintln!("quietcore: the guest's clock can't be steered: {error}");
                return;
            }
        }
    }

    /// Returns the time by which the host's clock is ahead of this kernel's.
    fn ahead_of_own(&self, then: Moment) -> i64 {
        let (own, counter) = (Monotonic.now().get(), Counter::read());
        ahead(then, self.counter_hz, own, counter)
    }
}

/// Returns the time by which the host's clock is ahead of `own`, which was read when the counter
/// was at `counter`.
fn ahead(then: Moment, counter_hz: u64, own: u64, counter: u64) -> i64 {
    let counts = i128::from(counter.wrapping_sub(then.counter).cast_signed());
    let passed = counts * NANOS_OF_SECOND / i128::from(counter_hz.max(1));
    let host = i128::from(then.host_ns) + passed;
    i64::try_from(host - i128::from(own)).unwrap_or(0)
}

/// A control loop that takes back what a clock is behind: in some seconds, without a step.
#[derive(Clone, Copy, Debug, Default)]
struct Steering {
    /// The rate that the two clocks differ by, as far as it was learned, in parts of a billion.
    learned_ppb: i64,
}

impl Steering {
    /// Returns by how many parts of a billion the clock is to run faster for the next second.
    fn rate(&mut self, behind_ns: i64) -> i64 {
        let bound = |ppb: i64| ppb.clamp(-STEERING_MAX_PPB, STEERING_MAX_PPB);
        // A nanosecond a second is a part of a billion.
        self.learned_ppb = bound(self.learned_ppb.saturating_add(behind_ns / 8));
        bound(self.learned_ppb.saturating_add(behind_ns / 2))
    }
}

/// Returns words of the control memory from an offset on.
fn stretch<const N: usize>(words: &DeviceWords, offset: u64) -> Result<&[AtomicU64; N], String> {
    let first = usize::try_from(offset / WORD_BYTES).unwrap_or(usize::MAX);
    let found = words.all().get(first..).and_then(|rest| rest.first_chunk());
    found.ok_or_else(|| "the control memory is too short".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lead_is_what_the_counter_has_counted_since() {
        let then = Moment { counter: 1_000, host_ns: 5_000_000 };
        assert_eq!(ahead(then, 1_000_000_000, 2_000_000, 1_500), 3_000_500);
        assert_eq!(ahead(then, 2_000_000_000, 9_000_000, 1_500), -3_999_750);
        assert_eq!(ahead(then, 1_000_000_000, 5_000_000, 900), -100, "it was said just now");
    }

    #[test]
    fn a_clock_that_runs_slowly_is_brought_to_the_hosts() {
        let mut steering = Steering::default();
        let (drift_ppb, mut behind_ns, mut rate) = (40_000_i64, 200_000_i64, 0);
        for _ in 0..120 {
            behind_ns += drift_ppb - rate;
            rate = steering.rate(behind_ns);
        }
        assert!(behind_ns.abs() < 100, "{behind_ns} ns behind");
        assert!((rate - drift_ppb).abs() < 100, "{rate} ppb");
    }
}
