//! A monitor of a partition: reads its exchange from outside, by name, and asks it nothing.
//!
//! ```text
//! client ── open ──► Monitor ── select(patterns) ──► Selection ── read ──► values of one cycle
//!                      └─ exchange, mapped for reading only
//! ```
//!
//! Values that are read together belong to one instant between two cycles, or the reading says that
//! they don't: a task that computes without pause leaves no such instant. The values belong to the
//! build whose symbols the monitor has. After a deploy it says so instead of reading something
//! else, and must be opened anew, as [`watch::Watch`] does.

mod figures;
mod selection;
pub mod watch;

use std::fs::File;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use quietcore_exchange::{
    Assignment, DataReading, FORCE_LIMIT, OutOfData, Target, TaskStatistics, TornRead, TraceReader,
    View,
};
use quietcore_process::exchange::{ExchangeError, ExchangeView};
use quietcore_program::place::VariableLocation;
use quietcore_program::symbols::SymbolsFileError;
use quietcore_program::{SymbolError, Symbols};

use crate::client::{Client, ClientError};
use crate::control::Opened;

pub use figures::{FigureBuffers, LogBars, TaskFigures};
pub use selection::{Selection, VARIABLES_MAX, Variable};

/// Longest search for an instant without a running task.
const PATIENCE: Duration = Duration::from_millis(50);
/// Looks between two short sleeps.
const LOOKS: usize = 200;
/// Time of a short sleep: a fraction of any cycle that a person watches.
const REST: Duration = Duration::from_micros(50);

/// The error of a partition that can't be watched.
#[derive(Debug, thiserror::Error)]
pub enum MonitorError {
    /// The supervisor did not open the partition.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The exchange can't be mapped.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// The symbols of the program can't be read.
    #[error("the symbols `{}` can't be read", path.display())]
    Symbols {
        /// Path of the symbols' file.
        path: PathBuf,
        /// The error of reading them.
        #[source]
        source: SymbolsFileError,
    },
    /// There is no such variable.
    #[error(transparent)]
    Symbol(#[from] SymbolError),
    /// A pattern can't be read, chooses nothing, or far too much.
    #[error("`{pattern}`: {problem}")]
    Pattern {
        /// Pattern as it was given.
        pattern: String,
        /// Fault of the pattern, in words.
        problem: String,
    },
    /// The symbols and the exchange don't fit.
    #[error("the symbols don't fit the exchange: {0}; use programs of one build")]
    Data(OutOfData),
    /// The build that runs is not the one of these symbols.
    #[error("build {found} runs now, and these are the symbols of build {own}")]
    Replaced {
        /// Generation of the build that runs.
        found: u32,
        /// Generation of the symbols' build.
        own: u32,
    },
}

/// The circumstances of values that were read together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Cycle of the fastest task after which the values were read, as trace and events number it.
    pub cycle: u64,
    /// `true` if all values are of one instant between two cycles.
    pub consistent: bool,
}

/// A partition's exchange, and the names of its variables.
#[derive(Debug)]
pub struct Monitor {
    opened: Opened,
    exchange: ExchangeView,
    symbols: Symbols,
}

impl Monitor {
    /// Asks the supervisor to open a partition, and reads its symbols.
    ///
    /// # Errors
    /// [`MonitorError`] when it is refused, or the answer can't be used.
    pub fn open(client: &mut Client, partition: &str) -> Result<Self, MonitorError> {
        let (opened, file) = client.open(partition)?;
        Self::new(opened, file)
    }

    /// Makes a monitor from the supervisor's answer and the file that came with it.
    ///
    /// # Errors
    /// [`MonitorError`] when the file is no exchange, or the symbols can't be read.
    pub fn new(opened: Opened, file: File) -> Result<Self, MonitorError> {
        let symbols = Symbols::load(&opened.symbols)
            .map_err(|source| MonitorError::Symbols { path: opened.symbols.clone(), source })?;
        Ok(Self { exchange: ExchangeView::open(file)?, symbols, opened })
    }

