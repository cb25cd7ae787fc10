//! What a kernel of the OSEK kind takes: the ten routines of scordino2020 (section IV-A), on the
//! hosted port of ours.
//!
//! ```text
//! thread: lock memory ─ pin ─ policy ─ read back ─ StartOS ─┐                     ┌─ read back
//! MainTask                    empty ─ act ─ actl ─ intdisable ─ … ─ terml ─ ShutdownOS
//!                               └─ its median is subtracted from the others
//! ```
//!
//! | module | what |
//! |---|---|
//! | [`routines`](crate::routines) | the program that is measured, and its series |
//! | `program` | its tables on the hosted port |
//! | `measurement` | what MainTask carries out, and what comes of it |
//! | `machine` | the kernel on its port, and the two ways to bring an interrupt |
//! | [`reading`] | the clocks |
//! | [`sample`] | from counts to figures |
//!
//! A routine goes from one statement of the program to another one, so what the port does in
//! between is part of it; what the operating system does is, where it happens to come in between.
//! An interrupt is brought in two ways, which are two rows: by *software*, through the virtual
//! interrupt controller of the port without the operating system, which is what the published
//! figures have (`INT n`, without a hypervisor's part); and by a *signal* to the own thread, which
//! holds a system call and the delivery of the signal, and its end a second system call.

mod machine;
mod measurement;
mod program;
pub mod reading;
pub mod sample;

use std::sync::Arc;

use quietcore_clock::{Counter, CounterError};
pub use quietcore_record::record::{Routine, Trigger};

pub use crate::thread::{Place, Standing};
pub use measurement::Progress;
pub use program::OTHERS_MAX;
pub use sample::{Offset, Sample};

use crate::thread;
use measurement::Yield;
use reading::{OfCounter, OfMonotonic, Reading};

/// Counts of the monotonic clock a second.
const MONOTONIC_HERTZ: u64 = 1_000_000_000;

/// Loops of the published figures.
pub const PUBLISHED_LOOPS: u64 = 100;

/// The most loops of a series: its counts are held in locked memory until they are a histogram.
pub const LOOPS_MAX: u64 = 10_000_000;

/// One routine, so many times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series {
    /// Which one.
    pub routine: Routine,
    /// How its interrupt is brought; `None` where it has none.
    pub trigger: Option<Trigger>,
    /// How often.
    pub loops: u64,
}

impl Series {
    /// The empty measurement and all routines, those with an interrupt in both ways of a process.
    pub fn all(loops: u64) -> Vec<Self> {
        Self::of(loops, &[Trigger::Software, Trigger::Signal])
    }

    /// The same with the ways of bringing an interrupt that there are.
    pub fn of(loops: u64, triggers: &[Trigger]) -> Vec<Self> {
        let mut all = Vec::new();
        for routine in Routine::ALL {
            if routine.has_interrupt() {
                for trigger in triggers {
                    all.push(Self { routine, trigger: Some(*trigger), loops });
                }
            } else {
                all.push(Self { routine, trigger: None, loops });
            }
        }
        all
    }

    /// Its name: that of the routine, and how the interrupt was brought where it was a signal.
    pub fn name(&self) -> String {
        match self.trigger {
            Some(Trigger::Software) | None => self.routine.name().to_owned(),
            Some(other) => format!("{}-{}", self.routine.name(), other.name()),
        }
    }
}

/// In what the kernel and the program differ from the published benchmark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variant {
    /// Tasks beside the four, at most [`OTHERS_MAX`]: lower than all of them, and ready. With one
    /// or more the class is ECC2, without it is ECC1.
    pub others: u8,
    /// Extended status instead of standard.
    pub extended: bool,
    /// Whether each job is accounted.
    pub accounting: bool,
}

