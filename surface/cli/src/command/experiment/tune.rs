//! `quietcore tune`

use quietcore_campaign::Beside;
use quietcore_campaign::experiment::{self, Searched};
use quietcore_host::Source;
use quietcore_record::experiment::{Tuning, tuning};
use quietcore_settings::{RequestedSettings, requests};
use quietcore_site::{Control, Site};
use quietcore_units::Nanos;

use super::super::plan::shared;
use super::bench::{Bench, writer};
use super::progress::{Blocks, about};
use crate::arguments::Tune;
use crate::machine;
use crate::progress;
use crate::status::{Failure, Status};
use crate::terminal::say;

pub(in crate::command) fn run(request: &Tune) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let mut told = progress::begin_followed(&request.rounds.followed)?;
    let bench = {
        let facts = machine::read_facts(&stop)?;
        Bench::new(&request.site, request.profile.as_deref(), &request.rounds, facts)?
    };
    let site = &bench.file.site;
    shared::check_experiment(site, site.partitions())?;
    let (controls, limits) = controls(request, site)?;
    let run = bench.run(request.rounds.block)?;
    let confirming = bench.run(request.confirm)?;
    let mut variations = experiment::screening(&run, &controls);
    let rounds = request.rounds.rounds;
    let writer = writer(&request.rounds, "tune", site)?;
    say(format_args!(
        "{} variants in {rounds} rounds under `{}`, measured for about {} in all",
        variations.len(),
        bench.profile.name,
        about(experiment::duration(&variations, rounds))
    ));
    let sets = sets_max(&controls);
    if let Some(file) = &mut told {
        let search = confirming.duration().get().saturating_mul(sets);
        let screening = experiment::duration(&variations, rounds).get();
        file.set_whole(Nanos::new(screening.saturating_add(search)));
    }
    let all = [run, confirming.clone()];
    let (records, searched) = machine::with(&bench.facts, &controls, &all, |machine| {
        let bar = Blocks::new(variations.len() as u64 * u64::from(rounds), variations.len());
        let mut bar = Beside::new(bar, told.as_mut());
        let schedule = request.rounds.schedule();
        let blocks = experiment::rounds(&mut variations, schedule, machine, &mut bar, &stop);
        drop(bar);
        if blocks.interrupted {
            let searched = Searched { interrupted: true, ..Searched::default() };
            return (blocks.records, searched);
        }
        let ordered = ordered(&controls, &tuning(&blocks.records));
        say("trying sets of controls against the class");
        let mut bar = Beside::new(Blocks::new(sets, usize::MAX), told.as_mut());
        let searched = experiment::smallest(&confirming, ordered, site, machine, &mut bar, &stop);
        (blocks.records, searched)
    })?;
    if let Some(because) = &searched.failed {
        say(format_args!("the search ended early: {because}"));
    }
    let smallest = searched.smallest;
    let records = records.into_iter().chain(searched.records).collect();
    let evidence = bench.keep(&writer, "tune", records, limits)?;
    super::super::show::print_evidence(&evidence, request.rounds.json)?;
    Ok(if smallest.is_some() { Status::Done } else { Status::NotPassed })
}

/// Returns the most sets that the search for the smallest one tries.
fn sets_max(controls: &[Control]) -> u64 {
    2 * controls.len() as u64 + 2
}

/// Returns the controls to try that this machine has, and remarks on the others.
fn controls(request: &Tune, site: &Site) -> Result<(Vec<Control>, Vec<String>), Failure> {
    if !rustix::process::geteuid().is_root() {
        return Err(Failure::new(
            "quietcore tune: it changes settings of the machine, which takes root; run it as root",
        ));
    }
    let wanted = if request.control.is_empty() {
        match site.controls() {
            [] => {
                say("remark: the site names no controls; `standard` ones are tried");
                Control::STANDARD.to_vec()
            }
            named => named.to_vec(),
        }
    } else {
        named(&request.control)?
    };
    let is_here = |control: &Control| {
        let wanted = RequestedSettings { controls: vec![*control], ..RequestedSettings::of(site) };
        !requests(&Source::live(), "tune", &wanted).is_empty()
    };
    let (here, absent): (Vec<Control>, Vec<Control>) = wanted.into_iter().partition(is_here);
    let limits: Vec<String> = absent
        .iter()
        .map(|control| format!("this machine has nothing that `{control}` would change"))
        .collect();
    limits.iter().for_each(|limit| say(format_args!("remark: {limit}")));
    if here.is_empty() {
        return Err(Failure::new("quietcore tune: this machine has none of these controls"));
    }
    Ok((here, limits))
}

/// Returns the controls of these words, each once, in the order of their use.
fn named(words: &[String]) -> Result<Vec<Control>, Failure> {
    let mut controls = Vec::new();
    for word in words {
        let more = match word.as_str() {
            "standard" => Control::STANDARD.to_vec(),
            "all" => Control::ALL.to_vec(),
            word => match Control::ALL.into_iter().find(|control| control.name() == word) {
                Some(control) => vec![control],
                None => {
                    let known = Control::ALL.map(Control::name);
                    let all = format!("there are {}", quietcore_wording::list(known));
                    let instead = quietcore_wording::meant(word, known, all);
                    return Err(Failure::new(format_args!(
                        "--control {word}: there is no such control; {instead}"
                    )));
                }
            },
        };
        controls.extend(more);
    }
    let known = Control::ALL.into_iter();
    Ok(known.filter(|control| controls.contains(control)).collect())
}

/// Sorts the most helpful controls first; if several tasks were measured, by the task that a
/// control helps most.
fn ordered(controls: &[Control], tunings: &[Tuning]) -> Vec<Control> {
    let rank = |control: &Control| {
        let of = |tuning: &Tuning| {
            tuning.effects.iter().position(|effect| effect.control == control.name())
        };
        tunings.iter().filter_map(of).min().unwrap_or(usize::MAX)
    };
    let mut ordered = controls.to_vec();
    ordered.sort_by_key(rank);
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_for_controls_once_and_in_the_order_of_their_use() {
        let of = |words: &[&str]| named(&words.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(
            of(&["timers", "interrupts", "timers"]).unwrap(),
            [Control::Interrupts, Control::Timers]
        );
        assert_eq!(of(&["siblings", "standard"]).unwrap().len(), Control::STANDARD.len() + 1);
        let error = of(&["governer"]).unwrap_err().to_string();
        assert!(error.contains("governor"), "{error}");
    }
}
