//! Limitations of the verdicts, each with its cost and its remedy.

use quietcore_evidence::{Evidence, Origin};
use quietcore_record::reason::Reason;
use quietcore_record::record::Record;
use quietcore_record::verdict::is_held_to_class;
use quietcore_wording::plural;

/// The kind of a limitation, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoticeKind {
    /// The machine's time is emulated.
    Emulated,
    /// The evidence folder was changed or cut off.
    Damaged,
    /// Parts of the evidence folder contradict each other.
    Contradicted,
    /// A record can't be trusted.
    Invalid,
    /// Something that was asked for was not in force.
    Degraded,
    /// Another program has measured something that is no release of a thread.
    NoRelease,
    /// The program's own kernel found errors in what the program asked of it.
    KernelErrors,
    /// A delay was injected on purpose, and the record does not show it.
    InjectionUnseen,
    /// A delay was injected on purpose.
    Injected,
    /// A profile has no record.
    NotMeasured,
    /// A profile of the site file was left out on the command line, and a verdict rests on it.
    NotChosen,
    /// A run was ended before its time.
    Interrupted,
    /// An experiment was ended before its last round.
    FewerRounds,
    /// The campaign has not ended.
    Incomplete,
    /// The site asks for something that this kind of run does not cover, or the machine could be
    /// better.
    Limited,
    /// A profile for comparison has no record; no verdict rests on it.
    NotCompared,
    /// A probe that the campaign names was not measured; no verdict rests on it.
    NotProbed,
}

/// Something the reader must know before believing a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The kind, which decides the order.
    pub kind: NoticeKind,
    /// Title in a few words.
    pub title: &'static str,
    /// Finding, as a clause.
    pub what: String,
    /// The records or profiles that it concerns; empty for all.
    pub concerns: Vec<String>,
    /// Cost for the worth of the verdicts, as a sentence.
    pub cost: &'static str,
    /// Remedy, as a sentence.
    pub remedy: &'static str,
}

impl Notice {
    /// Returns `true` if it makes all numbers worthless, so that it stands as large as a verdict.
    pub fn is_grave(&self) -> bool {
        self.kind <= NoticeKind::Contradicted
    }
}

/// Returns the words of a kind: title, cost, remedy.
const fn words(kind: NoticeKind) -> (&'static str, &'static str, &'static str) {
    match kind {
        NoticeKind::Emulated => (
            "Timing not valid: this time is emulated",
            "No latency in this report describes a real machine, and no class can pass.",
            "Measure on hardware, or in a guest whose processor runs natively.",
        ),
        NoticeKind::Damaged => (
            "The evidence is damaged",
            "No record of this folder is trusted; every class is NOT PROVEN.",
            "Fetch an unchanged copy, or measure again; a run that was cut off goes on with \
             `quietcore qualify --resume .` in its folder.",
        ),
        NoticeKind::Contradicted => (
            "The evidence contradicts itself",
            "Something was changed after the run, or put together from several; no class passes.",
            "Fetch an unchanged copy, or measure again.",
        ),
        NoticeKind::Invalid => (
            "Invalid records",
            "Their numbers are shown and prove nothing.",
            "Remove the cause and measure again.",
        ),
        NoticeKind::Degraded => (
            "Not measured as asked for",
            "The numbers hold for the conditions there were, not for those asked for; these \
             records prove nothing about them.",
            "Grant what was refused (`quietcore doctor` gives the commands) and measure again.",
        ),
        NoticeKind::NoRelease => (
            "Not the release of a control program",
            "Such times show what delays a program on these CPUs; no class is about them.",
            "`rtla timerlat hist -u`, `cyclictest -h` and `quietcore probe` measure releases.",
        ),
        NoticeKind::KernelErrors => (
            "The program's kernel found errors",
            "An activation that was refused or a job that was cut off is work not done: the \
             program FAILS. Other errors are the program's to judge.",
            "Give a task more ACTIVATION, more time between its activations, or less to do.",
        ),
        NoticeKind::InjectionUnseen => (
            "A delay was put in on purpose, and the record does not show it",
            "What the probe did not see once it may not see at other times: none of its figures \
             can be trusted.",
            "Run it again with a longer delay; one that isn't seen either is a fault of the probe.",
        ),
        NoticeKind::Injected => (
            "A delay was put in on purpose",
            "The release that was held up shows the delay: the probe sees what happens.",
            "Measure without the injected delay for a verdict on the machine.",
        ),
        NoticeKind::Limited => (
            "Not covered, or not at its best",
            "The verdict holds for the machine as it is, and says nothing about what was not run.",
            "Where it matters, change it and measure again.",
        ),
        NoticeKind::NotMeasured
        | NoticeKind::NotChosen
        | NoticeKind::NotCompared
        | NoticeKind::NotProbed
        | NoticeKind::Interrupted
        | NoticeKind::FewerRounds
        | NoticeKind::Incomplete => words_of_gap(kind),
    }
}

