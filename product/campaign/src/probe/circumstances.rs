//! A measurement in a process of its own, and its circumstances: its conditions, and the reasons
//! why its numbers can't be trusted.

use std::collections::BTreeMap;
use std::time::Duration;

use quietcore_backend::measuring::{Measured, MeasuringProcess};
use quietcore_backend::setting::BackendSetting;
use quietcore_host::Source;
use quietcore_host::conditions::interrupts_on;
use quietcore_load::{Achieved, LoadRequest};
use quietcore_probe::measurement::{Measurement, MeasurementProgress};
use quietcore_process::thread::Standing;
use quietcore_record::reason::{NotReal, Reason, RunProblem};
use quietcore_record::record::{
    AffinityInForce, Conditions, Platform, PolicyInForce, ReleaseMode, ReservationInForce,
};
use quietcore_run::loads::Loads;
use quietcore_units::CpuSet;

use super::{ProbeContext, ProbeError};
use crate::collect::load_achieved;
use crate::measure::others::Others;
use crate::measure::{Machine, reservation_in_force};
use crate::observer::Observer;

/// The facts of a measurement beside its values.
pub(super) struct Circumstances<'a> {
    pub(super) machine: &'a Machine<'a>,
    pub(super) achieved: Vec<Achieved>,
    /// Time of the start, in RFC 3339.
    pub(super) started_at: String,
    pub(super) duration: Duration,
    /// The reservation of the process that measured; `None` where it could not be read back.
    pub(super) reservation: Option<ReservationInForce>,
    /// The setting of the process that measured, or of its guest.
    pub(super) setting: BackendSetting,
    /// The partitions of others that ran meanwhile.
    pub(super) others: Others,
}

impl<'a> Circumstances<'a> {
    /// Measures in a process of its own in the partition's room, beside loads that end with the
    /// measurement. `look` is shown the progress.
    pub(super) fn measure<M: Measurement>(
        context: &mut ProbeContext<'a>,
        loads: &[LoadRequest],
        plan: &M,
        mut look: impl FnMut(&mut dyn Observer, MeasurementProgress),
    ) -> Result<(Measured<M::Outcome>, Self), ProbeError> {
        let machine = context.machine;
        let mut loads = Loads::start(machine.runtime, loads, (None, CpuSet::EMPTY))?;
        let started_at = (machine.time_of_day)();
        let process = MeasuringProcess::start(machine.runtime, plan, &context.room)?;
        let reservation = reservation_in_force(process.partition());
        let own = [process.partition().process_id()];
        let mut others = Others::default();
        others.look_now(machine.world, &own);
        let measured = process.finish(context.stop, |progress| {
            others.look(machine.world, &own);
            look(&mut *context.observer, progress);
        })?;
        others.look_now(machine.world, &own);
        let achieved = loads.measure();
        loads.stop()?;
        let duration = Duration::from_nanos(measured.took.get());
        let setting = context.room.setting().clone();
        Ok((
            measured,
            Self { machine, achieved, started_at, duration, reservation, setting, others },
        ))
    }

    /// Returns the conditions. `machine` adds facts about the machine, `activity` what happened
    /// meanwhile.
    pub(super) fn conditions(
        &self,
        mode: ReleaseMode,
        standing: &Standing,
        machine: BTreeMap<String, String>,
        activity: BTreeMap<String, String>,
    ) -> Conditions {
        let state = standing.state.as_ref();
        let mut facts = self.machine.conditions.clone();
        facts.extend(machine);
        let mut activity = activity;
        if let Some(state) = state {
            activity.insert("memory_locked".to_owned(), state.locked.to_string());
        }
        Conditions {
            started_at: self.started_at.clone(),
            duration_ns: u64::try_from(self.duration.as_nanos()).unwrap_or(u64::MAX),
            mode,
            policy: PolicyInForce::read_back(state.map(|state| state.policy)),
            affinity: AffinityInForce::read_back(state.map(|state| state.affinity)),
            dma_latency_held: self.machine.dma_latency_held,
            time: self.machine.time.clone(),
            machine: facts,
            platform: Some(Box::new(self.platform(standing))),
            loads: self.achieved.iter().map(load_achieved).collect(),
            neighbours: Vec::new(),
            activity,
            site_sha256: String::new(),
            quietcore_version: env!("CARGO_PKG_VERSION").to_owned(),
            earlier_part: None,
            injection: None,
        }
    }

    /// Returns the machine's platform, with the interrupts that may arrive on the CPUs of the
    /// measuring thread and the reservation of its process.
    fn platform(&self, standing: &Standing) -> Platform {
        let source = Source::live();
        let cpus = standing.state.as_ref().map(|state| state.affinity);
        Platform {
            interrupts: cpus.and_then(|cpus| interrupts_on(&source, cpus)),
            reservation: self.reservation.clone(),
            ..self.machine.platform.clone()
        }
    }

    /// Lists the reasons why the numbers can't be trusted, beside what their own check finds.
    pub(super) fn invalid(&self, standing: &Standing) -> Vec<Reason> {
        let mut reasons: Vec<Reason> = Vec::new();
        if let Some(evidence) = self.machine.emulated {
            reasons.push(NotReal::Machine { evidence: evidence.to_owned() }.into());
        }
        match (&standing.state, &standing.drift) {
            (Some(first), Some(then)) => {
                let (first, then) = (first.clone().into(), then.clone().into());
                reasons.push(RunProblem::SettingsDrifted { first, then }.into());
            }
            // No thread of this kernel runs the processor then, and what does was asked before.
            (None, _) if !self.setting.declaration().is_run_by_kernel() => {}
            (None, _) => reasons.push(RunProblem::SettingsUnknown.into()),
            (Some(_), None) => {}
        }
        let pinned = standing.state.as_ref().map(|state| state.affinity);
        let shared = pinned.filter(|cpus| cpus.len() == 1).and_then(|cpus| self.others.on(&cpus));
        reasons.extend(shared.map(Reason::from));
        let weak = self.achieved.iter().filter(|load| !load.is_complete());
        reasons.extend(weak.map(|load| {
            let kind = load.kind.name().to_owned();
            RunProblem::LoadIncomplete { kind, problems: Vec::new() }.into()
        }));
        reasons
    }

    /// Lists the same for a run in a guest.
    pub(super) fn invalid_in_guest(&self, standing: &Standing) -> Vec<Reason> {
        let mut reasons = self.invalid(standing);
        let of_kernel = self.setting.declaration().is_run_by_kernel();
        let interpreted = self.machine.guests_interpreted.filter(|_| of_kernel);
        if let Some(interpreted) = self.setting.emulation().or(interpreted) {
            reasons.push(NotReal::Guests { interpreted: interpreted.to_owned() }.into());
        }
        reasons
    }
}

/// Returns the settings that were not in force, as reasons.
pub(super) fn degraded(standing: &Standing) -> Vec<Reason> {
    standing.degraded.iter().cloned().map(Reason::from).collect()
}
