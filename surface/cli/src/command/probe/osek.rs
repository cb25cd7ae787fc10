//! `quietcore probe osek`

mod guest;
pub(super) mod records;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use quietcore_evidence::Writer;
use quietcore_host::Facts;
use quietcore_load::{LoadRequest, LoadSet};
use quietcore_probe::osek::{
    self, ClockUsed, LOOPS_MAX, Measured, PUBLISHED_LOOPS, Place, Plan, Progress, Series, Trigger,
    Variant,
};
use quietcore_process::setting::Policy;
use quietcore_record::record::Record;
use quietcore_record::verdict::thousands;
use quietcore_units::{CpuId, CpuSet, Nanos};

use super::super::plan::shared;
use super::circumstances::Circumstances;
use super::{EXCEEDANCE, Identity, keep, load, start_loads};
use crate::arguments::{Osek, ProbeBackend};
use crate::machine;
use crate::status::{Failure, Status};
use records::{PARTITION, Run};

/// Loops before each series that are run and forgotten, as many as are published.
const WARM_UP: u64 = PUBLISHED_LOOPS;
/// Loops of the run that says how long one takes.
const TRIAL_LOOPS: u64 = 1_000;
/// Progress is shown from here on; what is done sooner needs none.
const QUIET_FOR: Duration = Duration::from_secs(2);
/// Time between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// A loop with a signal takes about as long as so many others.
const SIGNAL_WEIGHT: u64 = 20;

pub(super) fn run(request: &Osek) -> Result<Status, Failure> {
    if request.backend == ProbeBackend::Container {
        return Err(Failure::new("--backend container: this probe runs in a process or a guest"));
    }
    if request.backend == ProbeBackend::Kvm {
        return guest::run(request);
    }
    let stop = machine::stop_flag()?;
    let facts = machine::read_facts(&stop)?;
    let request = &fitted(request, |short| {
        let Wanted { plan, place, .. } = wanted(short, facts.machine().online)?;
        watched(&plan, place, ClockUsed::choose(), &stop).map(|_| ())
    })?;
    let Wanted { plan, place, loads } = wanted(request, facts.machine().online)?;
    shared::remark_cpus(PARTITION, place.cpu);
    let writer = request.out.as_deref().map(Writer::create).transpose()?;
    let awake = machine::hold_awake();
    let mut load_set = start_loads(&loads)?;
    let clock = ClockUsed::choose();
    let (started_at, begin) = (machine::time_of_day(), Instant::now());
    let measured = watched(&plan, place, clock, &stop)?;
    let duration = begin.elapsed();
    let achieved = load_set.as_mut().map(LoadSet::measure).unwrap_or_default();
    if let Some(load_set) = load_set {
        load_set.stop()?;
    }
    let run = Run {
        plan: &plan,
        place,
        clock,
        circumstances: Circumstances {
            facts: &facts,
            achieved: &achieved,
            started_at,
            duration,
            dma_latency_held: awake.is_some(),
        },
    };
    let records = run.records(measured);
    if records.iter().all(|record| record.release.count() == 0) {
        return Err(Failure::new("quietcore: stopped before anything was measured"));
    }
    tell(request, writer.as_ref(), &facts, records)
}

/// The request with a number of loops in place of a time. `run` measures what it is given, so that
/// it is known how long a loop takes.
fn fitted(request: &Osek, run: impl FnOnce(&Osek) -> Result<(), Failure>) -> Result<Osek, Failure> {
    let Some(duration) = request.duration else { return Ok(request.clone()) };
    let short = Osek { loops: vec![TRIAL_LOOPS], ..request.clone() };
    let begin = Instant::now();
    run(&short)?;
    let taken = u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX).max(1);
    let loops = u128::from(duration.get()) * u128::from(TRIAL_LOOPS) / u128::from(taken);
    let loops = u64::try_from(loops).unwrap_or(LOOPS_MAX).clamp(1, LOOPS_MAX);
    Ok(Osek { loops: vec![loops], ..request.clone() })
}

/// Keeps the records and prints them.
fn tell(
    request: &Osek,
    writer: Option<&Writer>,
    facts: &Facts,
    records: Vec<Record>,
) -> Result<Status, Failure> {
    let identity = Identity {
        name: "probe osek",
        site_sha256: "",
        // A routine is no release: no class says anything about it.
        classes: &[],
        exceedance: EXCEEDANCE,
        declared: BTreeMap::new(),
        profiles: profiles(request),
        limits: Vec::new(),
    };
    let evidence = keep(writer, facts, records, &identity)?;
    super::super::show::print_evidence(&evidence, request.json)?;
    Ok(Status::Done)
}

/// What was asked for, checked.
struct Wanted {
    plan: Plan,
    place: Place,
    loads: Vec<LoadRequest>,
}

