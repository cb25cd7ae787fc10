//! Tests of the comparison: by simulation with a fixed seed, so that they are the same each time.

use quietcore_units::Wake;

use super::*;
use crate::reason::Stated;
use crate::record::{Record, ReleaseMode, Timeline};

/// A small generator of uniform numbers (SplitMix64); its quality suffices for these tests.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Like release latencies: a smallest value, a bulk, a long tail.
    fn latency(&mut self) -> f64 {
        let bulk = -self.uniform().ln() * 2_000.0;
        let tail = if self.uniform() < 0.02 { -self.uniform().ln() * 30_000.0 } else { 0.0 };
        3_000.0 + bulk + tail
    }
}

/// A record of values in ns, with a time line of stretches of `slot`.
fn record(values: &[f64], slot: usize) -> Record {
    let mut record = crate::test_record(&[]);
    let values: Vec<u64> = values.iter().map(|value| *value as u64).collect();
    for value in &values {
        record.release.record(*value);
    }
    let slots = values
        .chunks(slot)
        .map(|part| (part.len() as u64, part.iter().copied().max().unwrap_or(0), part.iter().sum()))
        .collect();
    record.timeline = Timeline { slot_cycles: slot as u64, slots };
    record
}

fn sample(random: &mut Random, count: usize, factor: f64) -> Record {
    let values: Vec<f64> = (0..count).map(|_| random.latency() * factor).collect();
    record(&values, count / 40)
}

fn found<'a>(comparison: &'a Comparison, statistic: &str) -> &'a Difference {
    comparison.statistics.iter().find(|difference| difference.statistic == statistic).unwrap()
}

/// Goal: what has no difference is called different in about one of twenty comparisons.
/// Method: pairs of samples from one distribution; count p values below 5 %, before the correction.
#[test]
fn without_a_difference_one_in_twenty_is_called_one() {
    const PAIRS: usize = 240;
    let mut random = Random(1);
    let mut alarms = std::collections::BTreeMap::new();
    let mut corrected = 0;
    for _ in 0..PAIRS {
        let (a, b) = (sample(&mut random, 1_200, 1.0), sample(&mut random, 1_200, 1.0));
        let comparison = compare(&a, &b);
        for difference in comparison.statistics.iter().filter(|d| d.p_value.is_some()) {
            let alarm = usize::from(difference.p_value.unwrap() < SIGNIFICANCE);
            *alarms.entry(difference.statistic).or_insert(0) += alarm;
        }
        let beyond = comparison.beyond.as_ref().unwrap();
        *alarms.entry("beyond").or_insert(0) += usize::from(beyond.p_value < SIGNIFICANCE);
        corrected += usize::from(
            comparison.statistics.iter().any(|d| d.finding == Finding::Differs)
                || beyond.finding == Finding::Differs,
        );
    }
    println!("{alarms:?}, any after correction {corrected}, of {PAIRS}");
    for (statistic, alarms) in alarms {
        let rate = f64::from(u32::try_from(alarms).unwrap()) / PAIRS as f64;
        assert!(rate < 0.08, "{statistic}: {rate}");
        if ["median_ns", "q1_ns", "q3_ns", "mean_ns"].contains(&statistic) {
            assert!(rate > 0.01, "{statistic}: {rate} is too careful to find anything");
        }
    }
    assert!(corrected * 20 < PAIRS * 2, "{corrected} of {PAIRS} pairs");
}

