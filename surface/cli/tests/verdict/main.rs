//! `quietcore verdict` and what `show` and `verify` say of a verdict that has aged.
//!
//! The machine can't be changed for a test, so the evidence is: its records get another kernel, and
//! this machine signs them anew, as if it had run that kernel then.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests call it in other ways")]
#[path = "../command/mod.rs"]
mod command;

mod renew;

use std::fs;
use std::path::Path;

use command::{Said, call, quietcore, said, site};
use quietcore_evidence::{MachineKey, Writer, read, sign};
use serde_json::Value;

const CAMPAIGN: &str = "profiles = [\"tp2\"]\ncycles = 100";

fn json(said: &Said) -> Value {
    serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{}{}", said.out, said.err))
}

/// Measures into `runs/`; returns the folder, or `None` on a machine with one CPU.
fn measured(at: &Path) -> Option<String> {
    site(at, CAMPAIGN)?;
    let run = call(at, &["qualify", "site.toml"]);
    assert!(matches!(run.status, Some(0 | 1)), "{}", run.err);
    let folders = fs::read_dir(at.join("runs")).unwrap().map(|entry| entry.unwrap().path());
    let folder = folders.into_iter().find(|path| path.is_dir()).unwrap();
    Some(folder.strip_prefix(at).unwrap().display().to_string())
}

/// Signs a folder with the key that this machine has in the state folder below `at`.
fn sign_anew(at: &Path, folder: &Path) {
    let places = at.join("state/@key");
    fs::create_dir_all(&places).unwrap();
    let key = MachineKey::open_or_make(&places).unwrap();
    let writer = Writer::open(folder).unwrap();
    writer.seal().unwrap();
    sign(folder, &read(folder).unwrap(), &key).unwrap();
}

/// Replaces a text in all records and facts of a folder, and signs it anew.
fn replace(at: &Path, folder: &str, from: &str, to: &str) {
    let folder = at.join(folder);
    let records = fs::read_dir(folder.join("records")).unwrap();
    let records = records.map(|entry| entry.unwrap().path());
    for path in records.chain([folder.join("doctor.json")]) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{}", path.display());
        fs::write(&path, text.replace(from, to)).unwrap();
    }
    sign_anew(at, &folder);
}

