//! A kernel's routines: what the probe `osek` measured, as a table of routines and runs.
//!
//! They are no releases: no class judges them, and they take no part in the verdicts.

use quietcore_evidence::Evidence;
use quietcore_record::record::{Record, Routine, RoutineFigures, RoutineRun, Trigger};

use super::{RecordSummary, summarise};

/// The routines of one kernel.
#[derive(Debug)]
pub struct KernelSummary<'a> {
    /// The partition that it ran in, or its port.
    pub partition: &'a str,
    /// The runs, those with fewer loops first.
    pub runs: Vec<RoutineSet<'a>>,
    /// A row for each routine, in the order of the paper; those brought otherwise than by
    /// software come last.
    pub rows: Vec<RoutineRow<'a>>,
}

/// One run: every routine so many times.
#[derive(Debug)]
pub struct RoutineSet<'a> {
    /// Its profile.
    pub profile: &'a str,
    /// The loops of its longest series.
    pub loops: u64,
}

/// A routine in all runs.
#[derive(Debug)]
pub struct RoutineRow<'a> {
    /// Which one.
    pub routine: Routine,
    /// How its interrupt was brought.
    pub trigger: Option<Trigger>,
    /// What it took, a cell a run; `None` where that one has no record of it.
    pub cells: Vec<Option<RoutineCell<'a>>>,
}

/// A routine in one run.
#[derive(Debug)]
pub struct RoutineCell<'a> {
    /// The record.
    pub record: &'a Record,
    /// What it holds of the routine.
    pub run: &'a RoutineRun,
    /// Its figures.
    pub figures: RoutineFigures,
}

impl RoutineSet<'_> {
    /// How many loops, and what the profile is about where it is not their number.
    pub fn label(&self) -> String {
        let loops = format!("{} loops", crate::figures::count(self.loops));
        if self.profile.starts_with("loops-") {
            loops
        } else {
            format!("{loops}, {}", self.profile)
        }
    }
}

impl RoutineRow<'_> {
    /// Its name, and the way of its interrupt where it is not that of the published figures.
    pub fn label(&self) -> String {
        match self.trigger {
            Some(Trigger::Software) | None => self.routine.name().to_owned(),
            Some(other) => format!("{}, {}", self.routine.name(), other.name()),
        }
    }

    /// What it took in the run with the most loops that has it.
    pub fn longest(&self) -> Option<&RoutineCell<'_>> {
        self.cells.iter().rev().flatten().next()
    }
}

impl KernelSummary<'_> {
    /// The row of a routine, as the published figures have it.
    pub fn row(&self, routine: Routine) -> Option<&RoutineRow<'_>> {
        let plain = |row: &&RoutineRow<'_>| row.trigger.is_none_or(|it| it == Trigger::Software);
        self.rows.iter().filter(plain).find(|row| row.routine == routine)
    }

    /// All that was measured of it.
    pub fn cells(&self) -> impl Iterator<Item = &RoutineCell<'_>> {
        self.rows.iter().flat_map(|row| row.cells.iter().flatten())
    }
}

/// The records of routines, each with its statistics, in the order of the evidence.
pub(super) fn records(evidence: &Evidence) -> Vec<RecordSummary<'_>> {
    evidence.records.iter().filter(|record| record.routine.is_some()).map(summarise).collect()
}

/// A table for each partition.
pub(super) fn kernels(evidence: &Evidence) -> Vec<KernelSummary<'_>> {
    let mut kernels: Vec<KernelSummary<'_>> = Vec::new();
    let measured = || {
        let records = evidence.records.iter();
        records.filter_map(|record| Some((record, record.routine.as_ref()?)))
    };
    for (record, _) in measured() {
        if !kernels.iter().any(|kernel| kernel.partition == record.partition) {
            let partition = &record.partition;
            kernels.push(KernelSummary { partition, runs: Vec::new(), rows: Vec::new() });
        }
    }
    for kernel in &mut kernels {
        let partition = kernel.partition;
        for (record, run) in measured().filter(|(it, _)| it.partition == partition) {
            add(kernel, record, run);
        }
        kernel.runs.sort_by_key(|run| run.loops);
        kernel.rows.sort_by_key(order);
        for row in &mut kernel.rows {
            let mut found = std::mem::take(&mut row.cells);
            let mut of = |run: &RoutineSet<'_>| {
                let same = |cell: &Option<RoutineCell<'_>>| {
                    cell.as_ref().is_some_and(|cell| cell.record.profile == run.profile)
                };
                found.iter().position(same).and_then(|index| found.swap_remove(index))
            };
            row.cells = kernel.runs.iter().map(&mut of).collect();
        }
    }
    kernels
}

fn add<'a>(kernel: &mut KernelSummary<'a>, record: &'a Record, run: &'a RoutineRun) {
    let count = record.release.count();
    match kernel.runs.iter_mut().find(|known| known.profile == record.profile) {
        Some(known) => known.loops = known.loops.max(count),
        None => kernel.runs.push(RoutineSet { profile: &record.profile, loops: count }),
    }
    let cell = Some(RoutineCell { record, run, figures: run.figures() });
    let known =
        kernel.rows.iter_mut().find(|row| row.routine == run.routine && row.trigger == run.trigger);
    match known {
        Some(row) => row.cells.push(cell),
        None => {
            let (routine, trigger) = (run.routine, run.trigger);
            kernel.rows.push(RoutineRow { routine, trigger, cells: vec![cell] });
        }
    }
}

/// The order of the rows.
fn order(row: &RoutineRow<'_>) -> (usize, usize) {
    let place = Routine::ALL.iter().position(|routine| *routine == row.routine);
    let way = Trigger::ALL.iter().position(|trigger| Some(*trigger) == row.trigger);
    (way.unwrap_or(0), place.unwrap_or(usize::MAX))
}
