//! `quietcore probe osek --backend kvm`

use std::io::{self, IsTerminal as _};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use quietcore_evidence::Writer;
use quietcore_load::LoadSet;
use quietcore_probe::guest::osek::{self, GuestOsekMeasured, GuestOsekPlan, LOOPS_MAX};
use quietcore_probe::osek::Variant;
use quietcore_record::record::Record;
use quietcore_record::record::check::self_check;
use quietcore_record::verdict::thousands;

use super::super::super::plan::shared;
use super::super::circumstances::{Circumstances, degraded};
use super::super::guest::{PARTITION, activity, machine as of_guest};
use super::super::start_loads;
use super::records::of_series;
use super::{WARM_UP, Wanted, fitted, tell, wanted};
use crate::arguments::Osek;
use crate::status::{Failure, Status};
use crate::{machine, terminal};

/// Progress is told so often, to who sees it, and to a file.
const TELL_EVERY: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(60)];

pub(super) fn run(request: &Osek) -> Result<Status, Failure> {
    if request.other_tasks > 0 {
        return Err(Failure::new("--other-tasks: a guest has the four tasks alone; leave it out"));
    }
    let stop = machine::stop_flag()?;
    let facts = machine::read_facts(&stop)?;
    let Wanted { plan, place, loads } = wanted(request, facts.machine().online)?;
    shared::remark_cpus(PARTITION, place.cpu);
    let request = &fitted(request, |short| {
        let loops = short.loops.iter().copied().max().unwrap_or(1);
        let plan = GuestOsekPlan { loops, warm_up: WARM_UP, variant: plan.variant, place };
        let measured = osek::measure(&plan, |_| stop.load(Relaxed));
        Ok(measured.map(|_| ())?)
    })?;
    let writer = request.out.as_deref().map(Writer::create).transpose()?;
    let awake = machine::hold_awake();
    let mut records = Vec::new();
    for loops in &request.loops {
        let plan = GuestOsekPlan {
            loops: (*loops).min(LOOPS_MAX),
            warm_up: WARM_UP,
            variant: plan.variant,
            place,
        };
        let mut load_set = start_loads(&loads)?;
        let (started_at, begin) = (machine::time_of_day(), Instant::now());
        let tell_every = TELL_EVERY[usize::from(!io::stderr().is_terminal())];
        let mut told = Instant::now();
        let measured = osek::measure(&plan, |done| {
            if told.elapsed() >= tell_every {
                told = Instant::now();
                let all = plan.loops * osek::series_count();
                terminal::say(format_args!("{} of {} loops", thousands(done), thousands(all)));
            }
            stop.load(Relaxed)
        });
        let measured = measured?;
        let duration = begin.elapsed();
        let achieved = load_set.as_mut().map(LoadSet::measure).unwrap_or_default();
        if let Some(load_set) = load_set {
            load_set.stop()?;
        }
        let circumstances = Circumstances {
            facts: &facts,
            achieved: &achieved,
            started_at,
            duration,
            dma_latency_held: awake.is_some(),
        };
        records.extend(of_run(&plan, measured, &circumstances));
        if stop.load(Relaxed) {
            break;
        }
    }
    if records.iter().all(|record| record.release.count() == 0) {
        return Err(Failure::new("quietcore: stopped before anything was measured"));
    }
    tell(request, writer.as_ref(), &facts, records)
}

fn of_run(
    plan: &GuestOsekPlan,
    measured: GuestOsekMeasured,
    circumstances: &Circumstances<'_>,
) -> Vec<Record> {
    let GuestOsekMeasured { samples, stopped, outcome } = measured;
    let (kernel, begun) = (words(plan.variant), samples.len());
    let mut machine = of_guest(&outcome);
    // What the routines were measured with, as in a process.
    if let Some(clock) = machine.get("clock_of_guest").cloned() {
        machine.insert("clock_of_routines".to_owned(), clock);
    }
    let standing = &outcome.standing;
    let conditions =
        circumstances.conditions(kernel.clone(), standing, machine, activity(&outcome));
    let invalid = circumstances.invalid_in_guest(standing);
    samples
        .into_iter()
        .enumerate()
        .map(|(index, (series, sample))| {
            let hertz = outcome.counter.hertz();
            let mut record =
                of_series(PARTITION, plan.place, &series, sample, kernel.clone(), hertz);
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

/// The kernel and its configuration in words.
fn words(variant: Variant) -> String {
    // Images are never built for debugging.
    let words = variant.words().replacen(" in a debug build", "", 1);
    words.replacen("hosted port", "bare port in a guest (kvm)", 1)
}
