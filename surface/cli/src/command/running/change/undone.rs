//! A `set` that has no effect is found here: a value that a channel brings, or that the program
//! computes, is written again in each cycle.
//!
//! Nobody but the program's own code knows what it writes. So the variables are looked at before
//! the change and once each task has run afterwards. Where a variable is again as it was, that is
//! said; one that has gone on from what was set, such as a counter, has changed as it should.

use std::thread;
use std::time::{Duration, Instant};

use quietcore_program::Value;
use quietcore_supervisor::client::Address;
use quietcore_supervisor::control::{Change, ChangeKind};
use quietcore_supervisor::monitor::{Monitor, Selection};
use quietcore_units::Nanos;

/// The longest wait for the tasks.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(1);

/// Variables as they were before they were set.
pub(super) struct Before<'a> {
    monitor: &'a Monitor,
    changes: &'a [Change],
    selection: Selection,
    values: Vec<Value>,
}

impl<'a> Before<'a> {
    /// Reads the variables that are to be set; `None` where there are none, or they can't be read.
    pub(super) fn read(monitor: &'a Monitor, changes: &'a [Change]) -> Option<Self> {
        let set = changes.iter().filter(|change| change.kind == ChangeKind::Set);
        let paths: Vec<String> = set.map(|change| change.variable.clone()).collect();
        let mut selection = monitor.select(&paths).ok().filter(|it| !it.variables().is_empty())?;
        monitor.read(&mut selection).ok()?;
        let values = selection.variables().iter().map(|it| selection.value(it)).collect();
        Some(Self { monitor, changes, selection, values })
    }

    /// The variables that are again as they were, after `cycle` has set them to something else.
    pub(super) fn undone(mut self, cycle: u64) -> Vec<String> {
        if !self.wait(cycle) || self.monitor.read(&mut self.selection).is_err() {
            return Vec::new();
        }
        let variables = self.selection.variables().iter().zip(&self.values);
        let is_undone = |path: &str, was: &Value, is: &Value| {
            let change = self.changes.iter().rfind(|change| change.variable == path);
            let place = self.monitor.symbols().resolve(path).ok();
            let set = change.zip(place).and_then(|(change, place)| {
                let encoded = place.encode_text(change.value.as_deref()?).ok()?;
                place.decode(&encoded.value.to_le_bytes())
            });
            was == is && set.is_some_and(|set| set != *is)
        };
        variables
            .filter(|(variable, was)| {
                is_undone(&variable.path, was, &self.selection.value(variable))
            })
            .map(|(variable, _)| variable.path.to_string())
            .collect()
    }

    /// Waits until each task has run since `cycle`; returns whether that was so in time. The slow
    /// ones count no cycles of the fastest: their periods pass.
    fn wait(&self, cycle: u64) -> bool {
        let begin = Instant::now();
        let slowest = self.monitor.opened().tasks.iter().map(|task| task.period).max();
        let slowest = Duration::from_nanos(slowest.unwrap_or(Nanos::ZERO).get());
        // A cycle that takes the change ends before the next one begins.
        while self.monitor.cycle() <= cycle.saturating_add(1) || begin.elapsed() < slowest {
            if begin.elapsed() >= PATIENCE {
                return false;
            }
            thread::sleep(LOOK);
        }
        true
    }
}

/// Says that a variable is as it was before it was set, and what to do.
pub(super) fn told(address: &Address, change: &Change) -> String {
    let variable = &change.variable;
    let value = change.value.as_deref().unwrap_or("VALUE");
    format!(
        "{variable} is as it was before: the program writes it in each cycle, from a channel or by \
         itself, so that a value that is set does not stay; hold it with \
         `quietcore force {address} {variable}={value}`"
    )
}
