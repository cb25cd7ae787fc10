//! `quietcore probe ethercat`

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Instant;

use quietcore_clock::Monotonic;
use quietcore_evidence::Writer;
use quietcore_maindevice::{Expectation, Fieldbus};
use quietcore_probe::ethercat::{Plan, RoundTrips, measure};
use quietcore_probe::thread::{Place, Standing, prepare};
use quietcore_process::setting::Policy;
use quietcore_record::histogram::Quantile;
use quietcore_record::published;
use quietcore_record::record::check::self_check;
use quietcore_record::record::{Counters, RECORD_SCHEMA, Record, RoundTripRun, Timeline};
use quietcore_report::comparison;
use quietcore_units::{CpuId, Nanos};
use quietcore_wire::{PacketWire, SegmentWire, Wire};
use serde::Serialize;

use super::super::plan::shared;
use super::super::segment;
use super::circumstances::{Circumstances, degraded};
use super::{EXCEEDANCE, Identity, keep};
use crate::arguments::Ethercat;
use crate::status::{Failure, Status};
use crate::terminal::{self, say};
use crate::{finish, machine};

/// The partition of its records.
const PARTITION: &str = "ethercat";
/// The profile of its records.
const PROFILE: &str = "by-hand";

/// The interface that is none: the simulated segment in this process.
const SIMULATED: &str = "sim";
/// The published table of the same quantity.
const TABLE: &str = "scordino2020/table-1";
/// Cycles before the first that counts.
const WARM_UP_CYCLES: u64 = 1_000;
/// The cycle with which the SubDevices are brought up, where none is asked for.
const BRING_UP_CYCLE: Nanos = Nanos::from_millis(1);

pub(super) fn run(request: &Ethercat) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let facts = machine::read_facts(&stop)?;
    let plan = plan(request)?;
    let is_simulated = request.interface == SIMULATED;
    let names = is_simulated.then(|| segment::names(request.subdevices.as_deref())).transpose()?;
    shared::remark_cpus(PARTITION, request.cpu.and_then(CpuId::new));
    let writer = request.out.as_deref().map(Writer::create).transpose()?;
    let awake = machine::hold_awake();
    let (started_at, begin) = (machine::time_of_day(), Instant::now());
    let stop = || stop.load(Ordering::Relaxed);
    let found = if let Some(names) = names {
        probe(request, &plan, || Ok(SegmentWire::new(segment::simulated(&names)?)), stop)?
    } else {
        let wire = || Ok(PacketWire::open(&request.interface)?.with_spin(request.spin));
        probe(request, &plan, wire, stop)?
    };
    let circumstances = Circumstances {
        facts: &facts,
        achieved: &[],
        started_at,
        duration: begin.elapsed(),
        dma_latency_held: awake.is_some(),
    };
    let record = record(request, &plan, &found, &circumstances);
    let measured = &found.measured;
    let document = Document::new(request, found.subdevices, measured);
    let evidence = keep(writer.as_ref(), &facts, vec![record], &identity())?;
    if request.json {
        super::super::print_json(&document)?;
    } else {
        super::super::show::print_evidence(&evidence, false)?;
        let table = published::find(TABLE)?;
        if let Ok(beside) = finish::beside(&evidence.records, table) {
            super::super::print(&comparison::beside(&beside, terminal::width()))?;
        }
    }
    Ok(if measured.lost + measured.incomplete == 0 { Status::Done } else { Status::NotPassed })
}

fn identity() -> Identity<'static> {
    Identity {
        name: "probe ethercat",
        site_sha256: "",
        // A round trip is no release: no class says anything about it.
        classes: &[],
        exceedance: EXCEEDANCE,
        declared: BTreeMap::new(),
        profiles: vec![(PROFILE.to_owned(), String::new())],
        limits: Vec::new(),
    }
}

/// Makes the plan from the request; everything wrong with it becomes one failure.
fn plan(request: &Ethercat) -> Result<Plan, Failure> {
    let mut problems = Vec::new();
    let zero = |duration: Option<Nanos>| duration == Some(Nanos::ZERO);
    if zero(request.period) || zero(request.duration) {
        problems.push("--period, --duration: 0 is no time; give more".to_owned());
    }
    let cycles = match (request.duration, request.period) {
        _ if !problems.is_empty() => 0,
        (Some(duration), Some(period)) => duration.whole_times(period),
        // As many as there are within that time.
        (Some(_), None) => u64::MAX,
        (None, _) => request.cycles,
    };
    if problems.is_empty() && cycles == 0 {
        problems.push("--duration: it is shorter than the period; give more".to_owned());
    }
    if !problems.is_empty() {
        return Err(Failure::new(problems.join("\n")));
    }
    Ok(Plan {
        cycles,
        warm_up_cycles: WARM_UP_CYCLES,
        period: request.period,
        timeout: request.timeout,
        // With a period, the cycles take that time.
        limit: request.duration.filter(|_| request.period.is_none()),
    })
}

