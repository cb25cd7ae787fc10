//! `quietcore disturb`

use quietcore_campaign::experiment::{self, Disturbing, NeighbourPlacement, Variation};
use quietcore_campaign::{PartitionRun, Run};
use quietcore_host::Facts;
use quietcore_load::LoadRequest;
use quietcore_record::record::Placement;
use quietcore_site::{Partition, Site};
use quietcore_units::CpuSet;

use super::super::plan::shared;
use super::bench::{Bench, writer};
use super::progress::{Blocks, about};
use crate::arguments::Disturb;
use crate::machine;
use crate::status::{Failure, Status};
use crate::terminal::say;

pub(in crate::command) fn run(request: &Disturb) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let bench = {
        let facts = machine::read_facts(&stop)?;
        Bench::new(&request.site, None, &request.rounds, facts)?
    };
    let site = &bench.file.site;
    let chosen = chosen(&request.partition, site)?;
    shared::check_experiment(site, chosen.iter().copied())?;
    let whole = bench.run(request.rounds.block)?;
    let mut limits = Vec::new();
    let mut victims: Vec<Vec<Variation>> = Vec::new();
    for partition in chosen {
        let places = places(request, partition, site, &bench.facts, &mut limits);
        if places.is_empty() {
            continue;
        }
        let workers = request.workers;
        let disturbing = Disturbing { kinds: request.aggressor.clone(), places, workers };
        victims.push(experiment::beside(&alone(&whole, &partition.name), &disturbing));
    }
    if victims.is_empty() {
        return Err(Failure::new(format_args!("quietcore disturb: {}", limits.join("\n"))));
    }
    limits.iter().for_each(|limit| say(format_args!("remark: {limit}")));
    let rounds = request.rounds.rounds;
    let writer = writer(&request.rounds, "disturb", site)?;
    let controls = &whole.settings.controls;
    let mut records = Vec::new();
    let mut interrupted = false;
    machine::with(&bench.facts, controls, std::slice::from_ref(&whole), |machine| {
        for variations in &victims {
            let count = variations.len() as u64;
            let name = variations[0].run.partitions.first().map_or("", |first| &first.name);
            say(format_args!(
                "{name}: {count} variants in {rounds} rounds, measured for about {} in all",
                about(experiment::duration(variations, rounds))
            ));
            let explained = if request.no_causes { 0 } else { count - 1 };
            let mut bar = Blocks::new(count * u64::from(rounds) + explained, variations.len());
            let schedule = request.rounds.schedule();
            let mut blocks = experiment::rounds(variations, schedule, machine, &mut bar, &stop);
            for (variant, because) in &blocks.not_measured {
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
    let online = facts.machine().online;
    let mut places = Vec::new();
    for placement in wanted {
        match NeighbourPlacement::of(placement, &own, &siblings, &claimed, &online) {
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
