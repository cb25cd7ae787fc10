//! Tests of refusals: a file that isn't whole and unchanged is refused, with place, problem and
//! remedy; and no input ends in a panic or in a record that contradicts itself.

use proptest::prelude::*;
use quietcore_record::compare::compare;
use quietcore_record::export::cyclictest_text;
use quietcore_record::import::{self, ImportOptions, Kind, LINE_BYTES_MAX, TEXT_BYTES_MAX};
use quietcore_record::statistics::Statistics;
use quietcore_record::verdict::fastest_cycle;
use quietcore_units::Nanos;

const TEXT: &str = "\
# /dev/cpu_dma_latency set to 0us
# Histogram
000000 000000\t000000
000001 000005\t000000
000002 000003\t000009
000003 000000\t000001
# Total: 000000008 000000010
# Min Latencies: 00001 00002
# Avg Latencies: 00001 00003
# Max Latencies: 00002 00017
# Histogram Overflows: 00000 00002
# Histogram Overflow at cycle number:
# Thread 0:
# Thread 1: 00004 00005
";

const JSON: &str = r#"{
  "file_version": 1,
  "cmdline:": "cyclictest -h 4",
  "num_threads": 2,
  "resolution_in_ns": 0,
  "thread": {
    "0": {"histogram": {"1": 5, "2": 3}, "cycles": 8, "min": 1, "max": 2, "avg": 1.38,
          "cpu": 0, "node": 0},
    "1": {"histogram": {"2": 9, "3": 1}, "cycles": 12, "min": 2, "max": 17, "avg": 3.00,
          "cpu": 1, "node": 0}
  }
}
"#;

const JITTERDEBUGGER: &str = r#"{
  "version": 3,
  "sysinfo": {"sysname": "Linux", "cpus_online": 1, "resolution_in_ns": 1000},
  "cpu": {
    "0": {
      "histogram": {
        "3": 97
      },
      "count": 100,
      "min": 3,
      "max": 4711,
      "avg": 100.00
    }
  }
}
"#;

const RTLA: &str = include_str!("fixtures/rtla-timerlat-user.txt");

const INPUTS: [(Kind, &str); 10] = [
    (Kind::Cyclictest, TEXT),
    (Kind::Cyclictest, JSON),
    (Kind::Jitterdebugger, JITTERDEBUGGER),
    (Kind::Rtla, RTLA),
    (Kind::Cyclictest, include_str!("fixtures/cyclictest-histofall.txt")),
    (Kind::Rtla, include_str!("fixtures/rtla-timerlat-buckets.txt")),
    (Kind::Jitterdebugger, include_str!("fixtures/jitterdebugger.json")),
    (Kind::Oslat, include_str!("fixtures/oslat.txt")),
    (Kind::Oslat, include_str!("fixtures/oslat.json")),
    (Kind::Hwlatdetect, include_str!("fixtures/hwlatdetect.txt")),
];

fn error(kind: Kind, text: &str) -> String {
    let read = import::read(kind, "run.txt", text, &ImportOptions::default());
    // The records themselves would fill pages.
    let Err(error) = read else { panic!("this file is wrong") };
    error.to_string()
}

/// Returns the error of a text in which `from` was replaced.
fn changed(kind: Kind, text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "`{from}` is not in the input");
    error(kind, &text.replacen(from, to, 1))
}

#[test]
fn the_unchanged_inputs_are_read() {
    for (kind, text) in INPUTS {
        import::read(kind, "run.txt", text, &ImportOptions::default()).unwrap();
    }
}

