//! The times of the services of an OSEK kernel: the ten routines of scordino2020 (section IV-A), on
//! our hosted port.
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
//! | `measurement` | the series that MainTask carries out, and their outcome |
//! | `machine` | the kernel on its port, and the two ways to bring an interrupt |
//! | `process` | the measurement in a process of its own |
//! | [`reading`] | the clocks of a process |
//! | [`sample`] | from counts to figures |
//!
//! A routine goes from one statement of the program to another, so it includes what the port does
//! in between, and what the operating system does if that happens to come in between. An interrupt
//! is brought in two ways, each with rows of its own: by *software*, through the virtual interrupt
//! controller of the port without the operating system, as in the published figures (`INT n`,
//! without a hypervisor's part); and by a *signal* to the own thread, which takes a system call,
//! the delivery of the signal, and a second system call at its end.

mod machine;
mod measurement;
mod process;
mod program;
pub mod reading;
pub mod sample;

use std::sync::Arc;

use quietcore_clock::{Counter, CounterError};
use quietcore_units::ThreadRequest;
pub use quietcore_units::{Routine, Trigger};
use serde::{Deserialize, Serialize};

pub use measurement::Progress;
pub use process::RoutinesPlan;
pub use program::OTHERS_MAX;
pub use quietcore_process::thread::Standing;
pub use sample::{Offset, Sample};

use crate::thread;
use measurement::Yield;
use reading::{OfCounter, OfMonotonic, Reading};

/// Counts per second of the monotonic clock.
const MONOTONIC_HERTZ: u64 = 1_000_000_000;

/// Number of loops in the published figures.
pub const PUBLISHED_LOOPS: u64 = 100;

/// The most loops of a series: its counts are held in locked memory until they become a histogram.
pub const LOOPS_MAX: u64 = 10_000_000;

/// One routine, repeated `loops` times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    /// The routine to measure.
    pub routine: Routine,
    /// Way in which its interrupt is brought; `None` where it has none.
    pub trigger: Option<Trigger>,
    /// Number of measured loops.
    pub loops: u64,
}

impl Series {
    /// Lists the empty measurement and all routines, those with an interrupt in both ways of a
    /// process.
    pub fn all(loops: u64) -> Vec<Self> {
        Self::of(loops, &[Trigger::Software, Trigger::Signal])
    }

    /// Lists the same with these ways of bringing an interrupt.
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

    /// Returns its name: that of the routine, with the way in which the interrupt was brought
    /// unless that was by software.
    pub fn name(&self) -> String {
        match self.trigger {
            Some(Trigger::Software) | None => self.routine.name().to_owned(),
            Some(other) => format!("{}-{}", self.routine.name(), other.name()),
        }
    }
}

/// The differences of kernel and program from the published benchmark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// Number of tasks beside the four, at most [`OTHERS_MAX`]: of lower priority than all of them,
    /// and ready. With one or more the class is ECC2, without any it is ECC1.
    pub others: u8,
    /// `true` for extended status, `false` for standard.
    pub extended: bool,
    /// `true` if the kernel accounts the time of each job.
    pub accounting: bool,
}

impl Variant {
    /// Describes the kernel and its configuration in this process. A build for debugging is several
    /// times slower, so the description says that, too.
    pub fn words(&self) -> String {
        let debug = if cfg!(debug_assertions) { " in a debug build" } else { "" };
        self.words_of(format_args!("hosted port{debug}"))
    }

    /// Describes the kernel and its configuration on `port`.
    pub fn words_of(&self, port: impl std::fmt::Display) -> String {
        format!(
            "{port}, class {}, full preemption, {} status, {} tasks{}",
            if self.others > 0 { "ECC2" } else { "ECC1" },
            if self.extended { "extended" } else { "standard" },
            4 + u16::from(self.others.min(OTHERS_MAX)),
            if self.accounting { ", jobs accounted" } else { "" }
        )
    }
}

/// The plan of a measurement of routines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The series, in their order. The result of an empty measurement is subtracted from those
    /// behind it.
    pub series: Vec<Series>,
    /// Loops before each series, which are run and discarded.
    pub warm_up: u64,
    /// The kernel that is measured.
    pub variant: Variant,
}

impl Plan {
    /// Returns the number of all loops, warm-up included.
    pub fn loops(&self) -> u64 {
        self.series.iter().map(|series| series.loops + self.warm_up).sum()
    }
}

/// The clock that routines are measured with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClockUsed {
    /// The processor's time stamp counter.
    Counter(Counter),
    /// The kernel's monotonic clock, because the counter can't be used.
    Monotonic(CounterError),
}

impl ClockUsed {
    /// Chooses the counter, or the monotonic clock where the counter can't be used.
    pub fn choose() -> Self {
        Counter::calibrate().map_or_else(Self::Monotonic, Self::Counter)
    }

    /// Returns the number of counts per second.
    pub const fn hertz(self) -> u64 {
        match self {
            Self::Counter(counter) => counter.hertz(),
            Self::Monotonic(_) => MONOTONIC_HERTZ,
        }
    }

    /// Describes the clock, its rate and its steps.
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

/// The results of a measurement of routines.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// A sample for each series that was begun, in their order.
    pub samples: Vec<Sample>,
    /// `true` if it was told to stop before its end.
    pub stopped: bool,
    /// Settings in force for the thread that measured.
    pub standing: Standing,
}

/// The reasons why routines were not measured.
#[derive(Debug)]
pub enum OsekError {
    /// The thread could not be started, or panicked.
    Thread(String),
    /// The kernel did not start.
    Start(String),
    /// A service of the kernel failed, or a routine did not come to its end.
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

/// Measures in a thread of its own, and returns when that has ended. A process can run one
/// measurement at a time, which locks the process's memory.
///
/// # Errors
/// Returns [`OsekError`]. Settings that the operating system refuses are no error;
/// [`Measured::standing`] lists them.
pub fn measure(
    plan: &Plan,
    request: ThreadRequest,
    clock: ClockUsed,
    progress: &Arc<Progress>,
) -> Result<Measured, OsekError> {
    match clock {
        ClockUsed::Counter(_) => measure_with::<OfCounter>(plan, request, clock.hertz(), progress),
        ClockUsed::Monotonic(_) => {
            measure_with::<OfMonotonic>(plan, request, clock.hertz(), progress)
        }
    }
}

/// Does the same as [`measure`] with another clock, or a stand-in for one, of `hertz` counts per
/// second.
///
/// # Errors
/// Returns the errors of [`measure`].
pub fn measure_with<R: Reading>(
    plan: &Plan,
    request: ThreadRequest,
    hertz: u64,
    progress: &Arc<Progress>,
) -> Result<Measured, OsekError> {
    let ran = thread::run("osek", request, || machine::run::<R>(plan, hertz, progress));
    let (outcome, standing) = ran.map_err(OsekError::Thread)?;
    let Yield { samples, stopped } = outcome?;
    Ok(Measured { samples, stopped, standing })
}

#[cfg(test)]
pub(crate) mod tests;
