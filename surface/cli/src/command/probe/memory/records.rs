//! From what was measured to records: one a pattern and condition, one for the pressure, and one a
//! routine and condition.

use std::collections::BTreeMap;
use std::time::Duration;

use quietcore_host::Facts;
use quietcore_load::Achieved;
use quietcore_probe::osek::{Measured, Offset, Sample, Series, Standing};
use quietcore_record::histogram::Histogram;
use quietcore_record::reason::{Reason, RunProblem};
use quietcore_record::record::check::self_check;
use quietcore_record::record::{
    Counters, Interference, MemoryMeasured, MemoryRun, RECORD_SCHEMA, Record, Timeline,
    trimmed_mean,
};
use quietcore_units::{ByteSize, CpuId};

use super::super::circumstances::{Circumstances, degraded};
use super::super::osek::records::of_series;
use super::Ended;
use super::curves::Curve;
use super::pressure::Run;
use super::routines::Blocks;
use super::wanted::Wanted;

/// The partition of the records: what realises it.
pub(super) const PARTITION: &str = "process";
/// The partition of the routines: the port that the kernel runs on.
const KERNEL: &str = "hosted";
/// Profiles, by whether neighbours work.
const PROFILES: [&str; 2] = ["alone", "neighbours"];
/// What is added to them where the partition has ways of its own.
const WITH_WAYS: &str = "-own-ways";
/// The profile of the pressure.
const PRESSURE: &str = "pressure";

