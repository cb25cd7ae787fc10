//! `quietcore probe ethercat`

use std::fmt::Write as _;
use std::sync::atomic::Ordering;

use quietcore_clock::Monotonic;
use quietcore_maindevice::{Expectation, Fieldbus};
use quietcore_probe::ethercat::{Plan, RoundTrips, WINDOW_CYCLES, measure};
use quietcore_process::setting::{self, Policy};
use quietcore_record::histogram::{Histogram, Quantile};
use quietcore_record::record::{Conditions, Counters, RECORD_SCHEMA, Record, Timeline};
use quietcore_record::{compare, published};
use quietcore_report::comparison;
use quietcore_units::Nanos;
use quietcore_wire::{PacketWire, SegmentWire, Wire};
use serde::Serialize;

use super::super::segment;
use crate::arguments::Ethercat;
use crate::machine;
use crate::status::{Failure, Status};
use crate::terminal::say;

/// The interface that is none: the simulated segment in this process.
const SIMULATED: &str = "sim";
/// The published table of the same quantity.
const TABLE: &str = "001/table-1";
/// Cycles before the first that counts.
const WARM_UP_CYCLES: u64 = 1_000;
/// The cycle with which the SubDevices are brought up, where none is asked for.
const BRING_UP_CYCLE: Nanos = Nanos::from_millis(1);

pub(super) fn run(request: &Ethercat) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let stop = || stop.load(Ordering::Relaxed);
    let (subdevices, measured) = if request.interface == SIMULATED {
        let names = segment::names(request.subdevices.as_deref())?;
        segment::pin(request.cpu)?;
        probe(request, SegmentWire::new(segment::simulated(&names)?), stop)?
    } else {
        let wire = PacketWire::open(&request.interface)?.with_spin(request.spin);
        segment::pin(request.cpu)?;
        probe(request, wire, stop)?
    };
    let document = Document::new(request, subdevices, &measured);
    if request.json {
        super::super::print_json(&document)?;
    } else {
        super::super::print(&document.text(&measured))?;
        let table = published::find(TABLE)?;
        let first = record(request, &measured);
        super::super::print(&comparison::beside(&compare::with_table(&[first], table)?))?;
    }
    Ok(if measured.lost + measured.incomplete == 0 { Status::Done } else { Status::NotPassed })
}

/// Brings the SubDevices up and measures; returns how many there are, too.
fn probe(
    request: &Ethercat,
    wire: impl Wire,
    stop: impl FnMut() -> bool,
) -> Result<(usize, RoundTrips), Failure> {
    let expectation = Expectation::anything(request.period.unwrap_or(BRING_UP_CYCLE));
    let mut fieldbus = Fieldbus::bring_up(wire, &expectation)?;
    if let Some(priority) = request.priority {
        setting::schedule(Policy::Fifo(priority)).map_err(|error| {
            Failure::new(format!("--priority {priority}: {error}; run as root"))
        })?;
    }
    if let Err(error) = setting::lock_memory() {
        say(format_args!("remark: memory is not locked: {error}"));
    }
    let plan = Plan {
        cycles: request.cycles,
        warm_up_cycles: WARM_UP_CYCLES,
        period: request.period,
        timeout: request.timeout,
    };
    let measured = measure(&mut fieldbus, &Monotonic, &plan, stop);
    Ok((fieldbus.subdevices().len(), measured))
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

    fn text(&self, measured: &RoundTrips) -> String {
        let mut text = String::new();
        let time = |value: Option<u64>| {
            value.map_or_else(|| "–".to_owned(), |value| Nanos::new(value).to_string())
        };
        let lines = [
            format!(
                "Round trip of {} cycles, {} SubDevices on {}",
                self.cycles, self.subdevices, self.interface
            ),
            format!(
                "  min {}   p50 {}   p99 {}   max {}",
                time(Some(self.min_ns)),
                time(self.p50_ns),
                time(self.p99_ns),
                time(Some(self.max_ns))
            ),
            match self.sustained_cycles_per_second {
                Some(rate) => format!(
                    "  sustained {rate:.0} cycles/s in the slowest {WINDOW_CYCLES}, mean {:.0}",
                    self.mean_cycles_per_second
                ),
                None => format!("  mean {:.0} cycles/s", self.mean_cycles_per_second),
            },
            format!("  {} lost a frame, {} had a wrong counter", self.lost, self.incomplete),
        ];
        for line in lines {
            writeln!(text, "{line}").expect("writing to a string cannot fail");
        }
        if let Some(alarm) = &measured.first_alarm {
            writeln!(text, "  first alarm: {alarm}").expect("writing to a string cannot fail");
        }
        text.push('\n');
        text
    }
}

/// The round trips as a record, to stand beside the published table.
fn record(request: &Ethercat, measured: &RoundTrips) -> Record {
    let histogram: Histogram = measured.histogram.clone();
    Record {
        schema: RECORD_SCHEMA.to_owned(),
        name: format!("ethercat.{}", request.interface),
        probe: "ethercat".to_owned(),
        partition: "probe".to_owned(),
        profile: "by hand".to_owned(),
        reserved: false,
        cpu: request.cpu,
        period_ns: request.period.map(Nanos::get),
        release: histogram,
        wakeup: None,
        scan: None,
        routine: None,
        interrupt: None,
        memory: None,
        trial: None,
        counters: Counters { planned_cycles: request.cycles, ..Counters::default() },
        spikes: Vec::new(),
        ledgers: None,
        timeline: Timeline::default(),
        conditions: Conditions::default(),
        interrupted: measured.cycles < request.cycles,
        degraded: Vec::new(),
        invalid_because: Vec::new(),
    }
}