/// Goal: a verdict holds on the machine as it was measured, and whatever shows it says what has
/// changed when something has.
/// Method: measure, list, and let the records be of an earlier kernel.
#[test]
fn a_verdict_of_this_machine_holds_until_what_it_depends_on_changes() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let Some(run) = measured(at) else {
        quietcore_skip::skip!("one CPU only");
        return;
    };
    let listing = call(at, &["verdict", "--json"]);
    let verdict = &json(&listing)["verdicts"][0];
    assert_eq!(verdict["standing"], "holds", "{verdict}");
    assert_eq!((&verdict["partition"], &verdict["site"]), (&"axis".into(), &"test".into()));
    assert_eq!(verdict["expired_by"].as_array().unwrap().len(), 0);
    let unknown = verdict["not_compared"].to_string();
    assert!(unknown.contains(r#"{"because":"not_running","dependency":"reservation"}"#));
    let passes = verdict["verdict"] == "PASS";
    assert_eq!(listing.status, Some(i32::from(!passes)));
    let shown = call(at, &["show", &run]);
    assert!(!shown.out.contains("EXPIRED"), "{}", shown.out);

    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let kernel = kernel.trim();
    replace(at, &run, kernel, "6.1.0-1-old");
    let expired = format!("EXPIRED since: kernel 6.1.0-1-old → {kernel}");
    let listed = call(at, &["verdict"]);
    assert_eq!(listed.status, Some(1));
    assert!(listed.out.contains(&format!("axis, process-control: {expired}\n")), "{}", listed.out);
    let unknown = "reservation (the partition does not run now)";
    assert!(
        listed.err.contains("not compared: ") && listed.err.contains(unknown),
        "{}",
        listed.err
    );
    let verdict = &json(&call(at, &["verdict", &run, "--json"]))["verdicts"][0];
    assert_eq!(verdict["standing"], "expired");
    let change = &verdict["expired_by"][0];
    assert_eq!(change["dependency"], "kernel");
    assert_eq!((&change["before"], &change["now"]), (&"6.1.0-1-old".into(), &kernel.into()));
    // The folder is as it was written, and so says `show`; the verdict in it has aged.
    let shown = call(at, &["show", &run]);
    assert_eq!(shown.status, Some(0), "{}", shown.err);
    assert!(shown.out.contains(&expired), "{}", shown.out);
    let document = call(at, &["show", &run, "--json"]);
    assert!(document.err.contains(&expired) && json(&document)["schema"].is_string());
    let verified = call(at, &["verify", &run]);
    assert_eq!(verified.status, Some(0));
    assert!(verified.out.contains(&expired), "{}", verified.out);
    let verified = json(&call(at, &["verify", &run, "--json"]));
    assert_eq!(verified["expired_by"][0]["dependency"], "kernel");
}

#[test]
fn a_verdict_of_another_machine_is_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let Some(run) = measured(at) else {
        quietcore_skip::skip!("one CPU only");
        return;
    };
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    replace(at, &run, kernel.trim(), "6.1.0-1-old");
    let elsewhere = |arguments: &[&str]| {
        let mut command = quietcore(at);
        command.env("QUIETCORE_STATE_DIR", at.join("elsewhere"));
        said(&command.args(arguments).output().unwrap())
    };
    let listed = elsewhere(&["verdict"]);
    assert_eq!(listed.status, Some(1), "nothing is of this machine");
    assert!(listed.out.contains("  of another machine  "), "{}", listed.out);
    let verdict = &json(&elsewhere(&["verdict", "--json"]))["verdicts"][0];
    assert_eq!(verdict["standing"], "other-machine");
    assert_eq!(verdict["expired_by"].as_array().unwrap().len(), 0);
    let shown = elsewhere(&["show", &run]);
    assert!(!shown.out.contains("EXPIRED"), "{}", shown.out);
    assert!(shown.err.contains("signature: of another machine or user"), "{}", shown.err);
    fs::remove_file(at.join(&run).join("evidence.intoto.json")).unwrap();
    let verdict = &json(&call(at, &["verdict", &run, "--json"]))["verdicts"][0];
    assert_eq!(
        (&verdict["standing"], &verdict["keyid"]),
        (&"unknown-machine".into(), &Value::Null)
    );
}

/// Goal: evidence from before a condition was recorded does not expire by it.
/// Method: sign a stored folder of an earlier version, whose kernel is not this machine's.
#[test]
fn what_an_earlier_version_did_not_record_expires_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/evidence/folders");
    let copied = std::process::Command::new("cp")
        .arg("-r")
        .args([stored.join("qualify-isolation"), at.join("old")])
        .status();
    assert!(copied.unwrap().success());
    fs::remove_file(at.join("old/evidence.intoto.json")).unwrap();
    sign_anew(at, &at.join("old"));
    let verdict = &json(&call(at, &["verdict", "old", "--json"]))["verdicts"][0];
    assert_eq!(verdict["standing"], "expired");
    let expired: Vec<_> = verdict["expired_by"].as_array().unwrap().iter().collect();
    assert!(expired.iter().any(|change| change["dependency"] == "kernel"), "{expired:?}");
    for absent in ["interrupts", "caches", "firmware", "kernel_build"] {
        assert!(expired.iter().all(|change| change["dependency"] != absent), "{expired:?}");
        let told = format!(r#"{{"because":"not_recorded","dependency":"{absent}"}}"#);
        assert!(verdict["not_compared"].to_string().contains(&told), "{verdict}");
    }
}

#[test]
fn a_folder_without_evidence_is_refused_and_a_probe_has_no_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let refused = call(at, &["verdict"]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.err.contains("`runs` holds no evidence; give the folder"), "{}", refused.err);
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/evidence/folders/latency");
    let probe = call(at, &["verdict", &stored.display().to_string()]);
    assert_eq!(probe.status, Some(1));
    assert!(probe.out.starts_with("no verdict: "), "{}", probe.out);
}
