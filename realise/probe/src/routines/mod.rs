//! The program whose routines the probe `osek` measures, for any machine that a kernel runs on.
//!
//! | part | what |
//! |---|---|
//! | [`program`] | tasks, ISRs and tables |
//! | [`series`] | a routine, again and again |
//! | [`Marks`] | the two readings of a routine, and which one it is |
//!
//! A process and a guest run the same code here; [`Kernel`], [`Reading`] and [`Bring`] hold what
//! differs. All of it is written by one thread, whose tasks take turns; atomics are the way to
//! share without `unsafe`. Between the two readings of a routine, the probe does nothing but store
//! the first one, as in the empty measurement.

pub mod program;
pub mod series;

use core::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use quietcore_osek::port::Port;
use quietcore_osek::status::Status;
use quietcore_osek::system::System;
use quietcore_units::Routine;

/// The kernel that is measured.
pub trait Kernel: 'static {
    /// The port that it runs on.
    type Port: Port + 'static;

    /// Returns the kernel. There is one, which its tasks know by name.
    fn system() -> &'static System<Self::Port>;
}

/// A clock, or a stand-in for one. A task has no parameter and reads the clock first of all, so the
/// clock has to be known when the program is compiled.
pub trait Reading: 'static {
    /// Returns the count now, before the measured statement.
    fn begin() -> u64;

    /// Returns the count now, after the measured statement.
    fn end() -> u64;
}

/// A way to bring an interrupt to the task that runs.
pub trait Bring {
    /// Brings the interrupt of a source. When it returns, the ISR has run, and everything that
    /// follows from it.
    fn bring(source: u32);
}

/// The two readings of a routine, and the routine that they belong to.
#[derive(Debug)]
pub struct Marks {
    start: AtomicU64,
    stop: AtomicU64,
    /// Index into [`Routine::ALL`].
    routine: AtomicU8,
    /// Number of the last error that a service returned; 0 for none.
    failed: AtomicU8,
}

/// The marks of the program that is measured.
pub static MARKS: Marks = Marks {
    start: AtomicU64::new(0),
    stop: AtomicU64::new(0),
    routine: AtomicU8::new(0),
    failed: AtomicU8::new(0),
};

impl Marks {
    /// Notes the first reading, in counts of the clock.
    #[inline(always)]
    pub fn start_at(&self, count: u64) {
        self.start.store(count, Relaxed);
    }

    /// Notes the second reading, in counts of the clock.
    #[inline(always)]
    pub fn stop_at(&self, count: u64) {
        self.stop.store(count, Relaxed);
    }

    /// Returns the first and the second reading.
    #[inline(always)]
    pub fn both(&self) -> (u64, u64) {
        (self.start.load(Relaxed), self.stop.load(Relaxed))
    }

    /// Returns the routine that is being measured.
    #[inline(always)]
    pub fn routine(&self) -> Routine {
        Routine::ALL[usize::from(self.routine.load(Relaxed)) % Routine::ALL.len()]
    }

    fn begin(&self, routine: Routine) {
        self.routine.store(routine as u8, Relaxed);
    }

    /// Notes a service that failed, which means that there is no measurement.
    #[inline(always)]
    pub fn note(&self, result: Result<(), Status>) {
        if let Err(status) = result {
            self.failed.store(status as u8, Relaxed);
        }
    }

    /// Returns the number of the last error that a service returned, and forgets it; 0 for none.
    pub fn take_failed(&self) -> u8 {
        self.failed.swap(0, Relaxed)
    }
}
