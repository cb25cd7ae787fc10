//! Raw sockets on a pair of virtual interfaces, in a network of the test's own.

use std::process::Command;

use quietcore_units::Nanos;
use quietcore_wire::{FRAME_BYTES_MAX, PacketWire, Wire, WireError};

/// Set in the process that has a network of its own.
const INSIDE: &str = "QUIETCORE_TEST_IN_OWN_NETWORK";

/// Whether the caller runs in a network of its own with the interfaces `left` and `right`.
///
/// Outside, runs the test of this name once more inside of one. The error says why that is not
/// possible here.
fn inside(test: &str) -> Result<bool, String> {
    if std::env::var_os(INSIDE).is_some() {
        return Ok(true);
    }
    let script = "ip link add left type veth peer name right && ip link set left up && \
                  ip link set right up";
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--net", "sh", "-c", script]);
        command
    };
    match unshare(script).output() {
        Ok(tried) if tried.status.success() => {}
        Ok(tried) => return Err(String::from_utf8_lossy(&tried.stderr).into_owned()),
        Err(error) => return Err(error.to_string()),
    }
    let program = std::env::current_exe().expect("a running program has a path");
    let run = unshare(&format!("{script} && exec \"$0\" --exact {test} --nocapture"))
        .arg(program)
        .env(INSIDE, "1")
        .output()
        .expect("`unshare` ran a moment ago");
    let said = String::from_utf8_lossy(&run.stdout);
    let complained = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}\n{complained}");
    assert!(said.contains("1 passed"), "{said}");
    Ok(false)
}

/// An Ethernet frame of this type with this payload.
fn frame(kind: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    frame.extend([0x10; 6]);
    frame.extend(kind.to_be_bytes());
    frame.extend(payload);
    frame
}

macro_rules! in_own_network {
    ($name:literal) => {
        match inside($name) {
            Ok(true) => {}
            Ok(false) => return,
            Err(reason) => {
                quietcore_skip::skip!("no network of its own; run as root: {reason}");
                return;
            }
        }
    };
}

fn soon(wire: &PacketWire) -> Nanos {
    wire.now() + Nanos::from_millis(20)
}

#[test]
fn frames_pass_and_the_own_ones_are_not_heard() {
    in_own_network!("frames_pass_and_the_own_ones_are_not_heard");
    let (mut left, mut right) =
        (PacketWire::open("left").unwrap(), PacketWire::open("right").unwrap());
    let mut buffer = [0; FRAME_BYTES_MAX];
    for payload in [vec![1; 46], vec![2; 1500]] {
        let sent = frame(0x88A4, &payload);
        left.send(&sent).unwrap();
        let until = soon(&right);
        let bytes = right.receive(&mut buffer, until).unwrap().unwrap();
        assert_eq!(buffer[..bytes], sent);
    }
    let until = soon(&left);
    assert_eq!(left.receive(&mut buffer, until), Ok(None));
    assert!(left.now() >= until, "the wait ended early");
}

#[test]
fn what_is_no_ethercat_is_not_heard() {
    in_own_network!("what_is_no_ethercat_is_not_heard");
    let (mut left, mut right) =
        (PacketWire::open("left").unwrap(), PacketWire::open("right").unwrap());
    left.send(&frame(0x88B5, &[1; 46])).unwrap();
    left.send(&frame(0x88A4, &[2; 46])).unwrap();
    let mut buffer = [0; FRAME_BYTES_MAX];
    let until = soon(&right);
    assert_eq!(right.receive(&mut buffer, until), Ok(Some(60)));
    assert_eq!(buffer[14], 2);
}

#[test]
fn a_frame_longer_than_the_buffer_is_dropped() {
    in_own_network!("a_frame_longer_than_the_buffer_is_dropped");
    let (mut left, mut right) =
        (PacketWire::open("left").unwrap(), PacketWire::open("right").unwrap());
    left.send(&frame(0x88A4, &[1; 100])).unwrap();
    left.send(&frame(0x88A4, &[2; 46])).unwrap();
    let mut buffer = [0; 60];
    let until = soon(&right);
    assert_eq!(right.receive(&mut buffer, until), Ok(Some(60)));
    assert_eq!(buffer[14], 2);
    let too_long = frame(0x88A4, &[0; 1501]);
    assert_eq!(left.send(&too_long), Err(WireError::TooLong { bytes: 1515, limit: 1514 }));
}

#[test]
fn an_interface_that_goes_down_is_silent_and_comes_back() {
    in_own_network!("an_interface_that_goes_down_is_silent_and_comes_back");
    let (mut left, mut right) =
        (PacketWire::open("left").unwrap(), PacketWire::open("right").unwrap());
    let set = |what: &str| {
        assert!(Command::new("ip").args(["link", "set", "left", what]).status().unwrap().success());
    };
    let ethercat = frame(0x88A4, &[1; 46]);
    let mut buffer = [0; FRAME_BYTES_MAX];
    set("down");
    assert_eq!(left.send(&ethercat), Err(WireError::Down));
    let until = soon(&left);
    assert_eq!(left.receive(&mut buffer, until), Ok(None));
    set("up");
    let until = soon(&left);
    assert_eq!(left.receive(&mut buffer, until), Ok(None));
    left.send(&ethercat).unwrap();
    let until = soon(&right);
    assert_eq!(right.receive(&mut buffer, until), Ok(Some(60)));
}
