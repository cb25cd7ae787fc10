//! Interrupts that the program itself holds back (OSEK OS 2.2.3, 6 and 13.3).
//!
//! Beside the kernel's state, because ISRs of category 1 may call these services while a service is
//! at work. Whoever holds interrupts back lets them go again before it ends, so an ISR leaves all
//! of this as it found it.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicU8, AtomicU32, compiler_fence};

use crate::port::{ALL_HELD, Port};

/// One pair of services: how deep it is nested, and the levels before it and while it holds.
#[derive(Debug)]
struct Pair {
    depth: AtomicU32,
    before: AtomicU8,
    held: AtomicU8,
}

impl Pair {
    const fn new() -> Self {
        Self { depth: AtomicU32::new(0), before: AtomicU8::new(0), held: AtomicU8::new(0) }
    }

    /// The level that it asks for; zero where it holds nothing back.
    #[inline]
    fn asked(&self) -> u8 {
        if self.depth.load(Relaxed) == 0 { 0 } else { self.held.load(Relaxed) }
    }
}

/// The interrupts that the program holds back.
#[derive(Debug)]
pub(super) struct Masks {
    disabled: Pair,
    all: Pair,
    kernel: Pair,
    /// The level before the first of them.
    base: AtomicU8,
}

impl Masks {
    pub(super) const fn new() -> Self {
        Self {
            disabled: Pair::new(),
            all: Pair::new(),
            kernel: Pair::new(),
            base: AtomicU8::new(0),
        }
    }

    /// Returns `true` if anything is held back, so that services must not be called.
    #[inline]
    pub(super) fn hold_any(&self) -> bool {
        let depths = [&self.disabled, &self.all, &self.kernel].map(|pair| pair.depth.load(Relaxed));
        depths[0] | depths[1] | depths[2] != 0
    }

    /// `DisableAllInterrupts`; does not nest.
    #[inline]
    pub(super) fn disable(&self, port: &impl Port) {
        if self.disabled.depth.load(Relaxed) == 0 {
            self.hold(&self.disabled, port, ALL_HELD);
        }
    }

    /// `EnableAllInterrupts`
    #[inline]
    pub(super) fn enable(&self, port: &impl Port) {
        self.let_go(&self.disabled, port);
    }

    /// `SuspendAllInterrupts`
    #[inline]
    pub(super) fn suspend_all(&self, port: &impl Port) {
        self.hold(&self.all, port, ALL_HELD);
    }

    /// `ResumeAllInterrupts`
    #[inline]
    pub(super) fn resume_all(&self, port: &impl Port) {
        self.let_go(&self.all, port);
    }

    /// `SuspendOSInterrupts`
    #[inline]
    pub(super) fn suspend_kernel(&self, port: &impl Port, kernel_level: u8) {
        self.hold(&self.kernel, port, kernel_level);
    }

    /// `ResumeOSInterrupts`
    #[inline]
    pub(super) fn resume_kernel(&self, port: &impl Port) {
        self.let_go(&self.kernel, port);
    }

    /// Forgets what a task held back that is over.
    #[inline]
    pub(super) fn reset(&self) {
        for pair in [&self.disabled, &self.all, &self.kernel] {
            pair.depth.store(0, Relaxed);
        }
    }

    /// Holds back what is not above `level`.
    #[inline]
    fn hold(&self, pair: &Pair, port: &impl Port, level: u8) {
        let depth = pair.depth.load(Relaxed);
        if depth != 0 {
            pair.depth.store(depth.saturating_add(1), Relaxed);
            return;
        }
        let is_first = !self.hold_any();
        let before = port.level();
        if level > before {
            port.set_level(level);
        }
        pair.held.store(level, Relaxed);
        compiler_fence(SeqCst);
        // The depth comes before the levels: an ISR of category 1 that passes after it finds the
        // pair held and leaves the levels alone; one that passes before is overwritten.
        pair.depth.store(1, Relaxed);
        compiler_fence(SeqCst);
        pair.before.store(before, Relaxed);
        if is_first {
            self.base.store(before, Relaxed);
        }
    }

    /// Lets go what this pair held back. Without a `hold` before, nothing happens.
    ///
    /// Pairs that cross each other are an error of the program; it must not end with interrupts
    /// held back for ever, so the last one goes back to the level before the first.
    #[inline]
    fn let_go(&self, pair: &Pair, port: &impl Port) {
        let Some(depth) = pair.depth.load(Relaxed).checked_sub(1) else { return };
        if depth != 0 {
            pair.depth.store(depth, Relaxed);
            return;
        }
        // Read first: an ISR of category 1 may use the pair as soon as it is not held.
        let (before, base) = (pair.before.load(Relaxed), self.base.load(Relaxed));
        compiler_fence(SeqCst);
        pair.depth.store(0, Relaxed);
        let [disabled, all, kernel] = [&self.disabled, &self.all, &self.kernel].map(Pair::asked);
        let level = match disabled.max(all).max(kernel) {
            0 => base,
            asked => asked.max(before),
        };
        port.set_level(level);
    }
}
