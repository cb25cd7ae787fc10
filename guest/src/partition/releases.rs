//! When tasks are due, and what the one timer is set to.
//!
//! Setting the timer leaves the guest, so it is set as seldom as can be: before a job, to the
//! release after it. Where nothing unforeseen happens, that is the one setting in a cycle.
//!
//! | | the timer is set for |
//! |---|---|
//! | a task that waits for an instant | that instant |
//! | a program that asks to be interrupted | that instant |
//! | a call into the program | its end, unless the timer goes off soon after that anyway, or the host watches it |
//! | a guest that polls while only its leading task has work | nothing: the idle loop looks at the clock |

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use quietcore_scan::release::PATIENCE;

use crate::partition::{CONTEXTS, LEADER};

/// An instant that never comes.
pub(crate) const NEVER: u64 = u64::MAX;

/// Largest time after which a guest that polls finds a call over its time, if the host does not
/// look after it.
const POLLING_PATIENCE_NS: u64 = 1_000_000_000;

/// When tasks are due, in ns. All is of one processor, with its interrupts off where it says so.
#[derive(Debug)]
pub(crate) struct Releases {
    due: [AtomicU64; CONTEXTS],
    /// When the program asked to be interrupted.
    asked: AtomicU64,
    /// When calls into the program are to be looked at.
    look: AtomicU64,
    /// The instant that the timer is set to.
    armed: AtomicU64,
    /// Contexts other than the leading task that have work, a bit each.
    busy: AtomicU32,
    /// Contexts whose tasks have begun and not ended, a bit each.
    present: AtomicU32,
    polls: AtomicU32,
}

/// The way in which a guest comes to its releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Mode {
    /// It sleeps until the timer goes off.
    Sleeps = 0,
    /// It looks at the clock while only the leading task has work.
    Polls = 1,
    /// As that, and the host says when a call of the leading task is over its time.
    PollsWatched = 2,
}

impl Releases {
    pub(crate) const fn new() -> Self {
        Self {
            due: [const { AtomicU64::new(NEVER) }; CONTEXTS],
            asked: AtomicU64::new(NEVER),
            look: AtomicU64::new(NEVER),
            armed: AtomicU64::new(NEVER),
            busy: AtomicU32::new(0),
            present: AtomicU32::new(0),
            polls: AtomicU32::new(Mode::Sleeps as u32),
        }
    }

    pub(crate) fn set_mode(&self, mode: Mode) {
        self.polls.store(mode as u32, Relaxed);
    }

    pub(crate) fn polls(&self) -> bool {
        self.polls.load(Relaxed) != Mode::Sleeps as u32
    }

    /// The task of a context has begun.
    pub(crate) fn begin_task(&self, context: usize) {
        self.present.fetch_or(1 << context, Relaxed);
    }

    /// The task of a context is about to end: it is due no more.
    pub(crate) fn end_task(&self, context: usize) {
        self.present.fetch_and(!(1 << context), Relaxed);
        self.due[context].store(NEVER, Relaxed);
    }

    /// Of these contexts, a bit each, those whose tasks are there.
    pub(crate) fn present(&self, contexts: u32) -> u32 {
        contexts & self.present.load(Relaxed)
    }

    /// A context waits until an instant.
    #[inline]
    pub(crate) fn set(&self, context: usize, at_ns: u64) {
        self.due[context].store(at_ns, Relaxed);
    }

    /// A context other than the leading task has work, or none any more.
    #[inline]
    pub(crate) fn set_busy(&self, context: usize, is_busy: bool) {
        let (busy, bit) = (self.busy.load(Relaxed), 1 << context);
        self.busy.store(if is_busy { busy | bit } else { busy & !bit }, Relaxed);
    }

    /// The program asks to be interrupted at an instant.
    pub(crate) fn ask(&self, at_ns: u64) {
        self.asked.store(at_ns, Relaxed);
    }

    /// Returns `true` if that instant has come; it is asked for no longer then.
    pub(crate) fn take_asked(&self, now_ns: u64) -> bool {
        let is_due = self.asked.load(Relaxed) <= now_ns;
        if is_due {
            self.asked.store(NEVER, Relaxed);
        }
        is_due
    }

    /// Contexts whose instant has come, a bit each; they wait no longer. With interrupts off.
    pub(crate) fn take_due(&self, now_ns: u64) -> u32 {
        let mut taken = 0;
        for (context, due) in self.due.iter().enumerate() {
            if due.load(Relaxed) <= now_ns {
                due.store(NEVER, Relaxed);
                taken |= 1 << context;
            }
        }
        taken
    }

    /// The first instant that a context waits for.
    pub(crate) fn earliest(&self) -> u64 {
        self.due.iter().map(|due| due.load(Relaxed)).min().unwrap_or(NEVER)
    }

    /// A call of a context into the program has begun that may run until an instant. Returns
    /// whether the timer has to be looked at.
    #[inline]
    pub(crate) fn watch(&self, context: usize, until_ns: u64) -> bool {
        const SLEEPS: u32 = Mode::Sleeps as u32;
        const WATCHED: u32 = Mode::PollsWatched as u32;
        let patience_ns = match self.polls.load(Relaxed) {
            SLEEPS => PATIENCE.get(),
            // The host is told of these calls, and of no others.
            WATCHED if context == LEADER => return false,
            _ => POLLING_PATIENCE_NS,
        };
        let latest = until_ns.saturating_add(patience_ns);
        if self.armed.load(Relaxed) <= latest || self.look.load(Relaxed) <= latest {
            return false;
        }
        // A guest that polls has its timer for nothing else: it goes off once in a while.
        self.look.store(if self.polls() { latest } else { until_ns }, Relaxed);
        true
    }

    /// The timer went off, with which it is set to nothing, or something else interrupted at this
    /// instant. The timer may go off before the instant that it was set to. `look_ns` is when the
    /// calls that run now have to be looked at next, never where there are none. With interrupts
    /// off.
    pub(crate) fn note_interrupt(&self, is_timer: bool, now_ns: u64, look_ns: u64) {
        if is_timer || self.armed.load(Relaxed) <= now_ns {
            self.armed.store(NEVER, Relaxed);
        }
        self.look.store(look_ns, Relaxed);
    }

    /// Returns the instant that the timer has to be set to now; `None` if it stays as it is. With
    /// interrupts off.
    pub(crate) fn next_setting(&self) -> Option<u64> {
        let releases =
            if self.polls() && self.busy.load(Relaxed) == 0 { NEVER } else { self.earliest() };
        let needed = releases.min(self.asked.load(Relaxed));
        let wanted = needed.min(self.look.load(Relaxed));
        let armed = self.armed.load(Relaxed);
        // What it is set to without a need is over by itself, one day.
        if wanted == armed || wanted == NEVER {
            return None;
        }
        // It looks at calls when it goes off for a release: those need no instant of their own.
        if wanted != needed && armed <= wanted {
            return None;
        }
        self.armed.store(wanted, Relaxed);
        Some(wanted)
    }
}

#[cfg(test)]
mod tests;
