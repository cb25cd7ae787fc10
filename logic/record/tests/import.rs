//! Importing real output: `cyclictest` 2.40, `jitterdebugger` 0.3 and `rtla` 6.1, run on a virtual
//! machine, and one table with user threads written by hand.

use quietcore_record::histogram::Quantile;
use quietcore_record::import::{self, ImportOptions, Kind};
use quietcore_record::reason::ForeignProblem;
use quietcore_record::record::{PolicyInForce, Record};
use quietcore_record::statistics::Statistics;
use quietcore_record::verdict::is_judged;
use quietcore_units::Nanos;

fn read(kind: Kind, text: &str) -> Vec<Record> {
    import::read(kind, "runs/run.txt", text, &ImportOptions::default())
        .expect("the fixtures are whole")
}

fn names(records: &[Record]) -> Vec<&str> {
    records.iter().map(|record| record.name.as_str()).collect()
}

#[test]
fn the_text_of_cyclictest_becomes_a_record() {
    let records = read(Kind::Cyclictest, include_str!("fixtures/cyclictest-h.txt"));
    let [record] = records.as_slice() else { panic!("one thread, one record") };
    assert_eq!((record.name.as_str(), record.partition.as_str()), ("run.thread0", "run"));
    assert_eq!((record.probe.as_str(), record.profile.as_str()), ("cyclictest", "imported"));
    assert!(record.reserved && record.is_valid() && record.degraded.is_empty());
    assert_eq!((record.cpu, record.period_ns), (None, None));
    let release = &record.release;
    assert_eq!((release.count(), release.overflow(), release.resolution_ns()), (300, 7, 1_000));
    assert_eq!((release.min_ns(), release.max_ns()), (12_000, 44_000));
    assert!(release.is_consistent());
    assert!(record.conditions.dma_latency_held);
    assert_eq!(
        record.conditions.activity["first overflows at cycles"],
        "2, 8, 24, 175, 182, 205, 238"
    );
    let statistics = Statistics::of(record);
    assert_eq!(release.quantile(0.98), Some(Quantile::AtLeast { at_least: 40_000 }));
    // The file says 21, which leaves the overflow less than the 40 µs that each of it took.
    assert!((statistics.mean_ns.unwrap() - 21_036.7).abs() < 0.1);
    assert_eq!(statistics.missed_cycles, None);
}

#[test]
fn the_sum_column_of_histofall_is_not_a_thread() {
    let records = read(Kind::Cyclictest, include_str!("fixtures/cyclictest-histofall.txt"));
    assert_eq!(names(&records), ["run.thread0", "run.thread1"]);
    let counts: Vec<_> =
        records.iter().map(|r| (r.release.count(), r.release.overflow())).collect();
    assert_eq!(counts, [(300, 22), (300, 2)]);
}

/// The summary and the list of overflows of a histogram of two threads.
const SUMMARY_OF_TWO: &str = "# Min Latencies: 00003 00004\n# Avg Latencies: 00003 00005\n\
                              # Max Latencies: 00012 00051\n# Histogram Overflows: 00000 00001\n\
                              # Histogram Overflow at cycle number:\n# Thread 0: \n\
                              # Thread 1: 00007\n";

/// Goal: since version 2.5 of rt-tests there is no total, and rows without values are left out;
/// that is as whole a file as before, whichever line ends it has.
#[test]
fn text_without_a_total_and_without_empty_rows_is_whole() {
    let rows = "000003 000700\t000000\n000004 000290\t000990\n000012 000010\t000009\n";
    let text = format!("# Histogram\n{rows}{SUMMARY_OF_TWO}\n");
    for text in [text.clone(), text.replace('\n', "\r\n")] {
        let records = read(Kind::Cyclictest, &text);
        assert_eq!(names(&records), ["run.thread0", "run.thread1"]);
        let figures = records.iter().map(|record| {
            let release = &record.release;
            (release.count(), release.overflow(), release.min_ns(), release.max_ns())
        });
        let expected = [(1_000, 0, 3_000, 12_000), (1_000, 1, 4_000, 51_000)];
        assert_eq!(figures.collect::<Vec<_>>(), expected);
        for record in &records {
            assert!(record.is_valid(), "{:?}", record.invalid_because);
            assert!(record.conditions.activity.contains_key("total"));
            assert!(!record.conditions.activity.contains_key("overflow list"));
        }
    }
}

