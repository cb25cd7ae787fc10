//! Each statistic of two records with its uncertainty, and the difference of the two.

use super::distribution::{Z, fisher, rank_limits, t_quantile, two_sided};
use super::distribution_function::DistributionValue;
use super::{Difference, Finding, Interval, Side, Value};
use crate::histogram::Quantile;
use crate::statistics::Statistics;

/// A figure and its standard errors downwards and upwards; `None` where there is no limit.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    value: Value,
    below: Option<f64>,
    above: Option<f64>,
    freedom: f64,
}

/// A statistic: its key and name, and the part for a quantile.
struct Quantity {
    key: &'static str,
    title: &'static str,
    part: f64,
    of: fn(&Statistics) -> Option<Quantile>,
}

const QUANTILES: [Quantity; 10] = [
    Quantity { key: "median_ns", title: "median", part: 0.5, of: |s| s.median_ns },
    Quantity { key: "q1_ns", title: "lower quartile", part: 0.25, of: |s| s.q1_ns },
    Quantity { key: "q3_ns", title: "upper quartile", part: 0.75, of: |s| s.q3_ns },
    Quantity { key: "p2_5_ns", title: "2.5 % quantile", part: 0.025, of: |s| s.p2_5_ns },
    Quantity { key: "p97_5_ns", title: "97.5 % quantile", part: 0.975, of: |s| s.p97_5_ns },
    Quantity { key: "p99_ns", title: "99 % quantile", part: 0.99, of: |s| s.p99_ns },
    Quantity { key: "p99_9_ns", title: "99.9 % quantile", part: 0.999, of: |s| s.p99_9_ns },
    Quantity { key: "p99_99_ns", title: "99.99 % quantile", part: 0.9999, of: |s| s.p99_99_ns },
    Quantity {
        key: "p99_999_ns",
        title: "99.999 % quantile",
        part: 0.999_99,
        of: |s| s.p99_999_ns,
    },
    Quantity {
        key: "p99_9999_ns",
        title: "99.9999 % quantile",
        part: 0.999_999,
        of: |s| s.p99_9999_ns,
    },
];

const MEAN: (&str, &str) = ("mean_ns", "mean");
const DEVIATION: (&str, &str) = ("sd_ns", "standard deviation");
const JITTER: (&str, &str) = ("jitter_whiskers_ns", "jitter (p97.5 − p2.5)");
const MISSED: (&str, &str) = ("missed_cycles", "number of missed cycles");

/// Why a figure isn't compared when an overflow hides values.
const HIDDEN: &str = "an overflow hides values";

/// All statistics that both records carry.
pub(super) fn differences(a: &Side<'_>, b: &Side<'_>) -> Vec<Difference> {
    let mut differences = vec![mean(a, b), deviation(a, b)];
    for quantity in &QUANTILES {
        if (quantity.of)(&a.statistics).is_some() && (quantity.of)(&b.statistics).is_some() {
            let (left, right) = (quantile(a, quantity.part), quantile(b, quantity.part));
            differences.push(difference(quantity.key, quantity.title, left, right));
        }
    }
    differences.push(difference(JITTER.0, JITTER.1, jitter(a), jitter(b)));
    differences.extend(missed(a, b));
    differences
}

/// The median alone, as not comparable: what the reader needs is the reason.
pub(super) fn without_comparison(a: &Side<'_>, b: &Side<'_>, because: &str) -> Vec<Difference> {
    let value = |side: &Side<'_>| {
        side.statistics.median_ns.map(|quantile| match quantile {
            Quantile::Exactly(value) => Value::Exactly(value as f64),
            Quantile::AtLeast { at_least } => Value::AtLeast { at_least: at_least as f64 },
        })
    };
    vec![not_comparable(("median_ns", "median"), value(a), value(b), because)]
}