#[test]
fn a_file_that_was_cut_off_is_refused() {
    let up_to = |text: &str, mark: &str| text[..text.find(mark).unwrap()].to_owned();
    for (text, says) in [
        (
            up_to(TEXT, "# Total"),
            "run.txt:6:1: `# Min Latencies:` is missing; the file was cut off, import the whole \
             output",
        ),
        (
            up_to(TEXT, "000000 "),
            "run.txt:2:1: the histogram has no rows; the file was cut off after its header",
        ),
        (up_to(TEXT, "# Histogram Overflows"), "run.txt:10:1: `# Histogram Overflows:` is missing"),
        (up_to(TEXT, " 00017"), "run.txt:10:1: the last line has no end; the file was cut off"),
        (
            up_to(TEXT, " 00017") + "\n",
            "run.txt:10:1: `# Max Latencies:` has 1 numbers; expected 2, one a column",
        ),
        (
            up_to(TEXT, "\t000001\n") + "\n",
            "run.txt:6:1: the row has 1 counts; expected 2 as in line 3",
        ),
    ] {
        let found = error(Kind::Cyclictest, &text);
        assert!(found.contains(says), "{found}");
    }
    let found = error(Kind::Cyclictest, &up_to(JSON, "\"1\": {"));
    assert_eq!(
        found,
        "run.txt:9:4: EOF while parsing an object; the file was cut off; expected the file that \
         `cyclictest --json=FILE` writes"
    );
    let found = error(Kind::Jitterdebugger, &up_to(JITTERDEBUGGER, "\"max\""));
    assert!(found.contains("the file was cut off"), "{found}");
    let found = error(Kind::Rtla, &up_to(RTLA, "count:"));
    assert_eq!(
        found,
        "run.txt:10:1: `count:` is missing; the file was cut off, or rtla ran with --no-summary"
    );
}

/// Goal: one fault is told once, and what follows it is not.
#[test]
fn a_line_that_is_not_due_is_one_problem() {
    let found = changed(Kind::Cyclictest, TEXT, "# Avg Latencies", "# Mean Latencies");
    let expected = "run.txt:9:1: `# Mean Latencies: 00001 00003` where `# Avg Latencies:` is due; \
                    the file was cut off or changed";
    assert_eq!(found, expected);
    let found = changed(Kind::Cyclictest, TEXT, "# Total", "# Sum");
    assert!(found.starts_with("run.txt:7:1: `# Sum: "), "{found}");
    assert_eq!(found.lines().count(), 1, "{found}");
    let minima = changed(Kind::Cyclictest, TEXT, " 00001 00002\n# Avg", " 00001 00002 3 4\n# Avg");
    assert_eq!(minima.lines().count(), 1, "{minima}");
    let twice = changed(Kind::Cyclictest, TEXT, "# Total", "# Min Latencies: 00001 00002\n# Total");
    assert!(twice.contains("run.txt:8:1: `# Total: "), "{twice}");
}

/// Goal: values beyond what a sum holds, and values without extremes, are refused and no panic.
#[test]
fn impossible_figures_of_rtla_are_refused() {
    let text = |row: &str, count: &str, min: &str, max: &str| {
        format!(
            "# RTLA timerlat histogram\n# Time unit is microseconds (us)\n\
             # Duration:   0 00:00:05\nIndex   Thr-000\n{row} {count}\nover:   0\n\
             count:   {count}\nmin:   {min}\navg:   {min}\nmax:   {max}\n"
        )
    };
    let large = "10000000000000000";
    let found = error(Kind::Rtla, &text(large, "1000000", large, large));
    assert!(found.contains("584 years"), "{found}");
    for (min, max) in [("-", "99"), ("3", "-"), ("-", "-")] {
        let found = error(Kind::Rtla, &text("3", "50", min, max));
        assert!(found.contains("no minimum or no maximum, yet the count is 50"), "{found}");
    }
}

#[test]
fn rows_out_of_order_doubled_or_of_another_length_are_refused() {
    for (from, to, says) in [
        (
            "000002 ",
            "000000 ",
            "run.txt:5:1: bucket `000000` follows a later one; the buckets of an unchanged file \
             ascend",
        ),
        (
            "000002 ",
            "000001 ",
            "run.txt:5:1: bucket `000001` is there twice; each bucket has one row",
        ),
        ("\t000009", "", "run.txt:5:1: the row has 1 counts; expected 2 as in line 3"),
        (
            "\t000009",
            "\t000009\t000000",
            "run.txt:5:1: the row has 3 counts; expected 2 as in line 3",
        ),
        (
            "000002 ",
            "000002\n000002 ",
            "run.txt:5:1: the row has 0 counts; expected 2 as in line 3",
        ),
    ] {
        let found = changed(Kind::Cyclictest, TEXT, from, to);
        assert!(found.starts_with(says), "{found}");
    }
    let found = changed(Kind::Rtla, RTLA, "\n5    ", "\n1    ");
    assert!(found.starts_with("run.txt:8:1: bucket `1` follows a later one"), "{found}");
}

