//! `quietcore segment`, as other programs see it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::env;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use quietcore_skip::{own_network, skip};

/// The ESI file of the SubDevices that are built in.
const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/esi/quietcore.xml");
/// Names a Python with pysoem; `./test` sets it.
const PYTHON: &str = "QUIETCORE_PYSOEM_PYTHON";

/// A running `quietcore segment`, stopped when it is dropped.
struct Segment(Child);

impl Segment {
    /// Starts a segment of six on this interface, and waits until it answers.
    fn start(interface: &str, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_quietcore"))
            .args(["segment", "--interface", interface])
            .args(arguments)
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

/// Lets SOEM bring a segment to OP, through pysoem, on the other end of a pair of virtual
/// interfaces.
fn bring_to_op(arguments: &[&str], kind: &[&str]) {
    let python = env::var_os(PYTHON).unwrap();
    let segment = Segment::start("right", arguments);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pysoem_to_op.py");
    let run = Command::new(python).args([script, "left"]).args(kind).output().unwrap();
    drop(segment);
    let said = String::from_utf8_lossy(&run.stdout);
    let complained = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}\n{complained}");
    assert!(said.ends_with("passed\n"), "{said}\n{complained}");
}

/// Goal: a main device that knows nothing of this project brings the segment to OP.
#[test]
fn soem_brings_the_segment_to_op() {
    if env::var_os(PYTHON).is_none() {
        skip!("there is no pysoem; run `./test`, which installs it, or set {PYTHON}");
        return;
    }
    own_network!();
    bring_to_op(&[], &[]);
}

/// Goal: the same with SubDevices that are made from an ESI file.
#[test]
fn soem_brings_devices_of_an_esi_file_to_op() {
    if env::var_os(PYTHON).is_none() {
        skip!("there is no pysoem; run `./test`, which installs it, or set {PYTHON}");
        return;
    }
    own_network!();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("line.txt");
    let types = "QC-COUPLER\nQC-DI8\nqc-do8\nQC-AI4@0x00010000\n1 QC-AO4\nQC-SERVO # an axis\n";
    std::fs::write(&file, types).unwrap();
    bring_to_op(&["--subdevices", file.to_str().unwrap(), "--esi", EXAMPLE], &["idle"]);
}

#[test]
fn the_end_is_told_with_the_number_of_frames() {
    own_network!();
    let mut segment = Segment::start("right", &[]);
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
    let file = file.to_str().unwrap();
    let said = call(&["lo", "--subdevices", file, "--esi", EXAMPLE]);
    let expected = "line.txt:2: the ESI files have no device `servo` that can be used; they have 6 \
                    types, such as `QC-AI4`";
    assert!(said.contains(expected) && said.contains("; built in are coupler, "), "{said}");
    std::fs::write(file, "QC-DI8@0x00020000\n").unwrap();
    let said = call(&["lo", "--subdevices", file, "--esi", EXAMPLE]);
    let expected = "line.txt:1: `QC-DI8` has no revision 0x00020000; it has `0x00010000`\n";
    assert!(said.ends_with(expected), "{said}");
    let said = call(&["lo", "--subdevices", file, "--esi", "no-such.xml"]);
    assert!(said.contains("--esi `no-such.xml`: No such file"), "{said}");
    assert!(call(&["lo", "--esi", EXAMPLE]).contains("--subdevices <FILE>"));
}