/// Returns the same for a kind about something that was not measured.
const fn words_of_gap(kind: NoticeKind) -> (&'static str, &'static str, &'static str) {
    match kind {
        NoticeKind::NotMeasured => (
            "Not measured",
            "What was not measured can't pass; the overall verdict is NOT PROVEN at best.",
            "Remove the cause, and go on with `quietcore qualify --resume .` in the evidence \
             folder.",
        ),
        NoticeKind::NotChosen => (
            "Not measured",
            "What was not measured can't pass; the overall verdict is NOT PROVEN at best.",
            "Qualify again with these profiles, too; without `--profile` all of them are measured.",
        ),
        NoticeKind::NotCompared => (
            "Not measured, for comparison only",
            "No verdict rests on it.",
            "Where the comparison matters, qualify again with these profiles, too.",
        ),
        NoticeKind::NotProbed => (
            "A probe has not measured",
            "No verdict rests on it.",
            "Remove the cause, and go on with `quietcore qualify --resume .` in the evidence \
             folder.",
        ),
        NoticeKind::Interrupted => (
            "Ended before its time",
            "What was measured until then is whole, but fewer cycles exclude less.",
            "Go on with `quietcore qualify --resume .` in the evidence folder; a probe by hand \
             is run again.",
        ),
        NoticeKind::FewerRounds => (
            "Ended before its last round",
            "Each round that was measured is whole, but fewer rounds show less.",
            "Run it again where what was not shown matters; an experiment does not go on.",
        ),
        _ => (
            "The campaign is not complete",
            "The overall verdict is NOT PROVEN at best.",
            "Go on with `quietcore qualify --resume .` in the evidence folder.",
        ),
    }
}

pub(super) fn notices(evidence: &Evidence) -> Vec<Notice> {
    let mut notices = Vec::new();
    for damage in &evidence.damage {
        add(&mut notices, NoticeKind::Damaged, damage, None);
    }
    for contradiction in &evidence.contradictions {
        add(&mut notices, NoticeKind::Contradicted, &contradiction.to_string(), None);
    }
    for record in &evidence.records {
        of_record(record, &mut notices);
    }
    mixed(evidence, &mut notices);
    for missing in evidence.missing() {
        let concerns = format!("{} · {}", missing.partition, missing.profile);
        // Chosen profiles can still be measured, in the same folder.
        let asked = &evidence.manifest.profiles;
        let is_chosen = asked.iter().any(|(profile, _)| *profile == missing.profile);
        let kind = match (missing.reserved, is_chosen) {
            (false, _) => NoticeKind::NotCompared,
            (true, true) => NoticeKind::NotMeasured,
            (true, false) => NoticeKind::NotChosen,
        };
        add(&mut notices, kind, &missing.because, Some(concerns));
    }
    for entry in &evidence.manifest.probes {
        let Some(because) = &entry.not_measured else { continue };
        let concerns = format!("{} · probe {}", entry.partition, entry.probe);
        add(&mut notices, NoticeKind::NotProbed, because, Some(concerns));
    }
    let is_said = |notice: &Notice| {
        use NoticeKind::{FewerRounds, Interrupted, NotChosen, NotMeasured, NotProbed};
        matches!(notice.kind, NotMeasured | NotChosen | NotProbed | Interrupted | FewerRounds)
    };
    let said = notices.iter().any(is_said);
    if !evidence.manifest.complete && !said {
        let what = match evidence.manifest.origin {
            Origin::Campaign => "not all profiles that were asked for have been measured",
            Origin::Probe => "the probe did not run to its end",
            Origin::Import => "not all files were imported",
        };
        add(&mut notices, NoticeKind::Incomplete, what, None);
    }
    for limit in &evidence.manifest.limits {
        add(&mut notices, NoticeKind::Limited, limit, None);
    }
    notices.sort_by_key(|notice| notice.kind);
    notices
}