/// All that is wrong with the request becomes one failure.
fn wanted(request: &Osek, online: CpuSet) -> Result<Wanted, Failure> {
    let mut problems = Vec::new();
    let mut loops: Vec<u64> = request.loops.clone();
    loops.sort_unstable();
    loops.dedup();
    if loops.len() < request.loops.len() {
        problems.push("--loops: a number stands there twice; each is a run of its own".to_owned());
    }
    let cpu = request.cpu.or_else(|| online.iter().last().map(CpuId::get));
    let cpu = cpu.filter(|_| !request.unpinned);
    let id = cpu.and_then(CpuId::new);
    if let Some(cpu) = cpu
        && !id.is_some_and(|id| online.contains(id))
    {
        problems.push(format!("--cpu {cpu}: it is not online; online are {online}"));
    }
    let loads = request
        .load
        .iter()
        .filter_map(|text| load(text).map_err(|problem| problems.push(problem)).ok())
        .collect();
    if !problems.is_empty() {
        return Err(Failure::new(problems.join("\n")));
    }
    Ok(Wanted {
        plan: Plan {
            series: loops.iter().flat_map(|loops| Series::all(*loops)).collect(),
            warm_up: WARM_UP,
            variant: Variant {
                others: request.other_tasks,
                extended: request.extended,
                accounting: request.accounting,
            },
        },
        place: Place { cpu: id, policy: Policy::Fifo(request.priority) },
        loads,
    })
}

/// The name of a run with so many loops.
fn profile(loops: u64) -> String {
    format!("loops-{loops}")
}

fn profiles(request: &Osek) -> Vec<(String, String)> {
    let words = |loops: &u64| {
        let published = if *loops == PUBLISHED_LOOPS { ", as published" } else { "" };
        (profile(*loops), format!("{} loops of each routine{published}", thousands(*loops)))
    };
    request.loops.iter().map(words).collect()
}

/// Measures, with its progress shown.
fn watched(
    plan: &Plan,
    place: Place,
    clock: ClockUsed,
    stop: &AtomicBool,
) -> Result<Measured, Failure> {
    let progress = Arc::new(Progress::default());
    let bar = Bar::new(plan, clock.hertz());
    let measured = thread::scope(|scope| {
        let run = scope.spawn(|| osek::measure(plan, place, clock, &progress));
        while !run.is_finished() {
            thread::sleep(LOOK_EVERY);
            progress.stop.store(stop.load(Relaxed), Relaxed);
            bar.show(&progress);
        }
        run.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    Ok(measured?)
}

/// The progress on a terminal, or as a line where there is none.
struct Bar<'a> {
    bar: ProgressBar,
    plan: &'a Plan,
    hertz: u64,
    begin: Instant,
    terminal: bool,
    said: Cell<bool>,
}

impl<'a> Bar<'a> {
    fn new(plan: &'a Plan, hertz: u64) -> Self {
        let terminal = io::stderr().is_terminal();
        let bar = if terminal { ProgressBar::new(1) } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{prefix} [{bar:24}] {percent:>3} %  {msg}");
        bar.set_style(style.expect("the template has known keys only").progress_chars("█▉▊▋▌▍▎▏ "));
        Self { bar, plan, hertz, begin: Instant::now(), terminal, said: Cell::new(false) }
    }

    fn show(&self, progress: &Progress) {
        let elapsed = self.begin.elapsed();
        if elapsed < QUIET_FOR {
            return;
        }
        if !self.terminal {
            if !self.said.replace(true) {
                crate::terminal::say(format_args!("{} loops in all", thousands(self.plan.loops())));
            }
            return;
        }
        let index = progress.series.load(Relaxed);
        let weights = |series: &Series| (series.loops + self.plan.warm_up) * weight(series);
        let all: u64 = self.plan.series.iter().map(weights).sum();
        let before = &self.plan.series[..index.min(self.plan.series.len())];
        let loops_before: u64 = before.iter().map(|it| it.loops + self.plan.warm_up).sum();
        let Some(series) = self.plan.series.get(index) else { return };
        let within = progress.done.load(Relaxed).saturating_sub(loops_before) * weight(series);
        let done = before.iter().map(weights).sum::<u64>() + within;
        let part = done as f64 / all.max(1) as f64;
        let left = elapsed.as_secs_f64() * (1.0 - part) / part.max(1e-3);
        let worst = progress.worst.load(Relaxed) as f64 * 1e9 / self.hertz.max(1) as f64;
        self.bar.set_length(all);
        self.bar.set_position(done);
        self.bar.set_prefix(format!("{} × {}", series.name(), thousands(series.loops)));
        self.bar.set_message(format!(
            "worst {}  left {} s",
            Nanos::new(worst as u64),
            left.ceil() as u64
        ));
    }
}

impl Drop for Bar<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn weight(series: &Series) -> u64 {
    if series.trigger == Some(Trigger::Signal) { SIGNAL_WEIGHT } else { 1 }
}
