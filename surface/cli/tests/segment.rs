//! `quietcore segment`, as other programs see it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::env;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use quietcore_skip::{own_network, skip};

/// Names a Python with pysoem; `./test` sets it.
const PYTHON: &str = "QUIETCORE_PYSOEM_PYTHON";

/// A running `quietcore segment`, stopped when it is dropped.
struct Segment(Child);

impl Segment {
    /// Starts a segment on this interface, and waits until it answers.
    fn start(interface: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_quietcore"))
            .args(["segment", "--interface", interface])
            .stderr(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with(&format!("answering on {interface} with 6 SubDevices")), "{line}");
        Self(child)
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Goal: a main device that knows nothing of this project brings the segment to OP.
/// Method: SOEM, through pysoem, on the other end of a pair of virtual interfaces.
#[test]
fn soem_brings_the_segment_to_op() {
    let Some(python) = env::var_os(PYTHON) else {
        skip!("there is no pysoem; run `./test`, which installs it, or set {PYTHON}");
        return;
    };
    own_network!();
    let segment = Segment::start("right");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pysoem_to_op.py");
    let run = Command::new(python).args([script, "left"]).output().unwrap();
    drop(segment);
    let said = String::from_utf8_lossy(&run.stdout);
    let complained = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}\n{complained}");
    assert!(said.ends_with("passed\n"), "{said}\n{complained}");
}

#[test]
fn the_end_is_told_with_the_number_of_frames() {
    own_network!();
    let mut segment = Segment::start("right");
    let end = Command::new("kill").args(["-INT", &segment.0.id().to_string()]).status().unwrap();
    assert!(end.success());
    assert!(segment.0.wait().unwrap().success());
    let said = std::io::read_to_string(segment.0.stdout.take().unwrap()).unwrap();
    assert_eq!(said, "0 frames received, 0 sent back\n");
}

#[test]
fn an_interface_that_goes_away_ends_it_with_words() {
    own_network!();
    let mut child = Command::new(env!("CARGO_BIN_EXE_quietcore"))
        .args(["segment", "--interface", "right"])
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut complained = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    complained.read_line(&mut line).unwrap();
    assert!(line.starts_with("answering on right"), "{line}");
    assert!(Command::new("ip").args(["link", "del", "right"]).status().unwrap().success());
    // It would be waited for without an end where it goes on.
    assert_eq!(child.wait().unwrap().code(), Some(2));
    let rest = std::io::read_to_string(complained).unwrap();
    assert_eq!(rest, "quietcore: the network interface `right` is gone\n");
}

#[test]
fn what_can_not_be_done_is_said() {
    let call = |arguments: &[&str]| {
        let said = Command::new(env!("CARGO_BIN_EXE_quietcore"))
            .args(["segment", "--interface"])
            .args(arguments)
            .output()
            .unwrap();
        assert_eq!(said.status.code(), Some(2));
        String::from_utf8_lossy(&said.stderr).into_owned()
    };
    let said = call(&["no-such-if0"]);
    assert!(
        said.contains("no-such-if0") && said.contains("ip link") || said.contains("CAP_NET_RAW"),
        "{said}"
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("line.txt");
    std::fs::write(&file, "coupler\nservo\n").unwrap();
    let said = call(&["lo", "--subdevices", file.to_str().unwrap()]);
    assert!(said.contains("line.txt:2: there is no device `servo`; there are coupler"), "{said}");
}
