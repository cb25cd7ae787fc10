//! Tests of the histogram: nothing is lost, and quantiles agree with sorting.

use proptest::prelude::*;

use super::*;

fn of(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    for value in values {
        histogram.record(*value);
    }
    histogram
}

#[test]
fn an_empty_histogram_has_no_statistics() {
    let empty = Histogram::new();
    assert_eq!(empty.quantile(0.5), None);
    assert_eq!(empty.mean_ns(), None);
    assert_eq!(empty.standard_deviation_ns(), None);
    assert!(empty.is_consistent());
}

/// Goal: the self-check sees every bin, those at the ends of its blocks too.
#[test]
fn a_count_that_is_moved_to_another_bin_is_noticed() {
    let places =
        [0, 1, BLOCK - 1, BLOCK, 2 * BLOCK, BIN_COUNT - BLOCK, BIN_COUNT - 2, BIN_COUNT - 1];
    for place in places {
        let mut histogram = of(&[bins::lowest_of(place)]);
        assert!(histogram.is_consistent(), "{place}");
        for other in places.into_iter().filter(|other| *other != place) {
            histogram.counts.swap(place, other);
            assert!(!histogram.is_consistent(), "{place} moved to {other}");
            histogram.counts.swap(place, other);
            histogram.counts[other] += 1;
            assert!(!histogram.is_consistent(), "one more in {other}");
            histogram.totals.count += 1;
            assert!(!histogram.is_consistent(), "an extreme in {other}, which nothing knows of");
            histogram.totals.count -= 1;
            histogram.counts[other] -= 1;
        }
    }
}

#[test]
fn equal_values_have_no_deviation() {
    let same = of(&[123_457; 10]);
    assert_eq!(same.standard_deviation_ns(), Some(0.0));
    assert_eq!(same.quantile(0.5), Some(Quantile::Exactly(123_457)));
}

#[test]
fn a_quantile_in_the_overflow_is_a_bound() {
    let mut histogram = Histogram::imported(1_000, 10_000_000);
    histogram.record_many(4_000, 97);
    histogram.record_overflow(3, 81_034_000, 200_000_000);
    assert_eq!(histogram.quantile(0.97), Some(Quantile::Exactly(4_000)));
    assert_eq!(histogram.quantile(0.98), Some(Quantile::AtLeast { at_least: 10_000_000 }));
    assert_eq!((histogram.count(), histogram.max_ns()), (100, 81_034_000));
    assert_eq!(histogram.standard_deviation_ns(), None);
    assert!(histogram.is_consistent());
}

#[test]
fn an_overflow_whose_size_is_unknown_counts_as_above_every_limit() {
    let mut histogram = Histogram::imported(1_000, 100_000);
    histogram.record_many(4_000, 97);
    histogram.record_overflow(3, 0, 300_000);
    assert_eq!(histogram.count_above(1_000_000), 3);
    histogram.record_overflow(1, 500_000, 500_000);
    assert_eq!(histogram.count_above(1_000_000), 0);
}

#[test]
fn beyond_the_earlier_end_of_two_merged_histograms_a_quantile_is_a_bound() {
    let mut merged = of(&[50_000, 50_000, 300_000, 400_000]);
    let mut short = Histogram::imported(1, 100_000);
    short.record_overflow(2, 900_000, 1_000_000);
    merged.merge(&short);
    assert!(merged.is_consistent());
    assert!(merged.quantile(0.2).unwrap().exact().is_some());
    for part in [0.5, 0.9] {
        assert_eq!(merged.quantile(part), Some(Quantile::AtLeast { at_least: 100_000 }));
    }
}

#[test]
fn an_overflow_with_a_maximum_before_it_is_refused() {
    let mut histogram = Histogram::imported(1_000, 100_000);
    histogram.record_many(4_000, 9);
    histogram.record_overflow(1, 200_000, 200_000);
    let text = serde_json::to_string(&histogram).unwrap();
    let changed = text.replace("\"max_ns\":200000", "\"max_ns\":4000");
    assert_ne!(text, changed);
    assert!(serde_json::from_str::<Histogram>(&changed).is_err());
}

