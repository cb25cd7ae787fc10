//! The signature of a folder: made, checked, and what becomes of it when something is changed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod sample;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use quietcore_evidence::{
    KeyError, MachineKey, Signature, VerificationKey, Writer, changed_since_sealed, read, sign,
};
use quietcore_record::verdict::Verdict;

struct Bench {
    _folder: tempfile::TempDir,
    root: PathBuf,
    key: MachineKey,
}

/// A signed folder, and the key that has signed it.
fn bench() -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let key = MachineKey::open_or_make(folder.path()).unwrap();
    let root = folder.path().join("run");
    sample::write(&root, &sample::manifest(), &sample::records(0));
    sign(&root, &read(&root).unwrap(), &key).unwrap();
    Bench { _folder: folder, root, key }
}

#[test]
fn a_signed_folder_says_by_whom_and_with_which_verdict() {
    let bench = bench();
    let evidence = read(&bench.root).unwrap();
    let Signature::Signed { key, statement } = &evidence.signature else {
        panic!("{:?}", evidence.signature);
    };
    assert_eq!(*key, bench.key.verification_key());
    assert_eq!(statement.predicate.verdict, Verdict::Pass);
    assert_eq!(statement.predicate.partitions.len(), 2);
    let press = statement.predicate.records.iter().find(|it| it.name == "press.tp2.cycle");
    assert_eq!(press.unwrap().program_build, "5e".repeat(32));
    let names: Vec<_> = statement.subject.iter().map(|it| it.name.as_str()).collect();
    for name in ["manifest.json", "site.toml", "doctor.json", "SHA256SUMS", sample::RECORD] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    assert!(evidence.is_sound());
    assert_eq!(evidence.declared_verdict(), Verdict::Pass);
}

/// Goal: no edit of a signed folder goes unseen, whatever is made to fit.
/// Method: each edit with the sums made anew by hand, as a forger would.
#[test]
fn what_was_signed_can_not_be_changed() {
    type Change = fn(&Path);
    let changes: [(&str, Change); 6] = [
        ("`doctor.json` is not as it was signed", |root| {
            fs::write(root.join("doctor.json"), "{}\n").unwrap();
        }),
        ("`note.txt` was not signed", |root| fs::write(root.join("note.txt"), "x").unwrap()),
        ("`records/axis.tp4.cpu1.json` was signed and can't be read", |root| {
            fs::remove_file(root.join(sample::RECORD)).unwrap();
        }),
        ("is not signed by the key that it names", |root| {
            let path = root.join("evidence.intoto.json");
            let text = fs::read_to_string(&path).unwrap();
            let mut envelope: serde_json::Value = serde_json::from_str(&text).unwrap();
            envelope["signatures"][0]["sig"] = format!("{}==", "A".repeat(86)).into();
            fs::write(&path, envelope.to_string()).unwrap();
        }),
        ("holds no statement about such a folder", |root| {
            let path = root.join("evidence.intoto.json");
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, text.replace("vnd.in-toto+json", "json")).unwrap();
        }),
        ("`evidence.intoto.json` can't be read", |root| {
            fs::write(root.join("evidence.intoto.json"), "{").unwrap();
        }),
    ];
    for (expected, change) in changes {
        let bench = bench();
        change(&bench.root);
        let path = bench.root.join("evidence.intoto.json");
        let kept = fs::read(&path).unwrap();
        Writer::open(&bench.root).unwrap().seal().unwrap();
        assert!(!path.exists(), "sealing takes it away");
        fs::write(&path, kept).unwrap();
        let evidence = read(&bench.root).unwrap();
        let damage = evidence.damage.join("\n");
        assert!(damage.contains(expected), "{expected}: {damage}");
        assert!(matches!(evidence.signature, Signature::Broken(_)));
        assert_eq!(evidence.declared_verdict(), Verdict::NotProven, "{expected}");
        assert!(!changed_since_sealed(&bench.root).is_empty(), "{expected}");
    }
}

/// A verdict that does not follow is no verdict, whoever has signed it.
#[test]
fn a_signed_verdict_that_does_not_follow_is_named() {
    let bench = bench();
    let passing = read(&bench.root).unwrap();
    let root = bench.root.with_file_name("failing");
    sample::write(&root, &sample::manifest(), &sample::records(5_000_000));
    assert_eq!(read(&root).unwrap().declared_verdict(), Verdict::Fail);
    sign(&root, &passing, &bench.key).unwrap();
    let evidence = read(&root).unwrap();
    assert!(evidence.damage[0].contains("says PASS, and from the records follows FAIL"));
    assert_eq!(evidence.declared_verdict(), Verdict::Fail);
}

#[test]
fn a_folder_without_a_signature_is_read_as_before() {
    let bench = bench();
    fs::remove_file(bench.root.join("evidence.intoto.json")).unwrap();
    let evidence = read(&bench.root).unwrap();
    assert_eq!(evidence.signature, Signature::Unsigned);
    assert!(evidence.is_sound());
    assert_eq!(evidence.declared_verdict(), Verdict::Pass);
    assert_eq!(Writer::open(&bench.root).unwrap().signed_by(), None);
}

#[test]
fn a_key_is_made_once_and_is_its_owners_alone() {
    let folder = tempfile::tempdir().unwrap();
    assert!(MachineKey::open(folder.path()).unwrap().is_none());
    let keys: Vec<_> = std::thread::scope(|scope| {
        let made = (0..4).map(|_| scope.spawn(|| MachineKey::open_or_make(folder.path()).unwrap()));
        let made: Vec<_> = made.collect();
        made.into_iter().map(|made| made.join().unwrap().verification_key()).collect()
    });
    assert!(keys.iter().all(|key| *key == keys[0]), "whoever came later got another one");
    let path = folder.path().join("signing-key.pem");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let public = VerificationKey::read(&folder.path().join("verifying-key.pem")).unwrap();
    assert_eq!(public, keys[0]);
    assert!(matches!(VerificationKey::read(&path), Err(KeyError::NoKey { .. })));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let refused = MachineKey::open_or_make(folder.path()).unwrap_err();
    assert!(matches!(refused, KeyError::NotAlone { .. }), "{refused}");
}
