//! `quietcore qualify SITE --renew DIR`.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::command::{call, quietcore, said, site};
use super::{json, sign_anew};

const CAMPAIGN: &str = "profiles = [\"tp1\", \"tp2\"]";
const RENEW: [&str; 6] = ["qualify", "site.toml", "--renew", "old", "--out", "new"];

/// Measures 100 cycles of each profile into `old`; returns `None` on a machine with one CPU.
fn measured(at: &Path) -> Option<()> {
    site(at, CAMPAIGN)?;
    let run = call(at, &["qualify", "site.toml", "--cycles", "100", "--out", "old"]);
    assert!(matches!(run.status, Some(0 | 1)), "{}", run.err);
    Some(())
}

/// Lets one record be of an earlier microcode, and signs the folder anew.
fn age(at: &Path, record: &str) {
    let path = at.join("old/records").join(record);
    let mut of: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    of["conditions"]["platform"]["firmware"]["microcode"] = "0x-old".into();
    fs::write(&path, serde_json::to_string_pretty(&of).unwrap()).unwrap();
    sign_anew(at, &at.join("old"));
}

/// Goal: only what has expired is measured again; the new folder is whole, genuine and holds, and
/// says what is from where.
/// Method: of two profiles, one is of an earlier microcode.
#[test]
fn what_has_expired_is_measured_again_and_the_rest_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    if measured(at).is_none() {
        quietcore_skip::skip!("one CPU only");
        return;
    }
    let nothing = call(at, &RENEW);
    assert_eq!(nothing.status, Some(0), "{}", nothing.err);
    assert!(nothing.out.starts_with("nothing to renew: every record of `old`"), "{}", nothing.out);
    assert!(!at.join("new").exists());
    let document = call(at, &["qualify", "site.toml", "--renew", "old", "--json"]);
    assert_eq!(json(&document)["records"].as_array().unwrap().len(), 2);

    age(at, "axis.tp2.cpu1.json");
    let renewed = call(at, &RENEW);
    assert!(matches!(renewed.status, Some(0 | 1)), "{}", renewed.err);
    let because = "tp2, since axis: microcode 0x-old → ";
    assert!(renewed.err.contains(&format!("measured again: {because}")), "{}", renewed.err);
    assert!(renewed.err.contains("taken over: 1 record\n"), "{}", renewed.err);
    let bytes =
        |of: &str, record: &str| fs::read(at.join(of).join("records").join(record)).unwrap();
    assert_eq!(bytes("old", "axis.tp1.task0.json"), bytes("new", "axis.tp1.task0.json"));
    assert_ne!(bytes("old", "axis.tp2.cpu1.json"), bytes("new", "axis.tp2.cpu1.json"));
    let verified = call(at, &["verify", "new"]);
    assert_eq!(verified.status, Some(0), "{}", verified.out);
    assert!(!verified.out.contains("EXPIRED"), "{}", verified.out);
    let shown = call(at, &["show", "new"]);
    assert!(shown.out.contains(because) && shown.out.contains("Taken over      axis.tp1.task0"));
    let renewal = &json(&call(at, &["show", "new", "--json"]))["renewal"];
    assert_eq!(renewal["measured_again"][0]["profile"], "tp2");
    let old = at.canonicalize().unwrap().join("old");
    assert_eq!(renewal["taken_over"][0]["folder"], old.display().to_string());
    let cycles = |record: &str| {
        let of: Value = serde_json::from_slice(&bytes("new", record)).unwrap();
        of["counters"]["planned_cycles"].clone()
    };
    assert_eq!(cycles("axis.tp2.cpu1.json"), 100, "as long as before");
    let page = fs::read_to_string(at.join("new/report.html")).unwrap();
    assert!(page.contains("id=\"renewal\"") && page.contains("0x-old"));
    let again = call(at, &["qualify", "site.toml", "--renew", "new"]);
    assert!(again.out.starts_with("nothing to renew"), "{}", again.out);
}

