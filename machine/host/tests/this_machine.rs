//! The machine that runs the tests, whatever it grants.
//!
//! Goal: reading facts ends in time, changes nothing and leaves nothing behind, as root and as an
//! ordinary user, on hardware and in a virtual machine.
//! Method: read everything once and compare with what other means tell.

use std::fs;
use std::time::{Duration, Instant};

use quietcore_host::doctor::{self, Report};
use quietcore_host::{Facts, Severity, Source};

/// A slow guest may take 2.5 s, a shared machine may be busy.
const LIMIT: Duration = Duration::from_secs(20);

#[test]
fn this_machine_is_read_and_left_as_it_was() {
    let before = own_policy();
    assert!(before.is_some());
    let started = Instant::now();
    let facts = Facts::read();
    assert!(started.elapsed() < LIMIT, "{:?}", started.elapsed());
    assert_eq!(own_policy(), before);
    assert_eq!(left_behind(&facts), [""; 0]);

    let uname = rustix::system::uname();
    assert_eq!(facts.kernel.release.text(), uname.release().to_str().ok());
    let allowed = facts.limits.allowed_cpus.get().unwrap();
    assert!(allowed.0.without(&facts.cpu.online.get().unwrap().0).is_empty());
    assert!(facts.memory.total_kib.get().is_some_and(|kib| *kib > 0));

    let report = Report::new(facts, None);
    assert_eq!(report.schema, doctor::SCHEMA);
    let text = serde_json::to_string(&report).unwrap();
    let read: Report = serde_json::from_str(&text).unwrap();
    assert_eq!(read.findings, report.findings);
    let known = |finding: &&doctor::Finding| finding.severity != Severity::Unknown;
    assert!(report.findings.iter().filter(known).count() > 20);
}

/// The scheduling policy of this thread: field 41 of proc(5)'s `stat`.
fn own_policy() -> Option<String> {
    let text = fs::read_to_string("/proc/thread-self/stat").ok()?;
    let (_, behind_name) = text.rsplit_once(") ")?;
    behind_name.split_whitespace().nth(38).map(str::to_owned)
}

/// Groups of an attempt that are still there.
fn left_behind(facts: &Facts) -> Vec<String> {
    let source = Source::live();
    let mounts = facts.cgroups.mounts.iter();
    let names = mounts.flat_map(|mount| {
        let names = source.entries(&mount.own_folder());
        names.get().cloned().unwrap_or_default()
    });
    let own = format!("quietcore-doctor-{}", std::process::id());
    names.filter(|name| *name == own).collect()
}
