//! Keeps what other threads raise out of a machine that does not run.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};

/// Lets other threads in while it is open, and counts those inside.
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
    /// and send a signal, so that it waits as long as the operating system takes to let them run.
    ///
    /// It has no other limit: who is still inside would send its signal to a machine that has no
    /// handler for it any more, which ends the process. `give_way` has to let threads of a lower
    /// priority run, too. The machine's own thread is not inside: it would wait for itself.
    pub(super) fn close(&self, give_way: impl Fn()) {
        self.open.store(false, SeqCst);
        // In one order with `pass`: whoever was let in is seen here.
        while self.inside.load(SeqCst) != 0 {
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
    use std::sync::atomic::Ordering::Relaxed;
    use std::sync::mpsc::channel;
    use std::thread;

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

    /// Goal: nobody is inside of a gate that is closed, however long it takes.
    /// Method: a thread that stays inside until it was given way so often that anyone would give
    /// up, and then a little.
    #[test]
    fn closing_waits_for_those_inside() {
        const OFTEN: u32 = if cfg!(miri) { 200 } else { 200_000 };
        let (gate, has_left) = (Gate::new(), AtomicBool::new(false));
        let (came_in, is_inside) = channel();
        let (let_go, may_leave) = channel();
        gate.open();
        thread::scope(|scope| {
            let (gate, has_left) = (&gate, &has_left);
            let inside = move || {
                came_in.send(()).unwrap();
                may_leave.recv().unwrap();
                thread::yield_now();
                has_left.store(true, Relaxed);
            };
            scope.spawn(move || gate.pass(inside));
            is_inside.recv().unwrap();
            let given_way = Cell::new(0);
            gate.close(|| {
                given_way.set(given_way.get() + 1);
                if given_way.get() == OFTEN {
                    let_go.send(()).unwrap();
                }
                thread::yield_now();
            });
            assert!(has_left.load(Relaxed));
        });
    }
}
