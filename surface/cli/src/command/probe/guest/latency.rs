//! `quietcore probe latency --backend kvm`

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use quietcore_campaign::{PartitionRun, Work, counters, mode, timeline, wake_kind};
use quietcore_evidence::Writer;
use quietcore_load::LoadSet;
use quietcore_probe::guest::cover::Cover;
use quietcore_probe::guest::latency::{self, GuestLatencyMeasured, GuestLatencyPlan};
use quietcore_probe::job::LatencyJob;
use quietcore_probe::margin::Wake;
use quietcore_probe::thread::Place;
use quietcore_record::class::{CYCLE_PART, catalogue};
use quietcore_record::histogram::Histogram;
use quietcore_record::record::check::self_check;
use quietcore_record::record::{
    Counters, Injected, RECORD_SCHEMA, Record, Scheduled, Spike, Timeline,
};
use quietcore_units::{CpuId, Nanos};

use super::super::super::plan::shared;
use super::super::circumstances::{Circumstances, degraded};
use super::super::{
    EXCEEDANCE, Identity, injection_seen, keep, of_pinning, print_latency, run_of, start_loads,
};
use super::{PARTITION, activity, machine as of_guest};
use crate::arguments::{Latency, PolicyName};
use crate::machine;
use crate::status::{Failure, Status};

pub(in super::super) fn run(request: &Latency) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let facts = machine::read_facts(&stop)?;
    let wanted = run_of(request, facts.machine().online)?;
    let plan = plan(request, &wanted.partitions)?;
    shared::remark_cpus(PARTITION, plan.place.cpu);
    let writer = request.out.as_deref().map(Writer::create).transpose()?;
    let awake = machine::hold_awake();
    let mut loads = start_loads(&wanted.loads)?;
    let (started_at, begin) = (machine::time_of_day(), Instant::now());
    let measured = latency::measure(&plan, |_, _| stop.load(Relaxed))?;
    let duration = begin.elapsed();
    let achieved = loads.as_mut().map(LoadSet::measure).unwrap_or_default();
    if let Some(loads) = loads {
        loads.stop()?;
    }
    let circumstances = Circumstances {
        facts: &facts,
        achieved: &achieved,
        started_at,
        duration,
        dma_latency_held: awake.is_some(),
    };
    let records = vec![record(&plan, &measured, &circumstances)?];
    if records[0].release.count() == 0 {
        return Err(Failure::new("quietcore: stopped before anything was measured"));
    }
    let seen = injection_seen(&wanted, &records);
    let identity = Identity {
        name: "probe latency in a guest",
        site_sha256: "",
        classes: &catalogue(),
        exceedance: EXCEEDANCE,
        declared: BTreeMap::new(),
        profiles: of_pinning(),
        limits: Vec::new(),
    };
    let evidence = keep(writer.as_ref(), &facts, records, &identity)?;
    print_latency(request, &evidence)?;
    Ok(if seen { Status::Done } else { Status::NotPassed })
}

/// The same request as that of a process, for a guest with one task.
fn plan(request: &Latency, partitions: &[PartitionRun]) -> Result<GuestLatencyPlan, Failure> {
    let Some(Work::Latency(job)) = partitions.first().map(|partition| &partition.work) else {
        return Err(Failure::new("quietcore: there is nothing to measure"));
    };
    let LatencyJob {
        cpus,
        period,
        cycles,
        warm_up_cycles,
        policy,
        wake,
        injection,
        memory: _,
        snare: _,
    } = job;
    let mut problems = Vec::new();
    if cpus.len() > 1 {
        problems.push("--cpus: a guest has one task; name one CPU".to_owned());
    }
    if request.policy == PolicyName::Deadline {
        problems.push(
            "--policy deadline: the thread of a guest runs all the time; use fifo".to_owned(),
        );
    }
    if !problems.is_empty() {
        return Err(Failure::new(problems.join("\n")));
    }
    let cpu = cpus.first().copied().flatten().and_then(CpuId::new);
    Ok(GuestLatencyPlan {
        period: *period,
        cycles: *cycles,
        warm_up_cycles: *warm_up_cycles,
        wake: *wake,
        injection: *injection,
        place: Place { cpu, policy: *policy },
        limit: *period / CYCLE_PART,
    })
}

