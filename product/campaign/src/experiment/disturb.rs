//! Variants with a neighbour at each place.

use std::sync::atomic::{AtomicBool, Ordering};

use quietcore_load::LoadRequest;
use quietcore_record::record::{Aggressor, Placement, Record, Variant};
use quietcore_site::LoadKind;
use quietcore_units::{Causes, CpuSet, Nanos};

use super::Variation;
use crate::measure::{Machine, MeasureError, measure};
use crate::observer::Observer;
use crate::run::Run;

/// The smallest limit above which releases are explained.
const EXPLAIN_MIN: Nanos = Nanos::from_micros(2);

/// The neighbours to measure beside: each kind of load at each place.
#[derive(Clone, Debug)]
pub struct Disturbing {
    /// The kinds of load.
    pub kinds: Vec<LoadKind>,
    /// The places of the neighbours, each with its CPUs.
    pub places: Vec<NeighbourPlacement>,
    /// Workers of each neighbour; `None` takes one for each CPU of the place.
    pub workers: Option<u32>,
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

/// Returns the variants of a run of one partition: quiet, and beside each neighbour at each place.
pub fn beside(run: &Run, disturbing: &Disturbing) -> Vec<Variation> {
    let quiet = Variation {
        variant: Variant::Beside { aggressor: None },
        run: Run { profile: "quiet".to_owned(), loads: Vec::new(), ..run.clone() },
    };
    let each = disturbing.kinds.iter().flat_map(|kind| {
        disturbing.places.iter().map(|place| one(run, *kind, *place, disturbing.workers))
    });
    std::iter::once(quiet).chain(each).collect()
}

fn one(run: &Run, kind: LoadKind, place: NeighbourPlacement, workers: Option<u32>) -> Variation {
    let one_each = u32::try_from(place.cpus.len()).unwrap_or(u32::MAX);
    let workers = workers.unwrap_or(one_each);
    let load = LoadRequest { cpus: Some(place.cpus), ..LoadRequest::new(kind, workers) };
    let aggressor = Aggressor {
        kind: kind.name().to_owned(),
        workers,
        placement: place.placement,
        cpus: place.cpus.to_string(),
    };
    Variation {
        variant: Variant::Beside { aggressor: Some(aggressor) },
        run: Run {
            profile: format!("{}-{}", kind.name(), place.placement.name()),
            loads: vec![load],
            ..run.clone()
        },
    }
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
        let trial = record.trial();
        trial.is_some_and(|trial| trial.variant == Variant::Beside { aggressor: None })
    };
    let quantiles = records.iter().filter(is_quiet).filter_map(|it| it.release.quantile(0.999));
    let largest = quantiles.map(|quantile| Nanos::new(quantile.lower_bound())).max();
    largest.unwrap_or_default().max(EXPLAIN_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> CpuSet {
        text.parse().unwrap()
    }

    #[test]
    fn places_are_where_they_say_or_are_left_out() {
        let place = |placement, own: &str, siblings: &str, claimed: &str| {
            NeighbourPlacement::of(placement, &set(own), &set(siblings), &set(claimed), &set("0-7"))
                .map(|place| place.cpus.to_string())
                .map_err(|error| error.to_string())
        };
        let of = |placement| place(placement, "2", "2,6", "2-3");
        assert_eq!(of(Placement::SameCpu).unwrap(), "2");
        assert_eq!(of(Placement::Sibling).unwrap(), "6");
        assert_eq!(of(Placement::OtherCpu).unwrap(), "0,1,4,5,7");
        assert_eq!(of(Placement::OtherPartition).unwrap(), "3");
        let alone = place(Placement::OtherPartition, "2", "2", "2").unwrap_err();
        assert_eq!(alone, "other partition is left out: there is no other partition");
        assert!(place(Placement::Sibling, "2", "2", "2").unwrap_err().contains("shares a core"));
        assert!(place(Placement::OtherCpu, "0-7", "0-7", "0-7").is_err());
    }

    #[test]
    fn every_neighbour_stands_at_every_place_and_once_none_does() {
        let disturbing = Disturbing {
            kinds: vec![LoadKind::Disk, LoadKind::Fork],
            places: vec![
                NeighbourPlacement { placement: Placement::SameCpu, cpus: set("1") },
                NeighbourPlacement { placement: Placement::OtherCpu, cpus: set("0,2") },
            ],
            workers: None,
        };
        let run = Run {
            profile: "tp2".to_owned(),
            reserved: true,
            settings: quietcore_settings::RequestedSettings::default(),
            container_runtime: None,
            partitions: Vec::new(),
            loads: vec![LoadRequest::new(LoadKind::Sqrt, 1)],
            neighbours: Vec::new(),
            explain: None,
            site_sha256: String::new(),
        };
        let variations = beside(&run, &disturbing);
        let found: Vec<_> = variations
            .iter()
            .map(|variation| {
                let loads = variation.run.loads.iter();
                let workers: u32 = loads.map(|load| load.workers).sum();
                (variation.run.profile.as_str(), workers)
            })
            .collect();
        let expected = [
            ("quiet", 0),
            ("disk-same-cpu", 1),
            ("disk-other-cpu", 2),
            ("fork-same-cpu", 1),
            ("fork-other-cpu", 2),
        ];
        assert_eq!(found, expected);
    }
}
