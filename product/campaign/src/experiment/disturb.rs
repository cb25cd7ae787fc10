//! Variants with a neighbour of each kind at each place.
//!
//! A neighbour that is a process of the host is the workers of its load and nothing more; a
//! container or a Linux guest is one as the profiles `tp5` and `tp6` have them, with the same load
//! in it.

use std::sync::atomic::{AtomicBool, Ordering};

use quietcore_backend::neighbour::{NeighbourKind, NeighbourLoad};
use quietcore_load::LoadRequest;
use quietcore_record::record::{Aggressor, Placement, Record, Variant};
use quietcore_site::{LoadKind, NEIGHBOUR_WORKERS_MAX, NeighbourForm};
use quietcore_units::{ByteSize, Causes, CpuSet, Nanos};

use super::Variation;
use crate::measure::{Machine, MeasureError, measure};
use crate::observer::Observer;
use crate::run::{NeighbourRun, Run};

/// The smallest limit above which releases are explained.
const EXPLAIN_MIN: Nanos = Nanos::from_micros(2);

/// The neighbours to measure beside: each load in each kind of neighbour at each place.
#[derive(Clone, Debug)]
pub struct Disturbing {
    /// The loads, which are the same in each kind of neighbour.
    pub loads: Vec<DisturbingLoad>,
    /// The kinds of neighbours, each once.
    pub neighbours: Vec<NeighbourKind>,
    /// The places of the neighbours, each with its CPUs.
    pub places: Vec<NeighbourPlacement>,
    /// Workers of each neighbour; `None` takes one for each CPU of the place.
    pub workers: Option<u32>,
    /// Memory that is left to guests.
    pub memory: ByteSize,
}

/// A load that disturbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisturbingLoad {
    /// The work of its workers.
    pub kind: LoadKind,
    /// Bytes that each of them works on; `None` for a kind without a size.
    pub size: Option<ByteSize>,
}

/// A load that a neighbour of some kind can't run, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} in a {form} is left out: {because}")]
pub struct NotRun {
    /// The load that is left out.
    pub kind: LoadKind,
    /// The kind of neighbour that can't run it.
    pub form: NeighbourForm,
    /// The reason, as a clause without a full stop.
    pub because: String,
}

/// The CPUs of one placement of neighbours, as seen from a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeighbourPlacement {
    /// Relation of `cpus` to those of the partition.
    pub placement: Placement,
    /// CPUs that the neighbour runs on; never empty.
    pub cpus: CpuSet,
}

/// A place that a partition does not have, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} is left out: {because}", placement.title())]
pub struct NotPlaced {
    /// The placement that is left out.
    pub placement: Placement,
    /// The reason, as a clause without a full stop.
    pub because: &'static str,
}

impl NeighbourPlacement {
    /// Returns the CPUs of a placement for a partition that runs on `own`: `siblings` share a core
    /// with it, `claimed` belong to any partition, and `online` are all of the machine.
    ///
    /// # Errors
    /// Returns [`NotPlaced`] when no CPU is left for it.
    pub fn of(
        placement: Placement,
        own: &CpuSet,
        siblings: &CpuSet,
        claimed: &CpuSet,
        online: &CpuSet,
    ) -> Result<Self, NotPlaced> {
        let (cpus, because) = match placement {
            Placement::SameCpu => (*own, "the partition has no CPU of its own"),
            Placement::Sibling => {
                (siblings.without(own), "no other CPU shares a core with the partition's")
            }
            Placement::OtherCpu => {
                (online.without(claimed).without(siblings), "every CPU belongs to a partition")
            }
            Placement::OtherPartition => (claimed.without(own), "there is no other partition"),
        };
        if cpus.is_empty() {
            return Err(NotPlaced { placement, because });
        }
        Ok(Self { placement, cpus })
    }
}

impl Disturbing {
    /// Lists what is left out of the variants, each load and kind of neighbour once.
    pub fn not_run(&self) -> Vec<NotRun> {
        let mut all: Vec<NotRun> = Vec::new();
        for (load, neighbour, place) in self.each() {
            let (kind, form) = (load.kind, neighbour.form());
            let is_told = all.iter().any(|told| (told.kind, told.form) == (kind, form));
            let obstacle = self.obstacle(load, form, place).filter(|_| !is_told);
            all.extend(obstacle.map(|because| NotRun { kind, form, because }));
        }
        all
    }

    /// Returns all loads in all neighbours at all places.
    fn each(&self) -> impl Iterator<Item = (DisturbingLoad, &NeighbourKind, NeighbourPlacement)> {
        let within = |load| self.neighbours.iter().map(move |neighbour| (load, neighbour));
        let pairs = self.loads.iter().copied().flat_map(within);
        pairs.flat_map(|(load, neighbour)| {
            self.places.iter().map(move |place| (load, neighbour, *place))
        })
    }

    /// Returns why a neighbour can't run a load at a place; `None` where it can.
    fn obstacle(
        &self,
        load: DisturbingLoad,
        form: NeighbourForm,
        place: NeighbourPlacement,
    ) -> Option<String> {
        let workers = self.workers_at(place);
        if let Some(because) = form.lacks(load.kind) {
            return Some(because.to_owned());
        }
        if form != NeighbourForm::Process && workers > NEIGHBOUR_WORKERS_MAX {
            return Some(format!("it runs at most {NEIGHBOUR_WORKERS_MAX} workers, not {workers}"));
        }
        let needed = guest_memory(load, workers);
        let is_too_much = form == NeighbourForm::LinuxGuest && needed > self.memory;
        is_too_much.then(|| format!("it takes {needed} of memory and {} is left", self.memory))
    }

