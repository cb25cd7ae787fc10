//! `quietcore cost`

use quietcore_campaign::experiment::{self, Schedule, Variation};
use quietcore_campaign::{Beside, Run};
use quietcore_host::Facts;
use quietcore_record::class::catalogue;
use quietcore_record::experiment::CostMeasure;
use quietcore_site::{Backend, BackendChange, Profile, Site};
use quietcore_units::Nanos;

use super::super::plan::{self, shared};
use super::bench::{self, BLOCK, Bench, writer};
use super::progress::{Blocks, about};
use crate::arguments::{Cost, Rounds};
use crate::files::{self, SiteFile};
use crate::status::{Failure, Status};
use crate::terminal::say;
use crate::{machine, programs, progress};

/// Profile under which nothing else runs and the partition is pinned.
const QUIET: &str = "tp2";
/// Time that a block takes beside warm-up and measurement: a guest starts in about a second.
const BEGIN: Nanos = Nanos::from_secs(1);

/// A backend that this machine can run for the partition.
struct Realised {
    /// The measures that can be had in it.
    variations: Vec<(CostMeasure, Variation)>,
    /// Holds the built programs, from which the runs are started.
    bench: Bench,
}

pub(in crate::command) fn run(request: &Cost) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let mut told = progress::begin_followed(&request.rounds.followed)?;
    let file = files::read_site(&request.site)?;
    let partition = chosen(request, &file.site)?;
    let profile = bench::profile_of(&file.site, Some(request.profile.as_deref().unwrap_or(QUIET)))?;
    let backends = backends(&request.backend)?;
    let measures = measures(&request.measure);
    let rounds = fitted(request, backends.len() * measures.len(), &file.site)?;
    shared::check_experiment(
        &file.site,
        file.site.partitions().iter().filter(|it| it.name == partition),
    )?;
    let facts = machine::read_facts(&stop)?;
    let asked =
        Asked { request, file: &file, partition: &partition, profile, measures, rounds: &rounds };
    let (realised, mut limits) = asked.realised(&backends, &facts)?;
    let count = realised.len();
    let (of_backends, benches): (Vec<_>, Vec<_>) =
        realised.into_iter().map(|it| (it.variations, it.bench)).unzip();
    let mut variations: Vec<Variation> = of_backends.into_iter().flatten().map(|it| it.1).collect();
    let schedule = Schedule { within: request.within, ..rounds.schedule() };
    let writer = writer(&rounds, "cost", &file.site)?;
    say(format_args!(
        "{partition}: {count} backends in {} rounds of {} each, measured for about {} in all; \
         chance order by seed {}",
        rounds.rounds,
        rounds.block,
        about(experiment::duration(&variations, rounds.rounds)),
        rounds.seed
    ));
    let runs: Vec<Run> = variations.iter().map(|it| it.run.clone()).collect();
    if let Some(file) = &mut told {
        file.set_whole(experiment::duration(&variations, rounds.rounds));
    }
    let blocks = machine::with(&facts, &runs[0].settings.controls, &runs, |machine| {
        let stretch = runs.len();
        let bar = Blocks::new(stretch as u64 * u64::from(rounds.rounds), stretch);
        let mut bar = Beside::new(bar, told.as_mut());
        experiment::rounds(&mut variations, schedule, machine, &mut bar, &stop)
    })?;
    for ((backend, probe), because) in &blocks.not_measured {
        let what = probe.as_ref().map_or_else(String::new, |probe| format!("{probe}: "));
        limits.push(format!("backend `{backend}`: {what}not measured any more: {because}"));
    }
    if blocks.rounds < rounds.rounds && !blocks.interrupted {
        let words =
            format!("the time was over after {} of {} rounds", blocks.rounds, rounds.rounds);
        say(format_args!("remark: {words}"));
        limits.push(words);
    }
    let evidence = benches[0].keep(&writer, "cost", blocks.records, limits)?;
    super::super::show::print_evidence(&evidence, request.rounds.json)?;
    Ok(Status::Done)
}

