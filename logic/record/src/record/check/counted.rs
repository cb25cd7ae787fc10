//! The counters beside the histogram, compared with it.
//!
//! Every counter here can be had from the values, exactly or between two bounds: what lies outside
//! was changed after the run, or counted wrongly.

use crate::histogram::Histogram;
use crate::reason::{Inconsistency, NotReal, Reason, RunProblem};
use crate::record::{LoadAchieved, NeighbourAchieved, Record, Scan};

/// More values than any run has: 31 years every 1 ms.
const COUNT_MAX: u64 = 1_000_000_000_000;

/// A task that does not lead ends with the one that does, and so later than planned where that one
/// was late. More than this many cycles beyond twice the plan it never has.
const CYCLES_BEYOND_PLAN: u64 = 16;

/// Lists counters that contradict the histograms.
pub(super) fn contradictions(record: &Record) -> Vec<Reason> {
    let mut wrong = Vec::new();
    let count = record.release.count();
    if count > COUNT_MAX {
        wrong.push(Inconsistency::TooManyValues { count });
    }
    let histograms = [Some(&record.release), record.wakeup.as_ref()];
    let is_whole = histograms.iter().flatten().all(|histogram| histogram.has_all_bins());
    if record.is_measured_by_us() && !is_whole {
        wrong.push(Inconsistency::OtherBins);
    }
    if !histograms.iter().flatten().all(|histogram| histogram.sum_fits()) {
        wrong.push(Inconsistency::LatencySum);
    }
    if record.releases().is_some() {
        wrong.extend(misses(record));
        wrong.extend(differences(record));
    }
    let mut wrong: Vec<Reason> = wrong.into_iter().map(Reason::from).collect();
    if record.is_measured_by_us() {
        wrong.extend(length(record).into_iter().map(Reason::from));
        wrong.extend(promises(record));
    }
    wrong
}

/// Compares the misses with the values of a period and more.
fn misses(record: &Record) -> Vec<Inconsistency> {
    let mut wrong = Vec::new();
    let counters = &record.counters;
    if let (Some(missed), Some(period_ns)) = (counters.missed_cycles, record.period_ns)
        && record.is_measured_by_us()
        && period_ns > 0
    {
        let least = record.release.count_surely_above(period_ns - 1);
        let most = record.release.count_above(period_ns - 1);
        if !(least..=most).contains(&missed) {
            wrong.push(Inconsistency::Misses { missed, late: most, period_ns });
        }
    }
    if let (Some(missed), Some(longest)) = (counters.missed_cycles, counters.longest_miss_run)
        && (longest > missed || (longest == 0) != (missed == 0))
    {
        wrong.push(Inconsistency::MissRun { longest, missed });
    }
    wrong
}

/// Successive values differ by no more than the extremes do, and at least once from one to the
/// other.
fn differences(record: &Record) -> Option<Inconsistency> {
    let sum = u128::from(record.counters.difference_sum_ns?);
    let release = &record.release;
    let span = u128::from(release.max_ns() - release.min_ns());
    let most = span * u128::from(release.count().saturating_sub(1));
    // In two parts the extremes need not have come one after the other.
    let least = if record.is_of_one_part() { span } else { 0 };
    (!(least..=most).contains(&sum)).then_some(Inconsistency::Differences)
}

/// As many cycles as were asked for, in the time that they take.
fn length(record: &Record) -> Vec<Inconsistency> {
    let mut wrong = Vec::new();
    let (count, planned) = (record.release.count(), record.counters.planned_cycles);
    let most = most_cycles(record);
    if planned > 0 && count > most {
        wrong.push(Inconsistency::CyclesBeyondPlan { cycles: count, planned });
    }
    let is_whole = record.scan().is_none() && record.trial.is_none() && record.is_of_one_part();
    if is_whole && !record.interrupted && count < planned {
        wrong.push(Inconsistency::CyclesMissing { cycles: count, planned });
    }
    let Some(period_ns) = record.period_ns else { return wrong };
    let duration_ns = record.conditions.duration_ns;
    if count.saturating_mul(period_ns) != duration_ns {
        wrong.push(Inconsistency::Duration { cycles: count, period_ns, duration_ns });
    }
    if record.counters.spin_ns > duration_ns {
        wrong.push(Inconsistency::SpunBeyondRun);
    }
    wrong
}