#[test]
fn values_rounded_down_count_as_above_where_they_may_have_been() {
    let mut histogram = Histogram::imported(1_000, 10_000_000);
    histogram.record_many(100_000, 5);
    // 100 µs rounded down may have been 100.9 µs.
    assert_eq!(histogram.count_above(100_000), 5);
    assert_eq!(histogram.count_above(100_999), 0);
    // 99 µs rounded down was less than 100 µs, though its bin reaches to 99.007 µs.
    histogram.record_many(99_000, 7);
    assert_eq!(histogram.count_above(100_000), 5);
    assert_eq!(histogram.count_above(99_998), 12);
}

#[test]
fn a_changed_file_is_refused() {
    let text = serde_json::to_string(&of(&[5, 6, 7_000])).unwrap();
    assert!(serde_json::from_str::<Histogram>(&text).is_ok());
    for (from, to) in [
        ("\"count\":3", "\"count\":4"),
        ("\"max_ns\":7000", "\"max_ns\":9000"),
        ("\"min_ns\":5", "\"min_ns\":9"),
        ("[5,1]", "[5,1],[5,1]"),
        ("[7000,1]", "[7001,1]"),
        ("[7000,1]", "[68719476736,1]"),
        ("[6,1]", "[6,18446744073709551615]"),
    ] {
        assert!(text.contains(from), "{from}");
        assert!(serde_json::from_str::<Histogram>(&text.replace(from, to)).is_err(), "{to}");
    }
}

proptest! {
    #[test]
    fn quantiles_agree_with_sorting(
        mut values in proptest::collection::vec(0_u64..60_000_000_000, 1..300),
        part in 0.0_f64..=1.0,
    ) {
        let histogram = of(&values);
        values.sort_unstable();
        let rank = ((part * values.len() as f64).ceil() as usize).clamp(1, values.len());
        let exact = values[rank - 1];
        let found = histogram.quantile(part).unwrap().exact().unwrap();
        prop_assert!(found >= exact && found - exact <= exact / 1000, "{found} for {exact}");
        prop_assert!(histogram.is_consistent());
        let mean = values.iter().sum::<u64>() as f64 / values.len() as f64;
        prop_assert!((histogram.mean_ns().unwrap() - mean).abs() < 1e-6 * mean + 1e-6);
    }

    #[test]
    fn merging_is_recording_both(
        first in proptest::collection::vec(any::<u64>(), 0..100),
        second in proptest::collection::vec(any::<u64>(), 0..100),
    ) {
        let mut merged = of(&first);
        merged.merge(&of(&second));
        let both: Vec<u64> = first.into_iter().chain(second).collect();
        prop_assert_eq!(merged, of(&both));
    }

    #[test]
    fn no_exceedance_is_missed(
        values in proptest::collection::vec(0_u64..10_000_000, 1..200),
        limit in 0_u64..10_000_000,
    ) {
        let exact = values.iter().filter(|value| **value > limit).count() as u64;
        let found = of(&values).count_above(limit);
        prop_assert!(found >= exact);
        let close = values.iter().filter(|value| **value + limit / 1000 + 1 > limit).count() as u64;
        prop_assert!(found <= close);
        if exact == 0 {
            let max = values.iter().max().copied().unwrap();
            prop_assert!(found == 0 || max > limit);
        }
    }

    #[test]
    fn a_histogram_survives_its_file(values in proptest::collection::vec(any::<u64>(), 0..100)) {
        let histogram = of(&values);
        let text = serde_json::to_string(&histogram).unwrap();
        prop_assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), histogram);
    }
}

/// Goal: two parts of a histogram that was read while it grew are the whole again, exactly.
#[test]
fn what_came_since_an_earlier_copy_completes_it() {
    let mut run = of(&[70_001, 5, 900]);
    let before = run.clone();
    for value in [3, 70_003, 123_457_891, 900] {
        run.record(value);
    }
    let since = run.since(&before).unwrap();
    assert_eq!((since.count(), since.sum_ns()), (4, run.sum_ns() - before.sum_ns()));
    assert_eq!((since.min_ns(), since.max_ns()), (3, 123_457_891));
    let mut both = before.clone();
    both.merge(&since);
    assert_eq!(both, run);
    assert_eq!(run.since(&run).unwrap(), Histogram::new());
    assert_eq!(before.since(&run), None, "it is no earlier one");
    // Beyond the range there is no bin.
    run.record(bins::RANGE_END + 7);
    let beyond = run.since(&both).unwrap();
    assert_eq!((beyond.overflow(), beyond.max_ns()), (1, bins::RANGE_END + 7));
    both.merge(&beyond);
    assert_eq!(both, run);
}