/// Returns the partition that was asked for, or the only one.
fn chosen(request: &Cost, site: &Site) -> Result<String, Failure> {
    let known = || site.measured().map(|partition| partition.name.as_str());
    let all = quietcore_wording::list(known());
    match &request.partition {
        Some(name) if known().any(|known| known == name) => Ok(name.clone()),
        Some(name) => {
            let instead = quietcore_wording::meant(name, known(), format!("there are {all}"));
            Err(Failure::new(format_args!(
                "--partition {name}: the site has no such partition to measure; {instead}"
            )))
        }
        None => match known().collect::<Vec<_>>()[..] {
            [only] => Ok(only.to_owned()),
            [] => Err(Failure::new("quietcore cost: the site has no partition to measure")),
            _ => Err(Failure::new(format_args!(
                "quietcore cost: the site has several partitions; name one with --partition: {all}"
            ))),
        },
    }
}

/// Returns the bare machine and the backends that were asked for, each once.
fn backends(asked: &[Backend]) -> Result<Vec<Backend>, Failure> {
    let wanted = |backend: &Backend| asked.is_empty() || asked.contains(backend);
    let others = Backend::ALL.into_iter().filter(|it| *it != Backend::BARE).filter(wanted);
    let all: Vec<Backend> = std::iter::once(Backend::BARE).chain(others).collect();
    if all.len() > 1 {
        return Ok(all);
    }
    Err(Failure::new(format_args!(
        "--backend {}: it is what the others are compared with; name another one",
        Backend::BARE
    )))
}

/// Returns the measures that were asked for, each once.
fn measures(asked: &[CostMeasure]) -> Vec<CostMeasure> {
    CostMeasure::ALL.into_iter().filter(|measure| asked.contains(measure)).collect()
}

/// Returns the rounds that were asked for, of so many `blocks`; with a time for all of it those
/// whose blocks fit.
fn fitted(request: &Cost, blocks: usize, site: &Site) -> Result<Rounds, Failure> {
    let mut rounds = request.rounds.clone();
    if let Some(within) = request.within {
        let blocks = blocks as u64 * u64::from(rounds.rounds);
        let longest = site.partitions().iter().map(|it| it.program.period).max();
        let least = BLOCK[0].max(longest.unwrap_or_default());
        rounds.block = block_within(within, blocks, rounds.warm_up, least).map_err(|needed| {
            Failure::new(format_args!(
                "--within {within}: {blocks} blocks take {} at least; give more time, or fewer \
                 --rounds, --backend or --measure",
                about(needed)
            ))
        })?;
    }
    bench::check(&rounds, site)?;
    Ok(rounds)
}

/// Returns the length of so many blocks that fit into a time, or the time that they need at least.
fn block_within(within: Nanos, blocks: u64, warm_up: Nanos, least: Nanos) -> Result<Nanos, Nanos> {
    let beside = warm_up.get().saturating_add(BEGIN.get());
    let block = (within / blocks).saturating_sub(Nanos::new(beside)).min(BLOCK[1]);
    if block >= least {
        return Ok(block);
    }
    Err(Nanos::new(least.get().saturating_add(beside).saturating_mul(blocks)))
}

/// The request with what it is about.
struct Asked<'a> {
    request: &'a Cost,
    file: &'a SiteFile,
    partition: &'a str,
    profile: Profile,
    measures: Vec<CostMeasure>,
    rounds: &'a Rounds,
}

