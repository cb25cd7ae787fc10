//! `quietcore probe latency`

use quietcore_campaign::probe::Probe;
use quietcore_campaign::probe::guest_latency::GuestLatency;
use quietcore_campaign::probe::latency::Latency as ProcessLatency;
use quietcore_evidence::Evidence;
use quietcore_load::LoadRequest;
use quietcore_probe::guest::latency::GuestLatencyPlan;
use quietcore_probe::job::LatencyJob;
use quietcore_record::class::CYCLE_PART;
use quietcore_record::export::cyclictest_text;
use quietcore_site::{Backend, BackendDeclaration, Machine, Policy};
use quietcore_units::{CpuId, Nanos, Scheduling, ThreadRequest, Wake, WakeKind};

use super::{CYCLES_MAX, RUN_MAX, by_hand, loads};
use crate::arguments::Latency;
use crate::status::{Failure, Status};
use crate::{finish, machine};

/// The shortest period; with a shorter one, recording would dominate what is measured.
const PERIOD_MIN: Nanos = Nanos::from_micros(20);
/// The longest period: a stop is noticed once per period.
const PERIOD_MAX: Nanos = Nanos::from_secs(10);
/// The smallest limit above which releases are explained.
const EXPLAIN_MIN: Nanos = Nanos::from_micros(1);
/// The largest limit above which releases are explained.
const EXPLAIN_MAX: Nanos = Nanos::from_secs(10);

pub(super) fn run(request: &Latency) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let facts = machine::read_facts(&stop)?;
    let (job, loads) = wanted(request, &facts.machine())?;
    let mut probe: Box<dyn Probe> = if request.backend.has_image() {
        Box::new(GuestLatency { plan: guest_plan(request, &job)?, loads })
    } else {
        Box::new(ProcessLatency::new(request.backend.into(), job, loads, request.explain))
    };
    let evidence = by_hand(&mut *probe, &facts, &stop, request.out.as_deref())?;
    print(request, &evidence)?;
    Ok(Status::of(probe.is_passed(&evidence.records)))
}

/// Prints what was asked for: the evidence, or a histogram in cyclictest's format.
fn print(request: &Latency, evidence: &Evidence) -> Result<(), Failure> {
    let Some(buckets) = request.histogram else {
        return super::super::show::print_evidence(evidence, request.json);
    };
    let records = finish::as_slept(&evidence.records);
    super::super::print(&cyclictest_text(&records, Nanos::from_micros(buckets)))
}

/// Returns the requested job and loads; all problems of the request become one failure.
fn wanted(request: &Latency, machine: &Machine) -> Result<(LatencyJob, Vec<LoadRequest>), Failure> {
    let mut problems = Vec::new();
    if !(PERIOD_MIN..=PERIOD_MAX).contains(&request.period) {
        problems.push(format!(
            "--period {}: out of range; give {PERIOD_MIN} to {PERIOD_MAX}",
            request.period
        ));
    }
    let cycles = request.cycles.unwrap_or(request.duration.whole_times(request.period));
    if !(1..=CYCLES_MAX).contains(&cycles) {
        problems.push(format!("{cycles} cycles: out of range; give 1 to {CYCLES_MAX}"));
    }
    let warm_up_cycles = request.warm_up.whole_times(request.period);
    let releases = cycles.saturating_add(warm_up_cycles);
    if request.period.get().checked_mul(releases).is_none_or(|whole| whole > RUN_MAX.get()) {
        problems.push(format!(
            "{releases} releases every {}, warm-up included: they take longer than {RUN_MAX}",
            request.period
        ));
    }
    options_that_clash(request, cycles, &mut problems);
    let cpus = cpus(request, machine, &mut problems);
    let loads = loads(&request.load, &mut problems);
    if !problems.is_empty() {
        return Err(Failure::new(problems.join("\n")));
    }
    let job = LatencyJob {
        cpus,
        period: request.period,
        cycles,
        warm_up_cycles,
        policy: policy(request),
        wake: wake(request),
        injection: request.inject,
        memory: None,
        snare: None,
    };
    Ok((job, loads))
}