/// Goal: the column that `-H` adds is no thread: not with one thread either, whose maxima and
/// overflows have none.
#[test]
fn the_sum_column_is_told_apart_without_a_total() {
    let rows = "000003 000700\t000000\t000700\n000004 000300\t000999\t001299\n";
    let summary = SUMMARY_OF_TWO
        .replace("00012 00051\n", "00004 00051 00051\n")
        .replace("Overflows: 00000 00001\n", "Overflows: 00000 00001 00001\n");
    let records = read(Kind::Cyclictest, &format!("# Histogram\n{rows}{summary}"));
    assert_eq!(names(&records), ["run.thread0", "run.thread1"]);
    let one = "# Histogram\n000002 000005\t000005\n# Min Latencies: 00002\n\
               # Avg Latencies: 00002\n# Max Latencies: 00002\n# Histogram Overflows: 00000\n\
               # Histogram Overflow at cycle number:\n# Thread 0: \n";
    assert_eq!(names(&read(Kind::Cyclictest, one)), ["run.thread0"]);
}

/// Goal: a histogram whose values all lie beyond its end has no row, and each value is known from
/// below.
#[test]
fn a_histogram_without_rows_has_bounds() {
    let text = "# Histogram\n# Min Latencies: 00130\n# Avg Latencies: 00170\n\
                # Max Latencies: 00440\n# Histogram Overflows: 00030\n\
                # Histogram Overflow at cycle number:\n# Thread 0: 00000 # 00029 others\n";
    let records = read(Kind::Cyclictest, text);
    let [record] = records.as_slice() else { panic!("one thread, one record") };
    let release = &record.release;
    assert_eq!((release.count(), release.overflow()), (30, 30));
    assert_eq!((release.min_ns(), release.max_ns()), (130_000, 440_000));
    assert_eq!(release.quantile(0.5), Some(Quantile::AtLeast { at_least: 130_000 }));
}

#[test]
fn live_summaries_before_the_histogram_give_interval_and_priority() {
    let records = read(Kind::Cyclictest, include_str!("fixtures/cyclictest-live.txt"));
    assert_eq!(records.len(), 2);
    for record in &records {
        assert_eq!(record.period_ns, Some(2_000_000));
        assert_eq!(record.conditions.policy, PolicyInForce::Priority(80));
        assert!(!record.conditions.activity.contains_key("cycles"));
    }
}

#[test]
fn the_interval_given_counts_before_the_files_own() {
    let options =
        ImportOptions { interval: Some(Nanos::from_micros(500)), ..ImportOptions::default() };
    let text = include_str!("fixtures/cyclictest-live.txt");
    let records = import::read(Kind::Cyclictest, "x", text, &options).unwrap();
    assert_eq!(records[0].period_ns, Some(500_000));
}

#[test]
fn text_in_nanoseconds_is_read_so_when_asked_for() {
    let options = ImportOptions { nanoseconds: true, ..ImportOptions::default() };
    let text = include_str!("fixtures/cyclictest-h.txt");
    let records = import::read(Kind::Cyclictest, "x", text, &options).unwrap();
    assert_eq!((records[0].release.max_ns(), records[0].release.resolution_ns()), (44, 1));
}

#[test]
fn the_json_of_cyclictest_carries_interval_cpu_and_machine() {
    let records = read(Kind::Cyclictest, include_str!("fixtures/cyclictest.json"));
    assert_eq!(names(&records), ["run.thread0", "run.thread1"]);
    let text = read(Kind::Cyclictest, include_str!("fixtures/cyclictest-histofall.txt"));
    for (cpu, (record, of_text)) in records.iter().zip(&text).enumerate() {
        assert_eq!(record.cpu, Some(cpu as u32));
        assert_eq!(record.period_ns, Some(500_000));
        assert_eq!(record.conditions.started_at.len(), "2026-11-21T20:25:01Z".len());
        assert!(record.conditions.machine["kernel"].starts_with("Linux 6."));
        // The same run, written both ways.
        let (json, text) = (&record.release, &of_text.release);
        assert_eq!(json.bins().collect::<Vec<_>>(), text.bins().collect::<Vec<_>>());
        assert_eq!(
            (json.count(), json.overflow(), json.overflow_from_ns()),
            (text.count(), text.overflow(), text.overflow_from_ns())
        );
    }
}

#[test]
fn json_in_nanoseconds_keeps_them() {
    let records = read(Kind::Cyclictest, include_str!("fixtures/cyclictest-nanoseconds.json"));
    let release = &records[0].release;
    assert_eq!((release.min_ns(), release.resolution_ns()), (12_366, 1));
    assert_eq!(release.count(), 200);
}

#[test]
fn jitterdebugger_becomes_a_record_a_cpu() {
    let text = include_str!("fixtures/jitterdebugger.json");
    let records = read(Kind::Jitterdebugger, text);
    assert_eq!(names(&records), ["run.cpu0", "run.cpu1"]);
    assert_eq!((records[1].cpu, records[1].period_ns), (Some(1), None));
    assert_eq!((records[0].release.count(), records[0].release.overflow()), (300, 0));
    // A thread for each of two of four CPUs: which ones, the file doesn't say.
    let of_four = text.replace("\"cpus_online\": 2", "\"cpus_online\": 4");
    assert_eq!(read(Kind::Jitterdebugger, &of_four)[1].cpu, None);
}

