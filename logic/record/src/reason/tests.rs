//! Reasons in files: written and read back as they were, and those of earlier versions.

use std::collections::BTreeSet;

use quietcore_units::{ByteSize, SchedulingPolicy, ThreadSettings};
use serde_json::{Value, json};

use super::*;
use crate::record::Injected;

fn settings(priority: u32) -> Box<ThreadSettings> {
    Box::new(ThreadSettings {
        policy: SchedulingPolicy::Fifo { priority },
        affinity: "1".parse().unwrap(),
        locked: ByteSize::new(5 << 20),
    })
}

fn text() -> String {
    "words".to_owned()
}

/// Some of each kind, with each shape that a reason has in a file.
fn samples() -> Vec<Reason> {
    let injected = Injected { delay_ns: 500_000, release: 1_000 };
    vec![
        NotReal::Machine { evidence: text() }.into(),
        NotReal::Guests { interpreted: text() }.into(),
        NotReal::Facts { fact: text() }.into(),
        RunProblem::TaskFailed { error: 1 }.into(),
        RunProblem::TaskNotEnded { state: TaskEnd::Running }.into(),
        RunProblem::TaskNotEnded { state: TaskEnd::Unknown(9) }.into(),
        RunProblem::TaskCutOff.into(),
        RunProblem::SettingsDrifted { first: settings(90), then: settings(1) }.into(),
        RunProblem::MachineDrifted { first: text(), more: 2 }.into(),
        RunProblem::Unwatched { gap_ns: 2_000_000_000 }.into(),
        RunProblem::LoadIncomplete { kind: text(), problems: vec![text()] }.into(),
        NotInForce::refused(ThreadSetting::Policy, "not permitted").into(),
        NotInForce::other_policy(SchedulingPolicy::Deadline, SchedulingPolicy::Other)
            .unwrap()
            .into(),
        NotInForce::OtherCpus { cpu: 1, may_run_on: "0-3".parse().unwrap() }.into(),
        NotInForce::LessLocked { reserved_bytes: 2, locked_bytes: 1 }.into(),
        Inconsistency::Bins.into(),
        Inconsistency::MissRun { longest: 2, missed: 1 }.into(),
        Inconsistency::InterruptCount { of: HistogramName::Switch }.into(),
        InjectionFinding::Seen { injected, latency_ns: 500_200 }.into(),
        InjectionFinding::NotSeen { injected, latency_ns: None }.into(),
        FolderProblem::Damaged.into(),
        FolderProblem::Contradicted { contradiction: text() }.into(),
        ForeignProblem::OtherMean { stated: 6.0, of_buckets: 5.88 }.into(),
        ForeignProblem::NoiseDurations.into(),
        Stated::from("the clock broke").into(),
    ]
}

#[test]
fn a_reason_survives_writing_and_reading() {
    for reason in samples() {
        let filed = serde_json::to_string(&reason).unwrap();
        let read: Reason = serde_json::from_str(&filed).unwrap();
        assert_eq!(read, reason, "{filed}");
        assert!(!reason.to_string().is_empty());
        let filed: Value = serde_json::from_str(&filed).unwrap();
        assert_eq!(filed["code"].is_string(), !matches!(reason, Reason::Stated(_)), "{filed}");
    }
}

#[test]
fn a_reason_of_an_earlier_version_is_its_sentence() {
    let read: Reason = serde_json::from_str("\"timing not valid: slow\"").unwrap();
    assert_eq!(read.to_string(), "timing not valid: slow");
    assert_eq!(read.time_not_real().as_deref(), Some("slow"));
    assert_eq!(serde_json::to_value(&read).unwrap(), json!("timing not valid: slow"));
}

/// The kinds are told apart by their codes alone, so that two must not share one.
#[test]
fn no_two_kinds_share_a_code() {
    fn codes(schema: &Value, found: &mut Vec<String>) {
        match schema {
            Value::Object(fields) => {
                if let Some(code) = fields.get("code").and_then(|code| code["const"].as_str()) {
                    found.push(code.to_owned());
                }
                fields.values().for_each(|value| codes(value, found));
            }
            Value::Array(values) => values.iter().for_each(|value| codes(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    codes(&schemars::schema_for!(Reason).to_value(), &mut found);
    let different: BTreeSet<&String> = found.iter().collect();
    assert!(found.len() > 60, "{found:?}");
    assert_eq!(different.len(), found.len(), "{found:?}");
}

#[test]
fn the_state_of_a_task_is_told_in_words() {
    assert_eq!(TaskEnd::Starting.to_string(), "it was still preparing itself");
    assert_eq!(TaskEnd::Unknown(9).to_string(), "its state has the unknown number 9");
}

#[test]
fn a_load_without_problems_and_one_with_them_read_as_sentences() {
    let incomplete =
        |problems| RunProblem::LoadIncomplete { kind: "sqrt".to_owned(), problems }.to_string();
    assert_eq!(incomplete(Vec::new()), "the load `sqrt` did not run as asked");
    let problems = vec!["it stood still".to_owned(), "it ended (2 workers)".to_owned()];
    let said = "the load `sqrt` did not run as asked: it stood still; it ended (2 workers)";
    assert_eq!(incomplete(problems), said);
}

/// Goal: no sentence claims late cycles where the watchdog alone struck.
#[test]
fn a_program_that_the_watchdog_stopped_has_no_late_cycles_in_its_sentence() {
    let late = |overruns| VerdictReason::LateEnds {
        overruns,
        count: 30_000,
        deadline_ns: Some(1_000_000),
        longest_response_ns: 900_000,
        watchdog_hits: 1,
        skipped_releases: 0,
    };
    let stopped = "the longest response time was 900 µs; the watchdog stopped the program (1 time)";
    assert_eq!(late(0).to_string(), stopped);
    assert!(late(2).to_string().starts_with("2 of 30\u{202f}000 cycles of the program ended"));
}
