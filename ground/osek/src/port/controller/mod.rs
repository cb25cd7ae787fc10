//! The virtual interrupt controller: which interrupt is taken when.
//!
//! Signals can't be held back at the price of an instruction, so they are not: a handler notes its
//! interrupt as pending, and takes it only where the level allows. What had to wait is taken when
//! the level falls.
//!
//! ```text
//! signal, raise ──► pending ──► above the level? ──► level up ──► dispatch ──► level back ──┐
//!                      ▲             no: wait                                               │
//! level falls ─────────┘◄───────────────────────────────────────────────────────────────────┘
//! ```
//!
//! Each interrupt has a line; lines are ordered by level, so that the highest bit of a mask is the
//! most urgent. `level` belongs to one thread and its signal handlers, which need the order of the
//! compiler only. `pending` is written by other threads too.
//!
//! Invariants, each tested with a signal at every step: none is lost, none is taken at or below the
//! level, none is taken twice for one arrival, the level is back after each.

use core::sync::atomic::{
    AtomicU8, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
    compiler_fence,
};

use crate::configuration::{INTERRUPT_LEVEL_MAX, ISRS_MAX, Isr};
use crate::port::ALL_HELD;

/// Lines: one for each ISR, the tick and the timer.
pub const LINES: usize = ISRS_MAX + 2;

/// Stands for an interrupt without a line.
const NO_LINE: u8 = 255;

/// An interrupt that the controller knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// The timer of the kernel.
    Timer,
    /// The tick of the hardware counters.
    Tick,
    /// This entry of the table of ISRs.
    Isr(u8),
}

impl Interrupt {
    const TIMER: u8 = 254;
    const TICK: u8 = 253;

    const fn code(self) -> u8 {
        match self {
            Self::Timer => Self::TIMER,
            Self::Tick => Self::TICK,
            Self::Isr(isr) => isr,
        }
    }

    const fn of(code: u8) -> Self {
        match code {
            Self::TIMER => Self::Timer,
            Self::TICK => Self::Tick,
            isr => Self::Isr(isr),
        }
    }
}

/// An interrupt that is being taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the level stays raised until `end` gets it"]
pub struct Taken {
    /// The interrupt that was taken.
    pub interrupt: Interrupt,
    /// The level to go back to.
    before: u8,
}

/// A place between two steps of the controller, at which a signal may arrive. On the machine it is
/// nothing; a test lets one arrive there.
pub trait Seam: Sized {
    /// Between two steps of `controller`, which owns this.
    fn between(&self, controller: &Controller<Self>);
}

/// Nothing happens between two steps but what happens by itself.
#[derive(Debug)]
pub struct Seamless;

impl Seam for Seamless {
    #[inline(always)]
    fn between(&self, _: &Controller) {}
}

/// The virtual interrupt controller of one machine.
#[derive(Debug)]
pub struct Controller<S = Seamless> {
    level: AtomicU8,
    /// A bit for each line.
    pending: AtomicU64,
    /// The lines above each level.
    above: [AtomicU64; ALL_HELD as usize + 1],
    /// The level of each line.
    levels: [AtomicU8; LINES],
    /// The interrupt that each line stands for.
    interrupts: [AtomicU8; LINES],
    /// The line of each ISR; then those of tick and timer.
    lines: [AtomicU8; LINES],
    seam: S,
}

/// Positions in `lines` behind those of the ISRs.
const TICK_AT: usize = ISRS_MAX;
const TIMER_AT: usize = ISRS_MAX + 1;

impl<S: Seam> Controller<S> {
    /// A controller at which nothing passes, with no lines.
    pub const fn new(seam: S) -> Self {
        Self {
            level: AtomicU8::new(ALL_HELD),
            pending: AtomicU64::new(0),
            above: [const { AtomicU64::new(0) }; ALL_HELD as usize + 1],
            levels: [const { AtomicU8::new(0) }; LINES],
            interrupts: [const { AtomicU8::new(NO_LINE) }; LINES],
            lines: [const { AtomicU8::new(NO_LINE) }; LINES],
            seam,
        }
    }

    /// Gives every ISR its line, and tick and timer theirs. Nothing is pending then, and nothing
    /// passes. Called while no interrupt can come.
    pub fn connect(&self, isrs: &[Isr], tick_level: u8, timer_level: u8) {
        self.level.store(ALL_HELD, Relaxed);
        self.pending.store(0, Relaxed);
        for place in &self.lines {
            place.store(NO_LINE, Relaxed);
        }
        for word in &self.above {
            word.store(0, Relaxed);
        }
        let mut line = 0;
        for level in 1..=INTERRUPT_LEVEL_MAX {
            for (isr, entry) in (0..).zip(isrs) {
                if entry.level == level {
                    self.attach(&mut line, Interrupt::Isr(isr), level);
                }
            }
            // Of equal level, the kernel's own come first.
            if level == tick_level {
                self.attach(&mut line, Interrupt::Tick, level);
            }
            if level == timer_level {
                self.attach(&mut line, Interrupt::Timer, level);
            }
        }
    }