#[test]
fn cells_that_are_no_counts_are_refused() {
    for (to, says) in [
        ("00x009", "run.txt:5:15: the count `00x009` is not a number; expected a whole number"),
        ("-9", "run.txt:5:15: the count `-9` is negative; expected a whole number"),
        ("9.5", "run.txt:5:15: the count `9.5` is not a number"),
        (
            "18446744073709551616",
            "run.txt:5:15: the count `18446744073709551616` is beyond 64 bits",
        ),
        ("\u{1b}[2J", "run.txt:5:15: the count `\\u{1b}[2J` is not a number"),
    ] {
        let found = changed(Kind::Cyclictest, TEXT, "000009", to);
        assert!(found.starts_with(says), "{found}");
    }
    let found = changed(Kind::Cyclictest, JSON, "\"2\": 3", "\"2\": -3");
    assert!(found.starts_with("run.txt:7:"), "{found}");
    assert!(found.contains("invalid value: integer `-3`"), "{found}");
    let found = changed(Kind::Cyclictest, JSON, "\"2\": 3", "\"x\": 3");
    assert!(found.contains("`x` is not a number; expected buckets with their counts"), "{found}");
    let found = changed(Kind::Jitterdebugger, JITTERDEBUGGER, "\"3\": 97", "\"3\": 97, \"3\": 97");
    assert!(found.contains("`3` is there twice"), "{found}");
}

#[test]
fn totals_and_extremes_that_disagree_with_the_rows_are_refused() {
    for (from, to, says) in [
        ("000000008", "000000007", "run.txt:7:1: the total of column 1 is 7, its rows add up to 8"),
        (
            "Min Latencies: 00001",
            "Min Latencies: 00000",
            "run.txt:8:1: thread 0: the minimum is 0, the first bucket with values is 1",
        ),
        (
            "Max Latencies: 00002",
            "Max Latencies: 00003",
            "run.txt:8:1: thread 0: the maximum is 3, the last bucket with values is 2",
        ),
        (
            "00017",
            "00003",
            "run.txt:8:1: thread 1: 2 values overflowed the histogram that ends at 4, yet the \
             maximum is 3",
        ),
    ] {
        let found = changed(Kind::Cyclictest, TEXT, from, to);
        assert!(found.starts_with(says), "{found}");
    }
    for (from, to, says) in [
        (
            "\"cycles\": 8",
            "\"cycles\": 7",
            "run.txt:7:5: thread 0: the histogram counts 8 values, more than `cycles` with 7",
        ),
        (
            "\"cycles\": 8",
            "\"cycles\": 9",
            "thread 0: 1 values overflowed the histogram that ends at 4, yet the maximum is 2",
        ),
        ("\"min\": 1", "\"min\": 0", "thread 0: the minimum is 0"),
        ("\"num_threads\": 2", "\"num_threads\": 3", "`num_threads` is 3, and 2 threads are there"),
        ("\"file_version\": 1", "\"file_version\": 2", "version 1 is read"),
        ("\"resolution_in_ns\": 0", "\"resolution_in_ns\": 7", "expected 0 (µs) or 1 (ns)"),
    ] {
        let found = changed(Kind::Cyclictest, JSON, from, to);
        assert!(found.contains(says), "{found}");
    }
    let found = changed(Kind::Jitterdebugger, JITTERDEBUGGER, "\"count\": 100", "\"count\": 96");
    assert!(
        found
            .contains("run.txt:5:5: cpu 0: the histogram has 97 values, more than `count` with 96"),
        "{found}"
    );
    let found = changed(Kind::Rtla, RTLA, "count:       27", "count:       28");
    assert!(found.starts_with("run.txt:11:14: the count is 28, the rows add up to 27"), "{found}");
    let counts = "count:       27        27        27";
    let found = changed(Kind::Rtla, RTLA, counts, "count:       27        27");
    assert!(found.contains("`count:` has 5 figures; expected 6"), "{found}");
}

#[test]
fn counts_whose_sum_is_beyond_64_bits_are_refused() {
    let most = u64::MAX.to_string();
    let found = changed(Kind::Cyclictest, TEXT, "000003\t", &format!("{most}\t"));
    assert!(found.starts_with("run.txt:5:1: the counts add up to more than 64 bits"), "{found}");
    let found = changed(Kind::Cyclictest, JSON, "\"1\": 5", &format!("\"1\": {most}"));
    assert!(found.contains("more than 64 bits"), "{found}");
}

