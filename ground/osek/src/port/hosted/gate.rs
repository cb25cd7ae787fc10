//! Keeps what other threads raise out of a machine that does not run.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};

/// How often the end of a machine looks whether other threads have left the gate.
const TRIES: u32 = if cfg!(miri) { 100 } else { 100_000 };

/// A gate.
#[derive(Debug)]
pub(super) struct Gate {
    open: AtomicBool,
    /// Threads that are in it.
    inside: AtomicU32,
}

impl Gate {
    pub(super) const fn new() -> Self {
        Self { open: AtomicBool::new(false), inside: AtomicU32::new(0) }
    }

    /// Lets other threads in.
    pub(super) fn open(&self) {
        self.open.store(true, SeqCst);
    }

    /// Lets no other thread in any more, and waits until those inside have left. They only set bits
    /// and send a signal; if one of them does not leave, it is not waited for longer than the
    /// tries.
    pub(super) fn close(&self, give_way: impl Fn()) {
        self.open.store(false, SeqCst);
        for _ in 0..TRIES {
            // In one order with `pass`: whoever was let in is seen here.
            if self.inside.load(SeqCst) == 0 {
                return;
            }
            give_way();
        }
    }

    /// Does something where the gate is open.
    pub(super) fn pass(&self, act: impl FnOnce()) {
        self.inside.fetch_add(1, SeqCst);
        if self.open.load(SeqCst) {
            act();
        }
        self.inside.fetch_sub(1, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;

    #[test]
    fn only_an_open_gate_is_passed() {
        let gate = Gate::new();
        let passed = Cell::new(0);
        let pass = || gate.pass(|| passed.set(passed.get() + 1));
        pass();
        gate.open();
        pass();
        gate.close(|| panic!("nobody is inside"));
        pass();
        assert_eq!(passed.get(), 1);
    }

    #[test]
    fn closing_waits_for_those_inside_and_not_for_ever() {
        let gate = Gate::new();
        gate.open();
        let tries = Cell::new(0);
        gate.pass(|| gate.close(|| tries.set(tries.get() + 1)));
        assert_eq!(tries.get(), TRIES);
    }
}
