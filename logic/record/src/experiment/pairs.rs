//! Ratios of blocks of the same round.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::compare::SIGNIFICANCE;
use crate::record::{BlockTimes, TrialBlock};
use crate::slowdown::Estimate;

/// A ratio within this of 1 is of no consequence: 5 %.
pub(super) const NEGLIGIBLE: f64 = 1.05;

/// A figure of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// The mean without the lowest and the highest values, in ns; of routines alone.
    MeanNs,
    /// The median, in ns.
    MedianNs,
    /// The 99 % quantile, in ns.
    P99Ns,
    /// The 99.9 % quantile, in ns.
    #[serde(rename = "p99_9_ns")]
    P999Ns,
    /// The maximum, in ns.
    MaxNs,
}

impl Figure {
    /// All figures of releases, the lowest first.
    pub const ALL: [Self; 4] = [Self::MedianNs, Self::P99Ns, Self::P999Ns, Self::MaxNs];

    /// Returns the name that people read.
    pub const fn title(self) -> &'static str {
        match self {
            Self::MeanNs => "mean",
            Self::MedianNs => "median",
            Self::P99Ns => "p99",
            Self::P999Ns => "p99.9",
            Self::MaxNs => "maximum",
        }
    }

    /// Returns the figure of a time, in ns; `None` where a block has none such.
    pub const fn of(self, times: &BlockTimes) -> Option<f64> {
        Some(match self {
            Self::MeanNs => return times.mean_ns,
            Self::MedianNs => times.median_ns as f64,
            Self::P99Ns => times.p99_ns as f64,
            Self::P999Ns => times.p99_9_ns as f64,
            Self::MaxNs => times.max_ns as f64,
        })
    }
}

/// The finding of pairs of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// Surely more than 1.
    More,
    /// Surely less than 1.
    Less,
    /// Surely within 5 % of 1.
    NoDifference,
    /// None of these: chance explains what was seen, and so would a difference.
    NotKnown,
}

/// A figure of one variant over that of another, of pairs of the same round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Ratio {
    /// The figure that is compared.
    pub figure: Figure,
    /// The median of the ratios with its 95 % interval; absent where there was no pair.
    pub ratio: Option<Estimate>,
    /// The probability of such a preponderance by chance alone (sign test, two-sided).
    pub p_value: f64,
    /// The same probability, corrected for all that were tested in the experiment; absent for a
    /// figure that is shown and not tested.
    pub p_corrected: Option<f64>,
    /// The finding from interval and probability.
    pub finding: Finding,
}

impl Ratio {
    /// Compares the blocks of two variants.
    pub(super) fn of(figure: Figure, over: &[TrialBlock], under: &[TrialBlock]) -> Self {
        Self::of_pairs(figure, &ratios(figure, over, under))
    }

    /// Sums up ratios of pairs.
    pub(super) fn of_pairs(figure: Figure, ratios: &[f64]) -> Self {
        Self {
            figure,
            ratio: Estimate::of(ratios),
            p_value: sign_test(ratios),
            p_corrected: None,
            finding: Finding::NotKnown,
        }
    }

    /// Returns the median of the ratios; 1 where there is none.
    pub fn median(&self) -> f64 {
        self.ratio.map_or(1.0, |ratio| ratio.median)
    }

    fn decide(&mut self, p_corrected: f64) {
        self.p_corrected = Some(p_corrected);
        let median = self.median();
        let is_bounded = self.ratio.and_then(|ratio| ratio.low.zip(ratio.high));
        let is_negligible =
            is_bounded.is_some_and(|(low, high)| low > 1.0 / NEGLIGIBLE && high < NEGLIGIBLE);
        self.finding = match p_corrected < SIGNIFICANCE {
            _ if is_negligible => Finding::NoDifference,
            true if median > 1.0 => Finding::More,
            true if median < 1.0 => Finding::Less,
            _ => Finding::NotKnown,
        };
    }
}

/// Corrects the probabilities of all that is tested (Holm) and says what follows from each.
pub(super) fn decide<'r>(tested: impl Iterator<Item = &'r mut Ratio>) {
    let mut tested: Vec<&mut Ratio> = tested.collect();
    tested.sort_by(|one, other| one.p_value.total_cmp(&other.p_value));
    let count = tested.len();
    let mut highest: f64 = 0.0;
    for (index, ratio) in tested.into_iter().enumerate() {
        highest = highest.max(ratio.p_value * (count - index) as f64).min(1.0);
        ratio.decide(highest);
    }
}

/// The largest ratio that is told by its figures; beyond they say no more than that it is large or
/// small.
pub(super) const TOLD_MAX: f64 = 1000.0;

/// Writes a ratio in about three digits: `0.047`, `1.52`, `14.9`, `317`, `> 1000`.
pub fn factor(ratio: f64) -> String {
    match ratio {
        ratio if ratio < TOLD_MAX.recip() => "< 0.001".to_owned(),
        ratio if ratio > TOLD_MAX => "> 1000".to_owned(),
        ratio if ratio < 0.0995 => format!("{ratio:.3}"),
        ratio if ratio < 9.995 => format!("{ratio:.2}"),
        ratio if ratio < 99.95 => format!("{ratio:.1}"),
        ratio => format!("{ratio:.0}"),
    }
}

