//! Versions as they are kept: numbered, limited in number, deleted when nobody needs them.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};

use crate::ground::{by, leftovers, place, send, send_files, zip};
use quietcore_programs::{
    BuildRecord, DeploymentOutcome, Programs, ProgramsError, VERSION_COUNT_MAX, Version,
};

fn add(programs: &Programs, text: &str) -> Version {
    send_files(programs, "servo", &[("servo.c", text)]).unwrap()
}

fn deploy(programs: &Programs, version: &Version, partition: &str, outcome: DeploymentOutcome) {
    let id = programs.begin_deployment(version, &place(partition), &by("bert")).unwrap();
    programs.end_deployment(id, outcome, Some(&format!("hash of {}", version.number))).unwrap();
}

#[test]
fn what_is_kept_is_there_after_the_next_start() {
    let state = tempfile::tempdir().unwrap();
    let programs = Programs::open(state.path()).unwrap();
    let (first, second) = (add(&programs, "1"), add(&programs, "2"));
    let built =
        BuildRecord { place: Some(place("axis")), hash: Some("f00".into()), built: by("c") };
    programs.note_build(&second, &built).unwrap();
    deploy(&programs, &first, "axis", DeploymentOutcome::Ran);
    drop(programs);
    fs::create_dir_all(state.path().join("programs/versions/unknown")).unwrap();
    fs::create_dir_all(state.path().join("programs/incoming/half")).unwrap();
    let programs = Programs::open(state.path()).unwrap();
    assert_eq!(programs.versions("servo").unwrap(), [second.clone(), first.clone()]);
    assert_eq!(programs.version("servo", 0).unwrap(), second, "0 stands for the newest");
    assert_eq!(programs.last_build(&second).unwrap(), Some(built));
    assert_eq!(programs.last_build(&first).unwrap(), None);
    assert_eq!(programs.deployed().unwrap()[0].hash.as_deref(), Some("hash of 1"));
    assert!(leftovers(state.path(), &programs).is_empty());
    let error = programs.version("servo", 7).unwrap_err().to_string();
    assert_eq!(error, "program `servo` has no version 7; it has 2 from 1 to 2");
    assert!(matches!(programs.versions("axis"), Err(ProgramsError::NoProgram { .. })));
}

#[test]
fn the_oldest_versions_go_but_none_that_is_needed() {
    let state = tempfile::tempdir().unwrap();
    let programs = Programs::open(state.path()).unwrap();
    for number in 1..=VERSION_COUNT_MAX {
        let version = add(&programs, &number.to_string());
        match number {
            2..=4 => deploy(&programs, &version, "axis", DeploymentOutcome::Ran),
            5 => deploy(&programs, &version, "axis", DeploymentOutcome::Failed),
            6 => drop(programs.begin_deployment(&version, &place("hmi"), &by("bert")).unwrap()),
            _ => {}
        }
    }
    for more in 0..4 {
        add(&programs, &format!("more {more}"));
    }
    let versions = programs.versions("servo").unwrap();
    assert_eq!(versions.len(), VERSION_COUNT_MAX);
    let kept: Vec<u64> = versions.iter().rev().map(|version| version.number).take(4).collect();
    // 4 runs, 3 ran before, and 6 is on its way; 1, 2, 5 and 7 were the oldest of the others.
    assert_eq!(kept, [3, 4, 6, 8]);
    assert_eq!(versions[0].number, 54, "numbers are not used again");
    assert!(leftovers(state.path(), &programs).is_empty(), "their files go with them");
}

#[test]
fn a_version_that_runs_is_not_deleted() {
    let state = tempfile::tempdir().unwrap();
    let programs = Programs::open(state.path()).unwrap();
    let (first, second) = (add(&programs, "1"), add(&programs, "2"));
    deploy(&programs, &first, "axis", DeploymentOutcome::Ran);
    let error = programs.delete("servo", 1, |_| true).unwrap_err().to_string();
    assert_eq!(
        error,
        "version 1 of program `servo` is in use by partition `axis` of site `press`; deploy \
         another one first"
    );
    programs.delete("servo", 1, |_| false).unwrap();
    assert!(!programs.folder(&first).exists() && programs.folder(&second).exists());
    // The same files as another program stay as long as one of both needs them.
    let same = send(&programs, "other", &zip(&[("servo.c", b"2")])).unwrap();
    assert_eq!(same.sha256, second.sha256);
    programs.delete("servo", 2, |_| true).unwrap();
    assert!(programs.folder(&same).exists());
    assert!(programs.versions("servo").unwrap().is_empty());
    assert_eq!(programs.programs().unwrap().len(), 2);
    assert!(programs.begin_deployment(&second, &place("axis"), &by("bert")).is_err());
}

#[test]
fn the_version_before_is_the_last_other_one_that_ran() {
    let state = tempfile::tempdir().unwrap();
    let programs = Programs::open(state.path()).unwrap();
    let (first, second, third) = (add(&programs, "1"), add(&programs, "2"), add(&programs, "3"));
    let before = || programs.before(&place("axis")).map(|(_, version)| version.number);
    assert!(matches!(before(), Err(ProgramsError::NothingBefore { .. })));
    deploy(&programs, &first, "axis", DeploymentOutcome::Ran);
    assert!(matches!(before(), Err(ProgramsError::NothingBefore { .. })));
    deploy(&programs, &second, "axis", DeploymentOutcome::Ran);
    deploy(&programs, &second, "axis", DeploymentOutcome::Ran);
    deploy(&programs, &third, "axis", DeploymentOutcome::Failed);
    deploy(&programs, &third, "hmi", DeploymentOutcome::Ran);
    assert_eq!(before().unwrap(), 1);
    deploy(&programs, &first, "axis", DeploymentOutcome::Ran);
    assert_eq!(before().unwrap(), 2, "rolled back twice, it is where it was");
    programs.delete("servo", 2, |_| false).unwrap();
    assert!(matches!(before(), Err(ProgramsError::NoVersion { number: 2, .. })));
}

#[test]
fn a_damaged_index_is_recognised() {
    let state = tempfile::tempdir().unwrap();
    let programs = Programs::open(state.path()).unwrap();
    add(&programs, "1");
    drop(programs);
    let path = state.path().join("programs.db");
    let whole = fs::read(&path).unwrap();
    let mut torn = fs::File::options().write(true).open(&path).unwrap();
    torn.seek(SeekFrom::Start(4096)).unwrap();
    torn.write_all(&[0x5a; 12_000]).unwrap();
    for damage in [None, Some(&b"no database at all, but some text that is long enough"[..])] {
        if let Some(damage) = damage {
            fs::write(&path, damage).unwrap();
        }
        let error = Programs::open(state.path()).unwrap_err();
        assert!(matches!(error, ProgramsError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains("put back a copy of it"), "{error}");
    }
    // Its versions are not swept away with it.
    fs::write(&path, whole).unwrap();
    let programs = Programs::open(state.path()).unwrap();
    assert!(programs.folder(&programs.version("servo", 1).unwrap()).exists());
}
