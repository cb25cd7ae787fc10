//! The way from measurements to records: one for each pattern and condition, one for the pressure,
//! and one for each routine and condition.

use std::collections::BTreeMap;
use std::time::Duration;

use quietcore_backend::setting::BackendSetting;
use quietcore_load::Achieved;
use quietcore_probe::osek::{Measured, Offset, RoutinesPlan, Sample, Series, Standing};
use quietcore_record::histogram::Histogram;
use quietcore_record::reason::{Reason, RunProblem};
use quietcore_record::record::check::self_check;
use quietcore_record::record::{
    Counters, MemoryMeasured, MemoryRun, Record, ReleaseMode, ReservationInForce, trimmed_mean,
};
use quietcore_units::CpuId;

use super::Ended;
use super::curves::Curve;
use super::plan::MemoryPlan;
use super::pressure::Run;
use super::routines::Blocks;
use crate::measure::Machine;
use crate::measure::others::Others;
use crate::probe::circumstances::{Circumstances, degraded};
use crate::probe::osek::records::of_series;

/// The partition named in the records of the routines: the port that the kernel runs on.
const KERNEL: &str = "hosted";
/// Profiles, by whether neighbours work.
const PROFILES: [&str; 2] = ["alone", "neighbours"];
/// Suffix of a profile in which the partition has ways of its own.
const WITH_WAYS: &str = "-own-ways";
/// The profile of the pressure.
const PRESSURE: &str = "pressure";

/// Returns the profiles of the records, each with its description.
pub(super) fn profiles(plan: &MemoryPlan, records: &[Record]) -> Vec<(String, String)> {
    let asked = &plan.neighbours;
    let size = asked.size.map_or_else(String::new, |size| format!(" over {size}"));
    let cpus = asked.cpus.unwrap_or_default();
    let load = plan.interference().title();
    let who = format!("{} × {load}{size} on CPU {cpus}", asked.workers);
    let words = |profile: &str| match profile {
        PRESSURE => format!("neighbours at {} rates up to full pace: {who}", plan.steps),
        profile if profile.starts_with(PROFILES[1]) => format!("neighbours work: {who}"),
        _ => "neighbours rest".to_owned(),
    };
    let mut profiles: Vec<(String, String)> = Vec::new();
    for record in records {
        if !profiles.iter().any(|(name, _)| *name == record.profile) {
            let ways = if record.profile.ends_with(WITH_WAYS) {
                ", the partition with ways of the cache of its own"
            } else {
                ""
            };
            profiles.push((record.profile.clone(), format!("{}{ways}", words(&record.profile))));
        }
    }
    profiles
}

/// The facts of a part beside its values, from which its records are made.
pub(super) struct Maker<'a> {
    pub(super) plan: &'a MemoryPlan,
    pub(super) machine: &'a Machine<'a>,
    pub(super) started_at: String,
    pub(super) duration: Duration,
    /// The reservation of the process that measured.
    pub(super) reservation: Option<ReservationInForce>,
    /// The partitions of others that were seen at the end of the part.
    pub(super) others: Others,
    pub(super) stopped: bool,
}