/// Words the notice of emulated time for an experiment in which some variants alone are emulated.
fn mixed(evidence: &Evidence, notices: &mut [Notice]) {
    let is_real = |record: &Record| record.why_time_is_not_real().is_none();
    if evidence.records.iter().any(|record| record.trial.is_some() && is_real(record)) {
        let emulated = notices.iter_mut().filter(|notice| notice.kind == NoticeKind::Emulated);
        for notice in emulated {
            notice.title = "Timing not valid: some of these times are emulated";
            notice.cost = "No latency of what this concerns describes a real machine.";
        }
    }
}

fn of_record(record: &Record, notices: &mut Vec<Notice>) {
    let name = || Some(record.name.clone());
    if let Some(because) = record.why_time_is_not_real() {
        add(notices, NoticeKind::Emulated, &because, name());
    }
    for reason in &record.invalid_because {
        // Some have a notice of their own, and an injected delay that was seen is no fault.
        let is_told = reason.time_not_real().is_some()
            || matches!(reason, Reason::Folder(_))
            || record.is_seen_injection(reason);
        if !is_told {
            add(notices, NoticeKind::Invalid, &reason.to_string(), name());
        }
    }
    for reason in &record.degraded {
        let kind = match reason {
            Reason::Foreign(_) => NoticeKind::NoRelease,
            _ => NoticeKind::Degraded,
        };
        add(notices, kind, &reason.to_string(), name());
    }
    // The record that drives the kernel has the errors of all its tasks.
    if let Some(scan) = record.scan().filter(|_| is_held_to_class(record)) {
        for errors in &scan.kernel_errors {
            add(notices, NoticeKind::KernelErrors, &errors.to_string(), name());
        }
    }
    if let Some(injection) = &record.conditions.injection {
        let kind = match injection.exact() {
            Some(injected) if !injected.is_seen(record) => NoticeKind::InjectionUnseen,
            _ => NoticeKind::Injected,
        };
        add(notices, kind, &injection.to_string(), name());
    }
    if record.interrupted
        && let Some(trial) = record.trial.as_ref()
    {
        let rounds = trial.blocks.len() as u64;
        let what = format!("interrupted after {rounds} round{}", plural(rounds));
        add(notices, NoticeKind::FewerRounds, &what, name());
    } else if record.interrupted {
        let measured = record.release.count();
        let what = match record.counters.planned_cycles {
            0 => "the run was interrupted".to_owned(),
            planned => format!(
                "interrupted after {} of {} cycles",
                crate::figures::count(measured),
                crate::figures::count(planned)
            ),
        };
        add(notices, NoticeKind::Interrupted, &what, name());
    }
}

/// Adds a notice, or its subject to an equal one: 24 records without a right make one notice.
fn add(notices: &mut Vec<Notice>, kind: NoticeKind, what: &str, concerns: Option<String>) {
    match notices.iter_mut().find(|notice| notice.kind == kind && notice.what == what) {
        Some(notice) => notice.concerns.extend(concerns),
        None => {
            let (title, cost, remedy) = words(kind);
            let concerns = concerns.into_iter().collect();
            notices.push(Notice { kind, title, what: what.to_owned(), concerns, cost, remedy });
        }
    }
}
