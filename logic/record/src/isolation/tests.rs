//! Tests of the matrix: its rows are the paper's, what is the same is said, what is counted holds.

use super::*;
use crate::histogram::Histogram;
use crate::published;
use crate::reason::Stated;
use crate::record::{LoadAchieved, Record};
use crate::statistics::exceedance_bound;

fn record(profile: &str, values: &[(u64, u64)]) -> Record {
    let mut record = crate::test_record(values);
    record.profile = profile.to_owned();
    record.name = format!("axis.{profile}.cpu1");
    record
}

#[test]
fn the_rows_are_those_of_the_paper_in_its_order() {
    let table = published::find(TABLE).unwrap();
    let mut titles: Vec<&str> = table.rows.iter().map(|line| line[0].0.as_str()).collect();
    titles.dedup();
    assert_eq!(titles, ROWS.map(|row| row.title));
    for (index, row) in ROWS.iter().enumerate() {
        assert_eq!(usize::from(row.number), index + 1);
        assert_eq!(row.profile, format!("iso{}", row.number));
        assert_eq!(row.stress, row.title.contains("with stress"));
        assert_eq!(row.stress, row.number % 2 == 0);
        assert_eq!(Row::of_profile(row.profile), Some(row));
    }
    assert_eq!(Row::of_profile("tp1"), None);
}

#[test]
fn on_one_kernel_the_last_two_rows_are_the_two_before_them() {
    let same: Vec<_> =
        ROWS.iter().filter_map(|row| Some((row.number, row.same_as()?.number))).collect();
    assert_eq!(same, [(11, 9), (12, 10)]);
    let words = ROWS.map(|row| row.on_one_kernel().words());
    assert_eq!(words[0], "not pinned, no load");
    assert_eq!(words[1], "not pinned, load anywhere");
    assert_eq!(words[3], "pinned, load anywhere");
    assert_eq!(words[4], "pinned, interrupts and load balancing kept off, no load");
    assert_eq!(words[7], "pinned, others kept off, load on the other CPUs");
    assert_eq!(words[8], "pinned, others, interrupts and load balancing kept off, no load");
}

#[test]
fn a_matrix_has_all_rows_and_figures_where_there_are_records() {
    let quiet = record("iso9", &[(3_000, 900), (150_000, 100)]);
    let mut other = record("iso9", &[(20_000_000, 1_000)]);
    other.name = "axis.iso9.cpu2".to_owned();
    let mut late = record("iso1", &[(4_000, 10)]);
    late.degraded = vec![Stated::from("control `workqueues` has no effect").into()];
    late.interrupted = true;
    let unrelated = record("tp2", &[(1_000, 10)]);
    assert!(matrices(&[quiet.clone(), other.clone(), unrelated.clone()]).is_empty());
    let matrices = matrices(&[quiet, unrelated, other, late]);
    let [matrix] = &matrices[..] else { panic!("{matrices:?}") };
    assert_eq!((matrix.rows.len(), &matrix.partition[..]), (12, "axis"));
    let row = &matrix.rows[8];
    assert_eq!(row.records, ["axis.iso9.cpu1", "axis.iso9.cpu2"]);
    assert!(row.not_as_asked.is_empty() && row.wakeup.is_none());
    let figures = row.as_slept().unwrap();
    assert_eq!((figures.count, figures.min_ns, figures.max_ns), (2_000, 3_000, 20_000_000));
    assert!((figures.mean_ns - 10_008_850.0).abs() < 1e-6);
    let [tenth, hundredth] = &figures.exceedances[..] else { panic!("{figures:?}") };
    assert_eq!((tenth.limit_ns, tenth.count, tenth.surely), (100_000, 1_100, 1_100));
    assert_eq!((hundredth.limit_ns, hundredth.count), (10_000_000, 1_000));
    assert!((hundredth.share - 0.5).abs() < 1e-12);
    assert!((hundredth.bound_95 - exceedance_bound(1_000, 2_000)).abs() < 1e-12);
    let reasons = &matrix.rows[0].not_as_asked;
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    assert_eq!(matrix.rows[4].release, None);
    assert_eq!(matrix.rows[10].same_as, Some(9));
    let kernels: Vec<_> = row.published.iter().map(|it| (&it.kernel[..], it.mean_us)).collect();
    assert_eq!(kernels, [("Standard", 332.0), ("Xenomai", 469.0), ("Preempt-RT", 675.0)]);
}

#[test]
fn where_a_partition_wakes_early_the_paper_stands_beside_its_wake_up() {
    let mut early = record("iso3", &[(20, 100)]);
    let mut woken = Histogram::new();
    woken.record_many(7_000, 100);
    early.wakeup = Some(woken);
    let matrices = matrices(&[early, record("iso4", &[(9_000, 100)])]);
    let row = &matrices[0].rows[2];
    assert_eq!(row.release.as_ref().unwrap().max_ns, 20);
    assert_eq!(row.as_slept().unwrap().max_ns, 7_000);
    assert_eq!(matrices[0].rows[3].wakeup, None);
}

#[test]
fn a_load_that_was_kept_off_is_no_load_anywhere() {
    let loaded = |profile: &str, cpus: &str| {
        let mut record = record(profile, &[(4_000, 10)]);
        record.conditions.loads = vec![LoadAchieved {
            kind: "sqrt".to_owned(),
            workers: 10,
            working: 10,
            cpus: cpus.parse().unwrap(),
            operations_per_second: 1.0,
            unit: "sqrt/s".to_owned(),
            bytes_per_second: None,
            cpu_share: 0.5,
        }];
        record
    };
    let records = [loaded("iso4", "0,1"), loaded("iso6", "0"), loaded("iso8", "0")];
    let rows = &matrices(&records)[0].rows;
    assert_eq!(rows[3].not_as_asked, [""; 0]);
    assert!(rows[5].not_as_asked[0].starts_with("the load had CPU 0 and not CPU 1"));
    assert_eq!(rows[7].not_as_asked, [""; 0], "its load is to be elsewhere");
}

#[test]
fn what_lies_in_the_bin_of_the_limit_is_counted_and_not_sure() {
    let limit = 100_000;
    let bin = |value: u64| {
        let mut histogram = Histogram::new();
        histogram.record(value);
        histogram.bins().next().unwrap()
    };
    let around = bin(limit);
    assert!(around.low_ns <= limit && limit < around.high_ns, "{around:?}");
    let mut histogram = Histogram::new();
    histogram.record_many(1_000, 7);
    histogram.record_many(limit, 3);
    histogram.record_many(2 * limit, 2);
    assert_eq!((histogram.count_above(limit), histogram.count_surely_above(limit)), (5, 2));
    histogram.record(80_000_000_000);
    assert_eq!(histogram.overflow(), 1);
    assert_eq!(histogram.count_surely_above(limit), 3);
    assert_eq!(Histogram::new().count_surely_above(0), 0);
}

/// One value of `max` alone makes a deviation of `max / √n` or more.
#[test]
fn some_printed_deviations_are_too_small_for_their_maxima() {
    let table = published::find(TABLE).unwrap();
    let values_needed = |row: &Row, kernel: &str| {
        let rows = figures::published(row, table);
        let found = rows.iter().find(|line| line.kernel == kernel).unwrap();
        ((found.max_us - found.mean_us) / found.sd_us).powi(2)
    };
    assert!(values_needed(&ROWS[7], "Standard") > 5e8, "598 883 µs over 26 µs");
    assert!(values_needed(&ROWS[0], "Standard") < 1e6);
    assert!(table.remarks.iter().any(|remark| remark.contains("530 million")));
}
