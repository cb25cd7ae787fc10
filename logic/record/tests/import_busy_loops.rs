//! Tests of the records made of `oslat`'s and `hwlatdetect`'s output: times for which a busy loop
//! was held up.

use quietcore_record::import::{self, ImportOptions, Kind};
use quietcore_record::record::{PolicyInForce, Record};
use quietcore_record::verdict::is_judged;
use quietcore_units::Nanos;

const OSLAT: &str = include_str!("fixtures/oslat.txt");
const JSON: &str = include_str!("fixtures/oslat.json");
const HWLATDETECT: &str = include_str!("fixtures/hwlatdetect.txt");

fn read(kind: Kind, text: &str) -> Vec<Record> {
    let options = ImportOptions { interval: Some(Nanos::from_millis(1)), nanoseconds: false };
    import::read(kind, "run.txt", text, &options).expect("the file is whole")
}

fn error(kind: Kind, text: &str) -> String {
    let read = import::read(kind, "run.txt", text, &ImportOptions::default());
    let Err(error) = read else { panic!("this file is wrong") };
    error.to_string()
}

/// Returns the error of a text in which `from` was replaced.
fn changed(kind: Kind, text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "`{from}` is not in the input");
    error(kind, &text.replacen(from, to, 1))
}

fn names(records: &[Record]) -> Vec<&str> {
    records.iter().map(|record| record.name.as_str()).collect()
}

#[test]
fn each_core_of_oslat_has_a_record() {
    let records = read(Kind::Oslat, OSLAT);
    assert_eq!(names(&records), ["run.cpu1", "run.cpu2"]);
    let [one, two] = &records[..] else { panic!("two cores") };
    assert_eq!((one.cpu, one.conditions.policy.clone()), (Some(1), PolicyInForce::Priority(1)));
    assert_eq!(one.conditions.duration_ns, 9_999_000_000);
    let extremes = |record: &Record| (record.release.min_ns(), record.release.max_ns());
    assert_eq!((extremes(one), extremes(two)), ((1_000, 5_000), (1_000, 70_000)));
    assert_eq!((one.release.count(), one.release.overflow()), (400_000_013, 0));
    // Two values lie beyond the last bucket, or in it.
    assert_eq!((two.release.count(), two.release.overflow()), (390_000_009, 2));
    assert_eq!((two.release.count_surely_above(30_000), two.release.count_above(40_000)), (2, 2));
    assert_eq!(one.release.resolution_ns(), 1_000);
}

/// Goal: no class is about a busy loop, whatever interval was given.
#[test]
fn a_busy_loop_is_not_judged() {
    for (kind, text) in
        [(Kind::Oslat, OSLAT), (Kind::Oslat, JSON), (Kind::Hwlatdetect, HWLATDETECT)]
    {
        for record in read(kind, text) {
            assert!(record.is_valid() && !record.reserved && !is_judged(&record));
            assert_eq!(record.period_ns, None);
            let said = record.degraded[0].to_string();
            assert!(said.contains("for how long a busy loop was held up"), "{said}");
        }
    }
}

#[test]
fn the_json_of_oslat_has_the_figures_of_its_text() {
    let (of_text, of_json) = (read(Kind::Oslat, OSLAT), read(Kind::Oslat, JSON));
    assert_eq!(names(&of_json), ["run.cpu1", "run.cpu2"]);
    for (text, json) in of_text.iter().zip(&of_json) {
        assert_eq!(text.release, json.release);
    }
    assert!(of_json[0].conditions.machine["command"].starts_with("oslat -c 1-2"));
}

