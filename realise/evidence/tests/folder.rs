//! The evidence folder through its public face: whole, or clearly not.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod sample;

use std::fs;
use std::path::Path;

use quietcore_evidence::{
    Evidence, Manifest, NotMeasured, ProbeEntry, ReadError, Writer, changed_since_sealed, read,
    write_whole,
};
use quietcore_record::class::catalogue;
use quietcore_record::histogram::Histogram;
use quietcore_record::record::Record;
use quietcore_record::verdict::Verdict;
use sample::{manifest, records, write};

/// The file of a record that counts.
const RECORD: &str = "records/axis.tp2.cpu1.json";

fn written(manifest: &Manifest, records: &[Record], change: impl FnOnce(&Path)) -> Evidence {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("run");
    write(&root, manifest, records);
    change(&root);
    read(&root).unwrap()
}

#[test]
fn what_was_written_is_read_and_judged() {
    let mut records = records(0);
    // tp1 doesn't keep the reservation, so its stall doesn't count for the machine.
    let stalled = records.iter_mut().find(|record| record.name == "axis.tp1.task0").unwrap();
    *stalled = sample::probe("tp1", 5_000_000);
    records.reverse();
    let evidence = written(&manifest(), &records, |_| {});
    assert_eq!(evidence.damage, Vec::<String>::new());
    assert_eq!(evidence.contradictions, []);
    assert_eq!(evidence.unaccounted, []);
    let order: Vec<_> = evidence.records.iter().map(|record| &record.name[..]).collect();
    assert_eq!(order[..3], ["axis.tp1.task0", "axis.tp2.cpu1", "axis.tp4.cpu1"]);
    assert_eq!(evidence.site.as_deref(), Some(sample::SITE));
    assert_eq!(evidence.judgements.len(), 9 * catalogue().len());
    assert_eq!(evidence.overall("axis", "fast-control-loop"), Verdict::Pass);
    assert_eq!(evidence.declared_verdict(), Verdict::Pass);
}

