//! Experiments: variants of one run, measured in turns, block by block.
//!
//! ```text
//! variants ─► rounds: each variant once, in chance order ─► blocks ─► a Record a variant and task
//! ```
//!
//! | module | what |
//! |---|---|
//! | `tune` | variants with and without each control, and sets of them against the class |
//! | `search` | the order in which sets are tried |
//! | `disturb` | variants with a neighbour of each kind at each place |
//! | `cost` | a partition as each backend realises it |
//!
//! A block is a run like any other ([`measure`]), or a probe on one of its partitions
//! ([`PlannedProbe`]): partitions and loads are started and ended, and settings changed and put
//! back, so that nothing of one variant is left in the next. The blocks are judged together in
//! `quietcore_record::experiment`.

mod cost;
mod disturb;
mod order;
mod search;
mod tune;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use quietcore_record::record::{Record, Trial, TrialBlock, Variant};
use quietcore_units::{Causes, Nanos};

pub use cost::{NotCompared, Realised};
pub use disturb::{
    Disturbing, DisturbingLoad, NeighbourPlacement, NotPlaced, NotRun, beside, causes,
};
pub use search::Search;
pub use tune::{Searched, screening, smallest};

use crate::measure::{Machine, MeasureError, Measured, measure};
use crate::observer::Observer;
use crate::probe::PlannedProbe;
use crate::run::Run;
use order::Order;

/// A measurement under one of the conditions that are compared.
#[derive(Debug)]
pub struct Variation {
    /// The condition that the run is measured under.
    pub variant: Variant,
    /// The run of a block; its profile is the variant's name.
    pub run: Run,
    /// The probe that measures a block in the place of the run's partitions; `None` where their
    /// releases are measured.
    pub probe: Option<PlannedProbe>,
}

impl Variation {
    /// Makes a variation whose blocks are runs.
    pub const fn of_run(variant: Variant, run: Run) -> Self {
        Self { variant, run, probe: None }
    }

    /// Returns the names by which people tell it from the others: that of the variant, and what its
    /// probe measures.
    fn names(&self) -> (String, Option<String>) {
        (self.run.profile.clone(), self.probe.as_ref().map(PlannedProbe::title))
    }
}

/// The records that the rounds yielded, and the variants that they left out.
#[derive(Debug, Default)]
pub struct Blocks {
    /// A record for each variant and task that was measured.
    pub records: Vec<Record>,
    /// Variations that could not be measured, by the name of the variant and what its probe
    /// measures, with the reason.
    pub not_measured: BTreeMap<(String, Option<String>), String>,
    /// `true` if the rounds were ended before their time.
    pub interrupted: bool,
    /// Number of rounds that were begun.
    pub rounds: u32,
}

/// The rounds to measure.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// Number of times that each variant is measured.
    pub rounds: u32,
    /// Seed of the order within the rounds.
    pub seed: u64,
    /// Time after which no other round begins; `None` without limit.
    pub within: Option<Nanos>,
}

/// Measures all variants in rounds. A variant that can't be measured is left out from then on.
pub fn rounds(
    variations: &mut [Variation],
    schedule: Schedule,
    machine: &Machine<'_>,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Blocks {
    let clock = machine.world.clock();
    let end = schedule.within.map(|within| clock.now() + within);
    let mut order = Order::new(schedule.seed);
    let mut blocks = Blocks::default();
    let mut records: Vec<Record> = Vec::new();
    for round in 0..schedule.rounds {
        if blocks.interrupted || end.is_some_and(|end| round > 0 && clock.now() >= end) {
            break;
        }
        blocks.rounds = round + 1;
        for index in order.shuffled(variations.len()) {
            let variation = &mut variations[index];
            if stop.load(Ordering::Relaxed) {
                blocks.interrupted = true;
                break;
            }
            if blocks.not_measured.contains_key(&variation.names()) {
                continue;
            }
            match block(variation, round, machine, observer, stop) {
                Ok(block) => block.into_iter().for_each(|record| add(&mut records, record)),
                Err(MeasureError::Stopped) => blocks.interrupted = true,
                Err(error) => {
                    let because = Causes(&error).to_string();
                    observer.failed(&variation.run, &because);
                    blocks.not_measured.insert(variation.names(), because);
                }
            }
        }
    }
    // In the order in which the variants were asked for, not that of the blocks.
    let place = |record: &Record| {
        variations.iter().position(|variation| variation.run.profile == record.profile)
    };
    records.sort_by_key(place);
    for record in &mut records {
        record.interrupted = blocks.interrupted;
    }
    blocks.records = records;
    blocks
}

