//! The four files behind figure 1 of hofer2019: ten million cycles a thread. They are not part of
//! the project; where they can't be found the tests say so loudly, since a skip is never a pass.

use std::fs;
use std::path::PathBuf;

use quietcore_record::compare::{Finding, compare_runs};
use quietcore_record::histogram::Quantile;
use quietcore_record::import::{self, ImportOptions, Kind};
use quietcore_record::record::Record;
use quietcore_record::statistics::Statistics;

/// Count, overflow and maximum in µs of each thread.
type Expected = &'static [(u64, u64, u64)];

const FILES: [(&str, Expected); 4] = [
    (
        "BM-Prt.txt",
        &[
            (10_000_000, 0, 179),
            (9_999_998, 0, 178),
            (9_999_930, 0, 169),
            (9_999_912, 0, 154),
            (9_999_875, 0, 128),
            (9_999_842, 0, 184),
            (9_999_818, 0, 195),
            (9_999_820, 0, 126),
        ],
    ),
    (
        "BM-Std.txt",
        &[
            (10_000_000, 0, 994),
            (10_000_000, 0, 3_158),
            (9_994_036, 0, 8_689),
            (9_985_336, 0, 8_163),
            (9_996_015, 0, 7_896),
            (9_998_290, 0, 7_568),
            (9_999_961, 0, 2_688),
            (9_997_406, 0, 7_917),
        ],
    ),
    ("C5-Std.txt", &[(10_000_000, 0, 889), (10_000_000, 0, 730), (10_000_000, 0, 514)]),
    (
        "T3-Std.txt",
        &[
            (9_928_101, 244_041, 81_034),
            (10_000_000, 244_041, 79_941),
            (9_965_463, 243_880, 79_235),
        ],
    ),
];

fn imported(test: &str, name: &str) -> Option<Vec<Record>> {
    let path = shared_data(test)?.join("hofer2019").join(name);
    let Ok(text) = fs::read_to_string(&path) else {
        quietcore_skip::record(test, &format!("`{name}` is not among the published data"));
        return None;
    };
    let records = import::read(Kind::Cyclictest, name, &text, &ImportOptions::default());
    Some(records.expect("the published files are whole"))
}

/// The folder that the environment variable `QUIETCORE_SHARED_DATA` names, or `shared/data` beside
/// the workspace; `None`, said loudly, where there is none.
fn shared_data(test: &str) -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("QUIETCORE_SHARED_DATA").map_or(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    quietcore_skip::record(test, "no folder with the published data; set QUIETCORE_SHARED_DATA");
    None
}

#[test]
fn all_four_files_import_with_every_value() {
    for (name, expected) in FILES {
        let Some(records) = imported("all_four_files_import_with_every_value", name) else {
            return;
        };
        let found: Vec<_> = records
            .iter()
            .map(|record| {
                let release = &record.release;
                assert!(record.is_valid(), "{:?}", record.invalid_because);
                assert!(release.is_consistent());
                assert!(Statistics::of(record).is_ordered());
                (release.count(), release.overflow(), release.max_ns() / 1_000)
            })
            .collect();
        assert_eq!(found, expected, "{name}");
    }
}

/// 2.4 % of the values of each thread of `T3-Std` overflowed: p97.5 lies just below the end of the
/// histogram, p99 and all beyond it are bounds.
#[test]
fn quantiles_in_the_overflow_of_t3_are_bounds() {
    let Some(records) = imported("quantiles_in_the_overflow_of_t3_are_bounds", "T3-Std.txt") else {
        return;
    };
    for record in &records {
        let statistics = Statistics::of(record);
        let bound = Some(Quantile::AtLeast { at_least: 10_000_000 });
        assert!(statistics.p97_5_ns.unwrap().exact().is_some());
        assert_eq!(statistics.p99_ns, bound);
        assert_eq!(statistics.p99_9_ns, bound);
        assert_eq!(statistics.sd_ns, None);
        // The file's own mean, 1.47 to 1.50 ms, most of which is overflow.
        let mean = statistics.mean_ns.unwrap();
        assert!((1_472_000.0..=1_498_000.5).contains(&mean), "{mean}");
    }
}

/// The general-purpose instance is later than the one for computing in its far quantiles, as
/// hofer2019 says: by at least what the end of its histogram shows.
#[test]
fn the_cloud_instances_are_compared_by_their_bounds() {
    let test = "the_cloud_instances_are_compared_by_their_bounds";
    let (Some(compute), Some(general)) =
        (imported(test, "C5-Std.txt"), imported(test, "T3-Std.txt"))
    else {
        return;
    };
    let run = compare_runs(&compute, &general);
    assert_eq!(run.comparisons.len(), 3, "paired by their threads");
    for comparison in &run.comparisons {
        let p99 = comparison.statistics.iter().find(|d| d.statistic == "p99_ns").unwrap();
        assert_eq!(p99.finding, Finding::Differs);
        assert!(p99.sentence.contains("at least 10.0 ms against"), "{}", p99.sentence);
        assert_eq!(comparison.beyond.as_ref().unwrap().finding, Finding::Differs);
        for difference in &comparison.statistics {
            println!("{}", difference.sentence);
        }
        println!("{}", comparison.beyond.as_ref().unwrap().sentence);
    }
}
