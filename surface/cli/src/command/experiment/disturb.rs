//! `quietcore disturb`

use quietcore_backend::neighbour::NeighbourKind;
use quietcore_campaign::experiment::{
    self, Disturbing, DisturbingLoad, NeighbourPlacement, Variation,
};
use quietcore_campaign::probe::memory::memory_available;
use quietcore_campaign::{Beside, PartitionRun, Run};
use quietcore_host::Facts;
use quietcore_load::LoadRequest;
use quietcore_record::record::Placement;
use quietcore_site::{LoadKind, Partition, Site};
use quietcore_units::{ByteSize, CpuSet, Nanos};

use super::super::neighbours::Wanted;
use super::super::plan::shared;
use super::bench::{Bench, writer};
use super::progress::{Blocks, about};
use crate::arguments::Disturb;
use crate::machine;
use crate::programs;
use crate::progress;
use crate::status::{Failure, Status};
use crate::terminal::say;

pub(in crate::command) fn run(request: &Disturb) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let mut told = progress::begin_followed(&request.rounds.followed)?;
    let bench = {
        let facts = machine::read_facts(&stop)?;
        Bench::new(&request.site, None, &request.rounds, facts)?
    };
    let site = &bench.file.site;
    let chosen = chosen(&request.partition, site)?;
    shared::check_experiment(site, chosen.iter().copied())?;
    let whole = bench.run(request.rounds.block)?;
    let mut limits = Vec::new();
    let mut victims = victims(request, &bench, &whole, chosen, &mut limits)?;
    if victims.is_empty() {
        return Err(Failure::new(format_args!("quietcore disturb: {}", limits.join("\n"))));
    }
    limits.iter().for_each(|limit| say(format_args!("remark: {limit}")));
    let rounds = request.rounds.rounds;
    let writer = writer(&request.rounds, "disturb", site)?;
    let controls = &whole.settings.controls;
    let mut records = Vec::new();
    let mut interrupted = false;
    let runs: Vec<Run> = victims.iter().flatten().map(|it| it.run.clone()).collect();
    if let Some(file) = &mut told {
        let explaining = u32::from(!request.no_causes);
        file.set_whole(duration(&victims, rounds.saturating_add(explaining)));
    }
    machine::with(&bench.facts, controls, &runs, |machine| {
        for variations in &mut victims {
            let count = variations.len() as u64;
            let first = variations[0].run.partitions.first();
            let name = first.map_or_else(String::new, |first| first.name.clone());
            say(format_args!(
                "{name}: {count} variants in {rounds} rounds, measured for about {} in all",
                about(experiment::duration(variations, rounds))
            ));
            let explained = if request.no_causes { 0 } else { count - 1 };
            let bar = Blocks::new(count * u64::from(rounds) + explained, variations.len());
            let mut bar = Beside::new(bar, told.as_mut());
            let schedule = request.rounds.schedule();
            let mut blocks = experiment::rounds(variations, schedule, machine, &mut bar, &stop);
            for ((variant, _), because) in &blocks.not_measured {
                limits.push(format!("{name}, {variant}: not measured: {because}"));
            }
            interrupted |= blocks.interrupted;
            if explained > 0 && !interrupted {
                say(format_args!("{name}: explaining late releases, once beside each neighbour"));
                let records = &mut blocks.records;
                let failed = experiment::causes(variations, records, machine, &mut bar, &stop);
                limits.extend(failed);
            }
            records.extend(blocks.records);
            if interrupted {
                break;
            }
        }
    })?;
    let evidence = bench.keep(&writer, "disturb", records, limits)?;
    super::super::show::print_evidence(&evidence, request.rounds.json)?;
    Ok(Status::Done)
}

/// Returns the time that all blocks of these rounds take.
fn duration(victims: &[Vec<Variation>], rounds: u32) -> Nanos {
    victims.iter().map(|variations| experiment::duration(variations, rounds)).sum()
}