impl Variant {
    /// The kernel and its configuration in words. A build for debugging is several times slower, so
    /// that is a condition, too.
    pub fn words(&self) -> String {
        format!(
            "hosted port{}, class {}, full preemption, {} status, {} tasks{}",
            if cfg!(debug_assertions) { " in a debug build" } else { "" },
            if self.others > 0 { "ECC2" } else { "ECC1" },
            if self.extended { "extended" } else { "standard" },
            4 + u16::from(self.others.min(OTHERS_MAX)),
            if self.accounting { ", jobs accounted" } else { "" }
        )
    }
}

/// What shall be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The series, in their order. What an empty measurement yields holds for those behind it.
    pub series: Vec<Series>,
    /// Loops before each series that are run and forgotten.
    pub warm_up: u64,
    /// The kernel that is measured.
    pub variant: Variant,
}

impl Plan {
    /// All loops, warm-up included.
    pub fn loops(&self) -> u64 {
        self.series.iter().map(|series| series.loops + self.warm_up).sum()
    }
}

/// The clock that was measured with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockUsed {
    /// The processor's counter.
    Counter(Counter),
    /// The kernel's monotonic clock, for want of a counter.
    Monotonic(CounterError),
}

impl ClockUsed {
    /// The best that there is.
    pub fn choose() -> Self {
        Counter::calibrate().map_or_else(Self::Monotonic, Self::Counter)
    }

    /// Counts a second.
    pub const fn hertz(self) -> u64 {
        match self {
            Self::Counter(counter) => counter.hertz(),
            Self::Monotonic(_) => MONOTONIC_HERTZ,
        }
    }

    /// It in words.
    pub fn words(self) -> String {
        match self {
            Self::Counter(counter) => format!(
                "time stamp counter, invariant, {:.3} GHz against CLOCK_MONOTONIC, in steps of \
                 {:.1} ns",
                counter.hertz() as f64 / 1e9,
                counter.step() as f64 * 1e9 / counter.hertz() as f64
            ),
            Self::Monotonic(error) => format!("CLOCK_MONOTONIC ({error})"),
        }
    }
}

/// What was measured.
#[derive(Clone, Debug)]
pub struct Measured {
    /// A sample for each series that was begun, in their order.
    pub samples: Vec<Sample>,
    /// Whether it was told to stop before its end.
    pub stopped: bool,
    /// What held for the thread.
    pub standing: Standing,
}

/// There is no measurement.
#[derive(Debug)]
pub enum OsekError {
    /// The thread could not be started, or panicked.
    Thread(String),
    /// The kernel did not start.
    Start(String),
    /// The program did not do what it is there for.
    Program(String),
}

impl std::fmt::Display for OsekError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Thread(why) => write!(f, "the thread of the kernel: {why}"),
            Self::Start(why) => write!(f, "the kernel did not start: {why}"),
            Self::Program(why) => write!(f, "the routines were not measured: {why}"),
        }
    }
}

impl std::error::Error for OsekError {}

/// Measures in a thread of its own, and returns when it has ended. One at a time in a process; it
/// locks the process's memory.
///
/// # Errors
/// [`OsekError`]; what the operating system refuses is none, but told in [`Standing`].
pub fn measure(
    plan: &Plan,
    place: Place,
    clock: ClockUsed,
    progress: &Arc<Progress>,
) -> Result<Measured, OsekError> {
    match clock {
        ClockUsed::Counter(_) => measure_with::<OfCounter>(plan, place, clock.hertz(), progress),
        ClockUsed::Monotonic(_) => {
            measure_with::<OfMonotonic>(plan, place, clock.hertz(), progress)
        }
    }
}

/// [`measure`] with another clock, or with what stands in for one, of `hertz` counts a second.
///
/// # Errors
/// As [`measure`].
pub fn measure_with<R: Reading>(
    plan: &Plan,
    place: Place,
    hertz: u64,
    progress: &Arc<Progress>,
) -> Result<Measured, OsekError> {
    let ran = thread::run("osek", place, || machine::run::<R>(plan, hertz, progress));
    let (outcome, standing) = ran.map_err(OsekError::Thread)?;
    let Yield { samples, stopped } = outcome?;
    Ok(Measured { samples, stopped, standing })
}

#[cfg(test)]
mod tests;
