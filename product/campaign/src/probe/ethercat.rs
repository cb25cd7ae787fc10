//! The probe `ethercat`: round trips of frames through SubDevices, real or simulated.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};

use quietcore_clock::Monotonic;
use quietcore_maindevice::{Expectation, Fieldbus};
use quietcore_probe::ethercat::{Plan, RoundTrips, measure};
use quietcore_process::setting;
use quietcore_process::thread::{Standing, prepare};
use quietcore_record::reason::{Reason, RunProblem};
use quietcore_record::record::check::self_check;
use quietcore_record::record::{Counters, Measured, Record, ReleaseMode, RoundTripRun};
use quietcore_segment::{Options, Segment, SubDevice, UnknownDevice};
use quietcore_site::{Interface, Partition, ProbeName, Site};
use quietcore_units::{CpuId, CpuSet, Nanos, Scheduling, ThreadRequest};
use quietcore_wire::{PacketWire, SegmentWire, Wire};

use super::circumstances::{Circumstances, degraded};
use super::{Probe, ProbeContext, ProbeError};

/// The partition of records of a measurement by hand.
pub const PARTITION: &str = "ethercat";
/// The profile of records of a measurement by hand.
pub const PROFILE: &str = "by-hand";
/// Cycles before the first that counts, by hand.
pub const WARM_UP_CYCLES: u64 = 1_000;
/// The time for which a cycle of a campaign waits for its frames.
const TIMEOUT: Nanos = Nanos::from_millis(10);
/// The cycle with which the SubDevices are brought up, where none is asked for.
const BRING_UP_CYCLE: Nanos = Nanos::from_millis(1);

/// The interface that is none: the simulated segment in this process.
pub const SIMULATED: &str = "sim";

/// The place of the SubDevices: simulated, or behind an interface.
#[derive(Clone, Debug)]
pub enum Line {
    /// In this process, simulated, by the names of the SubDevices.
    Simulated(Vec<String>),
    /// On a network interface. The thread polls it for `spin` before it sleeps.
    Interface {
        /// Name of the interface, as the kernel has it.
        name: String,
        /// Time of polling for a frame.
        spin: Nanos,
    },
}

/// The probe `ethercat`, with its checked request.
#[derive(Clone, Debug)]
pub struct Ethercat {
    /// The partition of its record.
    pub partition: String,
    /// The profile of its record.
    pub profile: String,
    /// The place of the SubDevices: simulated, or behind an interface.
    pub line: Line,
    /// Name of the interface in the records.
    pub interface: String,
    /// Number of cycles, and how they are run.
    pub plan: Plan,
    /// The CPU that the thread is pinned to; `None` lets it move.
    pub cpu: Option<CpuId>,
    /// Policy and priority of the thread; `None` leaves them as they are.
    pub scheduling: Option<Scheduling>,
    /// `true` makes a record invalid if any of its cycles was lost or incomplete.
    pub must_be_complete: bool,
}

/// Returns a simulated segment of SubDevices with these names.
///
/// # Errors
/// Returns [`UnknownDevice`] for a name that is unknown.
pub fn simulated(names: &[String]) -> Result<Segment, UnknownDevice> {
    let subdevices = names.iter().map(|name| SubDevice::by_name(name)).collect::<Result<_, _>>()?;
    Ok(Segment::new(subdevices, Options::default()))
}

impl Probe for Ethercat {
    fn name(&self) -> &'static str {
        "ethercat"
    }

    fn pinned(&self) -> Vec<(&str, CpuSet)> {
        vec![(&self.partition, self.cpu.into_iter().collect())]
    }

    fn profiles(&self, _: &[Record]) -> Vec<(String, String)> {
        vec![(self.profile.clone(), String::new())]
    }

    fn is_passed(&self, records: &[Record]) -> bool {
        let runs = records.iter().filter_map(Record::round_trip);
        runs.map(|run| run.lost.saturating_add(run.incomplete)).all(|failed| failed == 0)
    }

    fn measure(&mut self, context: &mut ProbeContext<'_>) -> Result<Vec<Record>, ProbeError> {
        context.require_shared_cpus()?;
        let stop = context.stop;
        let by_line = || match &self.line {
            Line::Simulated(names) => self.over(SegmentWire::new(simulated(names)?), stop),
            Line::Interface { name, spin } => {
                self.over(PacketWire::open(name)?.with_spin(*spin), stop)
            }
        };
        // A thread of its own, whose CPU and priority end with it.
        let measure = || thread::scope(|scope| joined(scope.spawn(by_line)));
        let (measured, circumstances) = Circumstances::beside(context.machine, &[], measure)?;
        Ok(vec![self.record(&measured, &circumstances)])
    }
}

/// The number of SubDevices that came up, their round trips, and the settings in force.
struct MeasuredSegment {
    subdevices: usize,
    measured: RoundTrips,
    standing: Standing,
}