#[test]
fn another_format_is_named() {
    for (kind, text, says) in [
        (
            Kind::Cyclictest,
            RTLA,
            "this looks like the text of `rtla`; expected the text of `cyclictest -h`",
        ),
        (Kind::Cyclictest, JITTERDEBUGGER, "this looks like the JSON of `jitterdebugger`"),
        (Kind::Jitterdebugger, JSON, "this looks like the JSON of `cyclictest`"),
        (Kind::Jitterdebugger, TEXT, "this looks like the text of `cyclictest -h`"),
        (
            Kind::Rtla,
            TEXT,
            "this looks like the text of `cyclictest -h`; expected the text of `rtla timerlat \
             hist`",
        ),
        (Kind::Rtla, "{\"a\": 1}", "this looks like JSON of another program"),
        (Kind::Cyclictest, "Dear diary", "this isn't a histogram of `cyclictest`"),
        (Kind::Cyclictest, "{\"a\": 1}", "missing field `num_threads`"),
        (
            Kind::Rtla,
            "# RTLA timerlat\n0 00:00:01 | IRQ Timer Latency (us)\n",
            "expected the output of `timerlat hist`",
        ),
    ] {
        let found = error(kind, text);
        assert!(found.contains(says), "{found}");
        assert!(found.starts_with("run.txt:1:"), "{found}");
    }
}

/// Goal: whoever has one letter or a line too many is sent to it, and not away.
#[test]
fn what_stands_beside_or_before_a_header_is_shown() {
    let quoted: String = TEXT.lines().skip(1).map(|line| format!("> {line}\n")).collect();
    for (kind, text, says) in [
        (
            Kind::Cyclictest,
            TEXT.replacen("# Histogram\n", "# Histogram   <- see below\n", 1),
            "run.txt:2:1: `# Histogram   <- see below` has more than the header; let `# Histogram` \
             begin the line",
        ),
        (Kind::Cyclictest, quoted, "run.txt:1:1: `> # Histogram` has more than the header"),
        (
            Kind::Rtla,
            RTLA.replacen("# RTLA", "1# RTLA", 1),
            "`1# RTLA timerlat histogram` has more",
        ),
        (
            Kind::Jitterdebugger,
            format!("T: 0 (  614) A: 0 C: 5\n^C\n{JITTERDEBUGGER}"),
            "run.txt:3:1: the JSON begins here, behind other text; keep what begins at this line",
        ),
        (Kind::Cyclictest, format!("done\n{JSON}"), "run.txt:2:1: the JSON begins here"),
    ] {
        let found = error(kind, &text);
        assert!(found.contains(says), "{found}");
        assert!(found.contains("; expected the "), "{found}");
    }
}

/// Goal: the JSON of a program that measures something else becomes no record of releases.
#[test]
fn the_json_of_another_rt_test_is_named() {
    let signal = JSON.replacen("cyclictest -h 4", "/usr/bin/signaltest -t 2", 1);
    let round_trips = r#"{ "file_version": 1, "cmdline:": "pmqtest -t 1", "num_threads": 1,
        "thread": { "0": { "receiver": { "min": 2, "max": 9 } } } }"#;
    for (text, program) in [(signal.as_str(), "signaltest"), (round_trips, "pmqtest")] {
        let found = error(Kind::Cyclictest, text);
        assert!(found.contains(&format!("this is the JSON of `{program}`")), "{found}");
        assert!(found.contains("run `cyclictest -h 1000 --json=FILE`"), "{found}");
    }
}

#[test]
fn empty_endless_and_binary_input_is_refused() {
    for kind in [Kind::Cyclictest, Kind::Jitterdebugger, Kind::Rtla] {
        for text in ["", "\n\n", "\u{feff}"] {
            assert!(error(kind, text).starts_with("run.txt:1:1: the file is empty; expected the "));
        }
    }
    let long = " ".repeat(TEXT_BYTES_MAX + 1);
    assert!(error(Kind::Cyclictest, &long).contains("give one file for each run"));
    let long_line = format!("{TEXT}{}\n", "x".repeat(LINE_BYTES_MAX + 1));
    assert!(error(Kind::Cyclictest, &long_line).starts_with("run.txt:15:1: the line has "));
    let columns = format!("# Histogram\n000000{}\n", " 0".repeat(1_025));
    assert!(
        error(Kind::Cyclictest, &columns).starts_with("run.txt:2:1: 1025 columns; at most 1024")
    );
    assert!(
        changed(Kind::Cyclictest, TEXT, "000009", "00\0").starts_with("run.txt:5:17: a NUL byte")
    );
    let twice = format!("{TEXT}{TEXT}");
    assert!(error(Kind::Cyclictest, &twice).starts_with("run.txt:16:1: a second histogram"));
}