#[test]
fn what_jitterdebugger_drops_silently_becomes_an_overflow_with_a_bound() {
    let text = r#"{"cpu": {"0": {"histogram": {"3": 97}, "count": 100, "min": 3, "max": 4711,
        "avg": 100.00}}}"#;
    let release = &read(Kind::Jitterdebugger, text)[0].release;
    assert_eq!((release.count(), release.overflow(), release.max_ns()), (100, 3, 4_711_000));
    assert_eq!(release.quantile(0.97), Some(Quantile::Exactly(3_000)));
    assert_eq!(release.quantile(0.98), Some(Quantile::AtLeast { at_least: 1_000_000 }));
    assert_eq!(release.mean_ns(), Some(100_000.0));
}

#[test]
fn timerlat_has_threads_and_their_interrupts() {
    let records = read(Kind::Rtla, include_str!("fixtures/rtla-timerlat.txt"));
    assert_eq!(names(&records), ["run.cpu0.irq", "run.cpu0", "run.cpu1.irq", "run.cpu1"]);
    assert_eq!(records.iter().map(|r| r.reserved).collect::<Vec<_>>(), [false, true, false, true]);
    assert_eq!(records[0].degraded, [ForeignProblem::InterruptLatency.into()]);
    assert!(records[1].degraded.is_empty());
    assert_eq!(records[1].cpu, Some(0));
    assert_eq!(records[1].conditions.duration_ns, 4_000_000_000);
    let release = &records[1].release;
    assert_eq!((release.count(), release.overflow()), (3_916, 39));
    assert_eq!((release.min_ns(), release.max_ns()), (45_000, 10_879_000));
    assert_eq!(release.mean_ns(), Some(100_000.0));
}

#[test]
fn wide_buckets_are_recognised() {
    let records = read(Kind::Rtla, include_str!("fixtures/rtla-timerlat-buckets.txt"));
    let release = &records[1].release;
    // The extremes are those of the file, to the microsecond.
    assert_eq!((release.resolution_ns(), release.min_ns()), (20_000, 38_000));
    // 20 µs to 40 µs: none of these values can be above 40 µs, all may be above 39 µs.
    assert_eq!(release.count_above(40_000), 2_870);
    assert_eq!(release.count_above(39_000), 2_871);
    let nano = read(Kind::Rtla, include_str!("fixtures/rtla-timerlat-nanoseconds.txt"));
    assert_eq!(nano[0].release.resolution_ns(), 10_000);
    assert_eq!(nano[0].release.max_ns(), 6_926_620);
}

/// Goal: `rtla -b 10` shows no smaller maximum than it printed.
#[test]
fn the_extremes_of_wide_buckets_are_those_that_the_file_states() {
    let text = "# RTLA timerlat histogram\n# Time unit is microseconds (us)\n\
                # Duration:   0 00:00:01\n\
                Index   Thr-000   Thr-001\n\
                0             4         5 \n10            1         0 \n\
                20            3         0 \nover:         0         0 \n\
                count:        8         5 \nmin:          2         3 \n\
                avg:         12         5 \nmax:         24         7 \n";
    let records = read(Kind::Rtla, text);
    let extremes: Vec<_> =
        records.iter().map(|it| (it.release.min_ns(), it.release.max_ns())).collect();
    assert_eq!(extremes, [(2_000, 24_000), (3_000, 7_000)]);
    assert!(records.iter().all(Record::is_valid));
}

/// Goal: newer versions print one zero a line where no bucket has values; that is no damage.
#[test]
fn an_empty_histogram_of_noise_is_not_taken_for_cut_off() {
    let head = "# RTLA osnoise histogram\n# Time unit is microseconds (us)\n\
                # Duration:   0 00:00:05\n";
    let zeros = "over: 0\ncount: 0\nmin: 0\navg: 0\nmax: 0\n";
    let options = ImportOptions::default();
    let none = import::read(Kind::Rtla, "n.txt", &format!("{head}Index\n{zeros}"), &options);
    let said = none.unwrap_err().to_string();
    assert_eq!(said, "n.txt:4:1: nothing was measured: there is no column of a CPU");
    // A CPU is named only where it had noises: they are not in the file, so nothing is known of it.
    let beyond = read(Kind::Rtla, &format!("{head}Index   CPU-000   CPU-001\n{zeros}"));
    assert_eq!(names(&beyond), ["run.cpu0", "run.cpu1"]);
    for record in &beyond {
        assert_eq!((record.release.count(), record.is_valid()), (0, false));
        assert_eq!(record.invalid_because, [ForeignProblem::AllBeyondHistogram.into()]);
    }
    let cut = format!("{head}Index   CPU-000   CPU-001\n5   1   2\n{zeros}");
    assert!(import::read(Kind::Rtla, "n.txt", &cut, &options).is_err());
}