impl Maker<'_> {
    /// Makes a record of each curve.
    pub(super) fn curves(
        &self,
        curves: Vec<Curve>,
        (ended, achieved, wrong): (Ended, Vec<Achieved>, Option<RunProblem>),
    ) -> Vec<Record> {
        let record = |curve: Curve| {
            let name = PROFILES[usize::from(curve.beside)];
            let ways = if curve.ways.is_some() { WITH_WAYS } else { "" };
            let run = MemoryRun {
                pattern: curve.pattern,
                stride_bytes: self.plan.sets.stride_bytes,
                pages: ended.pages.clone(),
                caches: self.plan.caches.clone(),
                ways: curve.ways,
                interference: curve.beside.then(|| self.plan.interference()),
                measured: MemoryMeasured::Curve { points: curve.points },
            };
            let loads = if curve.beside { &*achieved } else { &[] };
            let planned = u64::from(self.plan.rounds) * self.plan.sizes.len() as u64;
            self.record(&format!("{name}{ways}"), planned, run, (&ended.standing, loads, &wrong))
        };
        curves.into_iter().map(record).collect()
    }

    /// Makes the record of the pressure.
    pub(super) fn pressure(
        &self,
        run: Run,
        (ended, achieved, wrong): (Ended, Vec<Achieved>, Option<RunProblem>),
    ) -> Record {
        let Run { pattern, working_set_bytes, steps } = run;
        let run = MemoryRun {
            pattern,
            stride_bytes: self.plan.sets.stride_bytes,
            pages: ended.pages,
            caches: self.plan.caches.clone(),
            ways: None,
            interference: Some(self.plan.interference()),
            measured: MemoryMeasured::Pressure { working_set_bytes, steps },
        };
        let planned = 2 * u64::from(self.plan.rounds) * u64::from(self.plan.steps);
        self.record(PRESSURE, planned, run, (&ended.standing, &achieved, &wrong))
    }

    fn record(
        &self,
        profile: &str,
        planned: u64,
        run: MemoryRun,
        (standing, achieved, wrong): (&Standing, &[Achieved], &Option<RunProblem>),
    ) -> Record {
        let circumstances = self.circumstances(achieved);
        let pages = BTreeMap::from([("pages_of_working_set".to_owned(), run.pages.clone())]);
        let partition = &self.plan.partition;
        let name = format!("{partition}.{profile}.{}", run.pattern.name());
        let mut record = Record {
            reserved: true,
            cpu: self.plan.thread.cpu().map(CpuId::get),
            release: run.histogram(),
            counters: Counters { planned_cycles: planned, ..Counters::default() },
            conditions: circumstances.conditions(self.mode(), standing, pages, BTreeMap::new()),
            degraded: degraded(standing),
            invalid_because: circumstances.invalid(standing),
            measured: quietcore_record::record::Measured::Memory(run),
            ..Record::empty(name, "memory", partition, profile)
        };
        record.interrupted = self.stopped && record.release.count() < planned;
        record.invalid_because.extend(wrong.iter().cloned().map(Reason::from));
        record.invalid_because.extend(self_check(&record, None));
        record
    }

    /// Makes a record of each routine under each of both conditions.
    pub(super) fn routines(&self, measured: Blocks) -> Vec<Record> {
        let Blocks { plan: RoutinesPlan { plan, thread, clock }, blocks, achieved, wrong, .. } =
            measured;
        let mut records = Vec::new();
        for (profile, blocks) in PROFILES.iter().zip(&blocks) {
            let loads = if *profile == PROFILES[1] { &*achieved } else { &[] };
            let circumstances = self.circumstances(loads);
            let standing = standing_of(blocks);
            let words = BTreeMap::from([("clock_of_routines".to_owned(), clock.words())]);
            let kernel = plan.variant.words();
            let mode = format!("{kernel}, {} blocks in turns", blocks.len());
            let mode = ReleaseMode::not_timed(mode);
            let conditions = circumstances.conditions(mode, &standing, words, BTreeMap::new());
            let invalid = circumstances.invalid(&standing);
            let mut offset = Offset::default();
            for (index, series) in plan.series.iter().enumerate() {
                let (sample, means) = merged(blocks, index, offset, clock.hertz());
                if index == 0 {
                    offset = Offset::of_histogram(&sample.raw);
                }
                let planned =
                    Series { loops: series.loops * u64::from(self.plan.rounds), ..*series };
                let kernel = kernel.clone();
                let mut record = of_series(KERNEL, thread, &planned, sample, kernel, clock.hertz());
                record.profile = (*profile).to_owned();
                record.name = format!("{KERNEL}.{profile}.{}", series.name());
                record.interrupted &= self.stopped;
                record.conditions = conditions.clone();
                record.degraded = degraded(&standing);
                record.invalid_because.clone_from(&invalid);
                record.invalid_because.extend(wrong.iter().cloned().map(Reason::from));
                if let Some(routine) = record.routine_mut() {
                    routine.block_means_ns = means;
                }
                record.invalid_because.extend(self_check(&record, None));
                records.push(record);
            }
        }
        records
    }

    fn circumstances(&self, achieved: &[Achieved]) -> Circumstances<'_> {
        Circumstances {
            machine: self.machine,
            achieved: achieved.to_vec(),
            started_at: self.started_at.clone(),
            duration: self.duration,
            reservation: self.reservation.clone(),
            setting: BackendSetting::default(),
            others: self.others.clone(),
        }
    }

    /// Describes the way in which blocks are measured.
    fn mode(&self) -> ReleaseMode {
        let plan = self.plan;
        let debug = if cfg!(debug_assertions) { ", in a debug build" } else { "" };
        ReleaseMode::not_timed(format!(
            "blocks of {} after one way through the working set of at most {}, neighbours having \
             gone once through theirs, {} rounds in turns, a place every {} bytes{debug}",
            plan.block, plan.warm_up, plan.rounds, plan.sets.stride_bytes
        ))
    }
}

/// Returns the settings of the threads of all blocks: those of the first block, and the first
/// drift.
fn standing_of(blocks: &[Measured]) -> Standing {
    let mut all = blocks.first().map(|block| block.standing.clone()).unwrap_or_default();
    let drifted = blocks.iter().find_map(|block| block.standing.drift.clone());
    all.drift = all.drift.or(drifted);
    all
}

/// Merges all blocks of a series into one sample; also returns the mean of each block without that
/// of the empty measurement, in nanoseconds.
fn merged(blocks: &[Measured], index: usize, offset: Offset, hertz: u64) -> (Sample, Vec<f64>) {
    let mut raw = Histogram::new();
    let mut means = Vec::new();
    for sample in blocks.iter().filter_map(|block| block.samples.get(index)) {
        raw.merge(&sample.raw);
        let mean = trimmed_mean(&sample.raw).unwrap_or_default() - sample.offset.mean;
        means.push(mean.max(0.0) * 1e9 / hertz.max(1) as f64);
    }
    (Sample::of_histogram(raw, offset, hertz), means)
}