/// Returns the variants of each partition beside each neighbour, and adds to `limits` what this
/// machine, a partition or a neighbour can't have.
fn victims(
    request: &Disturb,
    bench: &Bench,
    whole: &Run,
    chosen: Vec<&Partition>,
    limits: &mut Vec<String>,
) -> Result<Vec<Vec<Variation>>, Failure> {
    let site = &bench.file.site;
    let loads = loads(&request.aggressor)?;
    let (neighbours, without) = neighbours(request, site, &bench.facts);
    limits.extend(without);
    let mut victims = Vec::new();
    for partition in chosen {
        let places = places(request, partition, site, &bench.facts, limits);
        if places.is_empty() || neighbours.is_empty() {
            continue;
        }
        let (loads, neighbours) = (loads.clone(), neighbours.clone());
        let memory = ByteSize::new(memory_available(&bench.facts));
        let workers = request.workers;
        let disturbing = Disturbing { loads, neighbours, places, workers, memory };
        let without = disturbing.not_run().into_iter();
        limits.extend(without.map(|it| format!("{}: {it}", partition.name)));
        let variations = experiment::beside(&alone(whole, &partition.name), &disturbing);
        // The quiet one alone has nothing to be compared with.
        victims.extend(Some(variations).filter(|variations| variations.len() > 1));
    }
    Ok(victims)
}

/// Returns the loads of these kinds, as large in each kind of neighbour as among the host's
/// processes.
fn loads(kinds: &[LoadKind]) -> Result<Vec<DisturbingLoad>, Failure> {
    let load = |kind: &LoadKind| {
        let size = quietcore_load::default_size(*kind)?;
        Ok(DisturbingLoad { kind: *kind, size })
    };
    kinds.iter().map(load).collect()
}

/// Returns the kinds of neighbours that were asked for and this machine can run, and why it can't
/// run the others. What a guest needs is as the site file has it, where the request names nothing.
fn neighbours(request: &Disturb, site: &Site, facts: &Facts) -> (Vec<NeighbourKind>, Vec<String>) {
    let guests = &request.guests;
    let folder = programs::folder_of(&request.site);
    let of_site = || site.neighbour_image().map(|image| folder.join(image));
    let wanted = Wanted {
        forms: &request.neighbour_backend,
        image: guests.neighbour_image.clone().or_else(of_site),
        accelerator: guests.neighbour_accelerator.unwrap_or_else(|| site.neighbour_accelerator()),
        runtime: site.container_runtime(),
    };
    wanted.found(facts)
}

/// Returns the partitions that were asked for; all if none was named.
fn chosen<'s>(names: &[String], site: &'s Site) -> Result<Vec<&'s Partition>, Failure> {
    let known = || site.measured().map(|partition| partition.name.as_str());
    for name in names {
        if !known().any(|known| known == name) {
            let all = format!("there are {}", quietcore_wording::list(known()));
            let instead = quietcore_wording::meant(name, known(), all);
            return Err(Failure::new(format_args!(
                "--partition {name}: the site has no such partition; {instead}"
            )));
        }
    }
    let partitions = site.measured();
    let wanted = |partition: &&Partition| names.is_empty() || names.contains(&partition.name);
    Ok(partitions.filter(wanted).collect())
}

/// Returns the places of neighbours that this partition has, and adds those that it lacks to
/// `limits`.
fn places(
    request: &Disturb,
    partition: &Partition,
    site: &Site,
    facts: &Facts,
    limits: &mut Vec<String>,
) -> Vec<NeighbourPlacement> {
    let wanted: Vec<Placement> = match request.place.as_slice() {
        [] => Placement::ALL.to_vec(),
        named => named.to_vec(),
    };
    let own = partition.cpus_in_use();
    let (siblings, claimed) = (siblings(facts, &own), site.claimed_cpus());
    let usable = facts.machine().usable;
    let mut places = Vec::new();
    for placement in wanted {
        match NeighbourPlacement::of(placement, &own, &siblings, &claimed, &usable) {
            Ok(place) => places.push(place),
            Err(error) => limits.push(format!("{}: {error}", partition.name)),
        }
    }
    places
}

/// Returns `own` and the CPUs that share a core with one of them.
fn siblings(facts: &Facts, own: &CpuSet) -> CpuSet {
    let of = facts.cpu.cpus.iter().filter(|cpu| own.iter().any(|it| it.get() == cpu.number));
    let sets = of.filter_map(|cpu| cpu.siblings.get());
    sets.fold(*own, |all, siblings| all.union(&siblings.0))
}

/// Returns the run with this partition alone and no load.
fn alone(whole: &Run, name: &str) -> Run {
    let own = whole.partitions.iter().filter(|partition| partition.name == name);
    let partitions: Vec<PartitionRun> = own.cloned().collect();
    Run { partitions, loads: Vec::<LoadRequest>::new(), ..whole.clone() }
}