/// Returns the fewest rounds with which anything can be sure, where so many ratios are tested; 64
/// at most.
pub(super) fn rounds_needed(tested: usize) -> u32 {
    let sure = |rounds: &u32| {
        let all_alike = 2.0 * 0.5_f64.powi(i32::try_from(*rounds).unwrap_or(i32::MAX));
        all_alike * tested.max(1) as f64 <= SIGNIFICANCE
    };
    (1..64).find(sure).unwrap_or(64)
}

/// Returns the releases of a block, as a rule: the median over all blocks.
pub(super) fn typical_cycles(blocks: &[TrialBlock]) -> u64 {
    let mut cycles: Vec<u64> = blocks.iter().map(|block| block.cycles).collect();
    cycles.sort_unstable();
    cycles.get(cycles.len() / 2).copied().unwrap_or(0)
}

/// Returns the ratios of valid blocks of the same round. A figure of 0 counts as 1 ns.
fn ratios(figure: Figure, over: &[TrialBlock], under: &[TrialBlock]) -> Vec<f64> {
    let valid = |blocks: &[TrialBlock]| -> BTreeMap<u32, f64> {
        let valid = blocks.iter().filter(|block| block.valid && block.cycles > 0);
        let value = |block: &TrialBlock| Some((block.round, figure.of(&block.release())?.max(1.0)));
        valid.filter_map(value).collect()
    };
    let under = valid(under);
    let pairs = valid(over).into_iter().filter_map(|(round, ns)| Some((ns, *under.get(&round)?)));
    pairs.map(|(over, under)| over / under).collect()
}

/// Returns the probability that chance alone makes so many of the ratios lie on one side of 1, on
/// either; those that are 1 say nothing.
fn sign_test(ratios: &[f64]) -> f64 {
    let above = ratios.iter().filter(|ratio| **ratio > 1.0).count();
    let below = ratios.iter().filter(|ratio| **ratio < 1.0).count();
    let (fewer, all) = (above.min(below), above + below);
    // The logarithm of the probability of exactly so many on one side.
    let mut logarithm = -(all as f64) * std::f64::consts::LN_2;
    let mut sum = 0.0;
    for count in 0..=fewer {
        sum += logarithm.exp();
        logarithm += ((all - count) as f64).ln() - ((count + 1) as f64).ln();
    }
    (2.0 * sum).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of this round in which every figure is the same.
    fn block(round: u32, ns: u64) -> TrialBlock {
        TrialBlock {
            round,
            valid: true,
            cycles: 1000,
            missed_cycles: 0,
            median_ns: ns,
            p99_ns: ns,
            p99_9_ns: ns,
            max_ns: ns,
            load_operations_per_second: 0.0,
            mean_ns: None,
            program: None,
        }
    }

    #[test]
    fn probabilities_are_those_of_the_sign_test() {
        assert_eq!(sign_test(&[]), 1.0);
        assert_eq!(sign_test(&[1.0, 1.0]), 1.0);
        assert!((sign_test(&[2.0; 10]) - 2.0 / 1024.0).abs() < 1e-12);
        let mut one_against = vec![2.0; 9];
        one_against.push(0.5);
        assert!((sign_test(&one_against) - 22.0 / 1024.0).abs() < 1e-12);
        assert_eq!(sign_test(&[2.0, 0.5]), 1.0);
    }

    #[test]
    fn only_valid_blocks_of_the_same_round_are_pairs() {
        let mut over = vec![block(0, 20), block(1, 30), block(3, 70), block(4, 10)];
        over[3].valid = false;
        let under = [block(0, 10), block(1, 0), block(2, 5), block(4, 10)];
        assert_eq!(ratios(Figure::MaxNs, &over, &under), [2.0, 30.0]);
    }

    #[test]
    fn what_is_found_depends_on_how_much_was_tested() {
        let blocks = |ns: u64| -> Vec<_> { (0..8).map(|round| block(round, ns)).collect() };
        let doubled = || Ratio::of(Figure::P99Ns, &blocks(20), &blocks(10));
        let mut alone = [doubled()];
        decide(alone.iter_mut());
        assert_eq!((alone[0].finding, alone[0].median()), (Finding::More, 2.0));
        // 2/256 in 8: one in 128, times 10.
        let mut among: Vec<_> = (0..10).map(|_| doubled()).collect();
        decide(among.iter_mut());
        assert!(among.iter().all(|ratio| ratio.finding == Finding::NotKnown), "{among:?}");
        let mut same = [Ratio::of(Figure::P99Ns, &blocks(101), &blocks(100))];
        decide(same.iter_mut());
        assert_eq!(same[0].finding, Finding::NoDifference);
        let mut less = [Ratio::of(Figure::P99Ns, &blocks(50), &blocks(100))];
        decide(less.iter_mut());
        assert_eq!(less[0].finding, Finding::Less);
    }

    #[test]
    fn factors_have_about_three_digits() {
        let written = [0.0004, 0.0471, 0.5, 1.519, 9.996, 99.96, 317.4, 3177.4].map(factor);
        assert_eq!(written, ["< 0.001", "0.047", "0.50", "1.52", "10.0", "100", "317", "> 1000"]);
    }

    #[test]
    fn the_rounds_that_are_needed_make_all_alike_sure() {
        assert_eq!(rounds_needed(1), 6);
        assert_eq!(rounds_needed(10), 9);
        assert_eq!(rounds_needed(26), 11);
    }
}
