//! Extremes: not compared as numbers, since the largest of n values says little about the next n,
//! but by how often limits are exceeded.
//!
//! When both records come from one distribution, each of the k highest values of all is as likely
//! to be of A as of B. That all k are of one record has a probability near 2⁻ᵏ for equal counts: an
//! exact test without any assumption on the tail. Late values come in bursts, so whole stretches of
//! the time line are counted where both records have them, else values, divided by the inflation.

use quietcore_units::Nanos;
use serde::Serialize;

use super::distribution::{all_on_one_side, probability_limits};
use super::sentence::probability;
use super::{Finding, Side};
use crate::histogram::Quantile;
use crate::verdict::thousands;

/// The most limits that rates are given for.
const LIMITS_MAX: usize = 8;

/// Exceedances of the smaller maximum of two records by the other one.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Beyond {
    /// The record with the larger maximum: `A` or `B`.
    pub larger: &'static str,
    /// The other's maximum, in ns.
    pub limit_ns: u64,
    /// The larger maximum, in ns.
    pub max_ns: u64,
    /// Values certainly above the limit.
    pub values: u64,
    /// Number of all values of that record.
    pub of: u64,
    /// Exceedances that the test counts as independent events.
    pub events: f64,
    /// Probability of this by chance, this comparison alone.
    pub p_value: f64,
    /// The same, among all comparisons of these records.
    pub p_corrected: Option<f64>,
    /// The finding, by the corrected probability.
    pub finding: Finding,
    /// The finding in words.
    pub sentence: String,
}

/// A rate with its 95 % limits (Clopper and Pearson).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Rate {
    /// Values that may be above the limit.
    pub seen: u64,
    /// Number of all values.
    pub of: u64,
    /// Lower limit, per cycle.
    pub low: f64,
    /// Upper limit, per cycle.
    pub high: f64,
}

/// Exceedances of one limit by each record.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct RatesAt {
    /// The limit, in ns.
    pub limit_ns: u64,
    /// The rate of A.
    pub a: Rate,
    /// The rate of B.
    pub b: Rate,
}

/// Tests the extremes; `None` where a record has no values.
pub(super) fn beyond(a: &Side<'_>, b: &Side<'_>) -> Option<Beyond> {
    let (max_a, max_b) = (a.record.release.max_ns(), b.record.release.max_ns());
    let (name, larger, smaller) = if max_a > max_b { ("A", a, b) } else { ("B", b, a) };
    // What was rounded down may have been almost a step more.
    let fraction = smaller.record.release.resolution_ns() - 1;
    let limit_ns = max_a.min(max_b).saturating_add(fraction);
    let values = larger.function.certainly_above(limit_ns);
    let (events, count, other) = events(larger, smaller, values, limit_ns);
    Some(Beyond {
        larger: name,
        limit_ns: max_a.min(max_b),
        max_ns: max_a.max(max_b),
        values,
        of: larger.function.count(),
        events,
        // Two-sided: either record might have been the one with the larger maximum.
        p_value: (2.0 * all_on_one_side(events, count, other)).min(1.0),
        p_corrected: None,
        finding: Finding::NotComparable,
        sentence: String::new(),
    })
}

/// Returns the independent exceedances, and the independent chances in both records.
fn events(larger: &Side<'_>, smaller: &Side<'_>, values: u64, limit_ns: u64) -> (f64, f64, f64) {
    let (left, right) = (&larger.record.timeline, &smaller.record.timeline);
    let is_whole = |side: &Side<'_>| {
        let timeline = &side.record.timeline;
        timeline.slots.iter().map(|(count, _, _)| *count).fold(0, u64::saturating_add)
            == side.function.count()
    };
    if left.slot_cycles == right.slot_cycles
        && !left.slots.is_empty()
        && is_whole(larger)
        && is_whole(smaller)
    {
        let late = left.slots.iter().filter(|(_, max_ns, _)| *max_ns > limit_ns).count();
        // The slots keep exact maxima, the bins don't: never more events than certain values.
        let late = (late as f64).min(values as f64);
        return (late, left.slots.len() as f64, right.slots.len() as f64);
    }
    let events = (values as f64 / larger.dependence.inflation).floor();
    (events, larger.effective_count(), smaller.effective_count())
}

impl Beyond {
    /// Puts the finding into words.
    pub(super) fn say(&mut self, comparisons: usize) {
        let other = if self.larger == "A" { "B" } else { "A" };
        let seen = format!(
            "{} of {} values of {} are above the maximum of {other}, {} (its own is {})",
            thousands(self.values),
            thousands(self.of),
            self.larger,
            Nanos::new(self.limit_ns),
            Nanos::new(self.max_ns),
        );
        let p_value = probability(self.p_corrected.unwrap_or(1.0));
        self.sentence = match self.finding {
            Finding::Differs => format!(
                "{seen}: more than chance explains; {p_value} after Holm's correction for \
                 {comparisons} comparisons."
            ),
            _ if self.values == 0 => {
                format!(
                    "Neither record exceeds the other's maximum of {}.",
                    Nanos::new(self.max_ns)
                )
            }
            _ => format!(
                "{seen}, which chance explains; {p_value} after Holm's correction for \
                 {comparisons} comparisons."
            ),
        };
    }
}

/// Returns the rates at limits of the scale 1, 2, 5, from above the smaller median to the larger
/// maximum, the highest ones.
pub(super) fn rates(a: &Side<'_>, b: &Side<'_>) -> Vec<RatesAt> {
    let median = |side: &Side<'_>| side.statistics.median_ns.map_or(0, Quantile::lower_bound);
    let from = median(a).min(median(b));
    let to = a.record.release.max_ns().max(b.record.release.max_ns());
    let mut limits: Vec<u64> = (0..11)
        .flat_map(|decade| [1, 2, 5].map(|step| step * 10_u64.pow(decade)))
        .filter(|limit| (from..to).contains(limit))
        .collect();
    limits.drain(..limits.len().saturating_sub(LIMITS_MAX));
    limits
        .into_iter()
        .map(|limit_ns| RatesAt { limit_ns, a: rate(a, limit_ns), b: rate(b, limit_ns) })
        .collect()
}

fn rate(side: &Side<'_>, limit_ns: u64) -> Rate {
    let seen = side.record.release.count_above(limit_ns);
    let (low, high) =
        probability_limits(seen as f64 / side.dependence.inflation, side.effective_count());
    Rate { seen, of: side.function.count(), low, high }
}