/// Measures a block; returns a record for each task, with the block in it.
///
/// # Errors
/// Fails when the block could not be measured, or was stopped before it was whole.
fn block(
    variation: &mut Variation,
    round: u32,
    machine: &Machine<'_>,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Vec<Record>, MeasureError> {
    let Variation { variant, run, probe } = variation;
    let (mut records, interrupted) = match probe {
        Some(probe) => by_probe(probe, run, machine, observer, stop)?,
        None => {
            let Measured { records, interrupted } = measure(run, machine, observer, stop)?;
            (records, interrupted)
        }
    };
    if interrupted {
        // A part of a block can't be compared with whole ones.
        return Err(MeasureError::Stopped);
    }
    for record in &mut records {
        let blocks = TrialBlock::of(record, round).into_iter().collect();
        record.trial = Some(Trial { variant: variant.clone(), blocks });
    }
    Ok(records)
}

/// Measures a block with a probe; returns its records, called as those of the run would be, and
/// `true` if it was told to stop.
fn by_probe(
    probe: &mut PlannedProbe,
    run: &Run,
    machine: &Machine<'_>,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<(Vec<Record>, bool), MeasureError> {
    observer.begin(run);
    let mut records = probe.measure(machine, observer, stop)?;
    for record in &mut records {
        rename(record, &run.profile);
    }
    observer.end(run, &records);
    Ok((records, stop.load(Ordering::Relaxed)))
}

/// Puts a record under another profile, which is a part of its name.
fn rename(record: &mut Record, profile: &str) {
    let front = format!("{}.{}.", record.partition, record.profile);
    let part = record.name.strip_prefix(&front).unwrap_or(&record.name);
    record.name = format!("{}.{profile}.{part}", record.partition);
    profile.clone_into(&mut record.profile);
}

/// Adds the record of a block to that of the same variant and task.
fn add(records: &mut Vec<Record>, mut later: Record) {
    match records.iter_mut().find(|earlier| earlier.name == later.name) {
        Some(earlier) => {
            std::mem::swap(earlier, &mut later);
            earlier.join(later);
        }
        None => records.push(later),
    }
}

/// Returns how long the blocks of `rounds` rounds take in all, warm-ups included.
pub fn duration(variations: &[Variation], rounds: u32) -> Nanos {
    let one: u64 = variations.iter().map(|variation| variation.run.duration().get()).sum();
    Nanos::new(one.saturating_mul(u64::from(rounds)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use quietcore_record::experiment::costs;
    use quietcore_site::Backend;

    use super::*;
    use crate::world::simulated::{Simulated, Told, runs};

    /// Measures two backends for a minute each in four rounds at most, on simulated time.
    fn measured(within: Option<Nanos>, told: &mut Told, stop: &AtomicBool) -> Blocks {
        let of = |backend: Backend| {
            let (backend, is_reference) = (backend.name().to_owned(), backend == Backend::BARE);
            let run = Run { profile: backend.clone(), ..runs()[1].clone() };
            Variation::of_run(Variant::Realised { backend, is_reference, seed: 3 }, run)
        };
        let mut variations = [Backend::Process, Backend::Kvm].map(of);
        let schedule = Schedule { rounds: 4, seed: 3, within };
        Simulated::on_time()
            .with_machine(|machine| rounds(&mut variations, schedule, machine, told, stop))
    }

    #[test]
    fn each_round_measures_every_backend_and_none_begins_too_late() {
        let stop = AtomicBool::new(false);
        let whole = measured(None, &mut Told::default(), &stop);
        let cost = &costs(&whole.records)[0];
        assert_eq!((whole.rounds, cost.rounds, cost.backends.len()), (4, 4, 1));
        assert_eq!(cost.backends[0].figures[0].of_rounds.len(), 4);
        // A round takes two minutes and its warm-ups.
        let cut = measured(Some(Nanos::from_secs(150)), &mut Told::default(), &stop);
        assert_eq!((cut.rounds, cut.interrupted), (2, false));
        assert_eq!(costs(&cut.records)[0].rounds, 2);
        let short = measured(Some(Nanos::from_secs(1)), &mut Told::default(), &stop);
        assert_eq!(short.rounds, 1, "one is measured whatever the time");
    }

    #[test]
    fn a_record_of_a_probe_is_called_as_its_variant() {
        let mut record = Record::empty("axis.loops-9.isrentry".into(), "osek", "axis", "loops-9");
        rename(&mut record, "kvm");
        assert_eq!((&*record.name, &*record.profile), ("axis.kvm.isrentry", "kvm"));
    }

    /// Goal: what was measured before Ctrl-C is compared, and the block that it cut off is not.
    #[test]
    fn rounds_that_are_interrupted_leave_those_before() {
        let stop = Arc::new(AtomicBool::new(false));
        // A minute has 600 looks; three blocks and a part of the fourth.
        let mut told = Told { stop: Some((Arc::clone(&stop), 2_000)) };
        let blocks = measured(None, &mut told, &stop);
        assert_eq!((blocks.rounds, blocks.interrupted), (2, true));
        let pairs = costs(&blocks.records)[0].backends[0].figures[0].of_rounds.len();
        assert_eq!(pairs, 1);
        assert!(blocks.records.iter().all(|record| record.interrupted));
    }
}