fn most_cycles(record: &Record) -> u64 {
    let planned = record.counters.planned_cycles;
    let Some(Scan { terms, counters, .. }) = record.scan() else { return planned };
    let leads = record.period_ns == Some(terms.program_period_ns);
    // A leading task counts what it left out; the others go on until it ends.
    let planned = if leads { planned } else { planned.saturating_mul(2) + CYCLES_BEYOND_PLAN };
    planned.saturating_add(counters.skipped_releases)
}

/// A delay that was put in on purpose, in a record that counts as valid.
pub(super) fn hidden_injection(record: &Record) -> Option<Inconsistency> {
    let injection = record.conditions.injection.as_ref().filter(|_| record.is_valid())?;
    Some(Inconsistency::InjectionHidden { injected: injection.to_string() })
}

/// Checks again what makes a record invalid when it is made.
fn promises(record: &Record) -> Vec<Reason> {
    let mut wrong: Vec<Reason> = Vec::new();
    let conditions = &record.conditions;
    // Said already, in whatever words.
    if !record.is_valid() {
        return wrong;
    }
    if conditions.time.why_not_real().is_some() {
        wrong.push(NotReal::Facts { fact: conditions.time.to_string() }.into());
    }
    if !conditions.scheduling_is_consistent() {
        wrong.push(Inconsistency::SchedulingWords.into());
    }
    for load in &conditions.loads {
        if !load.is_whole() {
            let kind = load.kind.clone();
            wrong.push(RunProblem::LoadIncomplete { kind, problems: Vec::new() }.into());
        }
    }
    let is_idle = |it: &&NeighbourAchieved| {
        it.loads.is_empty() || !it.loads.iter().all(LoadAchieved::is_whole)
    };
    wrong.extend(conditions.neighbours.iter().filter(is_idle).map(|neighbour| {
        let neighbour = neighbour.name.clone();
        RunProblem::NeighbourIncomplete { neighbour, problems: Vec::new() }.into()
    }));
    wrong
}

/// Lists contradictions between the histograms of a program's cycles and those of its releases.
pub(super) fn scan_contradictions(record: &Record, scan: &Scan) -> Vec<Inconsistency> {
    let mut wrong = Vec::new();
    let (execution, response) = (&scan.execution, &scan.response);
    if !execution.sum_fits() || !response.sum_fits() {
        wrong.push(Inconsistency::ProgramSum);
    }
    let worst = [(scan.worst_execution, execution), (scan.worst_response, response)];
    if worst.iter().any(|(worst, of)| worst.map_or(0, |worst| worst.value_ns) != of.max_ns()) {
        wrong.push(Inconsistency::ProgramLongest);
    }
    let counters = &scan.counters;
    if counters.longest_overrun_run > counters.overruns {
        wrong.push(Inconsistency::OverrunRun);
    }
    if let Some(deadline_ns) = scan.terms.deadline_ns {
        let (least, most) =
            (response.count_surely_above(deadline_ns), response.count_above(deadline_ns));
        if !(least..=most).contains(&counters.overruns) {
            let overruns = counters.overruns;
            wrong.push(Inconsistency::Overruns { overruns, late: most, deadline_ns });
        }
    }
    // A task of the program's own kernel may be preempted, and responds later than that.
    let adds_up = |release: &Histogram| {
        u128::from(release.sum_ns()) + u128::from(execution.sum_ns())
            == u128::from(response.sum_ns())
    };
    let is_comparable = !scan.terms.by_kernel
        && record.counters.early == 0
        && execution.count() == record.release.count();
    if is_comparable && !adds_up(&record.release) {
        wrong.push(Inconsistency::ResponseSum);
    }
    wrong
}