/// Goal: only genuine evidence of this machine and this site file, measured to its end, is taken
/// over; each refusal says what to do, and leaves no folder.
#[test]
fn a_folder_that_is_not_this_machines_genuine_evidence_of_the_site_is_not_renewed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    if measured(at).is_none() {
        quietcore_skip::skip!("one CPU only");
        return;
    }
    age(at, "axis.tp2.cpu1.json");
    let refused = |why: &str| {
        let refused = call(at, &RENEW);
        assert_eq!(refused.status, Some(2), "{}", refused.err);
        let begin = "quietcore: `old` can't be renewed: ";
        assert!(refused.err.contains(begin) && refused.err.contains(why), "{}", refused.err);
        assert!(!at.join("new").exists());
    };
    let text = fs::read_to_string(at.join("site.toml")).unwrap();
    fs::write(at.join("site.toml"), format!("{text}# another\n")).unwrap();
    refused("it is of another site file (SHA-256 ");
    fs::write(at.join("site.toml"), &text).unwrap();

    let path = at.join("old/records/axis.tp1.task0.json");
    let record = fs::read_to_string(&path).unwrap();
    fs::write(&path, record.replace("\"reserved\": false", "\"reserved\": true")).unwrap();
    refused("`records/axis.tp1.task0.json` was changed after the run; ");
    sign_anew(at, &at.join("old"));
    refused("record `axis.tp1.task0`: `reserved` is true");
    fs::write(&path, record).unwrap();
    sign_anew(at, &at.join("old"));

    let mut elsewhere = quietcore(at);
    elsewhere.env("QUIETCORE_STATE_DIR", at.join("elsewhere"));
    let other = said(&elsewhere.args(RENEW).output().unwrap());
    assert!(other.err.contains("it was measured on another machine"), "{}", other.err);

    let manifest = at.join("old/manifest.json");
    let whole = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, whole.replace("\"complete\": true", "\"complete\": false")).unwrap();
    sign_anew(at, &at.join("old"));
    refused("go on with `quietcore qualify --resume` first");
    fs::remove_file(at.join("old/evidence.intoto.json")).unwrap();
    refused("it is not signed");
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/evidence/folders/latency");
    let probe = call(at, &["qualify", "site.toml", "--renew", &stored.display().to_string()]);
    assert!(probe.err.contains("it is not of a campaign"), "{}", probe.err);
    assert_eq!(probe.status, Some(2));
}

/// Goal: of systems that were measured alone, only the one that has expired is measured again; the
/// page says that what it compares is of several times.
#[test]
fn a_system_that_was_measured_alone_is_renewed_alone() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    if site(at, "alone = true\nprofiles = [\"tp1\"]").is_none() {
        quietcore_skip::skip!("one CPU only");
        return;
    }
    let text = fs::read_to_string(at.join("site.toml")).unwrap();
    let (partition, campaign) = text.split_at(text.find("[campaign]").unwrap());
    let own = &partition[partition.find("[[partition]]").unwrap()..];
    let second = own.replace("\"axis\"", "\"belt\"");
    fs::write(at.join("site.toml"), format!("{partition}{second}{campaign}")).unwrap();
    let run = call(at, &["qualify", "site.toml", "--cycles", "100", "--out", "old"]);
    assert!(matches!(run.status, Some(0 | 1)), "{}", run.err);
    assert!(!run.out.contains("of several times"), "{}", run.out);

    age(at, "belt.tp1.task0.json");
    let renewed = call(at, &RENEW);
    assert!(matches!(renewed.status, Some(0 | 1)), "{}", renewed.err);
    let because = "measured again: belt under tp1, since belt: microcode 0x-old → ";
    assert!(renewed.err.contains(because), "{}", renewed.err);
    assert!(renewed.err.contains("taken over: 1 record\n"), "{}", renewed.err);
    assert!(renewed.out.contains("of several times"), "{}", renewed.out);
    let page = fs::read_to_string(at.join("new/report.html")).unwrap();
    assert!(page.contains("of several times"));
    let verified = call(at, &["verify", "new"]);
    assert_eq!(verified.status, Some(0), "{}", verified.out);
    let records = |of: &str| fs::read_dir(at.join(of).join("records")).unwrap().count();
    assert_eq!((records("old"), records("new")), (2, 2));
    let again = call(at, &["qualify", "site.toml", "--renew", "new"]);
    assert!(again.out.starts_with("nothing to renew"), "{}", again.out);
}
