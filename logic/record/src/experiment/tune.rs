//! The effect of each control of the machine, and the controls that are needed.

use serde::{Deserialize, Serialize};

use super::pairs::{NEGLIGIBLE, TOLD_MAX, decide, factor, rounds_needed, typical_cycles};
use super::{Exceedances, Figure, Finding, Ratio, p99_9_ns, task_of};
use crate::record::{Record, TrialBlock, Variant};

/// The figures that are tested; the others are shown beside them.
const TESTED: [Figure; 2] = [Figure::P99Ns, Figure::MaxNs];

/// The result of `tune` for one task of a partition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Tuning {
    /// Name of the partition.
    pub partition: String,
    /// Name of the task.
    pub task: String,
    /// Words of all controls that were tried.
    pub controls: Vec<String>,
    /// Rounds in which each variant was measured.
    pub rounds: u32,
    /// The fewest rounds with which anything can be sure, since so much is tested.
    pub rounds_needed: u32,
    /// Releases in a block, as a rule.
    pub cycles_in_block: u64,
    /// Releases with all controls surely above their own 99.9 % quantile; 0 if that lies in the
    /// last bin.
    #[serde(default)]
    pub with_all: Exceedances,
    /// The effect of all controls together: without any over with all.
    pub together: Option<ControlEffect>,
    /// The effect of each control: without it over with all, in the order of its size in the tested
    /// figures.
    pub effects: Vec<ControlEffect>,
    /// The sets that were tried against the class, in their order.
    pub confirmed: Vec<Confirmed>,
    /// The smallest of them that reached it; absent where none did.
    pub smallest: Option<Vec<String>>,
}

/// The outcome of the sets of controls that were tried for the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetsFound<'a> {
    /// No set was tried.
    Untried,
    /// The smallest that reached it; empty where it needs none.
    Smallest(&'a [String]),
    /// None reached it, in as many rounds as it takes to say so.
    NoneReaches,
    /// None reached it, in too few rounds: those made, and those needed.
    NotShown(u32, u32),
}

impl Tuning {
    /// Sums up the sets that were tried.
    pub fn found(&self) -> SetsFound<'_> {
        match &self.smallest {
            _ if self.confirmed.is_empty() => SetsFound::Untried,
            Some(set) => SetsFound::Smallest(set),
            None if self.rounds < self.rounds_needed => {
                SetsFound::NotShown(self.rounds, self.rounds_needed)
            }
            None => SetsFound::NoneReaches,
        }
    }
}

/// The effect of a control on latencies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ControlEffect {
    /// Its word in the site file; empty for all together.
    pub control: String,
    /// Ratios without it over with it: above 1 it makes latencies smaller. One for each figure.
    pub ratios: Vec<Ratio>,
    /// Releases without it above the 99.9 % quantile with all controls.
    #[serde(default)]
    pub without: Exceedances,
    /// The judgement of these ratios.
    pub effect: Effect,
    /// The effect in words, with the figure that decides.
    pub sentence: String,
}

/// The direction in which a control changes latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Latencies became smaller with it.
    Helped,
    /// Latencies became larger with it.
    Hurt,
    /// Latencies stayed within 5 %.
    NoEffect,
    /// None of these was shown.
    NotShown,
}

impl Effect {
    /// Returns the word that people read.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Helped => "helped",
            Self::Hurt => "hurt",
            Self::NoEffect => "no effect",
            Self::NotShown => "no effect shown",
        }
    }
}

/// A set of controls that was tried against the class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Confirmed {
    /// The controls that were on.
    pub on: Vec<String>,
    /// Name of the class.
    pub class: String,
    /// `true` if the limits of the class held.
    pub reached: bool,
    /// The reason, in words.
    pub because: String,
    /// Number of releases that say so.
    pub cycles: u64,
}

/// Returns the results of `tune` that records hold, one for each task that was tuned.
pub fn tuning(records: &[Record]) -> Vec<Tuning> {
    let whole = |record: &&Record| match record.trial.as_ref().map(|trial| &trial.variant) {
        Some(Variant::Screening { on, left_out: None }) => !on.is_empty(),
        _ => false,
    };
    records.iter().filter(whole).filter_map(|all| of_task(all, records)).collect()
}

