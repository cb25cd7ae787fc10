//! Tests of the words that a summary finds for a record.

use quietcore_evidence::{Evidence, MANIFEST_SCHEMA, Origin};
use quietcore_record::reason::{FolderProblem, ForeignProblem, NotReal, Stated};
use quietcore_record::record::check::self_check;
use quietcore_record::record::{
    Injected, Record, ReleaseMode, Spike, TracedContext, Trial, Variant,
};

use super::*;

fn record(name: &str, profile: &str, cpu: Option<u32>) -> Record {
    let empty = Record::empty(name.to_owned(), "latency", "axis", profile);
    Record { reserved: true, cpu, ..empty }
}

fn evidence(records: Vec<Record>) -> Evidence {
    let manifest = serde_json::json!({
        "schema": MANIFEST_SCHEMA,
        "name": "test",
        "origin": Origin::Campaign,
        "started_at": "",
        "quietcore_version": "",
        "site_sha256": "",
        "exceedance": 1e-4,
        "classes": [],
        "declared": {},
        "profiles": [],
        "length": null,
        "limits": [], "not_measured": [],
        "complete": true,
    });
    Evidence::of(serde_json::from_value(manifest).expect("it has all fields"), records)
}

#[test]
fn a_record_is_called_by_what_tells_it_apart() {
    let label = |name: &str, profile: &str, cpu| summarise(&record(name, profile, cpu)).label();
    assert_eq!(label("axis.tp2.cpu1", "tp2", Some(1)), "tp2 · CPU 1");
    assert_eq!(label("axis.tp1.task0", "tp1", None), "tp1 · task0");
    assert_eq!(label("axis.thread3", "imported", None), "thread3");
    assert_eq!(label("anything", "tp1", None), "tp1 · anything");
}

/// Goal: what was traced on one CPU is told apart, and nobody is told to grant what was not
/// refused.
#[test]
fn contexts_of_one_cpu_have_names_of_their_own() {
    let mut traced = record("run.cpu1.irq", "imported", Some(1));
    traced.partition = "run".to_owned();
    traced.conditions.mode = ReleaseMode::Traced { context: TracedContext::Interrupt };
    assert_eq!(summarise(&traced).label(), "cpu1.irq");
    traced.degraded.push(ForeignProblem::InterruptLatency.into());
    let notices = Summary::of(&evidence(vec![traced])).notices;
    assert_eq!(notices[0].kind, NoticeKind::NoRelease);
    assert!(!notices[0].remedy.contains("doctor"), "{}", notices[0].remedy);
}

#[test]
fn one_reason_of_many_records_is_one_notice() {
    let mut records = vec![record("a", "tp1", Some(0)), record("b", "tp1", Some(1))];
    for record in &mut records {
        record.degraded.push(Stated::from("SCHED_FIFO was refused").into());
    }
    records[1].interrupted = true;
    let evidence = evidence(records);
    let summary = Summary::of(&evidence);
    assert_eq!(summary.notices.len(), 2);
    assert_eq!(summary.notices[0].kind, NoticeKind::Degraded);
    assert_eq!(summary.notices[0].concerns, ["a", "b"]);
    assert_eq!(summary.notices[1].kind, NoticeKind::Interrupted);
}

/// Goal: nobody is told to resume an experiment, which can't be.
#[test]
fn an_experiment_that_was_interrupted_has_fewer_rounds() {
    let mut record = record("axis.kvm.cpu1", "kvm", Some(1));
    record.interrupted = true;
    let variant = Variant::Beside { aggressor: None };
    record.trial = Some(Trial { variant, blocks: Vec::new() });
    let notices = Summary::of(&evidence(vec![record])).notices;
    assert_eq!(notices[0].kind, NoticeKind::FewerRounds);
    assert_eq!(notices[0].what, "interrupted after 0 rounds");
    assert!(notices.iter().all(|notice| !notice.remedy.contains("--resume")));
}

/// Goal: what has a notice of its own is no invalid record besides, and nothing else is hidden.
#[test]
fn reasons_with_a_notice_of_their_own_are_told_once() {
    let mut record = record("a", "tp1", Some(0));
    let injected = Injected { delay_ns: 500_000, release: 7 };
    record.conditions.injection = Some(injected.into());
    record.spikes.push(Spike {
        release: 7,
        at_ns: 0,
        latency_ns: 500_200,
        wakeup_ns: 0,
        cpu: 0,
        conditions: Vec::new(),
    });
    let seen = self_check(&record, Some(injected)).pop().expect("the delay is told");
    record.invalid_because = vec![
        NotReal::Machine { evidence: "slow".to_owned() }.into(),
        FolderProblem::Damaged.into(),
        FolderProblem::Contradictory.into(),
        seen,
        Stated::from(
            "a note that the evidence folder is damaged was seen there as timing not valid: no",
        )
        .into(),
    ];
    let evidence = evidence(vec![record]);
    let summary = Summary::of(&evidence);
    let told: Vec<_> = summary.notices.iter().map(|it| (it.kind, it.what.as_str())).collect();
    let expected = [
        (NoticeKind::Emulated, "this machine's time is emulated (slow)"),
        (
            NoticeKind::Invalid,
            "a note that the evidence folder is damaged was seen there as timing not valid: no",
        ),
        (NoticeKind::Injected, "500 µs at release 7"),
    ];
    assert_eq!(told, expected);
}

#[test]
fn the_machine_is_told_in_one_line() {
    let mut known = record("a", "tp1", Some(0));
    known.conditions.machine = [("kernel", "6.1"), ("hypervisor", "none"), ("cpus_online", "0-3")]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
    let known = evidence(vec![known]);
    assert_eq!(Summary::of(&known).machine_line(), "CPUs 0-3 · Linux 6.1 · no hypervisor");
    assert_eq!(Summary::of(&evidence(Vec::new())).machine_line(), "");
}
