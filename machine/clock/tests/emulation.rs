//! The calibration under a real emulator.
//!
//! Goal: time under QEMU's translator is recognised as emulated, on the machine where this runs.
//! Method: the test starts its own executable a second time under `qemu-x86_64`, where another test
//! prints the verdict.

use std::env::current_exe;
use std::io::ErrorKind;
use std::process::Command;

use quietcore_clock::TimeCalibration;

const EMULATOR: &str = "qemu-x86_64";
const MARK: &str = "verdict of the calibration: ";

/// Says the same as the test below about the machine itself; there, this runs under an emulator.
#[test]
fn the_verdict_can_be_printed() {
    let verdict = format!("{:?}", TimeCalibration::measure().time);
    println!("{MARK}{verdict}");
    assert!(verdict == "Native" || verdict.contains("(\""), "{verdict}");
}

#[test]
fn time_under_a_translator_is_emulated() {
    let output = Command::new(EMULATOR)
        .arg(current_exe().expect("a test knows its executable"))
        .args(["--exact", "the_verdict_can_be_printed", "--nocapture"])
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            quietcore_skip::skip!("`qemu-x86_64` is not here; install Debian's `qemu-user`");
            return;
        }
        Err(error) => panic!("`{EMULATOR}` can't be started: {error}"),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let verdict = text.lines().find_map(|line| Some(line.split_once(MARK)?.1));
    let verdict = verdict.unwrap_or_else(|| panic!("no verdict under {EMULATOR}: {output:?}"));
    assert!(verdict.starts_with("Emulated("), "{verdict}");
}
