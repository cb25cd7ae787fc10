//! Tests of runs beside published tables.

use super::*;
use crate::histogram::Histogram;
use crate::published::find;
use crate::reason::Stated;
use crate::record::Stretches;

fn record(profile: &str) -> Record {
    let mut record = crate::test_record(&[(3_000, 500), (4_000, 480), (9_000, 20)]);
    record.profile = profile.to_owned();
    record
}

fn figure(row: &SideRow, figure: Figure) -> SideFigure {
    *row.figures.iter().find(|side| side.figure == figure).unwrap()
}

#[test]
fn a_profile_of_the_table_is_put_beside_its_rows() {
    let side = with_table(&[record("tp2")], find("queiroz2023/table-4").unwrap()).unwrap();
    let rows: Vec<_> = side.rows.iter().map(|row| row.published.as_str()).collect();
    assert_eq!(
        rows,
        [
            "#1 Baseline, tp2",
            "#2 Hypervisor A, tp2",
            "#3 Hypervisor B, tp2",
            "#4 Hypervisor C, tp2"
        ]
    );
    assert!(side.rows.iter().all(|row| row.same_profile));
    let median = figure(&side.rows[1], Figure::Median);
    assert_eq!((median.published_ns, median.published_error_ns), (2_000.0, 500.0));
    assert_eq!(median.measured_ns, Some(Value::Exactly(3_001.0)));
    assert!((median.ratio.unwrap() - 1.5).abs() < 0.01);
    assert!((median.ratio_low.unwrap() - 1.2).abs() < 0.01);
    assert!((median.ratio_high.unwrap() - 2.0).abs() < 0.01);
}

/// Goal: one run stands beside the rows of table 5, each with as much of it as the row has.
#[test]
fn a_long_run_is_put_beside_each_row_with_its_first_hours() {
    let mut record = record("tp4");
    let mut stretches = Stretches::planned(Nanos::from_secs(2 * 3_600)).unwrap();
    let mut whole = Histogram::new();
    for hour in [1, 2] {
        let before = whole.clone();
        whole.record_many(hour * 1_000, 100);
        let elapsed = Nanos::from_secs(hour * 3_600);
        stretches.end(elapsed, &whole.since(&before).unwrap());
    }
    (record.release, record.stretches) = (whole, Some(stretches));
    let table = find("queiroz2023/table-5").unwrap();
    let side = with_table(std::slice::from_ref(&record), table).unwrap();
    let names: Vec<_> = side.rows.iter().map(|row| row.record.as_str()).collect();
    let (one, two) = ("axis.tp2.cpu1 (first 1 h)", "axis.tp2.cpu1 (first 2 h)");
    assert_eq!(names, [one, one, one, two, two, two]);
    assert_eq!(side.rows[3].published, "#2 Hypervisor A, 2 h");
    let mean = |row: usize| figure(&side.rows[row], Figure::Mean).measured_ns;
    assert_eq!((mean(0), mean(3)), (Some(Value::Exactly(1_000.0)), Some(Value::Exactly(1_500.0))));
    assert!(side.remarks.last().unwrap().contains("its first hours"));
    record.stretches = None;
    assert_eq!(with_table(&[record], table).unwrap().rows.len(), 12);
}

#[test]
fn what_is_printed_as_zero_has_no_ratio() {
    let side = with_table(&[record("tp1")], find("queiroz2023/table-4").unwrap()).unwrap();
    let median = figure(&side.rows[0], Figure::Median);
    assert_eq!((median.published_ns, median.ratio, median.ratio_high), (0.0, None, None));
    assert!(median.ratio_low.unwrap() > 6.0, "less than half a microsecond was published");
}

#[test]
fn another_profile_is_put_beside_all_rows_and_says_so() {
    let side = with_table(&[record("imported")], find("hofer2019/table-1").unwrap()).unwrap();
    assert_eq!(side.rows.len(), 36);
    assert!(side.rows.iter().all(|row| !row.same_profile));
    let maximum = figure(&side.rows[0], Figure::Maximum);
    assert_eq!(maximum.published_ns, 767_757_000.0);
    assert!(side.source.contains("Hofer"));
}

/// A program's leading task is a periodic thread, and its release latency that of one.
#[test]
fn a_program_is_put_beside_release_latencies() {
    let mut program = record("tp4");
    program.probe = "exec".to_owned();
    for id in ["queiroz2023/table-3", "hofer2019/table-1", "hofer2019/figure-1", "000/table-4"] {
        let side = with_table(std::slice::from_ref(&program), find(id).unwrap()).unwrap();
        assert!(side.rows.iter().all(|row| !row.figures.is_empty()), "{id}");
    }
    let round_trips = with_table(&[program], find("scordino2020/table-1").unwrap());
    assert!(matches!(round_trips, Err(BesideError::OtherQuantity { .. })));
}

#[test]
fn conditions_and_figures_without_numbers_are_refused_with_the_reason() {
    let error = |id| with_table(&[record("tp1")], find(id).unwrap()).unwrap_err().to_string();
    assert!(error("queiroz2023/table-2").contains("gives the conditions of measurements"));
    assert!(error("mahmud2014/table-1").contains("no figure of a run"));
    assert!(error("scordino2020/figure-4").contains("printed without a figure"));
}

#[test]
fn only_like_is_put_beside_like() {
    let error = with_table(&[record("tp1")], find("queiroz2023/table-1").unwrap()).unwrap_err();
    assert!(error.to_string().contains("not a measurement"), "{error}");
    let error = with_table(&[record("tp1")], find("kong2021/table-1").unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`kong2021/table-1` gives the interrupt response, which no valid record here measures \
         (there are: latency); choose a table of what was measured"
    );
    let mut invalid = record("tp1");
    invalid.invalid_because = vec![Stated::from("broken").into()];
    let table = find("queiroz2023/table-4").unwrap();
    let side = with_table(&[record("tp1"), invalid], table).unwrap();
    assert_eq!(side.left_out, ["axis.tp2.cpu1"]);
}
