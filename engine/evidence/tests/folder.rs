//! The evidence folder through its public face: whole, or clearly not.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use quietcore_evidence::{
    Evidence, MANIFEST_SCHEMA, Manifest, NotMeasured, Origin, ReadError, Writer,
    changed_since_sealed, read, write_whole,
};
use quietcore_record::class::catalogue;
use quietcore_record::histogram::Histogram;
use quietcore_record::record::{Conditions, Counters, RECORD_SCHEMA, Record, Timeline};
use quietcore_record::verdict::Verdict;

fn record(profile: &str, latency_ns: u64) -> Record {
    let mut release = Histogram::new();
    release.record_many(latency_ns, 40_000);
    Record {
        schema: RECORD_SCHEMA.to_owned(),
        name: format!("axis.{profile}.cpu1"),
        probe: "latency".to_owned(),
        partition: "axis".to_owned(),
        profile: profile.to_owned(),
        reserved: profile != "tp1",
        cpu: Some(1),
        period_ns: Some(1_000_000),
        release,
        wakeup: None,
        scan: None,
        routine: None,
        interrupt: None,
        memory: None,
        trial: None,
        round_trip: None,
        counters: Counters::default(),
        spikes: Vec::new(),
        ledgers: None,
        timeline: Timeline::default(),
        conditions: Conditions::default(),
        interrupted: false,
        degraded: Vec::new(),
        invalid_because: Vec::new(),
    }
}

fn manifest() -> Manifest {
    let profiles = ["tp1", "tp2", "tp4"];
    Manifest {
        schema: MANIFEST_SCHEMA.to_owned(),
        name: "test".to_owned(),
        origin: Origin::Campaign,
        started_at: "2026-01-02T03:04:05Z".to_owned(),
        quietcore_version: "0.1.0".to_owned(),
        site_sha256: String::new(),
        exceedance: 1e-4,
        classes: catalogue(),
        declared: BTreeMap::from([("axis".to_owned(), "fast-control-loop".to_owned())]),
        profiles: profiles.map(|name| (name.to_owned(), String::new())).to_vec(),
        length: None,
        limits: Vec::new(),
        site_folder: None,
        not_measured: Vec::new(),
        complete: true,
    }
}

fn write(root: &Path, manifest: &Manifest, records: &[Record]) {
    let writer = Writer::create(root).unwrap();
    writer.manifest(manifest).unwrap();
    writer.site(b"[site]\n").unwrap();
    for record in records {
        writer.record(record).unwrap();
    }
    writer.seal().unwrap();
}

fn written(manifest: &Manifest, records: &[Record], change: impl FnOnce(&Path)) -> Evidence {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("run");
    write(&root, manifest, records);
    change(&root);
    read(&root).unwrap()
}

#[test]
fn what_was_written_is_read_and_judged() {
    let records = [record("tp4", 30_000), record("tp1", 5_000_000), record("tp2", 20_000)];
    let evidence = written(&manifest(), &records, |_| {});
    assert_eq!(evidence.damage, Vec::<String>::new());
    let order: Vec<_> = evidence.records.iter().map(|record| &record.profile[..]).collect();
    assert_eq!(order, ["tp1", "tp2", "tp4"]);
    assert_eq!(evidence.site.as_deref(), Some("[site]\n"));
    assert_eq!(evidence.judgements.len(), 3 * catalogue().len());
    // tp1 doesn't keep the reservation, so its stall doesn't count for the machine.
    assert_eq!(evidence.overall("axis", "fast-control-loop"), Verdict::Pass);
    assert_eq!(evidence.declared_verdict(), Verdict::Pass);
}

