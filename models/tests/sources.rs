//! The folders as a compiler sees them: no warnings, and nothing that differs by accident.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

const FOLDERS: [&str; 4] = ["servo", "turbine", "tank", "setpoint"];

/// Macros that a site with the channels of the example `cell` defines; `servo` then obeys them.
const CHANNELS: [&str; 7] = [
    "ComConf_ComSignal_setpoint_target=0u",
    "ComConf_ComSignal_setpoint_velocity=1u",
    "ComConf_ComSignal_actual_position=2u",
    "ComConf_ComSignal_actual_in_position=3u",
    "ComConf_ComSignal_alarm_reason=4u",
    "ComConf_ComSignalGroup_setpoint=0u",
    "ComConf_ComSignalGroup_actual=1u",
];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder is part of the package");
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "c"));
    paths.sort();
    paths
}

/// Compiles all sources of a folder with these macros defined, and refuses warnings.
fn compile(name: &str, defines: &[&str]) {
    let files = sources(&folder(name));
    assert!(files.iter().any(|file| file.ends_with("ert_main.c")), "{name}");
    let headers = folder("../ground/exchange/include");
    for file in files {
        let output = Command::new("gcc")
            .args(["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Wconversion", "-O2"])
            .args(defines.iter().map(|define| format!("-D{define}")))
            .arg("-I")
            .arg(&headers)
            .args(["-c", "-o", "/dev/null"])
            .arg(&file)
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {message}", file.display());
        assert_eq!(message, "", "{}", file.display());
    }
}

#[test]
fn no_source_gives_a_warning_its_example_main_included() {
    for name in ["servo", "turbine", "tank"] {
        compile(name, &[]);
    }
    for name in ["servo", "setpoint"] {
        compile(name, &CHANNELS);
    }
}

#[test]
fn all_folders_have_the_same_types() {
    let texts = FOLDERS.map(|name| std::fs::read(folder(name).join("rtwtypes.h")).unwrap());
    assert_eq!(texts[0], texts[1]);
    assert_eq!(texts[0], texts[2]);
    assert_eq!(texts[0], texts[3]);
}
