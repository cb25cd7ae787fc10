//! Tests of columns made into histograms.

use super::*;
use crate::histogram::Quantile;

fn column(buckets: &[(u64, u64)]) -> Column {
    let mut column = Column::default();
    for (bucket, count) in buckets {
        column.add(*bucket, *count).unwrap();
    }
    column
}

fn claims() -> Claims {
    Claims {
        unit_ns: 1_000,
        bucket_size: 1,
        overflow: 0,
        overflow_from: 100,
        extremes: Some((4, 9)),
        mean: Some(Mean::cut(5.0)),
    }
}

#[test]
fn buckets_that_agree_with_the_claims_become_a_histogram() {
    let finished = finish(&column(&[(4, 5), (9, 3)]), &claims()).unwrap();
    assert_eq!(finished.histogram.count(), 8);
    assert_eq!((finished.histogram.min_ns(), finished.histogram.max_ns()), (4_000, 9_000));
    assert!(finished.invalid_because.is_empty());
}

/// Goal: in wide buckets, too, the extremes are those that the file states.
#[test]
fn a_wide_bucket_understates_no_maximum_and_overstates_no_minimum() {
    let wide = |buckets: &[(u64, u64)], min, max| {
        let claims = Claims { bucket_size: 10, extremes: Some((min, max)), mean: None, ..claims() };
        finish(&column(buckets), &claims).unwrap().histogram
    };
    let several = wide(&[(0, 5), (10, 1), (20, 3)], 2, 24);
    assert_eq!((several.min_ns(), several.max_ns()), (2_000, 24_000));
    assert_eq!((several.count(), several.is_consistent()), (9, true));
    assert_eq!(several.count_above(24_000), 3, "where in the last bucket is not known");
    assert_eq!(several.count_above(34_000), 0);
    let one = wide(&[(0, 4)], 3, 7);
    assert_eq!((one.min_ns(), one.max_ns(), one.count()), (3_000, 7_000, 4));
    let single = wide(&[(0, 1)], 7, 7);
    assert_eq!((single.min_ns(), single.max_ns(), single.count()), (7_000, 7_000, 1));
    assert!(one.is_consistent() && single.is_consistent());
}

#[test]
fn contradictions_are_found() {
    for (min, max) in [(3, 9), (5, 9), (4, 8), (4, 10), (9, 4)] {
        let claims = Claims { extremes: Some((min, max)), ..claims() };
        finish(&column(&[(4, 5), (9, 3)]), &claims).unwrap_err();
    }
    let small = Claims { overflow: 2, ..claims() };
    assert!(finish(&column(&[(4, 5)]), &small).unwrap_err().contains("overflowed"));
    let wrong_mean = Claims { mean: Some(Mean::cut(6.0)), ..claims() };
    let finished = finish(&column(&[(4, 5), (9, 3)]), &wrong_mean).unwrap();
    let [problem] = &finished.invalid_because[..] else { panic!("one problem") };
    let said = "the file gives a mean of 6, its buckets have one of 5.88";
    assert_eq!(problem.to_string(), said);
}

#[test]
fn the_overflow_has_the_sum_that_the_mean_leaves() {
    let claims =
        Claims { overflow: 2, extremes: Some((4, 500)), mean: Some(Mean::cut(100.0)), ..claims() };
    let finished = finish(&column(&[(4, 8)]), &claims).unwrap();
    assert_eq!(finished.histogram.mean_ns(), Some(100_000.0));
    assert_eq!(finished.histogram.quantile(0.9), Some(Quantile::AtLeast { at_least: 100_000 }));
}

#[test]
fn without_any_bucket_the_minimum_is_the_bound() {
    let claims = Claims { overflow: 7, extremes: Some((984, 1_200)), ..claims() };
    let finished = finish(&column(&[]), &claims).unwrap();
    assert_eq!(finished.histogram.min_ns(), 984_000);
    assert_eq!(finished.histogram.quantile(0.5), Some(Quantile::AtLeast { at_least: 984_000 }));
}

/// Goal: a largest value that is where the overflow begins is no unknown one.
#[test]
fn an_overflow_of_one_value_is_known() {
    let claims = Claims { overflow: 7, extremes: Some((4, 100)), mean: None, ..claims() };
    let histogram = finish(&column(&[(4, 5)]), &claims).unwrap().histogram;
    assert_eq!((histogram.count(), histogram.overflow(), histogram.max_ns()), (12, 0, 100_000));
    assert_eq!((histogram.count_surely_above(99_900), histogram.count_above(101_000)), (7, 0));
}

#[test]
fn counts_beyond_64_bits_are_refused() {
    let mut column = column(&[(1, u64::MAX)]);
    column.add(2, 1).unwrap_err();
    let claims = Claims { extremes: None, mean: None, ..claims() };
    finish(&column, &claims).unwrap_err();
}
