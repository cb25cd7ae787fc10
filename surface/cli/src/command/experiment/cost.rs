//! `quietcore cost`

use quietcore_campaign::Run;
use quietcore_campaign::experiment::{self, Schedule, Variation};
use quietcore_host::Facts;
use quietcore_record::class::catalogue;
use quietcore_site::{Backend, BackendChange, Profile, Site};
use quietcore_units::Nanos;

use super::super::plan::{self, shared};
use super::bench::{self, BLOCK, Bench, writer};
use super::progress::{Blocks, about};
use crate::arguments::{Cost, Rounds};
use crate::files::{self, SiteFile};
use crate::machine;
use crate::status::{Failure, Status};
use crate::terminal::say;

/// Profile under which nothing else runs and the partition is pinned.
const QUIET: &str = "tp2";
/// Time that a block takes beside warm-up and measurement: a guest starts in about a second.
const BEGIN: Nanos = Nanos::from_secs(1);

/// A backend that this machine can run for the partition.
struct Realised {
    variation: Variation,
    /// Holds the built programs, from which the run is started.
    bench: Bench,
}

pub(in crate::command) fn run(request: &Cost) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let file = files::read_site(&request.site)?;
    let partition = chosen(request, &file.site)?;
    let profile = bench::profile_of(&file.site, Some(request.profile.as_deref().unwrap_or(QUIET)))?;
    let backends = backends(&request.backend)?;
    let rounds = fitted(request, backends.len(), &file.site)?;
    shared::check_experiment(
        &file.site,
        file.site.partitions().iter().filter(|it| it.name == partition),
    )?;
    let facts = machine::read_facts(&stop)?;
    let asked = Asked { request, file: &file, partition: &partition, profile, rounds: &rounds };
    let (realised, mut limits) = asked.realised(&backends, &facts)?;
    let variations: Vec<Variation> = realised.iter().map(|it| it.variation.clone()).collect();
    let schedule = Schedule { within: request.within, ..rounds.schedule() };
    let writer = writer(&rounds, "cost", &file.site)?;
    let count = variations.len();
    say(format_args!(
        "{partition}: {count} backends in {} rounds of {} each, measured for about {} in all; \
         chance order by seed {}",
        rounds.rounds,
        rounds.block,
        about(experiment::duration(&variations, rounds.rounds)),
        rounds.seed
    ));
    let runs: Vec<Run> = variations.iter().map(|it| it.run.clone()).collect();
    let blocks = machine::with(&facts, &runs[0].settings.controls, &runs, |machine| {
        let mut bar = Blocks::new(count as u64 * u64::from(rounds.rounds), count);
        experiment::rounds(&variations, schedule, machine, &mut bar, &stop)
    })?;
    for (backend, because) in &blocks.not_measured {
        limits.push(format!("backend `{backend}`: not measured any more: {because}"));
    }
    if blocks.rounds < rounds.rounds && !blocks.interrupted {
        let words =
            format!("the time was over after {} of {} rounds", blocks.rounds, rounds.rounds);
        say(format_args!("remark: {words}"));
        limits.push(words);
    }
    let evidence = realised[0].bench.keep(&writer, "cost", blocks.records, limits)?;
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

/// Returns the rounds that were asked for; with a time for all of it those whose blocks fit.
fn fitted(request: &Cost, backends: usize, site: &Site) -> Result<Rounds, Failure> {
    let mut rounds = request.rounds.clone();
    if let Some(within) = request.within {
        let blocks = backends as u64 * u64::from(rounds.rounds);
        let longest = site.partitions().iter().map(|it| it.program.period).max();
        let least = BLOCK[0].max(longest.unwrap_or_default());
        rounds.block = block_within(within, blocks, rounds.warm_up, least).map_err(|needed| {
            Failure::new(format_args!(
                "--within {within}: {blocks} blocks take {} at least; give more time, or fewer \
                 --rounds or --backend",
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
            match self.realise(*backend, facts) {
                Ok(one) => realised.push(one),
                Err(failure) if *backend == Backend::BARE => return Err(failure),
                Err(failure) => limits.push(format!("backend `{backend}` is left out: {failure}")),
            }
        }
        if realised.len() < 2 {
            let why = limits.join("\n");
            return Err(Failure::new(format_args!(
                "quietcore cost: nothing is left to compare with a {}\n{why}",
                Backend::BARE
            )));
        }
        limits.iter().for_each(|limit| say(format_args!("remark: {limit}")));
        Ok((realised, limits))
    }

    /// Checks and builds the site with the partition in a backend.
    fn realise(&self, backend: Backend, facts: &Facts) -> Result<Realised, Failure> {
        let text = String::from_utf8_lossy(&self.file.bytes);
        let change = BackendChange { backend, accelerator: self.request.accelerator };
        let text = change.apply(&text, self.partition).map_err(Failure::new)?;
        let name = self.request.site.display().to_string();
        let mut site =
            quietcore_site::read(&name, text.as_bytes(), &catalogue()).map_err(Failure::new)?;
        site.select_profiles(std::slice::from_ref(&self.profile.name))?;
        let degraded = plan::make_run(&site, facts)?;
        plan::remark_degraded(&degraded);
        let SiteFile { bytes, sha256, .. } = self.file;
        let file = SiteFile { site, bytes: bytes.clone(), sha256: sha256.clone() };
        let profile = self.profile.clone();
        let bench = Bench::of(file, &self.request.site, profile, self.rounds, facts.clone())?;
        let run = bench.run(self.rounds.block)?;
        let variation = experiment::realised(&run, self.partition, backend, self.rounds.seed);
        Ok(Realised { variation, bench })
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
