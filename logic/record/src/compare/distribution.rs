//! The distributions that limits and probabilities come from: normal, Student's t, binomial, and
//! hypergeometric.

use puruspe::{erfc, ln_gamma};

/// The normal distribution's 97.5 % quantile.
pub(super) const Z: f64 = 1.959_963_984_540_054;

/// Expected counts beyond which the binomial distribution is taken as normal; the error of a rank
/// is then far below one in a hundred of its spread.
const NORMAL_FROM: f64 = 2_500.0;

/// Events up to which Fisher's test is summed term by term.
const SUMMED_EVENTS: f64 = 10_000.0;

/// Steps of a bisection: enough to exhaust a double's precision.
const BISECTIONS: usize = 100;

/// Returns the probability that a t variable of `freedom` degrees is further from 0 than `t`.
pub(super) fn two_sided(t: f64, freedom: f64) -> f64 {
    if t.is_nan() {
        return 1.0;
    }
    if t.is_infinite() {
        return 0.0;
    }
    if freedom.is_infinite() {
        return erfc(t.abs() / std::f64::consts::SQRT_2).clamp(0.0, 1.0);
    }
    incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t)).clamp(0.0, 1.0)
}

/// Returns the 97.5 % quantile of a t variable of `freedom` degrees.
pub(super) fn t_quantile(freedom: f64) -> f64 {
    if freedom.is_infinite() {
        return Z;
    }
    bisect(0.0, 1_000.0, |t| two_sided(t, freedom) < super::SIGNIFICANCE)
}

/// Returns the ranks, as parts of the sample, between which the quantile `part` lies with 95 %
/// confidence, when the sample says as much as `count` independent values. `None` at an end without
/// limit.
pub(super) fn rank_limits(count: f64, part: f64) -> (Option<f64>, Option<f64>) {
    let expected = count * part.min(1.0 - part);
    let spread = (part * (1.0 - part) / count).sqrt();
    let (low, high) = if expected > NORMAL_FROM {
        (part - Z * spread, part + Z * spread)
    } else {
        let quantile = |probability: f64| {
            bisect(0.0, count, |k| binomial_at_most(k, count, part) >= probability) / count
        };
        (quantile(super::SIGNIFICANCE / 2.0), quantile(1.0 - super::SIGNIFICANCE / 2.0))
    };
    ((low > 0.0).then_some(low), (high < 1.0).then_some(high))
}

/// Returns the probability of at most `k` events in `count` trials, also between whole numbers.
fn binomial_at_most(k: f64, count: f64, part: f64) -> f64 {
    if k >= count { 1.0 } else { incomplete_beta(count - k, k + 1.0, 1.0 - part) }
}

/// Returns the two-sided 95 % limits of a probability (Clopper and Pearson) when `seen` of `count`
/// were seen. Both may be parts of whole numbers, for values that depend on each other.
pub(super) fn probability_limits(seen: f64, count: f64) -> (f64, f64) {
    if count <= 0.0 {
        return (0.0, 1.0);
    }
    let seen = seen.clamp(0.0, count);
    let rest = count - seen;
    if seen.min(rest) > NORMAL_FROM {
        let rate = seen / count;
        let spread = (rate * (1.0 - rate) / count).sqrt();
        return ((rate - Z * spread).max(0.0), (rate + Z * spread).min(1.0));
    }
    let tail = super::SIGNIFICANCE / 2.0;
    let low = if seen > 0.0 {
        bisect(0.0, 1.0, |p| incomplete_beta(seen, rest + 1.0, p) >= tail)
    } else {
        0.0
    };
    let high = if rest > 0.0 {
        bisect(0.0, 1.0, |p| incomplete_beta(seen + 1.0, rest, p) >= 1.0 - tail)
    } else {
        1.0
    };
    (low, high)
}

/// Returns the probability that all of the `seen` highest of both samples belong to the one of
/// `count` values and none to the other of `other`, when both samples come from one distribution.
pub(super) fn all_on_one_side(seen: f64, count: f64, other: f64) -> f64 {
    if seen <= 0.0 {
        return 1.0;
    }
    if seen > count {
        return 0.0;
    }
    let both = count + other;
    (ln_gamma(count + 1.0) - ln_gamma(count - seen + 1.0) - ln_gamma(both + 1.0)
        + ln_gamma(both - seen + 1.0))
    .exp()
    .clamp(0.0, 1.0)
}

/// Returns the probability of events divided between the samples as unevenly as this: Fisher's
/// exact test, two-sided. With very many events it is the normal approximation.
pub(super) fn fisher(seen_a: f64, count_a: f64, seen_b: f64, count_b: f64) -> f64 {
    let (seen, count) = (seen_a + seen_b, count_a + count_b);
    if seen <= 0.0 || seen >= count {
        return 1.0;
    }
    if seen > SUMMED_EVENTS {
        let rate = seen / count;
        let spread = (rate * (1.0 - rate) * (1.0 / count_a + 1.0 / count_b)).sqrt();
        return two_sided((seen_b / count_b - seen_a / count_a) / spread, f64::INFINITY);
    }
    let choose = |n: f64, k: f64| ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0);
    let probability = |in_a: f64| {
        (choose(count_a, in_a) + choose(count_b, seen - in_a) - choose(count, seen)).exp()
    };
    // Equal up to the error of the logarithms.
    let this = probability(seen_a) * (1.0 + 1e-7);
    let least = (seen - count_b).max(0.0).ceil() as u64;
    let most = seen.min(count_a).floor() as u64;
    (least..=most).map(|in_a| probability(in_a as f64)).filter(|p| *p <= this).sum::<f64>().min(1.0)
}