impl Ethercat {
    /// Makes the probe of a site's partition in its campaign: the SubDevices of the fieldbus that
    /// it drives, a cycle in each of its cycles.
    pub(super) fn of_partition(partition: &Partition, site: &Site) -> Self {
        let bus = site.fieldbuses().iter().find(|bus| bus.partition == partition.name);
        let period = bus.map_or(partition.program.period, |bus| bus.cycle);
        let cycles = site.campaign().length_of(ProbeName::Ethercat, partition).whole_times(period);
        let (line, interface) = match bus.map(|bus| &bus.interface) {
            Some(Interface::Network(name)) => {
                (Line::Interface { name: name.clone(), spin: Nanos::ZERO }, name.clone())
            }
            _ => {
                let devices = bus.into_iter().flat_map(|bus| &bus.subdevices);
                let devices = devices.filter_map(|it| it.device).map(|it| it.name().to_owned());
                (Line::Simulated(devices.collect()), SIMULATED.to_owned())
            }
        };
        Self {
            partition: partition.name.clone(),
            profile: bus.map_or_else(String::new, |bus| format!("fieldbus-{}", bus.name)),
            line,
            interface,
            plan: Plan {
                cycles: cycles.max(1),
                warm_up_cycles: site.campaign().warm_up.whole_times(period),
                period: Some(period),
                timeout: TIMEOUT,
                limit: None,
            },
            cpu: partition.first_cpu(),
            scheduling: Some(partition.measuring_thread().scheduling),
            must_be_complete: true,
        }
    }

    /// Brings the SubDevices up and measures.
    fn over<W: Wire>(&self, wire: W, stop: &AtomicBool) -> Result<MeasuredSegment, ProbeError> {
        if let Some(cpu) = self.cpu {
            setting::pin(cpu).map_err(|error| ProbeError::Pin { cpu: cpu.get(), error })?;
        }
        let expectation = Expectation::anything(self.plan.period.unwrap_or(BRING_UP_CYCLE));
        let mut fieldbus = Fieldbus::bring_up(wire, &expectation)?;
        let standing = match self.scheduling {
            Some(scheduling) => prepare(&ThreadRequest::measuring(scheduling, self.cpu)).standing(),
            None => Standing::of_this_thread(),
        };
        let stop = || stop.load(Ordering::Relaxed);
        let measured = measure(&mut fieldbus, &Monotonic, &self.plan, stop);
        Ok(MeasuredSegment { subdevices: fieldbus.subdevices().len(), measured, standing })
    }

    /// Makes the record of the round trips, which can be compared with the published table.
    fn record(&self, found: &MeasuredSegment, circumstances: &Circumstances<'_>) -> Record {
        let (measured, standing) = (&found.measured, &found.standing);
        let mode = self.plan.period.map_or_else(
            || "one cycle after the other at once".to_owned(),
            |period| format!("a cycle every {period}"),
        );
        let nothing = BTreeMap::new;
        let (partition, profile) = (&self.partition, &self.profile);
        let name = format!("{partition}.{profile}.{}", self.interface);
        let mut record = Record {
            reserved: self.cpu.is_some(),
            cpu: self.cpu.map(CpuId::get),
            period_ns: self.plan.period.map(Nanos::get),
            release: measured.histogram.clone(),
            measured: Measured::RoundTrip(RoundTripRun {
                interface: self.interface.clone(),
                subdevices: found.subdevices as u64,
                cycles: measured.cycles,
                lost: measured.lost,
                incomplete: measured.incomplete,
                mean_cycles_per_second: measured.mean_rate(),
                sustained_cycles_per_second: measured.sustained_rate(),
                first_alarm: measured.first_alarm.map(|alarm| alarm.to_string()),
            }),
            counters: Counters { planned_cycles: planned(&self.plan), ..Counters::default() },
            conditions: circumstances.conditions(
                ReleaseMode::not_timed(mode),
                standing,
                nothing(),
                nothing(),
            ),
            interrupted: measured.stopped,
            degraded: degraded(standing),
            invalid_because: circumstances.invalid(standing),
            ..Record::empty(name, "ethercat", partition, profile)
        };
        record.invalid_because.extend(self_check(&record, None));
        if self.must_be_complete {
            record.invalid_because.extend(incomplete(measured).map(Reason::from));
        }
        record
    }
}

/// Returns the cycles that tell nothing of the wire, as a problem; `None` if there was none.
fn incomplete(measured: &RoundTrips) -> Option<RunProblem> {
    let cycles = measured.cycles;
    let counted =
        [(measured.lost, "lost a frame"), (measured.incomplete, "had a wrong working counter")];
    let counted = counted.iter().filter(|(count, _)| *count > 0);
    let problems = counted.map(|(count, what)| format!("{count} of {cycles} cycles {what}"));
    let problems: Vec<String> = problems.collect();
    (!problems.is_empty()).then_some(RunProblem::FieldbusIncomplete { problems })
}

/// Waits for a measurement, and panics as it did if it panicked.
fn joined<T>(measuring: ScopedJoinHandle<'_, T>) -> T {
    measuring.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The cycles that were asked for; 0 where a time was.
const fn planned(plan: &Plan) -> u64 {
    if plan.cycles == u64::MAX { 0 } else { plan.cycles }
}