    fn workers_at(&self, place: NeighbourPlacement) -> u32 {
        let one_each = u32::try_from(place.cpus.len()).unwrap_or(u32::MAX);
        self.workers.unwrap_or(one_each)
    }
}

/// Returns the memory of a guest in which so many workers run a load.
fn guest_memory(load: DisturbingLoad, workers: u32) -> ByteSize {
    let each = load.size.filter(|_| load.kind.fills_memory()).map_or(0, ByteSize::get);
    NeighbourForm::guest_memory(ByteSize::new(each.saturating_mul(u64::from(workers))))
}

/// Returns the variants of a run of one partition: quiet, and beside each neighbour that can run
/// each load, at each place.
pub fn beside(run: &Run, disturbing: &Disturbing) -> Vec<Variation> {
    let quiet = Variation::of_run(
        Variant::Beside { aggressor: None },
        Run { profile: "quiet".to_owned(), loads: Vec::new(), ..run.clone() },
    );
    let each = disturbing.each().filter(|(load, neighbour, place)| {
        disturbing.obstacle(*load, neighbour.form(), *place).is_none()
    });
    let each = each.map(|(load, neighbour, place)| {
        one(run, load, neighbour, (place, disturbing.workers_at(place)))
    });
    std::iter::once(quiet).chain(each).collect()
}

fn one(
    run: &Run,
    DisturbingLoad { kind, size }: DisturbingLoad,
    neighbour: &NeighbourKind,
    (place, workers): (NeighbourPlacement, u32),
) -> Variation {
    let form = neighbour.form();
    let backend = (form != NeighbourForm::Process).then(|| form.backend().name().to_owned());
    let cpus = place.cpus;
    let aggressor = Aggressor {
        kind: kind.name().to_owned(),
        workers,
        placement: place.placement,
        cpus: cpus.to_string(),
        backend: backend.clone(),
    };
    let words = [Some(kind.name()), backend.as_deref(), Some(place.placement.name())];
    let words: Vec<&str> = words.into_iter().flatten().collect();
    let alone = Run { profile: words.join("-"), loads: Vec::new(), ..run.clone() };
    let run = if form == NeighbourForm::Process {
        let load = LoadRequest { size, cpus: Some(cpus), ..LoadRequest::new(kind, workers) };
        Run { loads: vec![load], ..alone }
    } else {
        // No worker needs more processors than there are workers.
        let processors = cpus.len().min(workers as usize);
        let memory = guest_memory(DisturbingLoad { kind, size }, workers);
        let neighbour = NeighbourRun {
            name: "neighbour-1".to_owned(),
            form,
            loads: vec![NeighbourLoad { kind, workers, size }],
            cpus,
            processors: (form == NeighbourForm::LinuxGuest).then_some(processors as u32),
            setting: neighbour.setting(cpus, processors, memory),
            is_paced: false,
        };
        Run { neighbours: vec![neighbour], ..alone }
    };
    Variation::of_run(Variant::Beside { aggressor: Some(aggressor) }, run)
}

/// Measures each disturbed variant once more and has its late releases explained, so that its
/// record holds ledgers. The cost of explaining enters no ratio, because this block belongs to no
/// round.
///
/// A release is late where the quiet run almost never was: above its 99.9 % quantile.
///
/// Returns the variants that could not be explained, each with its reason in words.
pub fn causes(
    variations: &[Variation],
    records: &mut [Record],
    machine: &Machine<'_>,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Vec<String> {
    let mut failed = Vec::new();
    for variation in variations {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let Variant::Beside { aggressor: Some(_) } = variation.variant else { continue };
        let is_of = |record: &&mut Record| record.profile == variation.run.profile;
        if !records.iter_mut().any(|record| is_of(&record)) {
            continue;
        }
        let explain = Some(late(records));
        match measure(&Run { explain, ..variation.run.clone() }, machine, observer, stop) {
            Ok(measured) => {
                for explained in measured.records {
                    let own = records.iter_mut().find(|record| record.name == explained.name);
                    if let Some(record) = own {
                        record.ledgers = explained.ledgers;
                    }
                }
            }
            Err(MeasureError::Stopped) => break,
            Err(error) => failed.push(format!("{}: {}", variation.run.profile, Causes(&error))),
        }
    }
    failed
}

/// Returns the latency above which a release is late: the largest 99.9 % quantile of the quiet
/// tasks, but [`EXPLAIN_MIN`] at least.
fn late(records: &[Record]) -> Nanos {
    let is_quiet = |record: &&Record| {
        let trial = record.trial.as_ref();
        trial.is_some_and(|trial| trial.variant == Variant::Beside { aggressor: None })
    };
    let quantiles = records.iter().filter(is_quiet).filter_map(|it| it.release.quantile(0.999));
    let largest = quantiles.map(|quantile| Nanos::new(quantile.lower_bound())).max();
    largest.unwrap_or_default().max(EXPLAIN_MIN)
}

#[cfg(test)]
mod tests;