#[test]
fn recordings_are_part_of_the_evidence() {
    let table = b"cycle,monotonic_ns,seconds,lost_before,x\r\n";
    let evidence = written(&manifest(), &[record("tp2", 20_000)], |root| {
        let writer = Writer::open(root).unwrap();
        for (name, file) in [("line/axis", "line-axis.csv"), ("line/axis", "line-axis-2.csv")] {
            let path = writer.trace_path(name).unwrap();
            assert_eq!(path, root.join("traces").join(file));
            write_whole(&path, table).unwrap();
        }
        writer.seal().unwrap();
    });
    assert_eq!(evidence.damage, Vec::<String>::new());
    let names: Vec<&str> = evidence.traces.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["line-axis", "line-axis-2"]);
    assert_eq!(evidence.traces[0].1, table);
    let changed = written(&manifest(), &[record("tp2", 20_000)], |root| {
        let path = Writer::open(root).unwrap().trace_path("axis").unwrap();
        write_whole(&path, table).unwrap();
    });
    assert!(changed.damage.iter().any(|it| it.contains("`traces/axis.csv` has no sum")));
}

#[test]
fn a_missing_profile_leaves_the_class_unproven() {
    let mut manifest = manifest();
    let missing = |profile: &str, reserved: bool| NotMeasured {
        partition: "axis".to_owned(),
        profile: profile.to_owned(),
        reserved,
        because: "the load could not be started".to_owned(),
    };
    manifest.not_measured = vec![missing("tp3", false)];
    let records = [record("tp2", 20_000)];
    assert_eq!(written(&manifest, &records, |_| {}).declared_verdict(), Verdict::Pass);
    manifest.not_measured.push(missing("tp4", true));
    assert_eq!(written(&manifest, &records, |_| {}).declared_verdict(), Verdict::NotProven);
    assert_eq!(written(&manifest, &[], |_| {}).declared_verdict(), Verdict::NotProven);
}

/// Goal: changed evidence never passes.
/// Method: change the folder in each possible way and look at damage and verdict.
#[test]
fn damage_is_named_and_never_a_pass() {
    type Change = fn(&Path);
    let changes: [(&str, Change); 9] = [
        ("was changed after the run", |root| {
            let path = root.join("records/axis.tp2.cpu1.json");
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, text.replace("tp2", "tp9")).unwrap();
        }),
        ("is damaged", |root| {
            let path = root.join("records/axis.tp2.cpu1.json");
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, &text[..text.len() / 2]).unwrap();
        }),
        ("can't be read", |root| fs::remove_file(root.join("site.toml")).unwrap()),
        ("is missing: the run did not", |root| fs::remove_file(root.join("SHA256SUMS")).unwrap()),
        ("has no sum", |root| {
            let text = serde_json::to_string(&record("tp4", 10)).unwrap();
            fs::write(root.join("records/added.json"), text).unwrap();
        }),
        ("is not a plain file", |root| {
            let path = root.join("records/axis.tp2.cpu1.json");
            let aside = root.with_file_name("aside.json");
            fs::rename(&path, &aside).unwrap();
            std::os::unix::fs::symlink(&aside, &path).unwrap();
        }),
        ("is not a plain file", |root| {
            fs::remove_file(root.join("site.toml")).unwrap();
            std::os::unix::fs::symlink("/dev/zero", root.join("site.toml")).unwrap();
        }),
        ("`manifest.json` has no sum", |root| {
            let path = root.join("SHA256SUMS");
            let text = fs::read_to_string(&path).unwrap();
            let kept: Vec<&str> = text.lines().filter(|line| !line.contains("manifest")).collect();
            fs::write(&path, kept.join("\n") + "\n").unwrap();
        }),
        ("is not in the folder", |root| {
            let path = root.join("SHA256SUMS");
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, format!("{text}00  ../../etc/passwd\n")).unwrap();
        }),
    ];
    for (expected, change) in changes {
        let evidence = written(&manifest(), &[record("tp2", 20_000), record("tp1", 9)], change);
        let damage = evidence.damage.join("\n");
        assert!(damage.contains(expected), "{expected}: {damage}");
        assert_eq!(evidence.declared_verdict(), Verdict::NotProven, "{expected}");
    }
}

#[test]
fn a_report_made_anew_is_no_damage() {
    let evidence = written(&manifest(), &[record("tp2", 20_000)], |root| {
        fs::write(root.join("report.html"), "before").unwrap();
        Writer::open(root).unwrap().seal().unwrap();
        fs::write(root.join("report.html"), "after").unwrap();
    });
    assert_eq!(evidence.damage, Vec::<String>::new());
    assert_eq!(evidence.declared_verdict(), Verdict::Pass);
}

