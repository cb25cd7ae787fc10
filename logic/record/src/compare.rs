//! Run against run, and run against a published table.
//!
//! # How two records are compared
//!
//! | statistic | 95 % interval of each | difference |
//! |-----------|-----------------------|------------|
//! | quantiles | order statistics: the ranks of the binomial distribution, as values | MOVER |
//! | jitter p97.5 − p2.5 | from the intervals of its two quantiles | MOVER |
//! | mean | standard deviation / √n | MOVER |
//! | standard deviation | of its logarithm, from the fourth moment | MOVER, as a ratio |
//! | missed cycles | counts | Fisher's exact test |
//! | maxima | not tested: how often one run exceeds the other's maximum | exact exceedance test |
//!
//! MOVER (Zou and Donner, 2008) combines the distances from each estimate to the limits that face
//! the other one, so the skew of high quantiles is kept. Rounding of the data widens the limits by
//! a uniform error of one bin, so what is below the resolution is no difference.
//!
//! Successive latencies resemble each other. Where a record has a time line, the variance of its
//! batch means against that of independent values tells by how much too little its values say; all
//! its limits are widened accordingly. p values are corrected for the number of comparisons in a
//! pair of records (Holm).
//!
//! Simulated pairs of equal samples (20 000 values with a long tail) are called different, before
//! the correction, in 3 to 6 % of the comparisons. Limits of the standard deviation hold less well
//! in small samples of a long tail: 9 % at 1 200 values.
//!
//! No statistics can remove drift: runs made one after the other on a machine that drifts differ by
//! the drift. To learn the effect of one setting, alternate it; [`slowdown`] compares blocks that
//! were measured so.

mod beside;
mod dependence;
mod distribution;
mod distribution_function;
mod estimate;
mod exceedance;
mod pairing;
mod sentence;
pub mod slowdown;

use serde::Serialize;

pub use beside::{BesideError, SideBySide, SideFigure, SideRow, stands_beside, with_table};
pub use dependence::Dependence;
pub use exceedance::{Beyond, Rate, RatesAt};
pub use pairing::{RunComparison, compare_runs};

use crate::reason::sentences;
use crate::record::Record;
use crate::statistics::Statistics;
use distribution_function::DistributionFunction;

/// The probability of calling equal what differs by chance alone: 1 − confidence.
pub const SIGNIFICANCE: f64 = 0.05;

/// The finding of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub enum Finding {
    /// The difference is larger than chance explains.
    #[serde(rename = "differs")]
    Differs,
    /// Chance explains the difference. That doesn't show that there is none.
    #[serde(rename = "no difference shown")]
    NoDifferenceShown,
    /// The data don't allow it.
    #[serde(rename = "not comparable")]
    NotComparable,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Differs => "differs",
            Self::NoDifferenceShown => "no difference shown",
            Self::NotComparable => "not comparable",
        })
    }
}

/// A figure that may only be known from below. Times are in ns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// The figure is known.
    Exactly(f64),
    /// The figure lies in an overflow.
    AtLeast {
        /// The bound that the figure reaches at least.
        at_least: f64,
    },
}

impl Value {
    /// Returns the figure or its bound.
    pub const fn lower_bound(self) -> f64 {
        match self {
            Self::Exactly(value) | Self::AtLeast { at_least: value } => value,
        }
    }
}

/// A 95 % interval of a difference, in ns, or of a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Interval {
    /// Lower limit; absent where it is open.
    pub low: Option<f64>,
    /// Upper limit; absent where it is open.
    pub high: Option<f64>,
    /// `true` for limits of the ratio B / A, `false` for the difference B − A.
    pub of_ratio: bool,
}

/// One statistic of A and B.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Difference {
    /// Its key, as in the evidence document.
    pub statistic: &'static str,
    /// Name of the statistic, for people.
    pub title: &'static str,
    /// Its value in A; absent where A has none.
    pub a: Option<Value>,
    /// Its value in B; absent where B has none.
    pub b: Option<Value>,
    /// B − A, in ns or cycles.
    pub difference: Option<f64>,
    /// The ratio B / A; absent where A is zero, or where nothing is tested.
    pub ratio: Option<f64>,
    /// The 95 % interval of the difference or ratio.
    pub interval: Option<Interval>,
    /// Probability of such a difference by chance, this comparison alone.
    pub p_value: Option<f64>,
    /// The same, among all comparisons of these records.
    pub p_corrected: Option<f64>,
    /// The finding, by the corrected probability.
    pub finding: Finding,
    /// The finding in words.
    pub sentence: String,
}

/// Record B against record A.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Comparison {
    /// The name of A.
    pub a: String,
    /// The name of B.
    pub b: String,
    /// Other differences between the records, and limits of the comparison.
    pub remarks: Vec<String>,
    /// The assumptions that the figures rest on.
    pub assumptions: Vec<String>,
    /// Dependence of A's successive values on each other.
    pub dependence_a: Dependence,
    /// Dependence of B's successive values on each other.
    pub dependence_b: Dependence,
    /// The statistics, in the order in which they are shown.
    pub statistics: Vec<Difference>,
    /// Exceedances of the smaller maximum; absent without values.
    pub beyond: Option<Beyond>,
    /// Exceedances of common limits, by each.
    pub rates: Vec<RatesAt>,
}

