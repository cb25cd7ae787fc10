//! The confidence in a count of exceedances.
//!
//! If a limit was exceeded `seen` times in `count` independent cycles, the probability of exceeding
//! it is, at 95 % confidence, at most the bound of Clopper and Pearson (1934): the probability at
//! which so few exceedances would occur in only 5 % of all runs. With none seen that is about
//! 3 / `count`.
//!
//! Cycles are not quite independent, since a stall spans several; the bound is the best that a
//! count alone can say, and it is printed with that remark.

/// The confidence of all bounds.
pub const CONFIDENCE: f64 = 0.95;

/// The 95 % quantile of the normal distribution.
const NORMAL_95: f64 = 1.644_853_626_951_472_2;

/// Up to so many exceedances the bound is computed from the exact distribution; beyond, from an
/// approximation that is then within 0.1 %.
const EXACT_MAX: u64 = 64;

/// Returns the upper bound, at 95 % confidence, on the probability per cycle of an event that was
/// seen `seen` times in `count` independent cycles; 1 where nothing was counted.
pub fn exceedance_bound(seen: u64, count: u64) -> f64 {
    if count == 0 || seen >= count {
        return 1.0;
    }
    if seen == 0 {
        return -((1.0 - CONFIDENCE).ln() / count as f64).exp_m1();
    }
    let approximate = approximation(seen, count);
    if seen > EXACT_MAX { approximate } else { exact(seen, count, approximate) }
}

/// Returns the number of cycles without exceedance that excludes, at 95 % confidence, an exceedance
/// probability of `probability` per cycle. What is no probability above 0 and below 1 can't be
/// excluded by any number.
pub fn cycles_needed(probability: f64) -> u64 {
    if !(probability > 0.0 && probability < 1.0) {
        return u64::MAX;
    }
    ((1.0 - CONFIDENCE).ln() / (-probability).ln_1p()).ceil() as u64
}

/// Bisection on the binomial distribution, begun around `near`.
fn exact(seen: u64, count: u64, near: f64) -> f64 {
    let (mut low, mut high) = (near / 2.0, (near * 2.0).min(1.0));
    for _ in 0..60 {
        let middle = low.midpoint(high);
        if probability_of_at_most(seen, count, middle) > 1.0 - CONFIDENCE {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Returns the probability that an event of probability `p` occurs at most `seen` times in `count`
/// cycles.
fn probability_of_at_most(seen: u64, count: u64, p: f64) -> f64 {
    let odds = p / (1.0 - p);
    let mut term = (count as f64 * (-p).ln_1p()).exp();
    let mut sum = term;
    for index in 0..seen {
        term *= (count - index) as f64 / (index + 1) as f64 * odds;
        sum += term;
    }
    sum
}

/// Returns the same bound by Paulson's approximation of the F distribution (1942), from the cube
/// roots of Wilson and Hilferty.
fn approximation(seen: u64, count: u64) -> f64 {
    let above = (seen + 1) as f64;
    let below = (count - seen) as f64;
    let (a, b) = (1.0 / (9.0 * above), 1.0 / (9.0 * below));
    let square = NORMAL_95 * NORMAL_95;
    let spread = ((1.0 - b).powi(2) * a + (1.0 - a).powi(2) * b - a * b * square).max(0.0).sqrt();
    let divisor = (1.0 - b).powi(2) - b * square;
    if divisor <= 0.0 {
        return 1.0;
    }
    let ratio = (((1.0 - a) * (1.0 - b) + NORMAL_95 * spread) / divisor).powi(3);
    (above * ratio / (below + above * ratio)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bounds_agree_with_published_values() {
        // Rule of three.
        assert!((exceedance_bound(0, 100_000) - 2.995_7e-5).abs() < 1e-8);
        // One-sided 95 % Clopper-Pearson: 1 in 100 gives 4.656 %, 5 in 1000 gives 1.0479 %.
        assert!((exceedance_bound(1, 100) - 0.046_56).abs() < 1e-5);
        assert!((exceedance_bound(5, 1000) - 0.010_479).abs() < 1e-5);
        assert_eq!(exceedance_bound(0, 0), 1.0);
        assert_eq!(exceedance_bound(7, 7), 1.0);
        assert_eq!(cycles_needed(1e-4), 29_956);
        assert_eq!(cycles_needed(1e-6), 2_995_731);
    }

    #[test]
    fn what_is_no_probability_is_never_excluded() {
        for wrong in [0.0, 1.0, 2.0, -1e-6, f64::NAN, f64::INFINITY] {
            assert_eq!(cycles_needed(wrong), u64::MAX, "{wrong}");
        }
    }

    #[test]
    fn the_approximation_takes_over_without_a_step() {
        for count in [200, 5_000, 10_000_000_000] {
            let near = approximation(EXACT_MAX, count);
            let exact = exact(EXACT_MAX, count, near);
            assert!((near / exact - 1.0).abs() < 1e-3, "{near} {exact} of {count}");
        }
    }

    proptest! {
        #[test]
        fn the_needed_cycles_suffice(exponent in 1.0_f64..8.0) {
            let probability = 10_f64.powf(-exponent);
            let needed = cycles_needed(probability);
            prop_assert!(exceedance_bound(0, needed) <= probability * 1.000_001);
            prop_assert!(exceedance_bound(0, needed - 1) >= probability * 0.999_999);
        }

        #[test]
        fn a_bound_is_a_probability_above_what_was_seen(
            count in 1_u64..100_000_000_000,
            part in 0.0_f64..1.0,
        ) {
            let seen = (count as f64 * part.powi(8)) as u64;
            let bound = exceedance_bound(seen, count);
            let rate = seen as f64 / count as f64;
            prop_assert!((rate..=1.0).contains(&bound), "{bound} for {seen} of {count}");
        }
    }
}