/// The profiles that there are, each with its description.
pub(super) fn profiles(wanted: &Wanted, records: &[Record]) -> Vec<(String, String)> {
    let asked = &wanted.neighbours;
    let size = asked.size.map_or_else(String::new, |size| format!(" over {size}"));
    let cpus = asked.cpus.unwrap_or_default();
    let who = format!("{} × {}{size} on CPU {cpus}", asked.workers, asked.kind);
    let words = |profile: &str| match profile {
        PRESSURE => format!("neighbours at {} rates up to full pace: {who}", wanted.steps),
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

/// What is known of a part beside what it measured.
pub(super) struct Maker<'a> {
    pub(super) wanted: &'a Wanted,
    pub(super) facts: &'a Facts,
    pub(super) started_at: String,
    pub(super) duration: Duration,
    pub(super) dma_latency_held: bool,
    pub(super) stopped: bool,
}

impl Maker<'_> {
    /// A record for each curve.
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
                stride_bytes: self.wanted.sets.stride_bytes,
                pages: ended.pages.clone(),
                caches: self.wanted.caches.clone(),
                ways: curve.ways,
                interference: curve.beside.then(|| self.interference()),
                measured: MemoryMeasured::Curve { points: curve.points },
            };
            let loads = if curve.beside { &*achieved } else { &[] };
            let planned = u64::from(self.wanted.rounds) * self.wanted.sizes.len() as u64;
            self.record(&format!("{name}{ways}"), planned, run, (&ended.standing, loads, &wrong))
        };
        curves.into_iter().map(record).collect()
    }

    /// The record of the pressure.
    pub(super) fn pressure(
        &self,
        run: Run,
        (ended, achieved, wrong): (Ended, Vec<Achieved>, Option<RunProblem>),
    ) -> Record {
        let Run { pattern, working_set_bytes, steps } = run;
        let run = MemoryRun {
            pattern,
            stride_bytes: self.wanted.sets.stride_bytes,
            pages: ended.pages,
            caches: self.wanted.caches.clone(),
            ways: None,
            interference: Some(self.interference()),
            measured: MemoryMeasured::Pressure { working_set_bytes, steps },
        };
        let planned = 2 * u64::from(self.wanted.rounds) * u64::from(self.wanted.steps);
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
        let mut record = Record {
            schema: RECORD_SCHEMA.to_owned(),
            name: format!("{PARTITION}.{profile}.{}", run.pattern.name()),
            probe: "memory".to_owned(),
            partition: PARTITION.to_owned(),
            profile: profile.to_owned(),
            reserved: true,
            cpu: self.wanted.place.cpu.map(CpuId::get),
            period_ns: None,
            release: run.histogram(),
            wakeup: None,
            scan: None,
            routine: None,
            interrupt: None,
            ledgers: None,
            counters: Counters { planned_cycles: planned, ..Counters::default() },
            spikes: Vec::new(),
            timeline: Timeline::default(),
            conditions: circumstances.conditions(self.mode(), standing, pages, BTreeMap::new()),
            interrupted: false,
            degraded: degraded(standing),
            invalid_because: circumstances.invalid(standing),
            memory: Some(run),
            trial: None,
            round_trip: None,
        };
        record.interrupted = self.stopped && record.release.count() < planned;
        record.invalid_because.extend(wrong.iter().cloned().map(Reason::from));
        record.invalid_because.extend(self_check(&record, None));
        record
    }

    /// A record for each routine under each of both conditions.
    pub(super) fn routines(&self, measured: Blocks) -> Vec<Record> {
        let Blocks { plan, clock, blocks, achieved, wrong } = measured;
        let mut records = Vec::new();
        for (profile, blocks) in PROFILES.iter().zip(&blocks) {
            let loads = if *profile == PROFILES[1] { &*achieved } else { &[] };
            let circumstances = self.circumstances(loads);
            let standing = standing_of(blocks);
            let words = BTreeMap::from([("clock_of_routines".to_owned(), clock.words())]);
            let kernel = plan.variant.words();
            let mode = format!("{kernel}, {} blocks in turns", blocks.len());
            let conditions = circumstances.conditions(mode, &standing, words, BTreeMap::new());
            let invalid = circumstances.invalid(&standing);
            let mut offset = Offset::default();
            for (index, series) in plan.series.iter().enumerate() {
                let (sample, means) = merged(blocks, index, offset, clock.hertz());
                if index == 0 {
                    offset = Offset::of_histogram(&sample.raw);
                }
                let planned =
                    Series { loops: series.loops * u64::from(self.wanted.rounds), ..*series };
                let place = self.wanted.place;
                let kernel = kernel.clone();
                let mut record = of_series(KERNEL, place, &planned, sample, kernel, clock.hertz());
                record.profile = (*profile).to_owned();
                record.name = format!("{KERNEL}.{profile}.{}", series.name());
                record.interrupted &= self.stopped;
                record.conditions = conditions.clone();
                record.degraded = degraded(&standing);
                record.invalid_because.clone_from(&invalid);
                record.invalid_because.extend(wrong.iter().cloned().map(Reason::from));
                if let Some(routine) = &mut record.routine {
                    routine.block_means_ns = means;
                }
                record.invalid_because.extend(self_check(&record, None));
                records.push(record);
            }
        }
        records
    }

    fn circumstances<'b>(&'b self, achieved: &'b [Achieved]) -> Circumstances<'b> {
        Circumstances {
            facts: self.facts,
            achieved,
            started_at: self.started_at.clone(),
            duration: self.duration,
            dma_latency_held: self.dma_latency_held,
        }
    }

    fn interference(&self) -> Interference {
        let asked = &self.wanted.neighbours;
        Interference {
            kind: asked.kind.name().to_owned(),
            workers: asked.workers,
            size_bytes: asked.size.map(ByteSize::get),
            cpus: asked.cpus.unwrap_or_default().to_string(),
        }
    }

    /// How blocks are measured, in words.
    fn mode(&self) -> String {
        let wanted = self.wanted;
        let debug = if cfg!(debug_assertions) { ", in a debug build" } else { "" };
        format!(
            "blocks of {} after one way through the working set of at most {}, neighbours having \
             gone once through theirs, {} rounds in turns, a place every {} bytes{debug}",
            wanted.block, wanted.warm_up, wanted.rounds, wanted.sets.stride_bytes
        )
    }
}

/// What held for the threads of all blocks: the first one, and whatever changed.
fn standing_of(blocks: &[Measured]) -> Standing {
    let mut all = blocks.first().map(|block| block.standing.clone()).unwrap_or_default();
    let drifted = blocks.iter().find_map(|block| block.standing.drift.clone());
    all.drift = all.drift.or(drifted);
    all
}

/// All blocks of a series as one sample, and the mean of each block without the empty measurement.
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