/// Compares B with A. Both keep their conditions; differences between those are remarked.
pub fn compare(a: &Record, b: &Record) -> Comparison {
    let (dependence_a, dependence_b) = (Dependence::of(a), Dependence::of(b));
    let sides = [Side::new(a, dependence_a.clone()), Side::new(b, dependence_b.clone())];
    let hindrance = hindrance(a, b);
    let mut statistics = match &hindrance {
        None => estimate::differences(&sides[0], &sides[1]),
        Some(because) => estimate::without_comparison(&sides[0], &sides[1], because),
    };
    let mut beyond = match hindrance {
        None => exceedance::beyond(&sides[0], &sides[1]),
        Some(_) => None,
    };
    correct(&mut statistics, beyond.as_mut());
    let comparisons = statistics.iter().filter(|difference| difference.p_value.is_some()).count()
        + usize::from(beyond.is_some());
    for difference in &mut statistics {
        sentence::say(difference, comparisons);
    }
    if let Some(beyond) = &mut beyond {
        beyond.say(comparisons);
    }
    Comparison {
        a: a.name.clone(),
        b: b.name.clone(),
        remarks: remarks(a, b),
        assumptions: sentence::assumptions(&dependence_a, &dependence_b, comparisons),
        rates: exceedance::rates(&sides[0], &sides[1]),
        dependence_a,
        dependence_b,
        statistics,
        beyond,
    }
}

/// A record with what is computed from it once.
#[derive(Debug)]
pub(crate) struct Side<'a> {
    pub(crate) record: &'a Record,
    pub(crate) statistics: Statistics,
    pub(crate) function: DistributionFunction,
    pub(crate) dependence: Dependence,
}

impl<'a> Side<'a> {
    fn new(record: &'a Record, dependence: Dependence) -> Self {
        Self {
            record,
            statistics: Statistics::of(record),
            function: DistributionFunction::of(&record.release),
            dependence,
        }
    }

    /// Returns the number of independent values that would say as much.
    pub(crate) fn effective_count(&self) -> f64 {
        self.function.count() as f64 / self.dependence.inflation
    }
}

/// Returns the reason why the records can't be compared at all.
fn hindrance(a: &Record, b: &Record) -> Option<String> {
    for (letter, record) in [("A", a), ("B", b)] {
        if !record.is_valid() {
            return Some(format!("{letter} is invalid: {}", sentences(&record.invalid_because)));
        }
        if record.release.count() == 0 {
            return Some(format!("{letter} has no values"));
        }
    }
    None
}

fn remarks(a: &Record, b: &Record) -> Vec<String> {
    let mut remarks = Vec::new();
    let mut differ = |what: &str, left: String, right: String| {
        if left != right {
            let known = |text: String| if text.is_empty() { "unknown".to_owned() } else { text };
            remarks.push(format!("{what}: {} in A, {} in B", known(left), known(right)));
        }
    };
    let known = |period: Option<u64>| {
        period
            .map_or("unknown".to_owned(), |period| quietcore_units::Nanos::new(period).to_string())
    };
    differ("probe", a.probe.clone(), b.probe.clone());
    differ("period", known(a.period_ns), known(b.period_ns));
    differ("profile", a.profile.clone(), b.profile.clone());
    let backend = |record: &Record| record.conditions.backend().unwrap_or_default().to_owned();
    differ("backend", backend(a), backend(b));
    differ("mode", a.conditions.mode.to_string(), b.conditions.mode.to_string());
    differ("policy", a.conditions.policy.to_string(), b.conditions.policy.to_string());
    differ(
        "resolution",
        format!("{} ns", a.release.resolution_ns()),
        format!("{} ns", b.release.resolution_ns()),
    );
    for (letter, record) in [("A", a), ("B", b)] {
        if !record.degraded.is_empty() {
            remarks.push(format!(
                "{letter} was not measured as asked: {}",
                sentences(&record.degraded)
            ));
        }
        if record.interrupted {
            remarks.push(format!("{letter} was ended before its time"));
        }
    }
    remarks
}

/// Applies Holm's correction: the smallest of m probabilities times m, the next times m − 1, and so
/// on, never falling.
fn correct(statistics: &mut [Difference], beyond: Option<&mut Beyond>) {
    let mut tests: Vec<(f64, &mut Option<f64>, &mut Finding)> = statistics
        .iter_mut()
        .filter_map(|d| Some((d.p_value?, &mut d.p_corrected, &mut d.finding)))
        .collect();
    if let Some(beyond) = beyond {
        tests.push((beyond.p_value, &mut beyond.p_corrected, &mut beyond.finding));
    }
    tests.sort_by(|left, right| left.0.total_cmp(&right.0));
    let count = tests.len();
    let mut highest: f64 = 0.0;
    for (index, (p_value, corrected, finding)) in tests.into_iter().enumerate() {
        highest = highest.max(p_value * (count - index) as f64).min(1.0);
        *corrected = Some(highest);
        *finding =
            if highest < SIGNIFICANCE { Finding::Differs } else { Finding::NoDifferenceShown };
    }
}

#[cfg(test)]
mod tests;