/// Returns the same job for a guest with one task.
fn guest_plan(request: &Latency, job: &LatencyJob) -> Result<GuestLatencyPlan, Failure> {
    let mut problems = Vec::new();
    if job.cpus.len() > 1 {
        problems.push("--cpus: a guest has one task; name one CPU".to_owned());
    }
    if request.policy == Policy::Deadline {
        problems.push(
            "--policy deadline: the thread of a guest runs all the time; use fifo".to_owned(),
        );
    }
    if !problems.is_empty() {
        return Err(Failure::new(problems.join("\n")));
    }
    let cpu = job.cpus.first().copied().flatten().and_then(CpuId::new);
    Ok(GuestLatencyPlan {
        period: job.period,
        cycles: job.cycles,
        warm_up_cycles: job.warm_up_cycles,
        wake: job.wake,
        injection: job.injection,
        thread: ThreadRequest::measuring(job.policy, cpu),
        limit: job.period / CYCLE_PART,
    })
}

/// Adds a problem for each combination of options that clash, although each alone is fine.
fn options_that_clash(request: &Latency, cycles: u64, problems: &mut Vec<String>) {
    if let Some(limit) = request.explain {
        if !(EXPLAIN_MIN..=EXPLAIN_MAX).contains(&limit) {
            problems.push(format!("--explain {limit}: give {EXPLAIN_MIN} to {EXPLAIN_MAX}"));
        }
        if request.backend.has_image() {
            problems.push(
                "--explain: the probe of a guest tells of its worst cycles which exits explain \
                 them; leave it out, or explain a program in a guest with `probe exec`"
                    .to_owned(),
            );
        }
    }
    if request.margin.is_some() && request.mode != WakeKind::Early {
        problems.push("--margin: only mode early-wake has one; add --mode early-wake".to_owned());
    }
    if request.mode == WakeKind::Spin && !request.backend.may_spin() {
        let spins = |it: &BackendDeclaration| it.may_spin && it.is_probed_by_hand;
        problems.push(format!(
            "--mode spin: a thread that never sleeps is stopped by the operating system for a \
             part of each second; use --mode early-wake, or --backend {}",
            Backend::words_where(spins).join(" or ")
        ));
    }
    if request.policy == Policy::Deadline && !request.unpinned {
        problems.push(
            "--policy deadline: the kernel lets no such thread be pinned; add --unpinned"
                .to_owned(),
        );
    }
    if let Some(margin) = request.margin.filter(|margin| *margin >= request.period) {
        problems.push(format!(
            "--margin {margin}: not below the period of {}; give less",
            request.period
        ));
    }
    if let Some(injection) = request.inject
        && (injection.release >= cycles || injection.delay > Nanos::from_secs(10))
    {
        problems.push(format!(
            "--inject {}@{}: out of range; give at most 10 s, at a release from 0 to {}",
            injection.delay,
            injection.release,
            cycles.saturating_sub(1)
        ));
    }
}

/// Returns a task for each requested CPU, or one that may run on any CPU.
fn cpus(request: &Latency, machine: &Machine, problems: &mut Vec<String>) -> Vec<Option<u32>> {
    if request.unpinned {
        return vec![None];
    }
    let wanted = request.cpus.unwrap_or_else(|| machine.usable.iter().last().into_iter().collect());
    problems.extend(super::unusable("--cpus", &wanted, machine));
    if wanted.is_empty() {
        problems.push(format!("--cpus: no CPU is named; choose from {}", machine.usable));
    }
    wanted.iter().map(|cpu| Some(cpu.get())).collect()
}

fn policy(request: &Latency) -> Scheduling {
    match request.policy {
        Policy::Fifo => Scheduling::fifo(request.priority),
        Policy::Deadline => Scheduling::Deadline {
            // Enough for the spinning and the recording.
            run_time: request.period / 100 * u64::from(request.share.max(10)),
            deadline: request.period,
            period: request.period,
        },
        Policy::Other => Scheduling::Other,
    }
}

fn wake(request: &Latency) -> Wake {
    match (request.mode, request.margin) {
        (WakeKind::Sleep, _) => Wake::Sleep,
        (WakeKind::Spin, _) => Wake::Spin,
        (WakeKind::Early, Some(margin)) => Wake::Early { margin },
        (WakeKind::Early, None) => Wake::Adaptive { share_percent: request.share.into() },
    }
}
