//! The way from measurements to records, one for each series.

use std::collections::BTreeMap;

use quietcore_probe::osek::{Measured, RoutinesPlan, Sample, Series, Standing};
use quietcore_record::record::check::self_check;
use quietcore_record::record::{Conditions, Counters, Record, ReleaseMode, RoutineRun};
use quietcore_units::{CpuId, ThreadRequest};

use super::super::circumstances::{Circumstances, degraded};
use super::profile;

/// The key of the conditions that names the clock of the routines.
const CLOCK: &str = "clock_of_routines";

/// The facts of a run beside its samples.
pub(super) struct Run<'a> {
    /// The partition of the records.
    pub(super) partition: &'a str,
    pub(super) plan: &'a RoutinesPlan,
    pub(super) circumstances: Circumstances<'a>,
}

impl Run<'_> {
    /// Makes a record of each series that was begun.
    pub(super) fn records(&self, measured: Measured) -> Vec<Record> {
        let Measured { samples, stopped, standing } = measured;
        let begun = samples.len();
        let (conditions, invalid) =
            (self.conditions(&standing), self.circumstances.invalid(&standing));
        let series = self.plan.plan.series.iter().zip(samples);
        series
            .enumerate()
            .map(|(index, (series, sample))| {
                let mut record = self.record(series, sample);
                // The series behind it are missing, even if it came to its own end.
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
        let RoutinesPlan { plan, thread, clock } = self.plan;
        of_series(self.partition, *thread, series, sample, plan.variant.words(), clock.hertz())
    }

    fn conditions(&self, standing: &Standing) -> Conditions {
        let clock = BTreeMap::from([(CLOCK.to_owned(), self.plan.clock.words())]);
        let nothing = BTreeMap::new();
        let mode = ReleaseMode::not_timed(self.plan.plan.variant.words());
        self.circumstances.conditions(mode, standing, clock, nothing)
    }
}

/// Makes the record of a series, without its conditions.
pub(in super::super) fn of_series(
    partition: &str,
    thread: ThreadRequest,
    series: &Series,
    sample: Sample,
    kernel: String,
    hertz: u64,
) -> Record {
    let profile = profile(series.loops);
    let name = format!("{partition}.{profile}.{}", series.name());
    Record {
        reserved: thread.cpu().is_some(),
        cpu: thread.cpu().map(CpuId::get),
        interrupted: sample.raw.count() < series.loops,
        release: sample.net_ns,
        measured: quietcore_record::record::Measured::Routine(RoutineRun {
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
        counters: Counters { planned_cycles: series.loops, ..Counters::default() },
        ..Record::empty(name, "osek", partition, &profile)
    }
}