fn of_task(all: &Record, records: &[Record]) -> Option<Tuning> {
    let with_all = all.trial.as_ref()?;
    let Variant::Screening { on: controls, .. } = &with_all.variant else { return None };
    let same =
        |record: &&Record| record.partition == all.partition && task_of(record) == task_of(all);
    let limit_ns = p99_9_ns(all);
    let (mut together, mut effects, mut confirmed) = (None, Vec::new(), Vec::new());
    for record in records.iter().filter(same) {
        let Some(trial) = record.trial.as_ref() else { continue };
        let effect = |control: &str| ControlEffect {
            control: control.to_owned(),
            ratios: ratios(&trial.blocks, &with_all.blocks),
            without: Exceedances::of(&record.release, limit_ns),
            effect: Effect::NotShown,
            sentence: String::new(),
        };
        match &trial.variant {
            Variant::Screening { on, left_out: None } if on.is_empty() => {
                together = Some(effect(""));
            }
            Variant::Screening { left_out: Some(control), .. } => effects.push(effect(control)),
            Variant::Confirming { on, class, reached, because } => confirmed.push(Confirmed {
                on: on.clone(),
                class: class.clone(),
                reached: *reached,
                because: because.clone(),
                cycles: record.release.count(),
            }),
            Variant::Screening { .. } | Variant::Beside { .. } | Variant::Realised { .. } => {}
        }
    }
    let of_all = together.iter_mut().chain(&mut effects);
    let tested = of_all.flat_map(|effect| &mut effect.ratios);
    decide(tested.filter(|ratio| TESTED.contains(&ratio.figure)));
    together.iter_mut().chain(&mut effects).for_each(ControlEffect::say);
    effects.sort_by(|one, other| other.strength().total_cmp(&one.strength()));
    let tests = (effects.len() + usize::from(together.is_some())) * TESTED.len();
    let reached = confirmed.iter().filter(|set: &&Confirmed| set.reached);
    Some(Tuning {
        partition: all.partition.clone(),
        task: task_of(all).to_owned(),
        controls: controls.clone(),
        rounds: with_all.blocks.len().try_into().unwrap_or(u32::MAX),
        rounds_needed: rounds_needed(tests),
        cycles_in_block: typical_cycles(&with_all.blocks),
        with_all: Exceedances::of(&all.release, limit_ns),
        smallest: reached.min_by_key(|set| set.on.len()).map(|set| set.on.clone()),
        together,
        effects,
        confirmed,
    })
}

fn ratios(without: &[TrialBlock], with: &[TrialBlock]) -> Vec<Ratio> {
    Figure::ALL.map(|figure| Ratio::of(figure, without, with)).to_vec()
}

impl ControlEffect {
    /// Returns the weight by which effects are sorted, so that the most useful control comes first:
    /// what was shown before what was not.
    fn strength(&self) -> f64 {
        let medians = self.tested().map(Ratio::median);
        let strongest = medians.max_by(|one, other| one.ln().abs().total_cmp(&other.ln().abs()));
        let shown = match self.effect {
            Effect::Helped => 1e9,
            Effect::Hurt => -1e9,
            Effect::NoEffect | Effect::NotShown => 0.0,
        };
        shown + strongest.unwrap_or(1.0)
    }

    fn tested(&self) -> impl Iterator<Item = &Ratio> {
        self.ratios.iter().filter(|ratio| TESTED.contains(&ratio.figure))
    }

    fn say(&mut self) {
        let found = |finding: Finding| self.tested().find(|ratio| ratio.finding == finding);
        let (more, less) = (found(Finding::More), found(Finding::Less));
        let none = self.tested().all(|ratio| ratio.finding == Finding::NoDifference);
        (self.effect, self.sentence) = match (more, less) {
            (Some(more), None) => (Effect::Helped, shown(more)),
            (None, Some(less)) => (Effect::Hurt, shown(less)),
            (Some(more), Some(less)) => {
                let both = format!("{}, but {}", shown(more), shown(less));
                (Effect::NotShown, both)
            }
            (None, None) if none => {
                let percent = (NEGLIGIBLE - 1.0) * 100.0;
                (Effect::NoEffect, format!("p99 and maximum stay within {percent:.0} %"))
            }
            (None, None) => (Effect::NotShown, self.open()),
        };
    }

    /// Says which effects are not excluded, where nothing was shown.
    fn open(&self) -> String {
        let interval = |ratio: &Ratio| ratio.ratio.and_then(|ratio| ratio.low.zip(ratio.high));
        let all = self.tested().map(|ratio| Some((ratio.figure.title(), interval(ratio)?)));
        let Some(all) = all.collect::<Option<Vec<_>>>() else {
            return "fewer than six pairs of blocks: anything is possible".to_owned();
        };
        let words = all.into_iter().map(|(title, ends)| format!("{title} {}", possible(ends)));
        format!("without it {} is possible", words.collect::<Vec<_>>().join(", "))
    }
}

/// Says which ratios an interval leaves open.
fn possible((low, high): (f64, f64)) -> String {
    match (low < TOLD_MAX.recip(), high > TOLD_MAX) {
        (false, false) => format!("{} to {} times", factor(low), factor(high)),
        (true, false) => format!("up to {} times", factor(high)),
        (false, true) => format!("{} times and more", factor(low)),
        (true, true) => "anything".to_owned(),
    }
}

/// Writes a ratio in words, seen from the control: `p99 is 1.90 times (1.71 to 2.20) without it; by
/// chance 1 in 400`.
fn shown(ratio: &Ratio) -> String {
    let interval = ratio.ratio.and_then(|ratio| ratio.low.zip(ratio.high));
    let interval = interval.map(|(low, high)| format!(" ({} to {})", factor(low), factor(high)));
    let p = ratio.p_corrected.unwrap_or(1.0);
    format!(
        "{} is {} times{} without it; by chance {}",
        ratio.figure.title(),
        factor(ratio.median()),
        interval.unwrap_or_default(),
        if p > 0.0 { format!("1 in {:.0}", 1.0 / p) } else { "never".to_owned() }
    )
}
