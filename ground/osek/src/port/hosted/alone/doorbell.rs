//! Says once, and not again until it is answered, that other threads raised something.

use core::sync::atomic::{AtomicBool, Ordering::AcqRel};

/// A doorbell. Who rings has set its bit before; who answers looks at the bits after.
#[derive(Debug)]
pub(super) struct Doorbell {
    rung: AtomicBool,
}

impl Doorbell {
    pub(super) const fn new() -> Self {
        Self { rung: AtomicBool::new(false) }
    }

    /// Rings. `false` where it was rung already: then who answers finds this bit, too.
    #[must_use = "a signal must be sent"]
    pub(super) fn ring(&self) -> bool {
        !self.rung.swap(true, AcqRel)
    }

    /// Answers: whoever rings from now on rings again.
    pub(super) fn answer(&self) {
        // An exchange and no mere store, which the look at the bits could overtake: then a bit that
        // was set in between would neither be seen nor rung for.
        self.rung.swap(false, AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use std::hint::spin_loop;
    use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
    use std::sync::atomic::{AtomicBool, AtomicUsize};
    use std::thread;

    use super::*;

    #[test]
    fn it_rings_once_until_it_is_answered() {
        let doorbell = Doorbell::new();
        assert!(doorbell.ring());
        assert!(!doorbell.ring());
        doorbell.answer();
        assert!(doorbell.ring());
    }

    /// The meeting point of two threads; as close as processors can.
    struct Meeting(AtomicUsize);

    impl Meeting {
        fn wait(&self, round: usize) {
            self.0.fetch_add(1, SeqCst);
            let mut tries = 0_u32;
            while self.0.load(SeqCst) < 2 * (round + 1) {
                spin_loop();
                tries += 1;
                if tries.is_multiple_of(if cfg!(miri) { 1 } else { 200 }) {
                    thread::yield_now();
                }
            }
        }
    }

    /// Goal: a bit that is set while the bell is answered is seen, or rung for again.
    /// Method: two threads do both at the same time, often. A processor delays stores, and so does
    /// Miri; an answer that is a mere store fails here.
    #[test]
    fn what_is_raised_while_it_is_answered_is_not_lost() {
        const ROUNDS: usize = if cfg!(miri) { 100 } else { 20_000 };
        let (doorbell, bit) = (Doorbell::new(), AtomicBool::new(false));
        let (rang, lost) = (AtomicBool::new(false), AtomicUsize::new(0));
        let (begin, end) = (Meeting(AtomicUsize::new(0)), Meeting(AtomicUsize::new(0)));
        thread::scope(|scope| {
            scope.spawn(|| {
                for round in 0..ROUNDS {
                    begin.wait(round);
                    bit.fetch_or(true, Release);
                    rang.store(doorbell.ring(), Relaxed);
                    end.wait(round);
                }
            });
            for round in 0..ROUNDS {
                bit.store(false, Relaxed);
                let _ = doorbell.ring();
                begin.wait(round);
                doorbell.answer();
                let seen = bit.load(Acquire);
                end.wait(round);
                lost.fetch_add(usize::from(!seen && !rang.load(Relaxed)), Relaxed);
            }
        });
        assert_eq!(lost.into_inner(), 0);
    }
}