    fn attach(&self, next: &mut u8, interrupt: Interrupt, level: u8) {
        let line = *next;
        *next += 1;
        self.levels[usize::from(line)].store(level, Relaxed);
        self.interrupts[usize::from(line)].store(interrupt.code(), Relaxed);
        self.lines[Self::position(interrupt)].store(line, Relaxed);
        for word in &self.above[..usize::from(level)] {
            word.store(word.load(Relaxed) | 1 << line, Relaxed);
        }
    }

    /// Its place in `lines`; beyond them for an ISR that no table has.
    const fn position(interrupt: Interrupt) -> usize {
        match interrupt {
            Interrupt::Tick => TICK_AT,
            Interrupt::Timer => TIMER_AT,
            Interrupt::Isr(isr) if (isr as usize) < ISRS_MAX => isr as usize,
            Interrupt::Isr(_) => LINES,
        }
    }

    #[inline(always)]
    fn step(&self) {
        self.seam.between(self);
    }

    /// Returns the level; interrupts up to it are held back.
    #[inline]
    pub fn level(&self) -> u8 {
        self.level.load(Relaxed)
    }

    /// Sets the level; what is pending stays so.
    #[inline]
    fn store_level(&self, level: u8) {
        compiler_fence(SeqCst);
        self.level.store(level, Relaxed);
        compiler_fence(SeqCst);
    }

    /// Raises the level; what is pending stays so.
    pub fn raise_level(&self, level: u8) {
        self.store_level(level);
    }

    /// Raises or lowers the level. Returns whether something is pending that passes now, which the
    /// caller takes with [`begin`](Self::begin).
    #[inline]
    #[must_use = "what is pending must be taken"]
    pub fn set_level(&self, level: u8) -> bool {
        self.step();
        self.store_level(level);
        self.step();
        // Whatever arrives from here on sees the new level itself.
        self.passing(level) != 0
    }

    /// The pending lines above `level`.
    #[inline]
    fn passing(&self, level: u8) -> u64 {
        let above = self.above[usize::from(level & ALL_HELD)].load(Relaxed);
        self.pending.load(Acquire) & above
    }

    /// Returns `true` if something is pending that passes now, which the caller takes with
    /// [`begin`](Self::begin).
    pub fn passes(&self) -> bool {
        self.passing(self.level()) != 0
    }

    /// Notes an interrupt as pending; any thread may. `false` where there is no such line.
    pub fn pend(&self, interrupt: Interrupt) -> bool {
        let Some(line) = self.line(interrupt) else { return false };
        self.pending.fetch_or(1 << line, Release);
        self.step();
        true
    }

    /// Returns `true` if the interrupt is pending.
    pub fn is_pending(&self, interrupt: Interrupt) -> bool {
        self.line(interrupt).is_some_and(|line| self.pending.load(Relaxed) & (1 << line) != 0)
    }

    fn line(&self, interrupt: Interrupt) -> Option<u8> {
        let line = self.lines.get(Self::position(interrupt))?.load(Relaxed);
        (line != NO_LINE).then_some(line)
    }

    /// Begins to take the most urgent interrupt that is pending and passes: the level is its own
    /// from then on. `None` where there is none.
    ///
    /// The caller dispatches it, gives it to [`end`](Self::end), and calls this again.
    pub fn begin(&self) -> Option<Taken> {
        loop {
            let before = self.level();
            self.step();
            let line = self.passing(before).checked_ilog2()?;
            let index = line as usize;
            self.step();
            // First the level, then the bit: a second arrival then waits, instead of being taken
            // inside of this one before it has begun.
            self.store_level(self.levels[index].load(Relaxed));
            self.step();
            let was = self.pending.fetch_and(!(1 << line), AcqRel);
            self.step();
            if was & (1 << line) != 0 {
                let interrupt = Interrupt::of(self.interrupts[index].load(Relaxed));
                return Some(Taken { interrupt, before });
            }
            // A handler took it between the two looks. What waited meanwhile is seen by the next.
            self.store_level(before);
            self.step();
        }
    }

    /// Ends an interrupt: the level is that before it.
    pub fn end(&self, taken: Taken) {
        self.step();
        self.store_level(taken.before);
        self.step();
    }
}

#[cfg(test)]
mod tests;