fn quantile(side: &Side<'_>, part: f64) -> Estimate {
    let (low, high) = rank_limits(side.effective_count(), part);
    let freedom = side.dependence.freedom();
    match side.function.at(part) {
        DistributionValue::Inside { value, width } => {
            // Where in its bin a value lies is known to a uniform error.
            let rounding = width / 12.0_f64.sqrt();
            let error = |limit: f64| match side.function.at(limit) {
                DistributionValue::Inside { value: end, .. } => {
                    Some(((end - value).abs() / Z).hypot(rounding))
                }
                DistributionValue::Beyond(_) => None,
            };
            Estimate {
                value: Value::Exactly(value),
                below: Some(low.and_then(error).unwrap_or_else(|| {
                    // No lower limit but the smallest value itself.
                    ((value - side.record.release.min_ns() as f64) / Z).hypot(rounding)
                })),
                above: high.and_then(error),
                freedom,
            }
        }
        DistributionValue::Beyond(bound) => {
            let below = match low.map(|low| side.function.at(low)) {
                Some(DistributionValue::Inside { value, width }) => {
                    ((bound - value) / Z).hypot(width / 12.0_f64.sqrt())
                }
                Some(DistributionValue::Beyond(_)) => 0.0,
                None => bound / Z,
            };
            Estimate {
                value: Value::AtLeast { at_least: bound },
                below: Some(below),
                above: None,
                freedom,
            }
        }
    }
}

fn jitter(side: &Side<'_>) -> Estimate {
    let (low, high) = (quantile(side, 0.025), quantile(side, 0.975));
    let distance = high.value.lower_bound() - low.value.lower_bound();
    let both = |left: Option<f64>, right: Option<f64>| Some(left?.hypot(right?));
    Estimate {
        value: match high.value {
            Value::Exactly(_) => Value::Exactly(distance),
            Value::AtLeast { .. } => Value::AtLeast { at_least: distance },
        },
        below: both(high.below, low.above),
        above: both(high.above, low.below),
        freedom: side.dependence.freedom(),
    }
}

fn mean(a: &Side<'_>, b: &Side<'_>) -> Difference {
    let estimate = |side: &Side<'_>| {
        let moments = side.function.moments()?;
        let deviation = moments.variance.sqrt();
        // Values within one bucket may all lie at the same end of it.
        let resolution = side.function.resolution();
        let rounding = if deviation < resolution { resolution / 12.0_f64.sqrt() } else { 0.0 };
        let error = (deviation / side.effective_count().sqrt()).hypot(rounding);
        Some(Estimate {
            value: Value::Exactly(moments.mean),
            below: Some(error),
            above: Some(error),
            freedom: side.dependence.freedom(),
        })
    };
    match (estimate(a), estimate(b)) {
        (Some(left), Some(right)) => difference(MEAN.0, MEAN.1, left, right),
        _ => {
            let value = |side: &Side<'_>| side.statistics.mean_ns.map(Value::Exactly);
            not_comparable(MEAN, value(a), value(b), HIDDEN)
        }
    }
}

/// By the logarithm, since latencies have long tails. A sample shows too little of its tail, so the
/// larger of the two kurtoses counts for both.
fn deviation(a: &Side<'_>, b: &Side<'_>) -> Difference {
    let value = |side: &Side<'_>| side.statistics.sd_ns.map(Value::Exactly);
    let kurtosis = [a, b]
        .iter()
        .filter_map(|side| side.function.moments())
        .map(|moments| moments.fourth / moments.variance.powi(2))
        .fold(1.0, f64::max);
    let estimate = |side: &Side<'_>| {
        let moments = side.function.moments().filter(|moments| moments.variance > 0.0)?;
        let resolution = side.function.resolution();
        // A deviation below the resolution is mostly made by the rounding.
        let rounding = resolution / 12.0_f64.sqrt() / moments.variance.sqrt();
        let rounding = if rounding > 0.1 { rounding } else { 0.0 };
        let error = ((kurtosis - 1.0) / 4.0 / side.effective_count()).sqrt();
        let error = error.hypot(rounding);
        Some(Estimate {
            value: Value::Exactly(moments.variance.ln() / 2.0),
            below: Some(error),
            above: Some(error),
            freedom: side.dependence.freedom(),
        })
    };
    let (Some(left), Some(right)) = (estimate(a), estimate(b)) else {
        let because = if a.function.moments().is_none() || b.function.moments().is_none() {
            HIDDEN
        } else {
            "all values are equal"
        };
        return not_comparable(DEVIATION, value(a), value(b), because);
    };
    let of_logarithms = difference(DEVIATION.0, DEVIATION.1, left, right);
    let deviations = |estimate: Estimate| estimate.value.lower_bound().exp();
    let (from, to) = (deviations(left), deviations(right));
    Difference {
        a: Some(Value::Exactly(from)),
        b: Some(Value::Exactly(to)),
        difference: Some(to - from),
        ratio: Some(to / from),
        interval: of_logarithms.interval.map(|interval| Interval {
            low: interval.low.map(f64::exp),
            high: interval.high.map(f64::exp),
            of_ratio: true,
        }),
        ..of_logarithms
    }
}

