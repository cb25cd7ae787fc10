//! Exports in the formats of `cyclictest`: what scripts rely on, and the way back.

use proptest::prelude::*;
use quietcore_record::export::{cyclictest_json, cyclictest_text};
use quietcore_record::histogram::{Histogram, Quantile};
use quietcore_record::import::{self, ImportOptions, Kind};
use quietcore_record::record::{PolicyInForce, Record};
use quietcore_units::{Nanos, SchedulingPolicy};

fn read(text: &str) -> Vec<Record> {
    import::read(Kind::Cyclictest, "x.txt", text, &ImportOptions::default())
        .expect("our exports are whole")
}

/// A record of values in ns, each with its count.
fn record(values: &[(u64, u64)]) -> Record {
    let one = include_str!("fixtures/cyclictest-live.txt");
    let mut record = read(one).remove(0);
    record.release = Histogram::new();
    for (value, times) in values {
        record.release.record_many(*value, *times);
    }
    record.conditions.policy =
        PolicyInForce::read_back(Some(SchedulingPolicy::Fifo { priority: 90 }));
    record.period_ns = Some(1_000_000);
    record
}

#[test]
fn the_text_is_what_scripts_expect() {
    let records = [record(&[(1_200, 3), (2_999, 1), (7_000, 2)]), record(&[(0, 1), (2_000, 9)])];
    assert_eq!(
        cyclictest_text(&records, Nanos::from_micros(4)),
        "\
T: 0 (    0) P:90 I:1000 C:      6 Min:      1 Act:    0 Avg:    3 Max:       7
T: 1 (    0) P:90 I:1000 C:     10 Min:      0 Act:    0 Avg:    1 Max:       2
# Histogram
000000 000000\t000001
000001 000003\t000000
000002 000001\t000009
000003 000000\t000000
# Total: 000000004 000000010
# Min Latencies: 00001 00000
# Avg Latencies: 00003 00001
# Max Latencies: 00007 00002
# Histogram Overflows: 00002 00000
# Histogram Overflow at cycle number:
# Thread 0: # 00002 others
# Thread 1:

"
    );
    assert_eq!(cyclictest_text(&[], Nanos::from_micros(4)), "");
}

#[test]
fn the_json_carries_interval_end_and_cpu() {
    let mut records = [record(&[(1_200, 3), (7_000, 2)]), record(&[(2_000, 9)])];
    records[1].cpu = Some(3);
    let back = read(&cyclictest_json(&records, Nanos::from_micros(4)));
    assert_eq!(back.len(), 2);
    assert_eq!((back[0].period_ns, back[0].cpu, back[1].cpu), (Some(1_000_000), None, Some(3)));
    assert_eq!(back[0].release.overflow_from_ns(), 4_000);
    assert_eq!((back[0].release.overflow(), back[0].release.max_ns()), (2, 7_000));
}

#[test]
fn an_overflow_of_the_record_ends_the_export_where_its_buckets_end() {
    let mut early = record(&[]);
    early.release = Histogram::imported(1_000, 3_000);
    early.release.record_many(1_000, 97);
    early.release.record_overflow(3, 9_000_000, 20_000_000);
    let back = read(&cyclictest_text(&[early, record(&[(4_000, 9)])], Nanos::from_micros(100)));
    assert_eq!(back[0].release.quantile(0.98), Some(Quantile::AtLeast { at_least: 3_000 }));
    assert_eq!((back[1].release.overflow(), back[1].release.count()), (9, 9));
}

#[test]
fn an_unknown_period_stays_unknown() {
    let mut record = record(&[(1_200, 3)]);
    record.period_ns = None;
    let end = Nanos::from_micros(4);
    for text in [cyclictest_text(&[record.clone()], end), cyclictest_json(&[record], end)] {
        assert_eq!(read(&text)[0].period_ns, None);
    }
}

/// Values in every range: below 1 µs, around the ends tried, and beyond a second.
fn values() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let value = prop_oneof![0..5_000_u64, 0..3_000_000_u64, 0..5_000_000_000_u64];
    prop::collection::vec((value, 1..1_000_000_u64), 0..20)
}

/// Values in each bucket of 1 µs.
fn buckets(histogram: &Histogram) -> Vec<(u64, u64)> {
    let mut buckets: Vec<(u64, u64)> = Vec::new();
    for bin in histogram.bins() {
        let bucket = bin.high_ns.clamp(histogram.min_ns(), histogram.max_ns()) / 1_000;
        match buckets.last_mut() {
            Some((last, count)) if *last == bucket => *count += bin.count,
            _ => buckets.push((bucket, bin.count)),
        }
    }
    buckets
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Goal: no value is lost or changes its bucket between export and import.
    /// Method: two records, both formats, several ends; then once more from what was read.
    #[test]
    fn what_is_exported_is_read_back(
        left in values(),
        right in values(),
        end_us in prop_oneof![1..100_u64, 900..4_000_u64],
    ) {
        let records = [record(&left), record(&right)];
        let end = Nanos::from_micros(end_us);
        let text = cyclictest_text(&records, end);
        let of_text = read(&text);
        let of_json = read(&cyclictest_json(&records, end));
        for (index, original) in records.iter().enumerate() {
            let (text, json) = (&of_text[index].release, &of_json[index].release);
            let (below, beyond): (Vec<_>, Vec<_>) =
                buckets(&original.release).into_iter().partition(|(bucket, _)| *bucket < end_us);
            let overflow: u64 = beyond.iter().map(|(_, count)| count).sum();
            for found in [text, json] {
                prop_assert_eq!(found.count(), original.release.count());
                prop_assert_eq!(found.overflow(), overflow);
                prop_assert_eq!(buckets(found), below.clone());
            }
            prop_assert!(of_text[index].is_valid(), "{:?}", of_text[index].invalid_because);
            prop_assert!(of_json[index].is_valid(), "{:?}", of_json[index].invalid_because);
            prop_assert_eq!(of_text[index].period_ns, original.period_ns);
        }
        let again = cyclictest_text(&of_text, end);
        // The mean of a file with an overflow is cut to whole units each time.
        let table = |text: &str| -> Vec<String> {
            let lines = text.lines().skip_while(|line| *line != "# Histogram");
            lines.filter(|line| !line.starts_with("# Avg")).map(str::to_owned).collect()
        };
        prop_assert_eq!(table(&again), table(&text));
    }
}