/// Goal: buckets of a fraction of a microsecond keep it, and those left out (`-z`) change nothing.
#[test]
fn narrow_buckets_and_omitted_ones_are_read() {
    let narrow = "        Core:\t 3\nCounter Freq:\t 2400 (MHz)\n    \
                  0.500 (us):\t 7\n    ...\n    1.500 (us):\t 2\n    ...\n    \
                  16.000 (us):\t 0 (including overflows)\n     Minimum:\t 0.043 (us)\n     \
                  Average:\t 0.722 (us)\n     Maximum:\t 1.312 (us)\n     \
                  Max-Min:\t 1.269 (us)\n    Duration:\t 1.000 (sec)\n\n";
    let release = &read(Kind::Oslat, narrow)[0].release;
    assert_eq!((release.resolution_ns(), release.count()), (500, 9));
    assert_eq!((release.min_ns(), release.max_ns()), (43, 1_312));
    // Buckets of a fraction have decimals, also those that end at a whole microsecond.
    let whole = r#"{"cmdline:": "oslat -W 500", "num_threads": 1, "thread": {"0": {"cpu": 3,
                   "freq": 2400, "min": 700, "max": 900, "histogram": {"1.000": 7}}}}"#;
    assert_eq!(read(Kind::Oslat, whole)[0].release.max_ns(), 900);
    let json = r#"{"cmdline:": "oslat -W 500", "num_threads": 1, "thread": {"0": {"cpu": 3,
                   "freq": 2400, "min": 43, "avg": 0.722, "max": 1312,
                   "histogram": {"0.500": 7, "1.500": 2}}}}"#;
    assert_eq!(read(Kind::Oslat, json)[0].release.max_ns(), 1_312);
}

/// Goal: earlier versions call a row by its value, and tell another frequency.
#[test]
fn rows_of_earlier_versions_are_values() {
    let text = "        Core:\t 5\n    CPU Freq:\t 2493 (Mhz)\n    001 (us):\t 400\n    \
                002 (us):\t 0\n    003 (us):\t 2\n    032 (us):\t 1 (including overflows)\n     \
                Minimum:\t 1 (us)\n     Average:\t 1.000 (us)\n     Maximum:\t 50 (us)\n     \
                Max-Min:\t 49 (us)\n    Duration:\t 1.000 (sec)\n\n";
    let release = &read(Kind::Oslat, text)[0].release;
    assert_eq!((release.count(), release.overflow()), (403, 1));
    assert_eq!((release.min_ns(), release.max_ns()), (1_000, 50_000));
    assert_eq!((release.count_surely_above(2_900), release.count_above(3_999)), (3, 1));
}

/// Goal: several cores can be merged, and those without an overflow hide none of another's buckets.
#[test]
fn the_buckets_of_all_cores_have_one_end() {
    let [mut one, two] = <[Record; 2]>::try_from(read(Kind::Oslat, OSLAT)).unwrap();
    one.release.merge(&two.release);
    assert_eq!((one.release.overflow(), one.release.count_above(30_000)), (2, 2));
    assert_eq!(one.release.count(), 790_000_022);
}

#[test]
fn what_oslat_can_not_have_written_is_refused() {
    for (from, to, says) in [
        ("Duration:", "Durations:", "run.txt:52:1: `Durations:"),
        (
            "Test starts...",
            "Global bias set to 1 (us)\nTest starts...",
            "run.txt:11:1: the values lack a bias (`-B`)",
        ),
        (" Core:\t 1 2", " Core:\t 1 1", "core 1 is there twice"),
        ("003 (us):\t 12 7", "003 (us):\t 12", "the row has 1 counts; expected 2 as in line 14"),
        ("003 (us):\t 12 7", "002 (us):\t 12 7", "bucket `002` is there twice"),
        ("003 (us):\t 12 7", "0.3 (us):\t 12 7", "the bucket `0.3` is no number of µs"),
        ("Minimum:\t 1 1", "Minimum:\t 1", "`Minimum:` has 1 figures; expected 2, one a core"),
        ("Maximum:\t 5 70", "Maximum:\t 9 70", "core 1: the maximum is 9000, the last bucket"),
        ("Minimum:\t 1 1", "Minimum:\t 2 1", "core 1: the minimum is 2000, the first bucket"),
    ] {
        let found = changed(Kind::Oslat, OSLAT, from, to);
        assert!(found.contains(says), "{found}");
    }
    let cut = &OSLAT[..OSLAT.find("     Maximum").unwrap()];
    let found = error(Kind::Oslat, cut);
    assert_eq!(
        found,
        "run.txt:49:1: `Maximum:` is missing; the file was cut off, import the whole output"
    );
    for (from, to, says) in [
        ("-D 10", "-BD 10", "the values lack a bias"),
        ("\"num_threads\": 2", "\"num_threads\": 3", "`num_threads` is 3, and 2 threads are there"),
        ("\"cpu\": 2", "\"cpu\": 1", "run.txt:15:5: CPU 1 is there twice"),
        ("\"realtime\": 1", "\"realtime\": -1", "invalid value: integer `-1`"),
        ("\"32\": 2", "\"3x\": 2", "`3x` is no number of µs"),
        ("\"32\": 2", "\"3\": 2", "`3000` is there twice"),
    ] {
        let found = changed(Kind::Oslat, JSON, from, to);
        assert!(found.contains(says), "{found}");
    }
    let other = error(Kind::Cyclictest, JSON);
    assert!(other.starts_with("run.txt:1:1: this looks like the JSON of `oslat`"), "{other}");
}