    /// Returns the supervisor's answer.
    pub fn opened(&self) -> &Opened {
        &self.opened
    }

    /// Returns the symbols of its variables.
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    fn view(&self) -> View<'_> {
        self.exchange.view()
    }

    /// Returns the trace of a task; `None` if there is no such task.
    pub fn trace(&self, task: u32) -> Option<TraceReader<'_>> {
        self.view().trace(task)
    }

    /// Returns the cycle that the fastest task began last, as trace and events number it, from 0.
    pub fn cycle(&self) -> u64 {
        self.view().task(self.opened.fastest_task()).map_or(0, TaskStatistics::scan_cycle)
    }

    /// Returns the number of cycles that all tasks have completed together. As long as it rises,
    /// the partition lives.
    pub fn steps(&self) -> u64 {
        self.view().tasks().fold(0, |sum, task| sum.wrapping_add(task.completed_steps()))
    }

    /// Returns `true` if the build that runs is not the one whose symbols are known here.
    pub fn is_replaced(&self) -> bool {
        self.view().active().generation != self.opened.generation
    }

    /// Reads the selected variables.
    ///
    /// # Errors
    /// [`MonitorError::Replaced`] after a deploy; [`MonitorError::Data`] when symbols and exchange
    /// don't belong together.
    pub fn read(&self, selection: &mut Selection) -> Result<Reading, MonitorError> {
        let view = self.view();
        let end = Instant::now() + PATIENCE;
        let (ranges, bytes) = selection.parts();
        let (cycle, data) = 'found: loop {
            for _ in 0..LOOKS {
                let before = self.cycle();
                if let Some(data) = view.try_read_data(ranges, bytes).map_err(MonitorError::Data)?
                    && self.cycle() == before
                {
                    break 'found (before, data);
                }
                std::hint::spin_loop();
            }
            if Instant::now() >= end {
                break (
                    self.cycle(),
                    view.read_data(ranges, bytes, 1).map_err(MonitorError::Data)?,
                );
            }
            thread::sleep(REST);
        };
        self.check_build(&data)?;
        Ok(Reading { cycle, consistent: data.consistent })
    }

    fn check_build(&self, data: &DataReading) -> Result<(), MonitorError> {
        let (found, own) = (data.active.generation, self.opened.generation);
        if found == own { Ok(()) } else { Err(MonitorError::Replaced { found, own }) }
    }

    /// Reads the list of forced variables.
    ///
    /// # Errors
    /// [`TornRead`] when it could not be read whole.
    pub fn forces(&self) -> Result<Forces, TornRead> {
        let mut held = [Assignment::default(); FORCE_LIMIT];
        let count = match self.view().forces() {
            Some(forces) => forces.read(&mut held)?,
            None => 0,
        };
        Ok(Forces { held: held[..count].to_vec() })
    }

    /// Returns the figures of all tasks, each of one cycle; `None` for a task that could not be
    /// read whole.
    pub fn figures(&self, buffers: &mut FigureBuffers) -> Vec<Option<TaskFigures>> {
        let described = self.opened.tasks.iter();
        self.view()
            .tasks()
            .zip(described)
            .map(|(task, described)| buffers.read(task, described).ok())
            .collect()
    }
}

/// The forced variables of a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forces {
    held: Vec<Assignment>,
}

impl Forces {
    /// Returns the number of forced variables.
    pub fn count(&self) -> usize {
        self.held.len()
    }

    /// Returns `true` if the variable at a place is forced, be it as part of something larger.
    pub fn holds(&self, place: &VariableLocation) -> bool {
        let own = u64::from(place.offset)..u64::from(place.offset) + place.bytes() as u64;
        self.held.iter().any(|force| {
            let Target { offset, bytes, mask } = force.target;
            let held = u64::from(offset)..u64::from(offset) + u64::from(bytes);
            let same_word = (offset, usize::from(bytes)) == (place.offset, place.bytes());
            let overlap = held.start < own.end && own.start < held.end;
            if same_word { mask & place.mask() != 0 } else { overlap }
        })
    }
}

#[cfg(test)]
mod tests;
