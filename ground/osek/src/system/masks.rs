//! Interrupts that the program itself holds back (OSEK OS 2.2.3, 6 and 13.3).
//!
//! Beside the kernel's state, because ISRs of category 1 may call these services while a service is
//! at work. Whoever holds interrupts back lets them go again before it ends, so an ISR leaves all
//! of this as it found it.

use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

use crate::port::{ALL_HELD, Port};

/// One pair of services: how deep it is nested, and the level before.
#[derive(Debug)]
struct Pair {
    depth: AtomicU8,
    before: AtomicU8,
}

impl Pair {
    const fn new() -> Self {
        Self { depth: AtomicU8::new(0), before: AtomicU8::new(0) }
    }

    /// Holds back what is not above `level`.
    #[inline]
    fn hold(&self, port: &impl Port, level: u8) {
        let depth = self.depth.load(Relaxed);
        if depth == 0 {
            let before = port.level();
            if level > before {
                port.set_level(level);
            }
            // An ISR that came in between has left it as it was.
            self.before.store(before, Relaxed);
        }
        // 255 levels of nesting are as good as endless: it stays held then.
        self.depth.store(depth.saturating_add(1), Relaxed);
    }

    /// Lets go what this pair held back. Without a `hold` before, nothing happens.
    #[inline]
    fn let_go(&self, port: &impl Port) {
        let Some(depth) = self.depth.load(Relaxed).checked_sub(1) else { return };
        self.depth.store(depth, Relaxed);
        if depth == 0 {
            port.set_level(self.before.load(Relaxed));
        }
    }
}

/// What the program holds back.
#[derive(Debug)]
pub(super) struct Masks {
    disabled: Pair,
    all: Pair,
    kernel: Pair,
}

impl Masks {
    pub(super) const fn new() -> Self {
        Self { disabled: Pair::new(), all: Pair::new(), kernel: Pair::new() }
    }

    /// Whether anything is held back, so that services must not be called.
    #[inline]
    pub(super) fn hold_any(&self) -> bool {
        let depths = [&self.disabled, &self.all, &self.kernel].map(|pair| pair.depth.load(Relaxed));
        depths[0] | depths[1] | depths[2] != 0
    }

    /// `DisableAllInterrupts`; does not nest.
    #[inline]
    pub(super) fn disable(&self, port: &impl Port) {
        if self.disabled.depth.load(Relaxed) == 0 {
            self.disabled.hold(port, ALL_HELD);
        }
    }

    /// `EnableAllInterrupts`
    #[inline]
    pub(super) fn enable(&self, port: &impl Port) {
        self.disabled.let_go(port);
    }

    /// `SuspendAllInterrupts`
    #[inline]
    pub(super) fn suspend_all(&self, port: &impl Port) {
        self.all.hold(port, ALL_HELD);
    }

    /// `ResumeAllInterrupts`
    #[inline]
    pub(super) fn resume_all(&self, port: &impl Port) {
        self.all.let_go(port);
    }

    /// `SuspendOSInterrupts`
    #[inline]
    pub(super) fn suspend_kernel(&self, port: &impl Port, kernel_level: u8) {
        self.kernel.hold(port, kernel_level);
    }

    /// `ResumeOSInterrupts`
    #[inline]
    pub(super) fn resume_kernel(&self, port: &impl Port) {
        self.kernel.let_go(port);
    }

    /// Forgets what a task held back that is over.
    #[inline]
    pub(super) fn reset(&self) {
        for pair in [&self.disabled, &self.all, &self.kernel] {
            pair.depth.store(0, Relaxed);
        }
    }
}
