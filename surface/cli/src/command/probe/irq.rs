//! `quietcore probe irq`

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use quietcore_evidence::Writer;
use quietcore_load::LoadSet;
use quietcore_probe::guest::irq::{
    self, INTERRUPTS_MAX, IrqMeasured, IrqPlan, PERIOD_MAX, PERIOD_MIN, PUBLISHED_INTERRUPTS,
    PUBLISHED_PERIOD,
};
use quietcore_probe::guest::runner::Outcome;
use quietcore_probe::thread::Place;
use quietcore_process::setting::Policy;
use quietcore_record::record::check::self_check;
use quietcore_record::record::{
    Conditions, Counters, InterruptRun, RECORD_SCHEMA, Record, Timeline,
};
use quietcore_record::verdict::thousands;
use quietcore_units::{CpuId, CpuSet, Nanos};

use super::super::plan::shared;
use super::circumstances::{Circumstances, degraded};
use super::{EXCEEDANCE, Identity, guest, keep, load, start_loads};
use crate::arguments::Irq;
use crate::status::{Failure, Status};
use crate::{machine, terminal};

/// Interrupts before each run that are taken and forgotten.
const WARM_UP: u64 = 100;
/// Progress is told so often, to who sees it, and to a file.
const TELL_EVERY: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(60)];

pub(super) fn run(request: &Irq) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let facts = machine::read_facts(&stop)?;
    let (plans, loads) = wanted(request, facts.machine().online)?;
    let pinned = plans.iter().flat_map(|plan| [plan.place.cpu, plan.board.cpu]);
    shared::remark_cpus(guest::PARTITION, pinned.flatten());
    let writer = request.out.as_deref().map(Writer::create).transpose()?;
    let awake = machine::hold_awake();
    let mut records = Vec::new();
    for plan in &plans {
        let mut load_set = start_loads(&loads)?;
        let (started_at, begin) = (machine::time_of_day(), Instant::now());
        let measured = measured(plan, &stop)?;
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
        records.push(record(plan, measured, &circumstances));
        if stop.load(Relaxed) {
            break;
        }
    }
    if records.iter().all(|record| record.release.count() == 0) {
        return Err(Failure::new("quietcore: stopped before anything was measured"));
    }
    let identity = Identity {
        name: "probe irq",
        site_sha256: "",
        // An interrupt is no release: no class says anything about it.
        classes: &[],
        exceedance: EXCEEDANCE,
        declared: BTreeMap::new(),
        profiles: plans.iter().map(|plan| (profile(plan), words(plan))).collect(),
        limits: Vec::new(),
    };
    let evidence = keep(writer.as_ref(), &facts, records, &identity)?;
    super::super::show::print_evidence(&evidence, request.json)?;
    Ok(Status::Done)
}

type Wanted = (Vec<IrqPlan>, Vec<quietcore_load::LoadRequest>);

/// All that is wrong with the request becomes one failure.
fn wanted(request: &Irq, online: CpuSet) -> Result<Wanted, Failure> {
    let mut problems = Vec::new();
    for period in &request.period {
        if !(PERIOD_MIN..=PERIOD_MAX).contains(period) || !period.get().is_multiple_of(10) {
            problems.push(format!(
                "--period {period}: out of range; give {PERIOD_MIN} to {PERIOD_MAX}, in steps of \
                 10 ns"
            ));
        }
        if request.period.iter().filter(|other| *other == period).count() > 1 {
            problems.push(format!("--period {period}: stands there twice"));
        }
    }
    let interrupts = |period: Nanos| match request.duration {
        Some(duration) if period > Nanos::ZERO => duration.whole_times(period),
        _ => request.interrupts,
    };
    for period in &request.period {
        if !(1..=INTERRUPTS_MAX).contains(&interrupts(*period)) {
            problems.push(format!(
                "--duration: with a period of {period} these are {} interrupts; give a time of 1 \
                 to {} of them",
                thousands(interrupts(*period)),
                thousands(INTERRUPTS_MAX)
            ));
        }
    }
    let mut cpu = |option: &str, asked: Option<u32>, default: Option<CpuId>| {
        let id = asked.map_or(default, CpuId::new);
        if !id.is_some_and(|id| online.contains(id)) {
            let asked = asked.unwrap_or_default();
            problems.push(format!("{option} {asked}: it is not online; online are {online}"));
        }
        id
    };
    let own = cpu("--cpu", request.cpu, online.iter().last());
    let board = cpu("--board-cpu", request.board_cpu, online.iter().next());
    if own == board {
        terminal::say(format_args!(
            "remark: the board raises its interrupts on the CPU of the guest, which it interrupts \
             to do so"
        ));
    }
    let loads = request
        .load
        .iter()
        .filter_map(|text| load(text).map_err(|problem| problems.push(problem)).ok())
        .collect();
    if !problems.is_empty() {
        return Err(Failure::new(problems.join("\n")));
    }
    let plan = |period: &Nanos| IrqPlan {
        period: *period,
        interrupts: interrupts(*period),
        warm_up: WARM_UP,
        place: Place { cpu: own, policy: Policy::Fifo(request.priority) },
        board: Place { cpu: board, policy: Policy::Fifo(request.priority + 1) },
        polls: request.polls,
    };
    Ok((request.period.iter().map(plan).collect(), loads))
}

