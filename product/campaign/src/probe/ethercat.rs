//! The probe `ethercat`: round trips of frames through SubDevices, real or simulated, of a
//! MainDevice in a process or in a guest.

use std::collections::BTreeMap;

use quietcore_backend::setting::{BackendSetting, ProbeNeeds};
use quietcore_load::LoadRequest;
use quietcore_probe::ethercat::Plan;
use quietcore_probe::ethercat::process::{Line, RoundTripsMeasured, RoundTripsPlan};
use quietcore_probe::guest::ethercat::{self, GuestRoundTripsPlan};
use quietcore_record::reason::{Reason, RunProblem};
use quietcore_record::record::check::self_check;
use quietcore_record::record::{Counters, Measured, Record, ReleaseMode, RoundTripRun};
use quietcore_site::{Accelerator, Backend, Interface, ProgramForm};
use quietcore_units::{CpuId, CpuSet, Nanos, Scheduling};

use super::circumstances::{Circumstances, degraded};
use super::{Probe, ProbeContext, ProbeError, Probed, guest};
use crate::observer::Advance;

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
    /// The loads beside it.
    pub loads: Vec<LoadRequest>,
    /// `true` makes a record invalid if any of its cycles was lost or incomplete.
    pub must_be_complete: bool,
    /// The backend that the MainDevice runs in: a process, a container, or
    /// one with guests of our own
    /// kernel.
    pub backend: Backend,
    /// The way in which a guest's instructions are run, where the backend leaves a choice.
    pub accelerator: Accelerator,
}

impl Probe for Ethercat {
    fn name(&self) -> &'static str {
        "ethercat"
    }

    fn pinned(&self) -> Vec<(&str, CpuSet)> {
        vec![(&self.partition, self.plan.cpu.into_iter().collect())]
    }

    fn setting(&self) -> BackendSetting {
        let RoundTripsPlan { line, cpu, scheduling, .. } = &self.plan;
        let needs = ProbeNeeds {
            cpus: cpu.map(|cpu| CpuSet::from_iter([cpu])),
            is_real_time: scheduling.is_some_and(|it| it != Scheduling::Other),
            uses_network: matches!(line, Line::Interface { .. }),
            ..ProbeNeeds::default()
        };
        BackendSetting::of_measurement(self.backend, self.accelerator, needs)
    }

    fn profiles(&self, _: &[Record]) -> Vec<(String, String)> {
        vec![(self.profile.clone(), String::new())]
    }

    fn is_passed(&self, records: &[Record]) -> bool {
        let runs = records.iter().filter_map(Record::round_trip);
        runs.map(|run| run.lost.saturating_add(run.incomplete)).all(|failed| failed == 0)
    }

    fn measure(&mut self, context: &mut ProbeContext<'_>) -> Result<Vec<Record>, ProbeError> {
        match self.backend.declaration().program {
            ProgramForm::GuestImage => self.measure_in_guest(context),
            ProgramForm::Module | ProgramForm::Nothing => self.measure_in_process(context),
        }
    }
}

/// Facts of a record that follow from where it was measured: in a process, or in a guest.
#[derive(Default)]
struct Place {
    machine: BTreeMap<String, String>,
    activity: BTreeMap<String, String>,
    invalid_because: Vec<Reason>,
}

impl Ethercat {
    /// Makes the probe of a site's partition: the SubDevices of the fieldbus that it drives, and a
    /// cycle in each of its cycles.
    pub(super) fn of_partition(probed: &Probed<'_>) -> Self {
        let Probed { partition, site, backend, length, loads, .. } = *probed;
        let bus = site.fieldbuses().iter().find(|bus| bus.partition == partition.name);
        let period = bus.map_or(partition.program.period, |bus| bus.cycle);
        let cycles = length.whole_times(period);
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
            loads: loads.to_vec(),
            must_be_complete: true,
            backend,
            accelerator: partition.accelerator,
        }
    }

    fn measure_in_process(
        &self,
        context: &mut ProbeContext<'_>,
    ) -> Result<Vec<Record>, ProbeError> {
        let (measured, circumstances) =
            Circumstances::measure(context, &self.loads, &self.plan, |_, _| {})?;
        let found = measured.outcome;
        let invalid_because = circumstances.invalid(&found.standing);
        let place = Place { invalid_because, ..Place::default() };
        Ok(vec![self.record(found, &circumstances, place)])
    }

    fn measure_in_guest(&self, context: &mut ProbeContext<'_>) -> Result<Vec<Record>, ProbeError> {
        let plan = GuestRoundTripsPlan(self.plan.clone());
        let all = planned(&self.plan.plan);
        let (measured, circumstances) =
            Circumstances::measure(context, &self.loads, &plan, |observer, progress| {
                if all > 0 {
                    let (done, worst) = (progress.done, Some(progress.worst));
                    let (part, unit) = ("round trips", "cycles");
                    observer.advance(&Advance { part, done, all, unit, what: "", worst });
                }
            })?;
        let facts = measured.outcome;
        let found = ethercat::read(&self.plan, &measured.exchange.region(), &facts)?;
        let place = Place {
            machine: guest::machine(&facts, self.backend),
            activity: guest::activity(&facts, self.backend),
            invalid_because: circumstances.invalid_in_guest(&found.standing),
        };
        Ok(vec![self.record(found, &circumstances, place)])
    }

    /// Makes the record of the round trips, which can be compared with the published table.
    fn record(
        &self,
        found: RoundTripsMeasured,
        circumstances: &Circumstances<'_>,
        place: Place,
    ) -> Record {
        let RoundTripsMeasured { run, histogram, stopped, standing } = found;
        let RoundTripsPlan { interface, plan, cpu, .. } = &self.plan;
        let Place { machine, activity, invalid_because } = place;
        let mode = plan.period.map_or_else(
            || "one cycle after the other at once".to_owned(),
            |period| format!("a cycle every {period}"),
        );
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
            conditions: circumstances.conditions(mode, &standing, machine, activity),
            interrupted: stopped,
            degraded: degraded(&standing),
            invalid_because,
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
