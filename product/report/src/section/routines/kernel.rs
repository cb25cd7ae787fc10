//! The routines of a kernel as a table of routines and runs.

use quietcore_evidence::Evidence;
use quietcore_record::record::{Record, Routine, RoutineFigures, RoutineRun, Trigger};

/// The routines of one kernel.
#[derive(Debug)]
pub(crate) struct KernelSummary<'a> {
    /// Name of the partition that it ran in, or of its port.
    pub(crate) partition: &'a str,
    /// The runs, those with fewer loops first.
    pub(crate) runs: Vec<RoutineSet<'a>>,
    /// A row for each routine, in the order of the paper; those with an interrupt brought otherwise
    /// than by software come last.
    pub(crate) rows: Vec<RoutineRow<'a>>,
}

/// One run: every routine, `loops` times.
#[derive(Debug)]
pub(crate) struct RoutineSet<'a> {
    /// Name of the profile, such as `loops-100`.
    pub(crate) profile: &'a str,
    /// The loops of its longest series.
    pub(crate) loops: u64,
}

/// A routine in all runs.
#[derive(Debug)]
pub(crate) struct RoutineRow<'a> {
    /// The routine of the row.
    pub(crate) routine: Routine,
    /// Way in which its interrupt was brought; `None` where it has none.
    pub(crate) trigger: Option<Trigger>,
    /// Its results, one cell for each run; `None` where a run has no record of it.
    pub(crate) cells: Vec<Option<RoutineCell<'a>>>,
}

/// A routine in one run.
#[derive(Debug)]
pub(crate) struct RoutineCell<'a> {
    /// The record that holds the run.
    pub(crate) record: &'a Record,
    /// The record of the routine.
    pub(crate) run: &'a RoutineRun,
    /// Figures without the empty measurement.
    pub(crate) figures: RoutineFigures,
}

impl RoutineSet<'_> {
    /// Returns the number of loops, with the profile where that is not named after them.
    pub(crate) fn label(&self) -> String {
        let loops = format!("{} loops", crate::figures::count(self.loops));
        if self.profile.starts_with("loops-") {
            loops
        } else {
            format!("{loops}, {}", self.profile)
        }
    }
}

impl RoutineRow<'_> {
    /// Returns its name, with the way of its interrupt where that is not the published one.
    pub(crate) fn label(&self) -> String {
        match self.trigger {
            Some(Trigger::Software) | None => self.routine.name().to_owned(),
            Some(other) => format!("{}, {}", self.routine.name(), other.name()),
        }
    }

    /// Returns its results in the run with the most loops that has it.
    pub(crate) fn longest(&self) -> Option<&RoutineCell<'_>> {
        self.cells.iter().rev().flatten().next()
    }
}

impl KernelSummary<'_> {
    /// Returns the row of a routine, its interrupt brought as in the published figures.
    pub(crate) fn row(&self, routine: Routine) -> Option<&RoutineRow<'_>> {
        let plain = |row: &&RoutineRow<'_>| row.trigger.is_none_or(|it| it == Trigger::Software);
        self.rows.iter().filter(plain).find(|row| row.routine == routine)
    }

    /// Lists all cells that were measured.
    pub(crate) fn cells(&self) -> impl Iterator<Item = &RoutineCell<'_>> {
        self.rows.iter().flat_map(|row| row.cells.iter().flatten())
    }
}

/// Makes a table for each partition, of runs that are no blocks of an experiment.
pub(crate) fn kernels(evidence: &Evidence) -> Vec<KernelSummary<'_>> {
    let mut kernels: Vec<KernelSummary<'_>> = Vec::new();
    let measured = || {
        let records = evidence.records.iter().filter(|record| record.trial.is_none());
        records.filter_map(|record| Some((record, record.routine()?)))
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

/// Returns the key that sorts the rows: the way of the interrupt, then the order of the paper.
fn order(row: &RoutineRow<'_>) -> (usize, usize) {
    let place = Routine::ALL.iter().position(|routine| *routine == row.routine);
    let way = Trigger::ALL.iter().position(|trigger| Some(*trigger) == row.trigger);
    (way.unwrap_or(0), place.unwrap_or(usize::MAX))
}
