//! The routines on the bare port, in a guest.

use quietcore_probe::guest::osek::{self, GuestOsekMeasured, GuestOsekPlan, LOOPS_MAX};
use quietcore_probe::guest::runner::GuestFacts;
use quietcore_probe::osek::Variant;
use quietcore_record::record::check::self_check;
use quietcore_record::record::{Record, ReleaseMode};
use quietcore_site::Backend;

use super::super::circumstances::{Circumstances, degraded};
use super::super::guest::{activity, machine as of_guest};
use super::super::{ProbeContext, ProbeError};
use super::records::of_series;
use super::{Osek, WARM_UP};
use crate::observer::Advance;

/// Measures a run for each number of loops, until it is told to stop.
pub(super) fn records(
    probe: &Osek,
    context: &mut ProbeContext<'_>,
) -> Result<Vec<Record>, ProbeError> {
    let mut records = Vec::new();
    for loops in &probe.loops {
        let plan = GuestOsekPlan {
            loops: (*loops).min(LOOPS_MAX),
            warm_up: WARM_UP,
            variant: probe.variant,
            thread: probe.thread,
            doorbells: has_doorbells(probe.backend),
        };
        let all = plan.loops * plan.series_count();
        let (measured, circumstances) =
            Circumstances::measure(context, &probe.loads, &plan, |observer, progress| {
                let (part, done) = ("routines", progress.done);
                observer.advance(&Advance {
                    part,
                    done,
                    all,
                    unit: "loops",
                    what: "",
                    worst: None,
                });
            })?;
        let facts = measured.outcome;
        let counted = osek::read(&plan, &measured.exchange.region(), &facts)?;
        records.extend(of_run(probe, &plan, counted, &facts, &circumstances));
        if context.is_stopped() {
            break;
        }
    }
    Ok(records)
}

fn of_run(
    probe: &Osek,
    plan: &GuestOsekPlan,
    measured: GuestOsekMeasured,
    facts: &GuestFacts,
    circumstances: &Circumstances<'_>,
) -> Vec<Record> {
    let GuestOsekMeasured { samples, stopped } = measured;
    let (backend, begun) = (probe.backend, samples.len());
    let kernel = words(plan.variant, backend);
    let mut machine = of_guest(facts, backend);
    // The clock that measured the routines has the same key as for a process.
    if let Some(clock) = machine.get("clock_of_guest").cloned() {
        machine.insert("clock_of_routines".to_owned(), clock);
    }
    let standing = &facts.standing;
    let mode = ReleaseMode::not_timed(kernel.clone());
    let conditions = circumstances.conditions(mode, standing, machine, activity(facts, backend));
    let invalid = circumstances.invalid_in_guest(standing);
    samples
        .into_iter()
        .enumerate()
        .map(|(index, (series, sample))| {
            let hertz = facts.counter_hertz;
            let mut record =
                of_series(&probe.partition, plan.thread, &series, sample, kernel.clone(), hertz);
            record.interrupted |= stopped && index + 1 == begun;
            record.conditions = conditions.clone();
            record.degraded = degraded(standing);
            record.invalid_because.clone_from(&invalid);
            let wrong = self_check(&record, None);
            record.invalid_because.extend(wrong);
            record
        })
        .collect()
}

/// Describes the kernel and its configuration. Images are never built for debugging.
fn words(variant: Variant, backend: Backend) -> String {
    variant.words_of(format_args!("bare port in a guest ({backend})"))
}

/// Returns `true` if a guest of this backend can ring a doorbell that raises an interrupt of its
/// own: those of QEMU and of Xen are called by their host alone.
pub(super) fn has_doorbells(backend: Backend) -> bool {
    backend == Backend::OF_PROBES_IN_GUESTS
}