#[test]
fn with_user_threads_these_are_what_counts() {
    let records = read(Kind::Rtla, include_str!("fixtures/rtla-timerlat-user.txt"));
    assert_eq!(records.len(), 6);
    let user = &records[2];
    assert_eq!((user.name.as_str(), user.reserved), ("run.cpu2.user", true));
    assert!(!records[1].reserved);
    assert_eq!(records[1].degraded, [ForeignProblem::KernelThreadLatency.into()]);
    assert_eq!(user.release.max_ns(), 311_000);
    assert_eq!(user.conditions.duration_ns, (25 * 3_600 + 2) * 1_000_000_000);
    // The other CPU measured nothing, which is a record without values.
    assert_eq!(records[5].release.count(), 0);
}

#[test]
fn noise_is_no_release_latency() {
    let options =
        ImportOptions { interval: Some(Nanos::from_millis(1)), ..ImportOptions::default() };
    let text = include_str!("fixtures/rtla-osnoise.txt");
    let records = import::read(Kind::Rtla, "n.txt", text, &options).unwrap();
    assert_eq!(names(&records), ["n.cpu0", "n.cpu1"]);
    for record in &records {
        assert_eq!((record.probe.as_str(), record.period_ns), ("rtla osnoise", None));
        assert!(!record.reserved && !record.degraded.is_empty() && !is_judged(record));
    }
}

/// Goal: `osnoise -b 10` is read with the resolution that it has.
/// Method: rows that are multiples of 10, with means that are counted in buckets.
#[test]
fn buckets_of_noise_are_as_wide_as_their_rows_and_means_say() {
    let text = "# RTLA osnoise histogram\n# Time unit is microseconds (us)\n\
                # Duration:   0 00:00:05\nIndex   CPU-000   CPU-001\n0   7   3\n10   2   1\n\
                30   0   1\nover:   0   0\ncount:   9   5\nmin:   0   0\navg:   0   0\n\
                max:   10   30\n";
    for record in read(Kind::Rtla, text) {
        assert_eq!((record.release.resolution_ns(), record.is_valid()), (10_000, true));
    }
}

/// Goal: a class passes on no resolution that the file may not have.
/// Method: `timerlat -b 4`, of which each extreme happens to be the begin of a bucket.
#[test]
fn a_bucket_is_taken_for_as_wide_as_the_rows_allow() {
    let text = |rows: &str, max: u64| {
        format!(
            "# RTLA timerlat histogram\n# Time unit is microseconds (us)\n\
             # Duration:   0 00:00:05\nIndex   Thr-000\n{rows}over:   0\ncount:   10\n\
             min:   4\navg:   4\nmax:   {max}\n"
        )
    };
    for max in [8, 9, 11] {
        let release = &read(Kind::Rtla, &text("4   9\n8   1\n", max))[0].release;
        assert_eq!((release.resolution_ns(), release.max_ns()), (4_000, max * 1_000));
        assert_eq!((release.overflow(), release.count_above(25_000)), (0, 0));
    }
}

#[test]
fn missed_events_make_a_record_invalid() {
    let text = format!(
        "{}912 (3.40%) events missed, results might not be accurate\n",
        include_str!("fixtures/rtla-timerlat.txt")
    );
    let records = read(Kind::Rtla, &text);
    assert!(records.iter().all(|record| !record.is_valid()));
}

#[test]
fn what_leaves_the_figures_true_is_a_remark() {
    let live = include_str!("fixtures/cyclictest-live.txt");
    let stopped = live.replace("C:    200", "C:    190");
    let record = &read(Kind::Cyclictest, &stopped)[0];
    assert!(record.is_valid());
    assert!(record.conditions.activity["cycles"].contains("190"));

    let text = include_str!("fixtures/cyclictest-h.txt");
    let without_list = text.split("# Thread 0").next().unwrap();
    let record = &read(Kind::Cyclictest, without_list)[0];
    assert!(record.is_valid());
    assert!(record.conditions.activity["overflow list"].contains("0 of 7"));
}

#[test]
fn a_mean_that_is_not_the_mean_breaks_trust() {
    let text = include_str!("fixtures/rtla-timerlat-user.txt").replacen(
        "avg:          1         4",
        "avg:          1         5",
        1,
    );
    let records = read(Kind::Rtla, &text);
    assert!(records[0].is_valid());
    assert_eq!(records[1].invalid_because.len(), 1);
}