#[test]
fn a_folder_without_a_usable_manifest_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(read(folder.path()), Err(ReadError::Io { .. })));
    let manifest = folder.path().join("manifest.json");
    fs::write(&manifest, "{\n  \"schema\": 5\n}").unwrap();
    let error = read(folder.path()).unwrap_err().to_string();
    assert!(error.contains("manifest.json") && error.contains("line 2 column"), "{error}");
}

/// Goal: a file that can't be written whole leaves nothing under its name, and keeps the old one.
/// Method: a folder in the place where the file would be renamed to.
#[test]
fn a_failed_write_leaves_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.json");
    fs::create_dir_all(path.join("occupied")).unwrap();
    let error = write_whole(&path, b"new").unwrap_err();
    assert!(error.to_string().contains("could not be written"));
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(path.join("occupied").is_dir());
}

#[test]
fn what_was_changed_between_two_sessions_is_seen_before_the_second() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("run");
    write(&root, &manifest(), &[record("tp2", 20_000)]);
    assert_eq!(changed_since_sealed(&root), Vec::<String>::new());
    let path = root.join("records/axis.tp2.cpu1.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("40000", "50000")).unwrap();
    assert!(changed_since_sealed(&root)[0].contains("was changed after the run"));
    let writer = Writer::open(&root).unwrap();
    writer.unseal().unwrap();
    writer.unseal().unwrap();
    assert_eq!(changed_since_sealed(&root), Vec::<String>::new());
    assert!(read(&root).unwrap().damage[0].contains("did not come to its end"));
}

/// Goal: a full disk leaves the files before it readable.
/// Method: a file system of 256 KiB in a mount namespace of its own; needs root.
#[test]
fn a_full_disk_keeps_what_was_measured_so_far() {
    let folder = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=256k none \"$1\" && exec \"$2\" --exact --nocapture \
                  --include-ignored fill_the_disk_given";
    let own = std::env::current_exe().unwrap();
    let status = std::process::Command::new("unshare")
        .args(["--mount", "sh", "-c", script, "sh"])
        .arg(folder.path())
        .arg(own)
        .env("QUIETCORE_TEST_DISK", folder.path())
        .output();
    match status {
        Ok(output) if output.status.success() => {}
        Ok(output) if String::from_utf8_lossy(&output.stderr).contains("not permitted") => {
            quietcore_skip::record(
                "a_full_disk_keeps_what_was_measured_so_far",
                "mounting needs root",
            );
        }
        Ok(output) => panic!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ),
        Err(error) => {
            quietcore_skip::record(
                "a_full_disk_keeps_what_was_measured_so_far",
                &error.to_string(),
            );
        }
    }
}

/// The inner half of the test above; does nothing when it isn't called from there.
#[test]
fn fill_the_disk_given() {
    let Some(disk) = std::env::var_os("QUIETCORE_TEST_DISK") else { return };
    let root = Path::new(&disk).join("run");
    let writer = Writer::create(&root).unwrap();
    writer.manifest(&manifest()).unwrap();
    let mut wide = record("tp2", 20_000);
    for index in 0..20_000 {
        wide.release.record(index * 1_000);
    }
    let mut whole = 0;
    let error = (0..100).find_map(|index| {
        wide.name = format!("axis.tp{index}");
        let result = writer.record(&wide);
        whole += usize::from(result.is_ok());
        result.err()
    });
    let error = error.expect("the disk is smaller than a hundred records");
    assert!(error.to_string().contains("free space"), "{error}");
    assert!(whole > 0);
    let evidence = read(&root).unwrap();
    assert_eq!(evidence.records.len(), whole);
    // Not sealed, so it proves nothing; but every record that is there is whole.
    assert_eq!(evidence.damage.len(), 1, "{:?}", evidence.damage);
    let left = fs::read_dir(root.join("records")).unwrap().count();
    assert_eq!(left, whole, "a part of a file was left");
}