/// Measures, and tells how far it is.
fn measured(plan: &IrqPlan, stop: &AtomicBool) -> Result<IrqMeasured, Failure> {
    let mut told = Instant::now();
    let tell_every = TELL_EVERY[usize::from(!io::stderr().is_terminal())];
    let measured = irq::measure(plan, |taken, longest| {
        if told.elapsed() >= tell_every {
            told = Instant::now();
            let left = plan.period * plan.interrupts.saturating_sub(taken);
            terminal::say(format_args!(
                "{}: {} of {} interrupts, worst {longest}, left {left}",
                words(plan),
                thousands(taken),
                thousands(plan.interrupts)
            ));
        }
        stop.load(Relaxed)
    });
    Ok(measured?)
}

fn profile(plan: &IrqPlan) -> String {
    let period = plan.period.to_string().replace(['\u{a0}', ' '], "-").replace('µ', "u");
    format!("every-{period}")
}

fn words(plan: &IrqPlan) -> String {
    let is_published = plan.period == PUBLISHED_PERIOD && plan.interrupts == PUBLISHED_INTERRUPTS;
    let published = if is_published { ", as published" } else { "" };
    format!("an interrupt every {}{published}", plan.period)
}

fn record(plan: &IrqPlan, measured: IrqMeasured, circumstances: &Circumstances<'_>) -> Record {
    let IrqMeasured { response, register, switch, whole, left_out, finished, outcome } = measured;
    let profile = profile(plan);
    let mut record = Record {
        schema: RECORD_SCHEMA.to_owned(),
        name: format!("{}.{profile}.irq", guest::PARTITION),
        probe: "irq".to_owned(),
        partition: guest::PARTITION.to_owned(),
        profile,
        reserved: true,
        cpu: plan.place.cpu.map(CpuId::get),
        period_ns: Some(plan.period.get()),
        release: response,
        wakeup: None,
        scan: None,
        routine: None,
        interrupt: Some(InterruptRun {
            path: path(plan),
            kernel: "OSEK kernel in a guest of ours: ISR of category 2, a basic task, standard \
                     status"
                .to_owned(),
            register,
            switch,
            until_task: whole,
            left_out,
        }),
        memory: None,
        trial: None,
        round_trip: None,
        counters: Counters { planned_cycles: plan.interrupts, ..Counters::default() },
        spikes: Vec::new(),
        ledgers: None,
        timeline: Timeline::default(),
        conditions: conditions(plan, &outcome, circumstances),
        interrupted: !finished,
        degraded: degraded(&outcome.standing),
        invalid_because: circumstances.invalid_in_guest(&outcome.standing),
    };
    record.invalid_because.extend(self_check(&record, None));
    record
}

fn path(plan: &IrqPlan) -> String {
    let cpu = plan.board.cpu.map_or_else(|| "any CPU".to_owned(), |cpu| format!("CPU {cpu}"));
    format!("clock board on {cpu} → event file → KVM → vector of the guest's processor")
}

fn conditions(plan: &IrqPlan, outcome: &Outcome, circumstances: &Circumstances<'_>) -> Conditions {
    let board = outcome.board.unwrap_or_default();
    let mut activity = guest::activity(outcome);
    activity.insert(
        "clock_board".to_owned(),
        format!(
            "raised {}, of which lost {}, left out {}",
            board.raised, board.failed, board.left_out
        ),
    );
    let machine = guest::machine(outcome);
    circumstances.conditions(words(plan), &outcome.standing, machine, activity)
}
