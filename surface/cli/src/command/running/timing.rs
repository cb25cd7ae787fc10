//! The timing of a site's tasks in a table, from their histograms.

use std::fs::File;

use quietcore_record::verdict::thousands;
use quietcore_report::table::{Side, Table};
use quietcore_supervisor::control::Opened;
use quietcore_supervisor::monitor::{FigureBuffers, Monitor, MonitorError, TaskFigures};
use quietcore_units::Nanos;

use super::ps::NONE;

/// The tasks of the partitions of a site.
#[derive(Default)]
pub(super) struct Timing {
    buffers: FigureBuffers,
    /// Partition and task, its figures, and the missed releases that the task has not counted
    /// itself.
    tasks: Vec<(String, TaskFigures, u64)>,
}

impl Timing {
    /// Adds the tasks of a partition; tasks that could not be read whole are left out. The first
    /// task has missed `absent` more releases, which never came.
    pub(super) fn add(
        &mut self,
        opened: Opened,
        file: File,
        absent: u64,
    ) -> Result<(), MonitorError> {
        let monitor = Monitor::new(opened, file)?;
        let partition = monitor.opened().partition.clone();
        let single = monitor.opened().tasks.len() == 1;
        for (index, task) in monitor.figures(&mut self.buffers).into_iter().enumerate() {
            let Some(task) = task else { continue };
            let whole = format!("{partition}/{}", task.name);
            let absent = if index == 0 { absent } else { 0 };
            self.tasks.push((if single { partition.clone() } else { whole }, task, absent));
        }
        Ok(())
    }

    /// Returns the table in lines of at most `columns`; no lines without tasks.
    pub(super) fn lines(&self, columns: usize) -> Vec<String> {
        if self.tasks.is_empty() {
            return Vec::new();
        }
        let mut table = Table::new()
            .leading("task", Side::Left)
            .numbers(["period", "cycles", "missed", "over"], 0)
            .numbers(["release p50", "p99.99", "max", "execution max", "response max"], 0);
        for (name, task, absent) in &self.tasks {
            // A task of a kernel may have run no job at all; then it was not punctual either.
            let shown = |figure: Option<Nanos>| match figure {
                Some(figure) => figure.to_string(),
                None => NONE.to_owned(),
            };
            table.row([
                name.clone(),
                period(task.period),
                thousands(task.snapshot.counters.cycles),
                thousands(task.snapshot.counters.missed_cycles + absent),
                thousands(task.snapshot.scan.overruns),
                shown(task.release.shown_median()),
                shown(task.release.shown_p99_99()),
                shown(task.release.shown_max()),
                shown(task.execution.shown_max()),
                shown(task.response.shown_max()),
            ]);
        }
        table.lines(columns, false)
    }
}

/// Returns a period; a dash for a task that has none.
fn period(period: Nanos) -> String {
    if period == Nanos::ZERO { NONE.to_owned() } else { period.to_string() }
}
