//! The routines on the hosted port, in a process of their own.

use quietcore_probe::measurement::MeasurementProgress;
use quietcore_probe::osek::{ClockUsed, Plan, RoutinesPlan, Series, Trigger};
use quietcore_record::record::Record;

use super::super::circumstances::Circumstances;
use super::super::{ProbeContext, ProbeError};
use super::records::Run;
use super::{Osek, WARM_UP};
use crate::observer::{Advance, Observer};

/// Number of other loops that take about as long as one with a signal.
const SIGNAL_WEIGHT: u64 = 20;

/// Measures all series, in the order of their loops.
pub(super) fn records(
    probe: &Osek,
    context: &mut ProbeContext<'_>,
) -> Result<Vec<Record>, ProbeError> {
    let mut loops = probe.loops.clone();
    loops.sort_unstable();
    let plan = Plan {
        series: loops.iter().flat_map(|loops| Series::all(*loops)).collect(),
        warm_up: WARM_UP,
        variant: probe.variant,
    };
    let plan = RoutinesPlan { plan, thread: probe.thread, clock: ClockUsed::choose() };
    let (measured, circumstances) =
        Circumstances::measure(context, &probe.loads, &plan, |observer, progress| {
            advance(&plan.plan, progress, observer);
        })?;
    let run = Run { partition: &probe.partition, plan: &plan, circumstances };
    Ok(run.records(measured.outcome))
}

/// Tells the observer the progress. Loops with a signal weigh more, so that the time left can be
/// told.
fn advance(plan: &Plan, progress: MeasurementProgress, observer: &mut dyn Observer) {
    let Some(series) = plan.series.get(progress.series) else { return };
    let weights = |series: &Series| (series.loops + plan.warm_up) * weight(series);
    let before = &plan.series[..progress.series];
    let loops_before: u64 = before.iter().map(|it| it.loops + plan.warm_up).sum();
    let within = progress.done.saturating_sub(loops_before) * weight(series);
    observer.advance(&Advance {
        part: "routines",
        done: before.iter().map(weights).sum::<u64>() + within,
        all: plan.series.iter().map(weights).sum(),
        unit: "loops",
        what: &series.name(),
        worst: Some(progress.worst),
    });
}

fn weight(series: &Series) -> u64 {
    if series.trigger == Some(Trigger::Signal) { SIGNAL_WEIGHT } else { 1 }
}
