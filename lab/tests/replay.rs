//! A run that is recorded and replayed. Skipped where there is no QEMU, or no kernel can be
//! fetched.

#![forbid(unsafe_code)]

mod support;

use std::fs;
use std::path::Path;

use support::{can_run, lab, lab_of, text};

/// Goal: a run whose outcome depends on clock and random numbers comes out the same in each replay.
/// Method: the scenario `race`, in which two processes race and which tells what time it is and a
/// random number; whether it fails is up to chance, and no matter here. The project lies below
/// `/tmp`, as a clone may. The record is changed then.
#[test]
fn a_recorded_race_comes_out_the_same_in_each_replay() {
    if !can_run("stock") {
        return;
    }
    let project = tempfile::tempdir_in("/tmp").expect("a scratch folder");
    let scenarios = project.path().join("lab/scenarios");
    fs::create_dir_all(&scenarios).expect("a folder");
    fs::copy("scenarios/race.sh", scenarios.join("race.sh")).expect("a scenario of the project");
    let out = tempfile::tempdir().expect("a scratch folder");
    let folder = out.path().to_str().expect("a name in UTF-8");
    let recorded =
        lab_of(project.path(), &["run", "race", "--record", "--out", folder, "--memory", "512"]);
    let said = text(&recorded.stdout) + &text(&recorded.stderr);
    assert!(recorded.status.code().is_some_and(|code| code < 2), "{said}");
    assert!(said.contains("it is 20") && said.contains("counted "), "{said}");
    let read = |name| fs::read_to_string(out.path().join(name)).expect("a file of the record");
    let failed = read("results/status") != "0\n";
    assert_eq!(recorded.status.code(), Some(i32::from(failed)), "{said}");
    assert_eq!(failed, read("results/counted.txt") != "counted 8 of 8\n", "{said}");

    let replayed = lab(&["replay", folder, "--times", "2"]);
    let told = text(&replayed.stderr);
    assert_eq!(replayed.status.code(), recorded.status.code(), "{told}");
    assert!(told.contains("replay 2 of 2: the same"), "{told}");
    assert_eq!(text(&replayed.stdout), text(&recorded.stdout), "both show the same console");

    refuses_what_is_not_as_it_was(out.path());
}

/// Changes the record in a folder, and sees that a replay is refused with the reason, at once.
fn refuses_what_is_not_as_it_was(folder: &Path) {
    let manifest = folder.join("record.json");
    let text_before = fs::read_to_string(&manifest).expect("a manifest");
    let older = text_before.replace("QEMU emulator version ", "QEMU emulator version 0.");
    fs::write(&manifest, older).expect("a manifest");
    fs::write(folder.join("events"), "none").expect("a file");
    let refused = lab(&["replay", folder.to_str().expect("a name in UTF-8")]);
    let told = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{told}");
    assert!(told.contains("recorded by `QEMU emulator version 0."), "{told}");
    assert!(told.contains("the file `events` is not the one"), "{told}");
}

#[test]
fn what_can_not_be_recorded_is_refused() {
    let of = |arguments: &[&str]| text(&lab(arguments).stderr);
    let xen = of(&["run", "xen", "--record", "--out", "/nonexistent"]);
    assert!(xen.contains("a machine of kind xen uses folders of this machine"), "{xen}");
    assert!(of(&["run", "race", "--tries", "3"]).contains("--record"));
    assert!(of(&["run", "race", "--record", "--processors", "2"]).contains("cannot be used with"));
    assert!(of(&["replay", "/nonexistent"]).contains("/nonexistent/record.json: No such file"));
}
