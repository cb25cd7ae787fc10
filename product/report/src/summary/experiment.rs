//! Results of experiments in words.

use quietcore_evidence::Evidence;
use quietcore_record::experiment::{Disturbance, DisturbanceCell, Exceedances, Finding};

use super::{RecordSummary, summarise};
use crate::figures;

/// Summarises the records of variants.
pub(super) fn records(evidence: &Evidence) -> Vec<RecordSummary<'_>> {
    evidence.records.iter().filter(|record| record.trial.is_some()).map(summarise).collect()
}

/// Tells the work of a neighbour's load.
pub(crate) fn achieved(cell: &DisturbanceCell) -> String {
    let words = cell.achieved.iter().map(|load| {
        let rate = figures::count(load.operations_per_second.round() as u64);
        format!("{} {} by {:.2} CPUs", rate, load.unit, load.cpu_share)
    });
    let words: Vec<String> = words.collect();
    if words.is_empty() { "its load was not measured".to_owned() } else { words.join(", ") }
}

/// Tells the main cause of late releases beside a neighbour; `None` where none was found.
pub(crate) fn cause(cell: &DisturbanceCell) -> Option<String> {
    let main = cell.cause.as_ref()?;
    let what = if main.what.is_empty() { String::new() } else { format!(", {}", main.what) };
    Some(format!(
        "late by {}{what} ({:.0} % of {} releases above {})",
        main.cause.title(),
        main.part * 100.0,
        figures::count(main.releases),
        figures::nanos(main.limit_ns)
    ))
}

/// Formats the releases above a limit: `18 of 18 000 releases above 36 µs`.
pub(crate) fn exceedances(found: &Exceedances) -> String {
    format!("{} above {}", above(found), figures::nanos(found.limit_ns))
}

/// Formats the same without the limit: `18 of 18 000 releases`.
pub(crate) fn above(found: &Exceedances) -> String {
    format!("{} of {} releases", figures::count(found.above), figures::count(found.cycles))
}

/// Names the controls of a set.
pub(crate) fn set_of(on: &[String]) -> String {
    if on.is_empty() { "no control".to_owned() } else { on.join(", ") }
}

/// Returns the neighbour that surely disturbs most, by the 99.9 % quantile; `None` where none
/// surely does.
pub(crate) fn worst(matrix: &Disturbance) -> Option<&DisturbanceCell> {
    let sure = matrix.cells.iter().filter(|cell| cell.p99_9.finding == Finding::More);
    sure.max_by(|one, other| one.p99_9.median().total_cmp(&other.p99_9.median()))
}
