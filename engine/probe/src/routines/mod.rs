//! The program whose routines the probe `osek` measures, for any machine that a kernel runs on.
//!
//! | part | what |
//! |---|---|
//! | [`program`] | tasks, ISRs and tables |
//! | [`series`] | a routine, again and again |
//! | [`Marks`] | the two readings of a routine, and which one it is |
//!
//! A process and a guest run the same code here; what differs is behind [`Kernel`], [`Reading`] and
//! [`Bring`]. All of it is written by one thread, whose tasks take turns; atomics are the way to
//! share without `unsafe`. Between the two readings of a routine lie one store of the first and
//! nothing else of the probe, as in the empty measurement.

pub mod program;
pub mod series;

use core::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use quietcore_osek::port::Port;
use quietcore_osek::status::Status;
use quietcore_osek::system::System;

/// A routine, as an index into the ten of scordino2020 behind the empty measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Body {
    /// Two readings with nothing in between.
    Empty,
    /// `ActivateTask` of a higher task.
    Act,
    /// `ActivateTask` of a lower task.
    Actl,
    /// `DisableAllInterrupts`.
    Intdisable,
    /// `EnableAllInterrupts`.
    Intenable,
    /// The way into an ISR of category 1.
    Isrentry,
    /// The way into an ISR of category 2.
    Isr2entry,
    /// The way out of an ISR of category 1.
    Isrexit,
    /// The way from an ISR to a task that it activated.
    Istentry,
    /// The way from such a task back to the interrupted one.
    Istexit,
    /// `TerminateTask`.
    Terml,
}

impl Body {
    /// All of them, in the order of the paper.
    pub const ALL: [Self; 11] = [
        Self::Empty,
        Self::Act,
        Self::Actl,
        Self::Intdisable,
        Self::Intenable,
        Self::Isrentry,
        Self::Isr2entry,
        Self::Isrexit,
        Self::Istentry,
        Self::Istexit,
        Self::Terml,
    ];

    /// Whether an interrupt is part of it.
    pub const fn has_interrupt(self) -> bool {
        matches!(
            self,
            Self::Isrentry | Self::Isr2entry | Self::Isrexit | Self::Istentry | Self::Istexit
        )
    }
}

/// The kernel that is measured.
pub trait Kernel: 'static {
    /// Its machine.
    type Port: Port + 'static;

    /// The kernel. There is one, which its tasks know by name.
    fn system() -> &'static System<Self::Port>;
}

/// A clock, or what stands in for one. A task has no parameter, and the first thing it does is to
/// read the clock, so which clock that is has to be known when the program is compiled.
pub trait Reading: 'static {
    /// The count now, before what is measured.
    fn begin() -> u64;

    /// The count now, after what is measured.
    fn end() -> u64;
}

/// A way to bring an interrupt to the task that runs.
pub trait Bring {
    /// Brings the interrupt of a source; its ISR, and what that leads to, has run when this
    /// returns.
    fn bring(source: u32);
}

/// The two readings of a routine, and which one it is.
#[derive(Debug)]
pub struct Marks {
    start: AtomicU64,
    stop: AtomicU64,
    /// Index into [`Body::ALL`].
    body: AtomicU8,
    /// The number of the first error that a service found; zero for none.
    failed: AtomicU8,
}

/// Those of the program.
pub static MARKS: Marks = Marks {
    start: AtomicU64::new(0),
    stop: AtomicU64::new(0),
    body: AtomicU8::new(0),
    failed: AtomicU8::new(0),
};

impl Marks {
    /// Takes the first reading down.
    #[inline(always)]
    pub fn start_at(&self, count: u64) {
        self.start.store(count, Relaxed);
    }

    /// Takes the second reading down.
    #[inline(always)]
    pub fn stop_at(&self, count: u64) {
        self.stop.store(count, Relaxed);
    }

    /// Both readings.
    #[inline(always)]
    pub fn both(&self) -> (u64, u64) {
        (self.start.load(Relaxed), self.stop.load(Relaxed))
    }

    /// The routine that is being measured.
    #[inline(always)]
    pub fn body(&self) -> Body {
        Body::ALL[usize::from(self.body.load(Relaxed)) % Body::ALL.len()]
    }

    fn begin(&self, body: Body) {
        self.body.store(body as u8, Relaxed);
    }

    /// Takes note of a service that failed: there is no measurement then.
    #[inline(always)]
    pub fn note(&self, result: Result<(), Status>) {
        if let Err(status) = result {
            self.failed.store(status as u8, Relaxed);
        }
    }

    /// The number of the error that a service found; zero for none. Forgets it.
    pub fn take_failed(&self) -> u8 {
        self.failed.swap(0, Relaxed)
    }
}
