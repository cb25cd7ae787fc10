//! Tests of the evidence document: its keys, its bounds, its schema.

use serde_json::{Value, json};

use super::*;
use crate::class::catalogue;
use crate::histogram::Histogram;
use crate::reason::Stated;
use crate::verdict::judge;

fn document(records: &[Record]) -> Value {
    let judgements: Vec<_> = records
        .iter()
        .flat_map(|record| catalogue().into_iter().map(|class| judge(record, &class, 1e-4)))
        .collect();
    serde_json::to_value(of(records, &judgements, None, 1e-4)).unwrap()
}

#[test]
fn the_promised_keys_are_there() {
    let document = document(&[crate::test_record(&[(4_000, 970), (9_000, 30)])]);
    assert_eq!(document["schema"], "quietcore.evidence/1");
    let record = &document["records"][0];
    for key in ["probe", "partition", "profile", "valid", "invalid_because", "statistics"] {
        assert!(!record[key].is_null(), "{key}");
    }
    let statistics = record["statistics"].as_object().unwrap();
    for key in [
        "count",
        "min_ns",
        "max_ns",
        "mean_ns",
        "sd_ns",
        "median_ns",
        "q1_ns",
        "q3_ns",
        "p2_5_ns",
        "p97_5_ns",
        "p99_ns",
        "p99_9_ns",
        "p99_99_ns",
        "missed_cycles",
        "longest_miss_run",
        "overflow",
    ] {
        assert!(statistics.contains_key(key), "{key}");
    }
    assert_eq!(statistics["median_ns"], 4_001, "the upper end of its bin");
    assert_eq!(statistics["p99_99_ns"], Value::Null, "ten values would have to lie beyond it");
    let verdict = document["verdicts"][0].as_object().unwrap();
    for key in ["record", "class", "verdict", "because", "cycles_needed"] {
        assert!(verdict.contains_key(key), "{key}");
    }
    assert_eq!(record["fastest_cycle"], Value::Null);
    assert!(record["no_fastest_cycle_because"].as_str().unwrap().contains("too few"));
}

#[test]
fn a_bound_is_written_as_one() {
    let mut record = crate::test_record(&[]);
    record.release = Histogram::imported(1_000, 10_000_000);
    record.release.record_many(4_000, 900);
    record.release.record_overflow(100, 81_034_000, 5_000_000_000);
    record.invalid_because = vec![Stated::from("the clock went backwards").into()];
    let document = document(&[record]);
    let record = &document["records"][0];
    assert_eq!(record["statistics"]["p97_5_ns"], json!({"at_least": 10_000_000}));
    assert_eq!((&record["valid"], &record["statistics"]["sd_ns"]), (&json!(false), &Value::Null));
}

#[test]
fn a_document_survives_its_file() {
    let record = crate::test_record(&[(4_000, 970), (9_000, 30)]);
    let judgements = vec![judge(&record, &catalogue()[1], 1e-4)];
    let document = of(&[record], &judgements, None, 1e-4);
    let text = serde_json::to_string(&document).unwrap();
    assert_eq!(serde_json::from_str::<Document>(&text).unwrap(), document);
}

#[test]
fn a_program_has_its_times_and_counters_and_the_probe_has_none() {
    let document = document(&[crate::test_scan_record(), crate::test_record(&[(4_000, 970)])]);
    let [program, probe] = &document["records"].as_array().unwrap()[..] else {
        panic!("two records are expected");
    };
    assert_eq!(program["execution_statistics"]["max_ns"], 120_000);
    assert_eq!(program["response_statistics"]["max_ns"], 124_000);
    assert_eq!(program["scan_terms"]["deadline_ns"], 800_000);
    let counters = json!({
        "overruns": 0, "longest_overrun_run": 0, "watchdog_hits": 0, "skipped_releases": 0
    });
    assert_eq!(program["scan_counters"], counters);
    assert!(probe["scan_counters"].is_null() && probe["execution_statistics"].is_null());
}

#[test]
fn the_schema_names_every_key_and_the_form_of_a_bound() {
    let schema = schema();
    let text = schema.to_string();
    for key in ["records", "verdicts", "wakeup_statistics", "at_least", "NOT PROVEN"] {
        assert!(text.contains(&format!("\"{key}\"")), "{key}");
    }
    assert_eq!(schema["title"], "Document");
}
