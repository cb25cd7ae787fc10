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

fn setting() -> MachineSetting {
    MachineSetting::File { path: "/proc/irq/7/smp_affinity".to_owned() }
}

fn ignored() -> SettingFailure {
    let (wanted, found) = ("0".to_owned(), "0-1".to_owned());
    SettingFailure::Ignored { setting: setting(), wanted, found }
}

fn refused() -> SettingFailure {
    SettingFailure::Refused { setting: setting(), refusal: Refusal::NoCpu }
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
        RunProblem::MachineDrifted { first: MachineDrift::CpuOffline { cpu: 1 }, more: 2 }.into(),
        RunProblem::MachineDrifted { first: MachineDrift::Stated(text().into()), more: 0 }.into(),
        RunProblem::ShareDrifted { drift: ShareDrift::Filled { group: text(), ways: 2 } }.into(),
        RunProblem::ShareDrifted { drift: ShareDrift::Stated(text().into()) }.into(),
        RunProblem::Unwatched { gap_ns: 2_000_000_000 }.into(),
        RunProblem::LoadIncomplete { kind: text(), problems: vec![text()] }.into(),
        RunProblem::NeighbourIncomplete { neighbour: text(), problems: vec![text()] }.into(),
        NotInForce::refused(ThreadSetting::Policy, "not permitted").into(),
        NotInForce::other_policy(SchedulingPolicy::Deadline, SchedulingPolicy::Other)
            .unwrap()
            .into(),
        NotInForce::OtherCpus { cpu: 1, may_run_on: "0-3".parse().unwrap() }.into(),
        NotInForce::LessLocked { reserved_bytes: 2, locked_bytes: 1 }.into(),
        NotInForce::ControlIgnored { control: text(), first: ignored(), more: 1 }.into(),
        NotInForce::ControlRefused { control: text(), first: refused(), more: 0 }.into(),
        NotInForce::ShareBehind { limit: ignored() }.into(),
        NotInForce::Control { problem: text().into() }.into(),
        Inconsistency::Bins.into(),
        Inconsistency::MissRun { longest: 2, missed: 1 }.into(),
        Inconsistency::InterruptCount { of: HistogramName::Switch }.into(),
        InjectionFinding::Seen { injected, latency_ns: 500_200 }.into(),
        InjectionFinding::NotSeen { injected, latency_ns: None }.into(),
        FolderProblem::Damaged.into(),
        FolderProblem::Contradicted { contradiction: text() }.into(),
        ForeignProblem::OtherMean { stated: 6.0, of_buckets: 5.88 }.into(),
        ForeignProblem::NoiseDurations.into(),
        ForeignProblem::BusyLoop { program: "oslat".to_owned(), threshold_ns: None }.into(),
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

/// Goal: a program that reads JSON need not read the sentence for the setting and its values.
#[test]
fn a_control_and_a_drift_are_filed_as_their_values() {
    let control = "governor".to_owned();
    let reason: Reason = NotInForce::ControlIgnored { control, first: ignored(), more: 2 }.into();
    let setting = json!({ "kind": "file", "path": "/proc/irq/7/smp_affinity" });
    let first = json!({ "failure": "ignored", "setting": setting, "wanted": "0", "found": "0-1" });
    let filed =
        json!({ "code": "control_ignored", "control": "governor", "first": first, "more": 2 });
    assert_eq!(serde_json::to_value(&reason).unwrap(), filed);
    let said = "control `governor` is not in force everywhere: /proc/irq/7/smp_affinity: wrote \
                `0`, read back `0-1`, and 2 more";
    assert_eq!(reason.to_string(), said);
    let earlier = json!({ "code": "machine_drifted", "first": "CPU 1 is gone", "more": 1 });
    let read: Reason = serde_json::from_value(earlier.clone()).unwrap();
    let said = "the machine's settings drifted during the run: CPU 1 is gone; and 1 more";
    assert_eq!(read.to_string(), said);
    assert_eq!(serde_json::to_value(&read).unwrap(), earlier);
}

/// Goal: the sentences on settings are those of versions that kept nothing else.
#[test]
fn changes_of_the_machine_read_as_they_always_have() {
    let own = |text: &str| text.to_owned();
    let thread = MachineSetting::Affinity { name: own("irq/7-eth0"), thread: 77 };
    let sending = MachineSetting::Sending { interface: own("left") };
    let switched = MachineSetting::Switched { interface: own("right") };
    let interface = Some(own("eth0"));
    let (given, found, error) = (own("0"), own("0-1"), own("it is not there"));
    let placed = |interface| {
        let (found, given) = (found.clone(), given.clone());
        MachineDrift::PlacedByDriver { interface, setting: setting(), found, given }
    };
    let of_thread = MachineDrift::Unreadable { setting: thread, given: given.clone(), error };
    let refusal = Refusal::Held { value: own("5") };
    for (told, said) in [
        (
            MachineDrift::CpuOnline { cpu: 1 }.to_string(),
            "CPU 1 is online again; partitions may run elsewhere until pinned again",
        ),
        (
            placed(interface).to_string(),
            "interface `eth0` came up, and /proc/irq/7/smp_affinity held `0-1`; it has `0` again",
        ),
        (
            placed(None).to_string(),
            "an interface may have come up, and /proc/irq/7/smp_affinity held `0-1`; it has `0` \
             again",
        ),
        (
            of_thread.to_string(),
            "affinity of `irq/7-eth0` (77): given `0`, can't be read: it is not there",
        ),
        (
            SettingFailure::NoInterface { setting: sending }.to_string(),
            "what `left` may send: there is no such interface",
        ),
        (MachineSetting::Pool { cpus: own("2,3") }.to_string(), "Xen's pool of CPUs 2,3"),
        (
            SettingFailure::Refused { setting: switched, refusal }.to_string(),
            "what Open vSwitch takes from `right`: another site holds it at `5`; bring that one \
             down, or let both ask for the same",
        ),
    ] {
        assert_eq!(told, said);
    }
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