/// Goal: values that depend on each other don't look like a difference.
/// Method: both samples follow a slow random walk around one mean; taken as independent, they would
/// differ nearly always.
#[test]
fn dependent_values_are_no_difference() {
    const PAIRS: usize = 60;
    let mut random = Random(7);
    let mut walk = |count: usize| {
        let mut level = 0.0;
        let values: Vec<f64> = (0..count)
            .map(|_| {
                level = 0.95 * level + (random.uniform() - 0.5) * 1_000.0;
                10_000.0 + level + random.uniform() * 500.0
            })
            .collect();
        values
    };
    let mut alarms = [0, 0];
    for _ in 0..PAIRS {
        let (a, b) = (walk(4_000), walk(4_000));
        let with_time_line = compare(&record(&a, 100), &record(&b, 100));
        let without = compare(&record(&a, 4_000), &record(&b, 4_000));
        assert!(with_time_line.dependence_a.inflation > 4.0);
        assert_eq!(without.dependence_a.batches, None);
        for (alarms, comparison) in alarms.iter_mut().zip([with_time_line, without]) {
            *alarms += usize::from(found(&comparison, "median_ns").p_value.unwrap() < SIGNIFICANCE);
        }
    }
    println!("with a time line {}, without {} of {PAIRS}", alarms[0], alarms[1]);
    assert!(alarms[0] * 10 < PAIRS, "{alarms:?}");
    assert!(alarms[1] * 3 > PAIRS, "{alarms:?}");
}

/// Goal: a difference by a factor of two is always found, with its size and direction.
#[test]
fn twice_as_late_is_found() {
    let mut random = Random(3);
    for _ in 0..10 {
        let (a, b) = (sample(&mut random, 1_200, 1.0), sample(&mut random, 1_200, 2.0));
        let comparison = compare(&a, &b);
        for statistic in ["mean_ns", "median_ns", "q1_ns", "q3_ns", "p2_5_ns"] {
            let difference = found(&comparison, statistic);
            assert_eq!(difference.finding, Finding::Differs, "{}", difference.sentence);
            let ratio = difference.ratio.unwrap();
            assert!((1.7..2.4).contains(&ratio), "{statistic}: {ratio}");
            let interval = difference.interval.unwrap();
            assert!(interval.low.unwrap() > 0.0);
            assert!(interval.high.unwrap() > difference.difference.unwrap());
        }
        let back = compare(&b, &a);
        assert!(found(&back, "median_ns").difference.unwrap() < 0.0);
        assert_eq!(found(&back, "median_ns").finding, Finding::Differs);
    }
}

/// Goal: the intervals hold what they promise.
/// Method: the true difference of medians is known; count how often the interval encloses it.
#[test]
fn intervals_enclose_the_truth() {
    const PAIRS: usize = 100;
    let mut random = Random(11);
    let mut enclosed = 0;
    for _ in 0..PAIRS {
        // Exponential above 3 µs: the median is 3 µs + 2 µs ln 2, in B half of that more.
        let mut exponential = |scale: f64| -> Vec<f64> {
            (0..800).map(|_| 3_000.0 - random.uniform().ln() * scale).collect()
        };
        let (a, b) = (record(&exponential(2_000.0), 20), record(&exponential(3_000.0), 20));
        let comparison = compare(&a, &b);
        let interval = found(&comparison, "median_ns").interval.unwrap();
        let truth = 1_000.0 * std::f64::consts::LN_2;
        enclosed += usize::from(interval.low.unwrap() <= truth && truth <= interval.high.unwrap());
    }
    println!("{enclosed} of {PAIRS}");
    assert!(enclosed * 100 > PAIRS * 91, "{enclosed} of {PAIRS}");
}

#[test]
fn a_record_does_not_differ_from_itself() {
    let record = sample(&mut Random(5), 1_200, 1.0);
    let comparison = compare(&record, &record);
    assert!(comparison.remarks.is_empty());
    for difference in &comparison.statistics {
        assert_eq!(difference.finding, Finding::NoDifferenceShown, "{}", difference.sentence);
        assert_eq!(difference.p_corrected, Some(1.0));
    }
    let beyond = comparison.beyond.unwrap();
    assert_eq!((beyond.values, beyond.finding), (0, Finding::NoDifferenceShown));
    assert!(beyond.sentence.starts_with("Neither record exceeds the other's maximum"));
}