#[test]
fn the_samples_of_hwlatdetect_are_a_record() {
    let records = read(Kind::Hwlatdetect, HWLATDETECT);
    assert_eq!(names(&records), ["run.samples"]);
    let record = &records[0];
    let release = &record.release;
    assert_eq!((release.count(), release.min_ns(), release.max_ns()), (3, 15_000, 24_000));
    assert_eq!(record.conditions.duration_ns, 60_000_000_000);
    let said = record.degraded[0].to_string();
    assert!(
        said.ends_with("times of up to 10.0 µs are not in the file, nor their number"),
        "{said}"
    );
    let activity = &record.conditions.activity;
    assert_eq!(activity["gaps above the threshold"], "4");
    assert_eq!(activity["samples of CPUs"], "CPU 2: 1, CPU 3: 2");
    assert_eq!(activity["system management interrupts"], "1");
}

/// Goal: a run that found nothing is a record without values, and so is no perfect zero.
#[test]
fn a_quiet_machine_has_no_samples() {
    let (head, _) = HWLATDETECT.split_once("Max Latency").unwrap();
    let quiet = format!(
        "{head}Max Latency: Below threshold\nSamples recorded: 0\nSamples exceeding threshold: 0\n"
    );
    let record = &read(Kind::Hwlatdetect, &quiet)[0];
    assert_eq!(record.release.count(), 0);
    assert!(record.is_valid());
}

/// Goal: older versions, which name no CPU, and `--watch`, which prints samples first, are read.
#[test]
fn samples_without_a_cpu_and_before_the_summary_are_read() {
    let (head, tail) = HWLATDETECT.split_once("test finished\n").unwrap();
    let (summary, samples) = tail.split_once("ts:").unwrap();
    let samples: Vec<_> = samples.lines().map(|it| it.split(", cpu").next().unwrap()).collect();
    let watched = format!("{head}ts:{}\ntest finished\n{summary}", samples.join("\n"));
    let record = &read(Kind::Hwlatdetect, &watched)[0];
    assert_eq!((record.release.count(), record.release.max_ns()), (3, 24_000));
}

#[test]
fn what_hwlatdetect_can_not_have_written_is_refused() {
    for (from, to, says) in [
        ("Samples recorded: 3", "Samples recorded: 4", "4 samples were recorded, 3 are there"),
        ("Max Latency: 24us", "Max Latency: 23us", "the maximum is 23us, that of the samples 24us"),
        (
            "Max Latency: 24us",
            "Max Latency: much",
            "`Max Latency:` `much`; expected a whole number",
        ),
        ("Max Latency: 24us", "Max: 24us", "`Max Latency:` is missing; the file was cut off"),
        ("outer:24", "outer:", "a sample without the numbers of `inner:` and `outer:`"),
        (
            "SMIs during run",
            "Samples recorded: 3\nSMIs",
            "a second `Samples recorded:` after line 14",
        ),
    ] {
        let found = changed(Kind::Hwlatdetect, HWLATDETECT, from, to);
        assert!(found.contains(says), "{found}");
    }
}
