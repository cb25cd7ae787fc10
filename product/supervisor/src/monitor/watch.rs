//! Watches variables for as long as somebody looks: through deploys, restarts and pauses.
//!
//! A watch keeps its connection to the supervisor, and asks it again when another build runs, or
//! when no cycle came for a while: the partition may have got a new exchange.

use std::sync::Arc;
use std::time::{Duration, Instant};

use quietcore_program::Value;
use quietcore_program::place::{Access, Scalar};

use super::{Forces, Monitor, MonitorError, Selection};
use crate::client::Client;
use crate::control::Opened;

/// Time without a cycle after which the supervisor is asked for the partition's exchange again.
const SILENCE_MIN: Duration = Duration::from_secs(1);
/// The same limit in periods of the fastest task, where that is longer.
const SILENCE_PERIODS: u32 = 10;
/// Limit of the tries to read after a deploy; another one may come between opening and reading.
const TRIES: usize = 10;

/// Time before each try.
const TRY_AGAIN: Duration = Duration::from_millis(20);

/// One variable at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Path of the variable.
    pub path: Arc<str>,
    /// Value at this moment.
    pub value: Value,
    /// Type of the variable.
    pub kind: Scalar,
    /// Role of the variable in the model.
    pub access: Access,
    /// `true` if it can be set and forced.
    pub writable: bool,
    /// `true` if it is forced.
    pub forced: bool,
}

/// All watched variables at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Cycle of the fastest task after which they were read.
    pub cycle: u64,
    /// Generation of the build that runs.
    pub generation: u32,
    /// `true` if all values are of one instant between two cycles.
    pub consistent: bool,
    /// `true` if no cycle has come for a while.
    pub silent: bool,
    /// The watched variables, in the order of the patterns.
    pub rows: Vec<Row>,
}

/// Variables of a partition under watch.
#[derive(Debug)]
pub struct Watch {
    client: Client,
    partition: String,
    patterns: Vec<String>,
    monitor: Monitor,
    selection: Selection,
    /// Steps at the last look; the instant at which they last rose, or the supervisor was last
    /// asked.
    steps: u64,
    moved_at: Instant,
    silent: bool,
}

impl Watch {
    /// Begins to watch the variables that the patterns choose.
    ///
    /// # Errors
    /// [`MonitorError`] when the partition can't be opened, or there are no such variables.
    pub fn begin(
        mut client: Client,
        partition: &str,
        patterns: &[String],
    ) -> Result<Self, MonitorError> {
        let monitor = Monitor::open(&mut client, partition)?;
        let selection = monitor.select(patterns)?;
        Ok(Self {
            client,
            partition: partition.to_owned(),
            patterns: patterns.to_owned(),
            steps: monitor.steps(),
            monitor,
            selection,
            moved_at: Instant::now(),
            silent: false,
        })
    }

    /// Returns the supervisor's answer about the partition.
    pub fn opened(&self) -> &Opened {
        self.monitor.opened()
    }

    /// Closes the connection to the supervisor until it is needed again.
    pub fn rest(&mut self) {
        self.client.rest();
    }

    /// Returns the number of watched variables.
    pub fn variable_count(&self) -> usize {
        self.selection.variables().len()
    }

    /// Reads all of them.
    ///
    /// # Errors
    /// [`MonitorError`] when the site has come down, or a deploy has taken one of the variables
    /// away.
    pub fn sample(&mut self) -> Result<Sample, MonitorError> {
        self.look_for_life()?;
        let mut tries = 0;
        let reading = loop {
            match self.monitor.read(&mut self.selection) {
                // The supervisor may know of the new build a moment later than the exchange.
                Err(MonitorError::Replaced { .. }) if tries < TRIES => {
                    tries += 1;
                    std::thread::sleep(TRY_AGAIN);
                    self.open_again()?;
                }
                read => break read?,
            }
        };
        let forces = self.monitor.forces().unwrap_or_default();
        Ok(Sample {
            cycle: reading.cycle,
            generation: self.monitor.opened().generation,
            consistent: reading.consistent,
            silent: self.silent,
            rows: self.rows(&forces),
        })
    }

    fn rows(&self, forces: &Forces) -> Vec<Row> {
        let row = |variable: &super::Variable| Row {
            path: Arc::clone(&variable.path),
            value: self.selection.value(variable),
            kind: variable.place.scalar.clone(),
            access: variable.place.access,
            writable: variable.place.writable,
            forced: forces.holds(&variable.place),
        };
        self.selection.variables().iter().map(row).collect()
    }

    /// Opens the partition anew if nothing has moved for a while.
    fn look_for_life(&mut self) -> Result<(), MonitorError> {
        let steps = self.monitor.steps();
        if steps != self.steps {
            self.steps = steps;
            self.moved_at = Instant::now();
            self.silent = false;
            return Ok(());
        }
        let fastest = self.opened().fastest_task() as usize;
        let period = self.opened().tasks.get(fastest).map_or(0, |task| task.period.get());
        let silence = SILENCE_MIN.max(Duration::from_nanos(period).saturating_mul(SILENCE_PERIODS));
        if self.moved_at.elapsed() < silence {
            return Ok(());
        }
        self.silent = true;
        self.moved_at = Instant::now();
        let (opened, file) = match self.client.open(&self.partition) {
            Ok(answer) => answer,
            // The partition is being started again, or stays down; its last values can still be
            // seen.
            Err(crate::client::ClientError::Refused(_)) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let known = self.opened();
        if (opened.incarnation, opened.generation) != (known.incarnation, known.generation) {
            self.take(Monitor::new(opened, file)?)?;
        }
        Ok(())
    }

    fn open_again(&mut self) -> Result<(), MonitorError> {
        let monitor = Monitor::open(&mut self.client, &self.partition)?;
        self.take(monitor)
    }

    fn take(&mut self, monitor: Monitor) -> Result<(), MonitorError> {
        self.selection = monitor.select(&self.patterns)?;
        self.steps = monitor.steps();
        self.monitor = monitor;
        self.moved_at = Instant::now();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
