//! The routines on the hosted port, in a thread of this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use quietcore_probe::osek::{self, ClockUsed, Measured, Plan, Progress, Series, Trigger};
use quietcore_record::record::Record;
use quietcore_units::{Nanos, ThreadRequest};

use super::super::circumstances::Circumstances;
use super::super::{ProbeContext, ProbeError};
use super::records::Run;
use super::{Osek, WARM_UP};
use crate::observer::{Advance, Observer};

/// Time between two looks at the progress.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Number of other loops that take about as long as one with a signal.
const SIGNAL_WEIGHT: u64 = 20;

/// Measures all series, in the order of their loops.
pub(super) fn records(
    probe: &Osek,
    context: &mut ProbeContext<'_>,
) -> Result<Vec<Record>, ProbeError> {
    context.require_shared_cpus()?;
    let mut loops = probe.loops.clone();
    loops.sort_unstable();
    let plan = Plan {
        series: loops.iter().flat_map(|loops| Series::all(*loops)).collect(),
        warm_up: WARM_UP,
        variant: probe.variant,
    };
    let clock = ClockUsed::choose();
    let ProbeContext { machine, observer, stop, .. } = context;
    let look = |progress: &Progress| advance(&plan, clock, progress, &mut **observer);
    let measure = || blocks(&plan, probe.thread, clock, stop, look);
    let (measured, circumstances) = Circumstances::beside(machine, &probe.loads, measure)?;
    let partition = &*probe.partition;
    Ok(Run { partition, plan: &plan, thread: probe.thread, clock, circumstances }.records(measured))
}

/// Measures all series of a plan once; `look` is shown the progress.
pub(in super::super) fn blocks(
    plan: &Plan,
    request: ThreadRequest,
    clock: ClockUsed,
    stop: &AtomicBool,
    mut look: impl FnMut(&Progress),
) -> Result<Measured, ProbeError> {
    let progress = Arc::new(Progress::default());
    let measured = thread::scope(|scope| {
        let run = scope.spawn(|| osek::measure(plan, request, clock, &progress));
        while !run.is_finished() {
            thread::sleep(LOOK_EVERY);
            progress.stop.store(stop.load(Relaxed), Relaxed);
            look(&progress);
        }
        run.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    Ok(measured?)
}

/// Tells the observer the progress. Loops with a signal weigh more, so that the time left can be
/// told.
fn advance(plan: &Plan, clock: ClockUsed, progress: &Progress, observer: &mut dyn Observer) {
    let index = progress.series.load(Relaxed);
    let Some(series) = plan.series.get(index) else { return };
    let weights = |series: &Series| (series.loops + plan.warm_up) * weight(series);
    let before = &plan.series[..index];
    let loops_before: u64 = before.iter().map(|it| it.loops + plan.warm_up).sum();
    let within = progress.done.load(Relaxed).saturating_sub(loops_before) * weight(series);
    let worst = progress.worst.load(Relaxed) as f64 * 1e9 / clock.hertz().max(1) as f64;
    observer.advance(&Advance {
        part: "routines",
        done: before.iter().map(weights).sum::<u64>() + within,
        all: plan.series.iter().map(weights).sum(),
        unit: "loops",
        what: &series.name(),
        worst: Some(Nanos::new(worst as u64)),
    });
}

fn weight(series: &Series) -> u64 {
    if series.trigger == Some(Trigger::Signal) { SIGNAL_WEIGHT } else { 1 }
}