fn missed(a: &Side<'_>, b: &Side<'_>) -> Option<Difference> {
    let (left, right) = (a.statistics.missed_cycles?, b.statistics.missed_cycles?);
    // Whole events of independent cycles.
    let events = |side: &Side<'_>, missed: u64| {
        let count = side.effective_count().floor().max(1.0);
        ((missed as f64 / side.dependence.inflation).floor().min(count), count)
    };
    let ((seen_a, count_a), (seen_b, count_b)) = (events(a, left), events(b, right));
    let rate = |missed: u64, side: &Side<'_>| missed as f64 / side.function.count() as f64;
    Some(Difference {
        a: Some(Value::Exactly(left as f64)),
        b: Some(Value::Exactly(right as f64)),
        difference: Some(right as f64 - left as f64),
        ratio: (left > 0).then(|| rate(right, b) / rate(left, a)),
        p_value: Some(fisher(seen_a, count_a, seen_b, count_b)),
        ..empty(MISSED)
    })
}

/// B − A by MOVER, and the probability of such a difference by chance.
fn difference(key: &'static str, title: &'static str, a: Estimate, b: Estimate) -> Difference {
    let (from, to) = (a.value.lower_bound(), b.value.lower_bound());
    let distance = to - from;
    let bounded = |value: Value| matches!(value, Value::AtLeast { .. });
    let comparable = match (bounded(a.value), bounded(b.value)) {
        (false, false) => true,
        (false, true) => distance > 0.0,
        (true, false) => distance < 0.0,
        (true, true) => false,
    };
    if !comparable {
        let because = "it lies in an overflow, so only a bound is known";
        return not_comparable((key, title), Some(a.value), Some(b.value), because);
    }
    let down = combine((a.above, a.freedom), (b.below, b.freedom));
    let up = combine((a.below, a.freedom), (b.above, b.freedom));
    let facing = if distance >= 0.0 { down } else { up };
    let p_value = facing.map_or(1.0, |(error, freedom)| {
        if distance == 0.0 { 1.0 } else { two_sided(distance / error, freedom) }
    });
    let reach = |side: Option<(f64, f64)>| side.map(|(error, freedom)| error * t_quantile(freedom));
    Difference {
        a: Some(a.value),
        b: Some(b.value),
        difference: Some(distance),
        ratio: (from > 0.0).then(|| to / from),
        interval: Some(Interval {
            low: reach(down).map(|reach| distance - reach),
            high: reach(up).map(|reach| distance + reach),
            of_ratio: false,
        }),
        p_value: Some(p_value),
        ..empty((key, title))
    }
}

/// The standard error of a difference and its degrees of freedom (Satterthwaite).
fn combine(left: (Option<f64>, f64), right: (Option<f64>, f64)) -> Option<(f64, f64)> {
    let ((left, freedom_left), (right, freedom_right)) = ((left.0?, left.1), (right.0?, right.1));
    let (left, right) = (left * left, right * right);
    let parts = left * left / freedom_left + right * right / freedom_right;
    let freedom = if parts > 0.0 { (left + right).powi(2) / parts } else { f64::INFINITY };
    Some(((left + right).sqrt(), freedom))
}

fn not_comparable(
    name: (&'static str, &'static str),
    a: Option<Value>,
    b: Option<Value>,
    because: &str,
) -> Difference {
    Difference { a, b, sentence: because.to_owned(), ..empty(name) }
}

/// A statistic that nothing is known of. What isn't tested keeps its finding.
fn empty((statistic, title): (&'static str, &'static str)) -> Difference {
    Difference {
        statistic,
        title,
        a: None,
        b: None,
        difference: None,
        ratio: None,
        interval: None,
        p_value: None,
        p_corrected: None,
        finding: Finding::NotComparable,
        sentence: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_a_difference_add_up_and_the_larger_one_has_the_say_in_the_freedom() {
        // Satterthwaite: (1 + 4)^2 / (1^2 / 9 + 4^2 / 4).
        let (error, freedom) = combine((Some(1.0), 9.0), (Some(2.0), 4.0)).unwrap();
        assert!((error - 5.0_f64.sqrt()).abs() < 1e-12, "{error}");
        assert!((freedom - 225.0 / 37.0).abs() < 1e-12, "{freedom}");
        assert_eq!(combine((Some(0.0), 9.0), (Some(0.0), 4.0)), Some((0.0, f64::INFINITY)));
        assert_eq!(combine((None, 9.0), (Some(2.0), 4.0)), None);
    }
}