#[test]
fn differences_below_the_resolution_are_none() {
    let imported = |from: u64, to: u64| {
        let mut record = crate::test_record(&[]);
        record.release = crate::histogram::Histogram::imported(1_000, 1_000_000);
        record.release.record_many(from, 510_000);
        record.release.record_many(to, 490_000);
        record
    };
    // The medians lie on either side of a step of the scale, 20 ns apart.
    let comparison = compare(&imported(4_000, 5_000), &imported(4_000, 5_000));
    assert_eq!(found(&comparison, "median_ns").finding, Finding::NoDifferenceShown);
    let mut turned = imported(4_000, 5_000);
    turned.release = crate::histogram::Histogram::imported(1_000, 1_000_000);
    turned.release.record_many(4_000, 490_000);
    turned.release.record_many(5_000, 510_000);
    let comparison = compare(&imported(4_000, 5_000), &turned);
    assert_eq!(found(&comparison, "median_ns").finding, Finding::NoDifferenceShown);
}

#[test]
fn a_bound_differs_where_the_bound_alone_suffices() {
    let mut late = crate::test_record(&[]);
    late.release = crate::histogram::Histogram::imported(1_000, 10_000_000);
    late.release.record_many(4_000, 95_000);
    late.release.record_overflow(5_000, 81_034_000, 300_000_000_000);
    let quick = crate::test_record(&[(4_000, 99_900), (90_000, 100)]);
    let comparison = compare(&quick, &late);
    let p99 = found(&comparison, "p99_ns");
    assert_eq!(p99.b, Some(Value::AtLeast { at_least: 10_000_000.0 }));
    assert_eq!(p99.finding, Finding::Differs, "{}", p99.sentence);
    assert!(p99.sentence.contains("at least 10.0 ms against"), "{}", p99.sentence);
    assert_eq!(p99.interval.unwrap().high, None);
    let mean = found(&comparison, "mean_ns");
    assert_eq!((mean.finding, mean.p_value), (Finding::NotComparable, None));
    assert!(mean.sentence.contains("an overflow hides values"));
    // Two bounds say nothing about each other.
    let both = compare(&late, &late);
    assert_eq!(found(&both, "p99_ns").finding, Finding::NotComparable);
}

#[test]
fn more_exceedances_than_chance_explains_are_found() {
    let without_time = |values: &[(u64, u64)]| {
        let timeline = Timeline::default();
        crate::record::Record { timeline, ..crate::test_record(values) }
    };
    let quiet = without_time(&[(4_000, 99_000), (9_000, 1_000)]);
    let mut one = without_time(&[(4_000, 99_000), (9_000, 999), (500_000, 1)]);
    let comparison = compare(&quiet, &one);
    let beyond = comparison.beyond.as_ref().unwrap();
    assert_eq!((beyond.larger, beyond.values), ("B", 1));
    assert!(beyond.p_value > 0.999, "the largest value must be in one of the two");
    assert_eq!(beyond.finding, Finding::NoDifferenceShown);
    let many = without_time(&[(4_000, 99_000), (9_000, 980), (500_000, 20)]);
    let beyond = compare(&many, &quiet).beyond.unwrap();
    assert_eq!((beyond.larger, beyond.finding), ("A", Finding::Differs));
    assert!(beyond.sentence.contains("20 of"), "{}", beyond.sentence);
    // The same values in one burst are one event.
    let slots = |burst: usize| -> Vec<(u64, u64, u64)> {
        (0..40).map(|i| (2_500, if i < burst { 500_000 } else { 9_000 }, 10_000_000)).collect()
    };
    let mut burst = many.clone();
    burst.timeline = Timeline { slot_cycles: 2_500, slots: slots(1) };
    one.timeline = Timeline { slot_cycles: 2_500, slots: slots(0) };
    let mut quiet = quiet;
    quiet.timeline = one.timeline.clone();
    let beyond = compare(&burst, &quiet).beyond.unwrap();
    assert_eq!((beyond.events, beyond.finding), (1.0, Finding::NoDifferenceShown));
}