#[test]
fn every_problem_is_reported() {
    let text = TEXT.replace("000005", "five").replace("000009", "nine");
    let found = error(Kind::Cyclictest, &text);
    assert_eq!(
        found,
        "run.txt:4:8: the count `five` is not a number; expected a whole number\nrun.txt:5:15: \
         the count `nine` is not a number; expected a whole number"
    );
}

#[test]
fn the_largest_numbers_are_refused_where_they_can_not_be() {
    let most = u64::MAX.to_string();
    // As a bucket, its end would be beyond the range; as a maximum, beyond 584 years.
    let found = changed(Kind::Cyclictest, TEXT, "000003 ", &format!("{most} "));
    assert!(found.starts_with("run.txt:8:1: thread 0: "), "{found}");
    assert!(found.contains("is beyond 584 years"), "{found}");
    let found = changed(Kind::Cyclictest, TEXT, "00017", &most);
    assert!(found.contains("is beyond 584 years"), "{found}");
}

/// Checks that reading does not panic, and that a record that is read is one that its own file
/// format would accept.
fn must_not_panic(kind: Kind, text: &str) -> Result<(), TestCaseError> {
    let options = ImportOptions::default();
    match import::read(kind, "run.txt", text, &options) {
        Ok(records) => {
            for record in records.into_iter().take(1) {
                prop_assert!(record.release.is_consistent());
                let stored = serde_json::to_string(&record).expect("a record has a JSON form");
                let back: quietcore_record::record::Record =
                    serde_json::from_str(&stored).expect("a stored record is read back");
                prop_assert_eq!(&back, &record);
                prop_assert!(Statistics::of(&record).is_ordered());
                let _ = fastest_cycle(&record, 0.1);
                let _ = compare(&record, &back);
                let _ = cyclictest_text(&[record], Nanos::from_micros(50));
            }
        }
        Err(error) => {
            prop_assert!(!error.problems.is_empty());
            prop_assert!(
                error.problems.iter().all(|problem| problem.line > 0 && problem.column > 0)
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn changed_bytes_never_panic(
        input in 0..INPUTS.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let (kind, text) = INPUTS[input];
        let mut bytes = text.as_bytes().to_vec();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        must_not_panic(kind, &String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn changed_digits_never_panic(
        input in 0..INPUTS.len(),
        place in any::<prop::sample::Index>(),
        number in prop_oneof![Just(u64::MAX), Just(0), any::<u64>(), 0..2_000_u64],
    ) {
        let (kind, text) = INPUTS[input];
        let starts: Vec<usize> = text
            .char_indices()
            .filter(|(at, c)| {
                c.is_ascii_digit() && !text[..*at].ends_with(|c: char| c.is_ascii_digit())
            })
            .map(|(at, _)| at)
            .collect();
        let start = starts[place.index(starts.len())];
        let end = text[start..].find(|c: char| !c.is_ascii_digit());
        let length = end.expect("the inputs end in no digit");
        let changed = format!("{}{number}{}", &text[..start], &text[start + length..]);
        must_not_panic(kind, &changed)?;
    }

    #[test]
    fn moved_doubled_and_lost_lines_never_panic(
        input in 0..INPUTS.len(),
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
        how in 0..4,
    ) {
        let (kind, text) = INPUTS[input];
        let mut lines: Vec<&str> = text.lines().collect();
        let (from, to) = (from.index(lines.len()), to.index(lines.len()));
        match how {
            0 => lines.swap(from, to),
            1 => lines.insert(to, lines[from]),
            2 => { lines.remove(from); }
            _ => lines.truncate(from),
        }
        must_not_panic(kind, &lines.join("\n"))?;
    }

    #[test]
    fn a_text_cut_anywhere_never_panics(
        input in 0..INPUTS.len(),
        at in any::<prop::sample::Index>(),
    ) {
        let (kind, text) = INPUTS[input];
        let end = at.index(text.len());
        must_not_panic(kind, &text[..end])?;
    }

    #[test]
    fn any_text_never_panics(
        kind in 0..3_usize,
        text in "(# Histogram\n|# RTLA timerlat histogram\n|\\{)?\\PC{0,200}",
    ) {
        must_not_panic([Kind::Cyclictest, Kind::Jitterdebugger, Kind::Rtla][kind], &text)?;
    }
}
