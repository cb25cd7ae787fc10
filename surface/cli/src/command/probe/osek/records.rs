//! From what was measured to records, one a series.

use std::collections::BTreeMap;

use quietcore_probe::osek::{ClockUsed, Measured, Place, Plan, Sample, Series, Standing};
use quietcore_record::record::check::self_check;
use quietcore_record::record::{Conditions, Counters, RECORD_SCHEMA, Record, RoutineRun, Timeline};
use quietcore_units::CpuId;

use super::super::circumstances::{Circumstances, degraded};
use super::profile;

/// The partition of the records: the port that the kernel runs on.
pub(super) const PARTITION: &str = "hosted";
/// Where the conditions say which clock the routines were measured with.
const CLOCK: &str = "clock_of_routines";

/// What is known of a run beside its samples.
pub(super) struct Run<'a> {
    pub(super) plan: &'a Plan,
    pub(super) place: Place,
    pub(super) clock: ClockUsed,
    pub(super) circumstances: Circumstances<'a>,
}

impl Run<'_> {
    /// A record for each series that was begun.
    pub(super) fn records(&self, measured: Measured) -> Vec<Record> {
        let Measured { samples, stopped, standing } = measured;
        let begun = samples.len();
        let (conditions, invalid) =
            (self.conditions(&standing), self.circumstances.invalid(&standing));
        let series = self.plan.series.iter().zip(samples);
        series
            .enumerate()
            .map(|(index, (series, sample))| {
                let mut record = self.record(series, sample);
                // Those behind it are missing, whether or not it came to its own end.
                record.interrupted |= stopped && index + 1 == begun;
                record.conditions = conditions.clone();
                record.degraded = degraded(&standing);
                record.invalid_because.clone_from(&invalid);
                let wrong = self_check(&record, None);
                record.invalid_because.extend(wrong);
                record
            })
            .collect()
    }

    fn record(&self, series: &Series, sample: Sample) -> Record {
        let kernel = self.plan.variant.words();
        of_series(PARTITION, self.place, series, sample, kernel, self.clock.hertz())
    }

    fn conditions(&self, standing: &Standing) -> Conditions {
        let clock = BTreeMap::from([(CLOCK.to_owned(), self.clock.words())]);
        let nothing = BTreeMap::new();
        self.circumstances.conditions(self.plan.variant.words(), standing, clock, nothing)
    }
}

/// The record of a series, without its conditions.
pub(in crate::command::probe) fn of_series(
    partition: &str,
    place: Place,
    series: &Series,
    sample: Sample,
    kernel: String,
    hertz: u64,
) -> Record {
    let profile = profile(series.loops);
    Record {
        schema: RECORD_SCHEMA.to_owned(),
        name: format!("{partition}.{profile}.{}", series.name()),
        probe: "osek".to_owned(),
        partition: partition.to_owned(),
        profile,
        reserved: place.cpu.is_some(),
        cpu: place.cpu.map(CpuId::get),
        period_ns: None,
        interrupted: sample.raw.count() < series.loops,
        release: sample.net_ns,
        wakeup: None,
        scan: None,
        routine: Some(RoutineRun {
            routine: series.routine,
            trigger: series.trigger,
            kernel,
            hertz,
            offset: sample.offset.median,
            offset_mean: sample.offset.mean,
            clamped: sample.clamped,
            raw: sample.raw,
            block_means_ns: Vec::new(),
        }),
        interrupt: None,
        memory: None,
        trial: None,
        round_trip: None,
        counters: Counters { planned_cycles: series.loops, ..Counters::default() },
        spikes: Vec::new(),
        ledgers: None,
        timeline: Timeline::default(),
        conditions: Conditions::default(),
        degraded: Vec::new(),
        invalid_because: Vec::new(),
    }
}