#[test]
fn missed_cycles_are_compared_by_their_counts() {
    let mut a = crate::test_record(&[(4_000, 10_000)]);
    let mut b = a.clone();
    a.counters.missed_cycles = Some(2);
    b.counters.missed_cycles = Some(40);
    let comparison = compare(&a, &b);
    let missed = found(&comparison, "missed_cycles");
    assert_eq!((missed.finding, missed.ratio), (Finding::Differs, Some(20.0)));
    assert!(
        missed.sentence.contains("40 against 2 in A, by 38, 20.0 times"),
        "{}",
        missed.sentence
    );
}

#[test]
fn rates_are_given_at_common_limits() {
    let a = crate::test_record(&[(4_000, 9_990), (60_000, 10)]);
    let b = crate::test_record(&[(4_000, 9_999), (900_000, 1)]);
    let rates = compare(&a, &b).rates;
    let limits: Vec<_> = rates.iter().map(|rates| rates.limit_ns).collect();
    assert_eq!(limits, [5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000]);
    let at_50 = rates[3];
    assert_eq!((at_50.a.seen, at_50.b.seen), (10, 1));
    assert!(at_50.a.low < 0.001 && 0.001 < at_50.a.high);
    assert_eq!(rates[4].a.low, 0.0);
    assert!((rates[4].a.high - 3.69e-4).abs() < 1e-5, "0 of 10 000, two-sided");
}

#[test]
fn what_can_not_be_compared_says_why() {
    let good = crate::test_record(&[(4_000, 1_000)]);
    let mut bad = good.clone();
    bad.invalid_because = vec![Stated::from("the clock went backwards").into()];
    let comparison = compare(&good, &bad);
    assert!(comparison.statistics.iter().all(|d| d.finding == Finding::NotComparable));
    assert!(comparison.statistics[0].sentence.contains("B is invalid: the clock went backwards"));
    let empty = crate::test_record(&[]);
    assert!(compare(&empty, &good).statistics[0].sentence.contains("A has no values"));
}

#[test]
fn other_conditions_are_remarked() {
    let a = crate::test_record(&[(4_000, 1_000)]);
    let mut b = a.clone();
    b.period_ns = Some(10_000_000);
    b.conditions.mode = ReleaseMode::timer(Wake::Sleep);
    b.degraded = vec![Stated::from("memory is not locked").into()];
    b.interrupted = true;
    let mut a = a;
    a.conditions.machine.insert("kernel".to_owned(), "6.1".to_owned());
    b.conditions.machine.insert("container".to_owned(), "runc version 1.1.5".to_owned());
    let comparison = compare(&a, &b);
    assert_eq!(
        comparison.remarks,
        [
            "period: 1.00 ms in A, 10.0 ms in B",
            "backend: process in A, container in B",
            "mode: unknown in A, sleep in B",
            "B was not measured as asked: memory is not locked",
            "B was ended before its time",
        ]
    );
    assert!(comparison.assumptions.iter().any(|text| text.contains("not interleaved")));
}

#[test]
fn a_sentence_says_how_much_and_how_sure() {
    let mut random = Random(9);
    let (a, b) = (sample(&mut random, 1_200, 1.0), sample(&mut random, 1_200, 2.0));
    let comparison = compare(&a, &b);
    let sentence = &found(&comparison, "median_ns").sentence;
    assert!(sentence.starts_with("The median of B is larger: "), "{sentence}");
    assert!(sentence.contains("(95 % interval of the difference "), "{sentence}");
    assert!(sentence.contains("p < 0.001 after Holm's correction for "), "{sentence}");
    let json = serde_json::to_value(&comparison).unwrap();
    assert_eq!(json["statistics"][2]["finding"], "differs");
}