/// Returns the regularised incomplete beta function.
///
/// `puruspe::betai` takes its continued fraction on the wrong side of the mean for a part of the
/// lower tail, where it doesn't converge (0.99998 instead of 10⁻⁹ for 700, 501, 0.5). There the
/// complement makes it take the right one.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    let wrong_side = x >= (a + 1.0) / (a + 2.0 * b) && x < a / (a + b);
    if wrong_side { 1.0 - puruspe::betai(b, a, 1.0 - x) } else { puruspe::betai(a, b, x) }
}

/// Returns the point between `low` and `high` at which a condition that stays true begins to hold.
fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..BISECTIONS {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if holds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-4 * expected.abs(), "{found}, expected {expected}");
    }

    /// The sum of the binomial distribution's terms, against the function that replaces it.
    #[test]
    fn the_incomplete_beta_function_is_right_in_both_tails() {
        for (count, part) in
            [(60.0_f64, 0.3_f64), (1_200.0, 0.5), (1_200.0, 0.975), (5_000.0, 0.01)]
        {
            let term = |k: f64| {
                let choose = ln_gamma(count + 1.0) - ln_gamma(k + 1.0) - ln_gamma(count - k + 1.0);
                (choose + k * part.ln() + (count - k) * (1.0 - part).ln()).exp()
            };
            let mut sum = 0.0;
            for k in 0..count as u32 {
                sum += term(f64::from(k));
                let found = binomial_at_most(f64::from(k), count, part);
                assert!((found - sum).abs() < 1e-7, "{count} {part} {k}: {found} {sum}");
            }
        }
    }

    #[test]
    fn limits_of_a_probability_are_exact_for_few_and_normal_for_many() {
        // 1.96 * sqrt(0.25 / 20 000) on both sides of one half.
        let (low, high) = probability_limits(10_000.0, 20_000.0);
        close(low, 0.493_070);
        close(high, 0.506_930);
        // Both agree to a fortieth of their distance from 0.25 where one follows the other.
        let (few, many) =
            (probability_limits(2_500.0, 10_000.0), probability_limits(2_501.0, 10_004.0));
        assert!((few.0 - many.0).abs() < 2e-4 && (few.1 - many.1).abs() < 2e-4, "{few:?} {many:?}");
        // None of a hundred: 1 - 0.025^(1 / 100).
        close(probability_limits(0.0, 100.0).1, 0.036_217);
    }

    #[test]
    fn tails_agree_with_tables() {
        close(two_sided(Z, f64::INFINITY), 0.05);
        close(two_sided(2.0227, 39.0), 0.05);
        close(t_quantile(39.0), 2.022_69);
        close(t_quantile(19.0), 2.093_02);
        assert_eq!(two_sided(f64::INFINITY, 5.0), 0.0);
        assert_eq!(two_sided(f64::NAN, 5.0), 1.0);
    }

    #[test]
    fn limits_of_probabilities_agree_with_tables() {
        // 0 of 100: the two-sided limit is 1 − 0.025^(1/100).
        let (low, high) = probability_limits(0.0, 100.0);
        assert_eq!(low, 0.0);
        close(high, 0.036_216_7);
        let (low, high) = probability_limits(5.0, 1_000.0);
        close(low, 0.001_625_4);
        close(high, 0.011_629_5);
        assert_eq!(probability_limits(10.0, 10.0).1, 1.0);
        assert_eq!(probability_limits(0.0, 0.0), (0.0, 1.0));
    }

    #[test]
    fn ranks_of_a_median_are_binomial() {
        // The 40th and 61st of 100 values enclose the median with 95 %: a textbook's example.
        let (low, high) = rank_limits(100.0, 0.5);
        assert!((0.39..0.41).contains(&low.unwrap()), "{low:?}");
        assert!((0.59..0.61).contains(&high.unwrap()), "{high:?}");
        let (low, high) = rank_limits(1_000.0, 0.99);
        assert!((0.982..0.984).contains(&low.unwrap()), "{low:?}");
        assert!((0.995..0.997).contains(&high.unwrap()), "{high:?}");
        let near = rank_limits(5_100.0, 0.5);
        let exact = rank_limits(4_900.0, 0.5);
        assert!((near.0.unwrap() - exact.0.unwrap()).abs() < 5e-4, "both methods agree");
    }

    #[test]
    fn fisher_agrees_with_the_lady_tasting_tea() {
        close(fisher(3.0, 4.0, 1.0, 4.0), 0.485_714);
        close(fisher(0.0, 4.0, 4.0, 4.0), 2.0 / 70.0);
        assert_eq!(fisher(0.0, 10.0, 0.0, 10.0), 1.0);
        let exact = fisher(4_900.0, 1e6, 5_090.0, 1e6);
        let normal = fisher(4_910.0, 1e6, 5_100.0, 1e6);
        assert!((exact - normal).abs() < 3e-3, "{exact} {normal}");
    }

    #[test]
    fn the_highest_on_one_side_halve_with_each() {
        close(all_on_one_side(1.0, 1e6, 1e6), 0.5);
        close(all_on_one_side(5.0, 1e6, 1e6), 1.0 / 32.0);
        assert_eq!(all_on_one_side(0.0, 10.0, 10.0), 1.0);
        close(all_on_one_side(2.0, 2.0, 2.0), 1.0 / 6.0);
    }
}