/// The SubDevices that came up, and what was measured.
struct Found {
    subdevices: usize,
    measured: RoundTrips,
    standing: Standing,
}

/// Brings the SubDevices up and measures.
fn probe<W: Wire>(
    request: &Ethercat,
    plan: &Plan,
    wire: impl FnOnce() -> Result<W, Failure>,
    stop: impl FnMut() -> bool,
) -> Result<Found, Failure> {
    let wire = wire()?;
    segment::pin(request.cpu)?;
    let expectation = Expectation::anything(request.period.unwrap_or(BRING_UP_CYCLE));
    let mut fieldbus = Fieldbus::bring_up(wire, &expectation)?;
    let standing = match request.priority {
        Some(priority) => {
            prepare(Place { cpu: request.cpu.and_then(CpuId::new), policy: Policy::Fifo(priority) })
        }
        None => Standing::of_this_thread(),
    };
    for because in &standing.degraded {
        say(format_args!("remark: {because}"));
    }
    let measured = measure(&mut fieldbus, &Monotonic, plan, stop);
    Ok(Found { subdevices: fieldbus.subdevices().len(), measured, standing })
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Document {
    schema: &'static str,
    interface: String,
    subdevices: usize,
    cycles: u64,
    lost: u64,
    incomplete: u64,
    min_ns: u64,
    p50_ns: Option<u64>,
    p99_ns: Option<u64>,
    max_ns: u64,
    mean_cycles_per_second: f64,
    sustained_cycles_per_second: Option<f64>,
}

impl Document {
    fn new(request: &Ethercat, subdevices: usize, measured: &RoundTrips) -> Self {
        let quantile = |part| measured.histogram.quantile(part).and_then(Quantile::exact);
        Self {
            schema: "quietcore.ethercat/1",
            interface: request.interface.clone(),
            subdevices,
            cycles: measured.cycles,
            lost: measured.lost,
            incomplete: measured.incomplete,
            min_ns: measured.histogram.min_ns(),
            p50_ns: quantile(0.5),
            p99_ns: quantile(0.99),
            max_ns: measured.histogram.max_ns(),
            mean_cycles_per_second: measured.mean_rate(),
            sustained_cycles_per_second: measured.sustained_rate(),
        }
    }
}

/// The round trips as a record, to be kept, and to stand beside the published table.
fn record(
    request: &Ethercat,
    plan: &Plan,
    found: &Found,
    circumstances: &Circumstances<'_>,
) -> Record {
    let measured = &found.measured;
    let mode = request.period.map_or_else(
        || "one cycle after the other at once".to_owned(),
        |period| format!("a cycle every {period}"),
    );
    let standing = &found.standing;
    let nothing = BTreeMap::new;
    let mut record = Record {
        schema: RECORD_SCHEMA.to_owned(),
        name: format!("{PARTITION}.{PROFILE}.{}", request.interface),
        probe: "ethercat".to_owned(),
        partition: PARTITION.to_owned(),
        profile: PROFILE.to_owned(),
        reserved: request.cpu.is_some(),
        cpu: request.cpu,
        period_ns: request.period.map(Nanos::get),
        release: measured.histogram.clone(),
        wakeup: None,
        scan: None,
        routine: None,
        interrupt: None,
        memory: None,
        trial: None,
        round_trip: Some(RoundTripRun {
            interface: request.interface.clone(),
            subdevices: found.subdevices as u64,
            cycles: measured.cycles,
            lost: measured.lost,
            incomplete: measured.incomplete,
            mean_cycles_per_second: measured.mean_rate(),
            sustained_cycles_per_second: measured.sustained_rate(),
            first_alarm: measured.first_alarm.map(|alarm| alarm.to_string()),
        }),
        counters: Counters { planned_cycles: planned(plan), ..Counters::default() },
        spikes: Vec::new(),
        ledgers: None,
        timeline: Timeline::default(),
        conditions: circumstances.conditions(mode, standing, nothing(), nothing()),
        interrupted: measured.stopped,
        degraded: degraded(standing),
        invalid_because: circumstances.invalid(standing),
    };
    record.invalid_because.extend(self_check(&record, None));
    record
}

/// The cycles that were asked for; 0 where a time was.
const fn planned(plan: &Plan) -> u64 {
    if plan.cycles == u64::MAX { 0 } else { plan.cycles }
}