#[test]
fn recordings_are_part_of_the_evidence() {
    let table = b"cycle,monotonic_ns,seconds,lost_before,x\r\n";
    let evidence = written(&manifest(), &records(0), |root| {
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
    let changed = written(&manifest(), &records(0), |root| {
        let path = Writer::open(root).unwrap().trace_path("axis").unwrap();
        write_whole(&path, table).unwrap();
    });
    assert!(changed.damage.iter().any(|it| it.contains("`traces/axis.csv` has no sum")));
}

#[test]
fn a_missing_profile_leaves_the_class_unproven() {
    let mut manifest = manifest();
    let without = |profile: &str| -> Vec<Record> {
        records(0).into_iter().filter(|record| record.profile != profile).collect()
    };
    let missing = |partition: &str, profile: &str, reserved: bool| NotMeasured {
        partition: partition.to_owned(),
        profile: profile.to_owned(),
        reserved,
        because: "the load could not be started".to_owned(),
    };
    manifest.not_measured = vec![missing("axis", "tp1", false), missing("press", "tp1", false)];
    assert_eq!(written(&manifest, &without("tp1"), |_| {}).declared_verdict(), Verdict::Pass);
    manifest.not_measured = vec![missing("axis", "tp4", true), missing("press", "tp4", true)];
    let evidence = written(&manifest, &without("tp4"), |_| {});
    assert!(evidence.is_sound());
    assert_eq!(evidence.declared_verdict(), Verdict::NotProven);
    assert_eq!(written(&manifest, &[], |_| {}).declared_verdict(), Verdict::NotProven);
}

/// Goal: nobody adds or removes a probe of a campaign unseen.
/// Method: the manifest tells of one that the site file does not name and that has no record.
#[test]
fn a_probe_without_a_record_or_a_place_in_the_site_file_is_told() {
    let mut manifest = manifest();
    manifest.probes.push(ProbeEntry {
        probe: "memory".to_owned(),
        partition: "axis".to_owned(),
        profiles: Vec::new(),
        not_measured: None,
    });
    let evidence = written(&manifest, &records(0), |_| {});
    let contradictions: Vec<_> = evidence.contradictions.iter().map(ToString::to_string).collect();
    let told = "`manifest.json`: `probes.memory.axis` is there, and from the rest follows no such \
                probe or partition";
    assert_eq!(contradictions, [told]);
    assert_eq!(evidence.unaccounted[0].because, "the folder has no record of probe `memory`");
    manifest.probes[0].not_measured = Some("one CPU only".to_owned());
    let evidence = written(&manifest, &records(0), |_| {});
    assert_eq!(evidence.unaccounted, []);
}

/// Goal: deleting a record can't turn a FAIL into a PASS.
/// Method: delete the one that fails, and its line among the sums.
#[test]
fn a_record_that_is_deleted_is_missed_whatever_the_sums_say() {
    let failing = written(&manifest(), &records(5_000_000), |_| {});
    assert_eq!(failing.declared_verdict(), Verdict::Fail);
    let evidence = written(&manifest(), &records(5_000_000), |root| {
        fs::remove_file(root.join(sample::RECORD)).unwrap();
        Writer::open(root).unwrap().seal().unwrap();
    });
    assert_eq!(evidence.damage, Vec::<String>::new());
    assert_eq!(evidence.declared_verdict(), Verdict::NotProven);
    let because = &evidence.unaccounted[0].because;
    assert_eq!(because, "the folder has no record `axis.tp4.cpu1`");
    // The same where the manifest forgets the profile as well.
    let mut manifest = manifest();
    manifest.profiles.retain(|(profile, _)| profile != "tp4");
    let kept: Vec<Record> =
        records(0).into_iter().filter(|record| record.profile != "tp4").collect();
    let evidence = written(&manifest, &kept, |_| {});
    assert_eq!(evidence.unaccounted.len(), 3);
    assert_eq!(evidence.declared_verdict(), Verdict::NotProven);
    // And where there is no site file to ask: records that stand in no folder.
    let unasked = Evidence::of(sample::manifest(), kept);
    assert_eq!(unasked.unaccounted.len(), 2);
    assert_eq!(unasked.declared_verdict(), Verdict::NotProven);
}

/// Goal: changed evidence never passes.
/// Method: change the folder in each possible way and look at damage and verdict.
#[test]
fn damage_is_named_and_never_a_pass() {
    type Change = fn(&Path);
    let changes: [(&str, Change); 9] = [
        ("was changed after the run", |root| {
            let path = root.join(RECORD);
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, text.replace("tp2", "tp9")).unwrap();
        }),
        ("is damaged", |root| {
            let path = root.join(RECORD);
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, &text[..text.len() / 2]).unwrap();
        }),
        ("can't be read", |root| fs::remove_file(root.join("site.toml")).unwrap()),
        ("is missing: the run did not", |root| fs::remove_file(root.join("SHA256SUMS")).unwrap()),
        ("has no sum", |root| {
            let text = serde_json::to_string(&sample::probe("tp4", 0)).unwrap();
            fs::write(root.join("records/added.json"), text).unwrap();
        }),
        ("is not a plain file", |root| {
            let path = root.join(RECORD);
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
        let evidence = written(&manifest(), &records(0), change);
        let damage = evidence.damage.join("\n");
        assert!(damage.contains(expected), "{expected}: {damage}");
        assert_eq!(evidence.declared_verdict(), Verdict::NotProven, "{expected}");
    }
}

#[test]
fn a_report_made_anew_is_no_damage() {
    let evidence = written(&manifest(), &records(0), |root| {
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
    write(&root, &manifest(), &records(0));
    assert_eq!(changed_since_sealed(&root), Vec::<String>::new());
    let path = root.join(RECORD);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("2000", "2001")).unwrap();
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
    let mut wide = Record { release: Histogram::new(), wakeup: None, ..sample::probe("tp2", 0) };
    for index in 0..20_000 {
        wide.release.record(index * 1_000);
    }
    let mut whole = 0;
    let error = (0..100).find_map(|index| {
        wide.name = format!("axis.tp2.cpu{index}");
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
