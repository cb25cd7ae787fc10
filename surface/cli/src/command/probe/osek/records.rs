//! From what was measured to records, one a series.

use std::time::Duration;

use quietcore_host::Facts;
use quietcore_load::Achieved;
use quietcore_probe::osek::{ClockUsed, Measured, Place, Plan, Sample, Series, Standing};
use quietcore_process::readback::ThreadState;
use quietcore_record::record::check::self_check;
use quietcore_record::record::{
    Conditions, Counters, LoadAchieved, RECORD_SCHEMA, Record, RoutineRun, Timeline,
};
use quietcore_units::CpuId;

use super::profile;
use crate::machine;

/// The partition of the records: the port that the kernel runs on.
const PARTITION: &str = "hosted";
/// Where the conditions say which clock the routines were measured with.
const CLOCK: &str = "clock_of_routines";

/// What is known of a run beside its samples.
pub(super) struct Run<'a> {
    pub(super) plan: &'a Plan,
    pub(super) place: Place,
    pub(super) clock: ClockUsed,
    pub(super) facts: &'a Facts,
    pub(super) achieved: &'a [Achieved],
    /// RFC 3339.
    pub(super) started_at: String,
    pub(super) duration: Duration,
    pub(super) dma_latency_held: bool,
}

impl Run<'_> {
    /// A record for each series that was begun.
    pub(super) fn records(&self, measured: Measured) -> Vec<Record> {
        let Measured { samples, stopped, standing } = measured;
        let begun = samples.len();
        let (conditions, invalid) = (self.conditions(&standing), self.invalid(&standing));
        let series = self.plan.series.iter().zip(samples);
        series
            .enumerate()
            .map(|(index, (series, sample))| {
                let mut record = self.record(series, sample);
                // Those behind it are missing, whether or not it came to its own end.
                record.interrupted |= stopped && index + 1 == begun;
                record.conditions = conditions.clone();
                record.degraded.clone_from(&standing.degraded);
                record.invalid_because.clone_from(&invalid);
                let wrong = self_check(&record, None);
                record.invalid_because.extend(wrong);
                record
            })
            .collect()
    }

    fn record(&self, series: &Series, sample: Sample) -> Record {
        let profile = profile(series.loops);
        Record {
            schema: RECORD_SCHEMA.to_owned(),
            name: format!("{PARTITION}.{profile}.{}", series.name()),
            probe: "osek".to_owned(),
            partition: PARTITION.to_owned(),
            profile,
            reserved: self.place.cpu.is_some(),
            cpu: self.place.cpu.map(CpuId::get),
            period_ns: None,
            interrupted: sample.raw.count() < series.loops,
            release: sample.net_ns,
            wakeup: None,
            scan: None,
            routine: Some(RoutineRun {
                routine: series.routine,
                trigger: series.trigger,
                kernel: self.plan.variant.words(),
                hertz: self.clock.hertz(),
                offset: sample.offset.median,
                offset_mean: sample.offset.mean,
                clamped: sample.clamped,
                raw: sample.raw,
            }),
            counters: Counters { planned_cycles: series.loops, ..Counters::default() },
            spikes: Vec::new(),
            timeline: Timeline::default(),
            conditions: Conditions::default(),
            degraded: Vec::new(),
            invalid_because: Vec::new(),
        }
    }

    fn conditions(&self, standing: &Standing) -> Conditions {
        let state = standing.state.as_ref();
        let unknown = || "not read back".to_owned();
        let mut machine = self.facts.conditions_summary();
        machine.insert(CLOCK.to_owned(), self.clock.words());
        let locked = state.map(|state| ("memory_locked".to_owned(), state.locked.to_string()));
        Conditions {
            started_at: self.started_at.clone(),
            duration_ns: u64::try_from(self.duration.as_nanos()).unwrap_or(u64::MAX),
            mode: self.plan.variant.words(),
            policy: state.map_or_else(unknown, ThreadState::policy_text),
            affinity: state.map_or_else(unknown, |state| state.affinity.to_string()),
            dma_latency_held: self.dma_latency_held,
            machine,
            loads: self.achieved.iter().map(load_achieved).collect(),
            activity: locked.into_iter().collect(),
            site_sha256: String::new(),
            quietcore_version: env!("CARGO_PKG_VERSION").to_owned(),
            injected: None,
        }
    }

    /// Why the numbers can't be trusted, beside what their own check finds.
    fn invalid(&self, standing: &Standing) -> Vec<String> {
        let mut because = Vec::new();
        if let Some(emulated) = machine::emulated(self.facts) {
            because.push(format!("timing not valid: this machine's time is emulated ({emulated})"));
        }
        match (&standing.state, &standing.drift) {
            (Some(first), Some(drift)) => because.push(format!(
                "the settings drifted during the run: {} became {drift}",
                first.policy_text()
            )),
            (None, _) => {
                because.push("the settings in force could not be read back".to_owned());
            }
            (Some(_), None) => {}
        }
        let weak = self.achieved.iter().filter(|load| !load.is_complete());
        because.extend(
            weak.map(|load| format!("the load `{}` did not run as asked", load.kind.name())),
        );
        because
    }
}

fn load_achieved(achieved: &Achieved) -> LoadAchieved {
    LoadAchieved {
        kind: achieved.kind.name().to_owned(),
        workers: achieved.workers,
        working: achieved.workers_alive - achieved.workers_stalled.min(achieved.workers_alive),
        cpus: achieved.cpus.to_string(),
        operations_per_second: achieved.operations_per_second,
        unit: achieved.unit.to_string(),
        cpu_share: achieved.cpu_share,
    }
}