impl Asked<'_> {
    /// Makes ready what this machine can run, and says why not of the others. The bare machine
    /// comes first.
    fn realised(
        &self,
        backends: &[Backend],
        facts: &Facts,
    ) -> Result<(Vec<Realised>, Vec<String>), Failure> {
        let (mut realised, mut limits) = (Vec::new(), Vec::new());
        for backend in backends {
            match self.realise(*backend, facts, &mut limits) {
                Ok(one) => realised.push(one),
                Err(failure) if *backend == Backend::BARE => return Err(failure),
                Err(failure) => limits.push(format!("backend `{backend}` is left out: {failure}")),
            }
        }
        self.leave_lonely(&mut realised, &mut limits);
        if realised.is_empty() {
            let why = limits.join("\n");
            return Err(Failure::new(format_args!(
                "quietcore cost: nothing is left to compare with a {}\n{why}",
                Backend::BARE
            )));
        }
        limits.iter().for_each(|limit| say(format_args!("remark: {limit}")));
        Ok((realised, limits))
    }

    /// Leaves out measures that the bare machine alone has, and backends that have none.
    fn leave_lonely(&self, realised: &mut Vec<Realised>, limits: &mut Vec<String>) {
        let has = |one: &Realised, measure| one.variations.iter().any(|it| it.0 == measure);
        let mut lonely = Vec::new();
        for measure in &self.measures {
            if realised.iter().filter(|one| has(one, *measure)).count() < 2 {
                lonely.push(*measure);
                limits.push(format!("`{}` is left out: no other backend has it", measure.name()));
            }
        }
        for one in realised.iter_mut() {
            one.variations.retain(|(measure, _)| !lonely.contains(measure));
        }
        realised.retain(|one| !one.variations.is_empty());
    }

    /// Checks the site with the partition in a backend, and builds what is measured. Measures that
    /// can't be had in it are added to `limits`.
    fn realise(
        &self,
        backend: Backend,
        facts: &Facts,
        limits: &mut Vec<String>,
    ) -> Result<Realised, Failure> {
        let text = String::from_utf8_lossy(&self.file.bytes);
        let change = BackendChange { backend, accelerator: self.request.accelerator };
        let text = change.apply(&text, self.partition).map_err(Failure::new)?;
        let name = self.request.site.display().to_string();
        let mut site =
            quietcore_site::read(&name, text.as_bytes(), &catalogue()).map_err(Failure::new)?;
        site = site.turn_of(self.partition).into_owned();
        site.select_profiles(std::slice::from_ref(&self.profile.name))?;
        let degraded = plan::make_run(&site, facts)?;
        plan::remark_degraded(&degraded);
        let SiteFile { bytes, sha256, .. } = self.file;
        let file = SiteFile { site, bytes: bytes.clone(), sha256: sha256.clone() };
        let built = if self.measures.contains(&CostMeasure::Releases) {
            programs::build(&file.site, programs::folder_of(&self.request.site))?
        } else {
            programs::none()?
        };
        let bench = Bench::of(file, built, self.profile.clone(), self.rounds, facts.clone());
        let variations = self.variations(&bench, limits)?;
        Ok(Realised { variations, bench })
    }

    /// Returns the variations of the measures that can be had of the partition; the bare machine
    /// has to have all of them.
    fn variations(
        &self,
        bench: &Bench,
        limits: &mut Vec<String>,
    ) -> Result<Vec<(CostMeasure, Variation)>, Failure> {
        let (site, run) = (&bench.file.site, bench.run(self.rounds.block)?);
        let mut partitions = site.partitions().iter();
        let partition = partitions.find(|it| it.name == self.partition);
        let partition = partition.expect("the site was asked for it");
        let realised = experiment::Realised {
            run: &run,
            site,
            partition,
            facts: &bench.facts,
            block: self.rounds.block,
            seed: self.rounds.seed,
        };
        let mut variations = Vec::new();
        for measure in &self.measures {
            let (word, backend) = (measure.name(), partition.backend);
            match realised.variation(*measure) {
                Ok(variation) => variations.push((*measure, variation)),
                Err(why) if backend == Backend::BARE => {
                    return Err(Failure::new(format_args!("--measure {word}: {why}")));
                }
                Err(why) => {
                    limits.push(format!("backend `{backend}` is left out of `{word}`: {why}"));
                }
            }
        }
        Ok(variations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bare_machine_comes_first_and_once() {
        assert_eq!(backends(&[]).unwrap(), Backend::ALL);
        let named = backends(&[Backend::Qemu, Backend::Process, Backend::Container]).unwrap();
        assert_eq!(named, [Backend::Process, Backend::Container, Backend::Qemu]);
        let alone = backends(&[Backend::Process]).unwrap_err().to_string();
        assert!(alone.contains("name another one"), "{alone}");
    }

    #[test]
    fn what_fits_is_measured_and_no_more() {
        let of = |within| {
            let warm_up = Nanos::from_millis(200);
            block_within(Nanos::from_secs(within), 36, warm_up, Nanos::from_millis(100))
        };
        assert_eq!(of(72), Ok(Nanos::from_millis(800)), "2 s each");
        assert_eq!(of(10), Err(Nanos::from_millis(46_800)));
        assert_eq!(of(10_000_000), Ok(BLOCK[1]));
    }
}
