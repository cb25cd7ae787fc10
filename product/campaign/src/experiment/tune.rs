//! Variants with and without each control, and the sets that are tried against the class.

use std::sync::atomic::AtomicBool;

use quietcore_record::record::{Record, Variant};
use quietcore_record::verdict::{Verdict, is_judged, judge};
use quietcore_site::{Control, Site};
use quietcore_units::Causes;

use super::Variation;
use super::search::Search;
use crate::measure::{Machine, MeasureError};
use crate::observer::Observer;
use crate::run::Run;

/// The exceedance probability that confirms a set of controls once it is excluded. It is so large
/// that a few releases exclude it; their number is told beside the result.
const SHOWN_BY_ANY: f64 = 0.5;

/// Returns the variants that show what each control does: all of them, none, and all but each.
pub fn screening(run: &Run, controls: &[Control]) -> Vec<Variation> {
    let variation = |profile: String, on: Vec<Control>, left_out: Option<Control>| {
        let left_out = left_out.map(|control| control.name().to_owned());
        let variant = Variant::Screening { on: words(&on), left_out };
        Variation::of_run(variant, with(run, profile, on))
    };
    let all = variation("all".to_owned(), controls.to_vec(), None);
    // With a single control, "none" is the same variant as "all but this one".
    let none = (controls.len() != 1).then(|| variation("none".to_owned(), Vec::new(), None));
    let each = controls.iter().map(|left_out| {
        let on = controls.iter().copied().filter(|control| control != left_out).collect();
        variation(format!("without-{left_out}"), on, Some(*left_out))
    });
    std::iter::once(all).chain(none).chain(each).collect()
}

fn with(run: &Run, profile: String, on: Vec<Control>) -> Run {
    let mut run = Run { profile, ..run.clone() };
    run.settings.controls = on;
    run
}

fn words(controls: &[Control]) -> Vec<String> {
    controls.iter().map(|control| control.name().to_owned()).collect()
}

/// The result of the search for the smallest set.
#[derive(Debug, Default)]
pub struct Searched {
    /// A record for each set that was tried and each task.
    pub records: Vec<Record>,
    /// The smallest set; `None` if not even all controls reach the class, or the search did not
    /// end.
    pub smallest: Option<Vec<Control>>,
    /// The reason why a set could not be measured, which ends the search.
    pub failed: Option<String>,
    /// `true` if it was ended before its time.
    pub interrupted: bool,
}

/// Searches for the smallest set among these controls, the most helpful first. Each set is measured
/// once as `run` says, with all partitions at the same time.
pub fn smallest(
    run: &Run,
    ordered: Vec<Control>,
    site: &Site,
    machine: &Machine<'_>,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Searched {
    let mut search = Search::new(ordered);
    let mut searched = Searched::default();
    while let Some(on) = search.next_set() {
        let number = searched_sets(&searched.records) + 1;
        let run = with(run, format!("set-{number}"), on.clone());
        // A placeholder: judging the set replaces the variant in its records.
        let variant = Variant::Screening { on: words(&on), left_out: None };
        let mut variation = Variation::of_run(variant, run);
        match super::block(&mut variation, 0, machine, observer, stop) {
            Ok(mut records) => {
                search.tell(judge_set(&mut records, site, &on));
                searched.records.extend(records);
            }
            Err(MeasureError::Stopped) => {
                searched.interrupted = true;
                return searched;
            }
            Err(error) => {
                searched.failed = Some(Causes(&error).to_string());
                return searched;
            }
        }
    }
    searched.smallest = search.found().map(<[Control]>::to_vec);
    searched
}

/// Counts the sets that were tried, by the profiles of their records.
fn searched_sets(records: &[Record]) -> usize {
    let mut profiles: Vec<&str> = records.iter().map(|record| &*record.profile).collect();
    profiles.dedup();
    profiles.len()
}

/// Judges the records of a set, each by the class of its partition. Returns `true` if all reached
/// theirs.
fn judge_set(records: &mut [Record], site: &Site, on: &[Control]) -> bool {
    let judged: Vec<_> = records.iter().map(|record| judged(record, site)).collect();
    let reached = judged.iter().all(|(_, passes, _)| *passes);
    for (record, (class, _, because)) in records.iter_mut().zip(judged) {
        if let Some(trial) = record.trial.as_mut() {
            trial.variant = Variant::Confirming { on: words(on), class, reached, because };
        }
    }
    reached
}

/// Returns the class that a record is held to, `true` if it reaches that class, and why.
fn judged(record: &Record, site: &Site) -> (String, bool, String) {
    let mut partitions = site.partitions().iter();
    let Some(partition) = partitions.find(|partition| partition.name == record.partition) else {
        return (String::new(), false, "no partition of the site".to_owned());
    };
    let judgement = judge(record, &partition.class, SHOWN_BY_ANY);
    let passes = judgement.verdict == Verdict::Pass || !is_judged(record);
    (judgement.class, passes, judgement.because)
}

#[cfg(test)]
mod tests {
    use quietcore_settings::RequestedSettings;

    use super::*;

    fn run() -> Run {
        Run {
            profile: "tp2".to_owned(),
            reserved: true,
            settings: RequestedSettings::default(),
            container_runtime: None,
            partitions: Vec::new(),
            loads: Vec::new(),
            neighbours: Vec::new(),
            explain: None,
            site_sha256: String::new(),
        }
    }

    #[test]
    fn each_control_is_left_out_once() {
        let controls = [Control::Interrupts, Control::Timers];
        let variations = screening(&run(), &controls);
        let of = |number: usize| {
            let run = &variations[number].run;
            (run.profile.as_str(), run.settings.controls.clone())
        };
        assert_eq!(of(0), ("all", controls.to_vec()));
        assert_eq!(of(1), ("none", Vec::new()));
        assert_eq!(of(2), ("without-interrupts", vec![Control::Timers]));
        assert_eq!(of(3), ("without-timers", vec![Control::Interrupts]));
        assert_eq!(variations.len(), 4);
        let one = screening(&run(), &controls[..1]);
        let names: Vec<&str> = one.iter().map(|it| it.run.profile.as_str()).collect();
        assert_eq!(names, ["all", "without-interrupts"]);
    }
}
