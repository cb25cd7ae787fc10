//! The instant from which all threads of a partition take their releases.
//!
//! ```text
//! thread 0  settings ─┐         ┌─ first release
//! thread 1  settings ─┼ barrier ┼─ first release
//! ```
//!
//! Their cycles are in phase, as those of programs on one fieldbus are.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

use quietcore_clock::Clock;
use quietcore_units::Nanos;

/// Time from the last thread being ready to the first release.
const START_DELAY: Nanos = Nanos::from_millis(20);

/// A start that several threads have in common.
#[derive(Debug)]
pub struct CommonStart {
    ready: Barrier,
    instant: AtomicU64,
}

impl CommonStart {
    /// Makes a start for so many threads, each of which must call [`agree`](Self::agree) once.
    pub fn new(threads: usize) -> Self {
        Self { ready: Barrier::new(threads), instant: AtomicU64::new(0) }
    }

    /// Waits until all threads are ready, and returns the instant of the first release, which one
    /// of them chooses for all.
    pub fn agree(&self, clock: &impl Clock) -> Nanos {
        if self.ready.wait().is_leader() {
            self.instant.store((clock.now() + START_DELAY).get(), Ordering::Relaxed);
        }
        self.ready.wait();
        Nanos::new(self.instant.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use quietcore_clock::Monotonic;

    use super::*;

    #[test]
    fn all_threads_get_one_instant_that_is_to_come() {
        let start = CommonStart::new(3);
        let before = Monotonic.now();
        let agreed: Vec<Nanos> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| start.agree(&Monotonic))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(agreed.iter().all(|instant| *instant == agreed[0]));
        assert!(agreed[0] >= before + START_DELAY);
    }
}