fn record(
    plan: &GuestLatencyPlan,
    measured: &GuestLatencyMeasured,
    circumstances: &Circumstances<'_>,
) -> Result<Record, Failure> {
    let region = measured.exchange.region();
    let task = region.task(0).ok_or_else(|| Failure::new("quietcore: no statistics"))?;
    let counted = task.counters().unwrap_or_default();
    let copy = |shared| Histogram::from_exchange(shared);
    let unreadable = |error| Failure::new(format!("quietcore: the guest's statistics: {error}"));
    let profile = if plan.place.cpu.is_some() { "pinned" } else { "unpinned" }.to_owned();
    let standing = &measured.outcome.standing;
    let mut meanwhile = activity(&measured.outcome);
    meanwhile.insert("spikes_beyond_limit".to_owned(), spikes_in_words(plan, measured));
    let mut conditions = circumstances.conditions(
        format!("{}, in a guest", mode(plan.wake)),
        standing,
        of_guest(&measured.outcome),
        meanwhile,
    );
    conditions.scheduled =
        conditions.scheduled.map(|it| Scheduled { wake: Some(wake_kind(plan.wake)), ..it });
    conditions.injected =
        plan.injection.map(|it| format!("{} at release {}", it.delay, it.release));
    conditions.injection =
        plan.injection.map(|it| Injected { delay_ns: it.delay.get(), release: it.release });
    let mut record = Record {
        schema: RECORD_SCHEMA.to_owned(),
        name: format!("{PARTITION}.{profile}.task0"),
        probe: "latency".to_owned(),
        partition: PARTITION.to_owned(),
        profile,
        reserved: plan.place.cpu.is_some(),
        cpu: plan.place.cpu.map(CpuId::get),
        period_ns: Some(plan.period.get()),
        release: copy(task.release()).map_err(unreadable)?,
        wakeup: match plan.wake {
            // It woke nobody, or when it was due.
            Wake::Sleep | Wake::Spin => None,
            _ => Some(copy(task.wakeup()).map_err(unreadable)?),
        },
        scan: None,
        routine: None,
        interrupt: None,
        memory: None,
        trial: None,
        round_trip: None,
        counters: Counters { ..counters(plan.cycles, &task, &counted) },
        spikes: spikes(measured),
        ledgers: None,
        timeline: Timeline { ..timeline(&task) },
        conditions,
        interrupted: !measured.finished,
        degraded: degraded(standing),
        invalid_because: circumstances.invalid_in_guest(standing),
    };
    record.conditions.duration_ns = record.release.count().saturating_mul(plan.period.get());
    let wrong = self_check(&record, record.conditions.injection);
    record.invalid_because.extend(wrong);
    Ok(record)
}

/// All of the worst cycles; those beyond the limit with what covers them.
fn spikes(measured: &GuestLatencyMeasured) -> Vec<Spike> {
    let region = measured.exchange.region();
    let Some(task) = region.task(0) else { return Vec::new() };
    let first = task.first_release_ns();
    task.spikes()
        .map(|spike| {
            let joined = measured.spikes.iter().find(|(it, _)| it.release == spike.release);
            Spike {
                release: spike.release,
                at_ns: spike.due_ns.saturating_sub(first),
                latency_ns: spike.latency_ns,
                wakeup_ns: spike.wakeup_ns,
                cpu: u32::try_from(spike.cpu).unwrap_or(u32::MAX),
                conditions: joined.map(|(_, cover)| cover.words()).unwrap_or_default(),
            }
        })
        .collect()
}

/// How many of the worst cycles are beyond the limit, and how many of these are explained.
fn spikes_in_words(plan: &GuestLatencyPlan, measured: &GuestLatencyMeasured) -> String {
    let all = measured.spikes.len();
    let explained =
        measured.spikes.iter().filter(|(_, cover): &&(_, Cover)| cover.is_explained()).count();
    let unexplained: u64 = measured.spikes.iter().map(|(_, cover)| cover.unexplained_ns).sum();
    format!(
        "of the worst cycles kept {all} were beyond {}; exits to this process and waits for a CPU \
         explain most of {explained}; {} in all are unexplained",
        plan.limit,
        Nanos::new(unexplained)
    )
}
