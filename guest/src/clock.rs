//! The host's monotonic clock, from the time stamp counter.
//!
//! ```text
//! host    tells a pair (counter, ns) ─► host page        every 20 ms, where it does that
//! guest   now: has the number of the pair changed?
//!              no   the pair in use, and what the counter has counted since
//!              yes  the new pair is in use from here on; not before the time that was said last
//! ```
//!
//! Between two pairs the guest's clock goes as fast as the counter is said to count, and the host's
//! is steered after a time server by 500 ppm at most: so they part by 10 µs at most. Where the
//! host's clock is behind when a pair comes, the guest's stands still until that has caught up: it
//! never steps back.
//!
//! One processor has this clock. An interrupt may come between any two instructions, and look at
//! the clock too: a new pair is taken with interrupts off, and whoever reads the pair in use looks
//! afterwards whether it still is.

use core::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};

use quietcore_boot::{HostPage, HostTime, Moment};

#[cfg(target_os = "none")]
use crate::interrupts::without_interrupts;

/// Fraction bits of the factor.
const SHIFT: u32 = 32;

/// A clock that counts ns since the host began to.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// The moment of a host that tells it once.
    first: Moment,
    /// ns a count, times 2^32.
    factor: u64,
    followed: Option<&'static Followed>,
}

/// The pair in use, of a host that tells the time again and again.
#[derive(Debug)]
pub struct Followed {
    told: HostTime<'static>,
    /// Its number, which is written last.
    sequence: AtomicU64,
    counter: AtomicU64,
    host_ns: AtomicU64,
    /// The time when it was taken, in ns: it is never earlier from then on.
    floor_ns: AtomicU64,
}

/// With a fake counter there are no interrupts.
#[cfg(not(target_os = "none"))]
fn without_interrupts<R>(work: impl FnOnce() -> R) -> R {
    work()
}

impl Clock {
    /// The clock of a host that said what it takes.
    pub const fn new(host: &HostPage) -> Self {
        // The frequency was checked to be 1 MHz at least, so that this is below 2^42.
        let factor = ((1_000_000_000_u128 << SHIFT) / host.counter_hz as u128) as u64;
        let first = Moment { counter: host.counter_then, host_ns: host.host_then_ns };
        Self { first, factor, followed: None }
    }

    /// That of a host that tells the time again and again.
    pub const fn following(host: &HostPage, followed: &'static Followed) -> Self {
        Self { followed: Some(followed), ..Self::new(host) }
    }

    /// The instant, in ns, by what reads the counter. Of a host that tells its time again and again
    /// it costs some loads more than of one that does not, and more when there is a new pair.
    #[inline]
    pub fn now_by(&self, counter: impl Fn() -> u64) -> u64 {
        // Before the pair: one that is taken in between has a floor that is later than this.
        let read = counter();
        let Some(followed) = self.followed else { return self.since(self.first, read) };
        let (sequence, moment, floor_ns) = followed.in_use();
        if followed.told.sequence() != sequence || followed.sequence.load(Relaxed) != sequence {
            return self.now_anew(followed, counter);
        }
        self.since(moment, read).max(floor_ns)
    }

    /// As [`now_by`](Self::now_by), with the newest pair.
    #[cold]
    fn now_anew(&self, followed: &Followed, counter: impl Fn() -> u64) -> u64 {
        without_interrupts(|| {
            // Nothing that was read before is later.
            let read = counter();
            let (sequence, moment, floor_ns) = followed.in_use();
            let now = self.since(moment, read).max(floor_ns);
            match followed.told.read() {
                Some(told) if told.sequence != sequence => {
                    followed.counter.store(told.moment.counter, Relaxed);
                    followed.host_ns.store(told.moment.host_ns, Relaxed);
                    followed.floor_ns.store(now, Relaxed);
                    followed.sequence.store(told.sequence, Release);
                    self.since(told.moment, read).max(now)
                }
                // The host is writing one: the next look takes it.
                _ => now,
            }
        })
    }

    /// The instant, in ns, at a value of the counter, by the pair in use. One before that pair's is
    /// that pair's.
    pub fn at(&self, counter: u64) -> u64 {
        self.since(self.moment(), counter)
    }

    /// The value of the counter at an instant, or just after it, by the pair in use; for timers
    /// that go by the counter. With the next pair it may be another one.
    pub fn counter_at(&self, instant_ns: u64) -> u64 {
        let moment = self.moment();
        let passed = instant_ns.saturating_sub(moment.host_ns);
        let counts = ((passed as u128) << SHIFT).div_ceil(self.factor as u128);
        let counts = if counts > u64::MAX as u128 { u64::MAX } else { counts as u64 };
        moment.counter.saturating_add(counts)
    }

    fn moment(&self) -> Moment {
        self.followed.map_or(self.first, |followed| without_interrupts(|| followed.in_use().1))
    }

    #[inline]
    fn since(&self, moment: Moment, counter: u64) -> u64 {
        let counts = counter.saturating_sub(moment.counter);
        let passed = (counts as u128 * self.factor as u128) >> SHIFT;
        moment.host_ns.saturating_add(passed as u64)
    }
}

impl Followed {
    /// Follows a host that has told `told` before the guest began.
    pub fn new(told: HostTime<'static>, host: &HostPage) -> Self {
        let read = told.read();
        let moment = Moment { counter: host.counter_then, host_ns: host.host_then_ns };
        // Where the host is writing, the pair is taken at the first look: no number is odd.
        let (sequence, moment) = read.map_or((1, moment), |read| (read.sequence, read.moment));
        Self {
            told,
            sequence: AtomicU64::new(sequence),
            counter: AtomicU64::new(moment.counter),
            host_ns: AtomicU64::new(moment.host_ns),
            floor_ns: AtomicU64::new(0),
        }
    }

    /// The pair in use with its number and its floor. They belong together where the number is
    /// still the same afterwards, or interrupts are off.
    #[inline]
    fn in_use(&self) -> (u64, Moment, u64) {
        let sequence = self.sequence.load(Acquire);
        let (counter, host_ns) = (self.counter.load(Relaxed), self.host_ns.load(Relaxed));
        let floor_ns = self.floor_ns.load(Relaxed);
        // An interrupt is on this processor, but the compiler is to keep the order, too.
        fence(Acquire);
        (sequence, Moment { counter, host_ns }, floor_ns)
    }
}

#[cfg(test)]
mod tests;
