//! The probe `ethercat`: round trips of frames through SubDevices, real or simulated.

use std::collections::BTreeMap;

use quietcore_probe::ethercat::Plan;
use quietcore_probe::ethercat::process::{Line, RoundTripsMeasured, RoundTripsPlan};
use quietcore_record::reason::{Reason, RunProblem};
use quietcore_record::record::check::self_check;
use quietcore_record::record::{Counters, Measured, Record, ReleaseMode, RoundTripRun};
use quietcore_site::{Interface, Partition, ProbeName, Site};
use quietcore_units::{CpuId, CpuSet, Nanos};

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

/// The interface that is none: the simulated segment in the measuring process.
pub const SIMULATED: &str = "sim";

/// The probe `ethercat`, with its checked request.
#[derive(Clone, Debug)]
pub struct Ethercat {
    /// The partition of its record.
    pub partition: String,
    /// The profile of its record.
    pub profile: String,
    /// The line, the cycles, and the thread that runs them.
    pub plan: RoundTripsPlan,
    /// `true` makes a record invalid if any of its cycles was lost or incomplete.
    pub must_be_complete: bool,
}

impl Probe for Ethercat {
    fn name(&self) -> &'static str {
        "ethercat"
    }

    fn pinned(&self) -> Vec<(&str, CpuSet)> {
        vec![(&self.partition, self.plan.cpu.into_iter().collect())]
    }

    fn profiles(&self, _: &[Record]) -> Vec<(String, String)> {
        vec![(self.profile.clone(), String::new())]
    }

    fn is_passed(&self, records: &[Record]) -> bool {
        let runs = records.iter().filter_map(Record::round_trip);
        runs.map(|run| run.lost.saturating_add(run.incomplete)).all(|failed| failed == 0)
    }

    fn measure(&mut self, context: &mut ProbeContext<'_>) -> Result<Vec<Record>, ProbeError> {
        let (measured, circumstances) =
            Circumstances::measure(context, &[], &self.plan, |_, _| {})?;
        Ok(vec![self.record(measured.outcome, &circumstances)])
    }
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
            plan: RoundTripsPlan {
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
            },
            must_be_complete: true,
        }
    }

    /// Makes the record of the round trips, which can be compared with the published table.
    fn record(&self, found: RoundTripsMeasured, circumstances: &Circumstances<'_>) -> Record {
        let RoundTripsMeasured { run, histogram, stopped, standing } = found;
        let RoundTripsPlan { interface, plan, cpu, .. } = &self.plan;
        let mode = plan.period.map_or_else(
            || "one cycle after the other at once".to_owned(),
            |period| format!("a cycle every {period}"),
        );
        let nothing = BTreeMap::new;
        let (partition, profile) = (&self.partition, &self.profile);
        let name = format!("{partition}.{profile}.{interface}");
        let problem = incomplete(&run).filter(|_| self.must_be_complete);
        let mode = ReleaseMode::not_timed(mode);
        let mut record = Record {
            reserved: cpu.is_some(),
            cpu: cpu.map(CpuId::get),
            period_ns: plan.period.map(Nanos::get),
            release: histogram,
            measured: Measured::RoundTrip(run),
            counters: Counters { planned_cycles: planned(plan), ..Counters::default() },
            conditions: circumstances.conditions(mode, &standing, nothing(), nothing()),
            interrupted: stopped,
            degraded: degraded(&standing),
            invalid_because: circumstances.invalid(&standing),
            ..Record::empty(name, "ethercat", partition, profile)
        };
        record.invalid_because.extend(self_check(&record, None));
        record.invalid_because.extend(problem.map(Reason::from));
        record
    }
}

/// Returns the cycles that tell nothing of the wire, as a problem; `None` if there was none.
fn incomplete(run: &RoundTripRun) -> Option<RunProblem> {
    let cycles = run.cycles;
    let counted = [(run.lost, "lost a frame"), (run.incomplete, "had a wrong working counter")];
    let counted = counted.iter().filter(|(count, _)| *count > 0);
    let problems = counted.map(|(count, what)| format!("{count} of {cycles} cycles {what}"));
    let problems: Vec<String> = problems.collect();
    (!problems.is_empty()).then_some(RunProblem::FieldbusIncomplete { problems })
}

/// The cycles that were asked for; 0 where a time was.
const fn planned(plan: &Plan) -> u64 {
    if plan.cycles == u64::MAX { 0 } else { plan.cycles }
}
