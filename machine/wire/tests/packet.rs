//! Raw sockets on a pair of virtual interfaces, in a network of the test's own.

use std::process::Command;

use quietcore_skip::own_network;
use quietcore_units::Nanos;
use quietcore_wire::{FRAME_BYTES_MAX, PacketWire, Wire, WireError};

/// An Ethernet frame of this type with this payload.
fn frame(kind: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    frame.extend([0x10; 6]);
    frame.extend(kind.to_be_bytes());
    frame.extend(payload);
    frame
}

fn soon(wire: &PacketWire) -> Nanos {
    wire.now() + Nanos::from_millis(20)
}

#[test]
fn frames_pass_and_the_own_ones_are_not_heard() {
    own_network!();
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
    own_network!();
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
    own_network!();
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
    own_network!();
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
