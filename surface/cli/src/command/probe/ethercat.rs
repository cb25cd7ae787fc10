//! `quietcore probe ethercat`

use quietcore_campaign::probe::Probe as _;
use quietcore_campaign::probe::ethercat::{
    Ethercat as Probe, PARTITION, PROFILE, SIMULATED, WARM_UP_CYCLES,
};
use quietcore_probe::ethercat::Plan;
use quietcore_probe::ethercat::process::{Line, RoundTripsPlan};
use quietcore_record::histogram::Quantile;
use quietcore_record::published;
use quietcore_record::record::{Measured, Record};
use quietcore_report::comparison;
use quietcore_site::{Backend, Machine};
use quietcore_units::{CpuId, Nanos, Scheduling};
use serde::Serialize;

use super::super::segment;
use super::backend::accelerator_of;
use super::by_hand;
use crate::arguments::Ethercat;
use crate::status::{Failure, Status};
use crate::{finish, machine, terminal};

/// The published table of the same quantity.
const TABLE: &str = "scordino2020/table-1";

pub(super) fn run(request: &Ethercat) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let facts = machine::read_facts(&stop)?;
    let mut probe = wanted(request, &facts.machine())?;
    let evidence = by_hand(&mut probe, &facts, &stop, request.out.as_deref())?;
    for because in evidence.records.iter().flat_map(|record| &record.degraded) {
        terminal::say(format_args!("remark: {because}"));
    }
    let document = evidence.records.first().and_then(Document::of);
    let document = document.ok_or_else(|| Failure::new("quietcore: there is no record"))?;
    if request.json {
        super::super::print_json(&document)?;
    } else {
        super::super::show::print_evidence(&evidence, false)?;
        let table = published::find(TABLE)?;
        if let Ok(beside) = finish::beside(&evidence.records, table) {
            super::super::print(&comparison::beside(&beside, terminal::width()))?;
        }
    }
    Ok(Status::of(probe.is_passed(&evidence.records)))
}

fn wanted(request: &Ethercat, machine: &Machine) -> Result<Probe, Failure> {
    let mut problems = Vec::new();
    let backend = request.backend;
    let accelerator = accelerator_of(backend, request.accelerator, machine, &mut problems);
    if !backend.declaration().drives_fieldbus {
        let driving = Backend::words_where(|it| it.measures_routines && it.drives_fieldbus);
        problems.push(format!(
            "--backend {backend}: its guests have no network, so that no MainDevice in them has \
             SubDevices; choose {}",
            driving.join(", ")
        ));
    }
    let plan = plan(request, machine, problems)?;
    let line = if request.interface == SIMULATED {
        Line::Simulated(segment::names(request.subdevices.as_deref())?)
    } else {
        Line::Interface { name: request.interface.clone(), spin: request.spin }
    };
    Ok(Probe {
        partition: PARTITION.to_owned(),
        profile: PROFILE.to_owned(),
        plan: RoundTripsPlan {
            line,
            interface: request.interface.clone(),
            plan,
            cpu: request.cpu.and_then(CpuId::new),
            scheduling: request.priority.map(Scheduling::fifo),
        },
        loads: Vec::new(),
        must_be_complete: false,
        backend,
        accelerator,
    })
}

/// Returns the plan of the request; all problems of the request become one failure, with those that
/// were found before.
fn plan(request: &Ethercat, machine: &Machine, mut problems: Vec<String>) -> Result<Plan, Failure> {
    if let Some(cpu) = request.cpu {
        super::cpu("--cpu", cpu, machine, &mut problems);
    }
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

/// The document that `--json` prints.
#[derive(Debug, Serialize)]
struct Document {
    schema: &'static str,
    interface: String,
    subdevices: u64,
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
    /// Returns `None` if the record holds no EtherCAT cycles.
    fn of(record: &Record) -> Option<Self> {
        let Measured::RoundTrip(run) = &record.measured else { return None };
        let histogram = &record.release;
        let quantile = |part| histogram.quantile(part).and_then(Quantile::exact);
        Some(Self {
            schema: "quietcore.ethercat/1",
            interface: run.interface.clone(),
            subdevices: run.subdevices,
            cycles: run.cycles,
            lost: run.lost,
            incomplete: run.incomplete,
            min_ns: histogram.min_ns(),
            p50_ns: quantile(0.5),
            p99_ns: quantile(0.99),
            max_ns: histogram.max_ns(),
            mean_cycles_per_second: run.mean_cycles_per_second,
            sustained_cycles_per_second: run.sustained_cycles_per_second,
        })
    }
}
