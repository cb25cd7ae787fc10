//! A virtual interface whose cable ends here, in a network of the test's own.

use std::path::Path;

use quietcore_skip::own_network;
use quietcore_units::Nanos;
use quietcore_wire::{FRAME_BYTES_MAX, PacketWire, TapError, TapWire, Wire};

/// An Ethernet frame of this type with this payload.
fn frame(kind: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    frame.extend([0x10; 6]);
    frame.extend(kind.to_be_bytes());
    frame.extend(payload);
    frame
}

fn soon(wire: &impl Wire) -> Nanos {
    wire.now() + Nanos::from_millis(20)
}

/// The interface; `None` where there can be none, which is said.
fn make(name: &str) -> Option<TapWire> {
    match TapWire::make(name) {
        Err(TapError::Device(error)) => {
            quietcore_skip::skip!("no /dev/net/tun: {error}; load the kernel's module `tun`");
            None
        }
        made => Some(made.expect("an interface")),
    }
}

#[test]
fn frames_pass_both_ways_and_others_than_ethercat_are_not_heard() {
    own_network!();
    let Some(mut cable) = make("qc-axis") else { return };
    let mut interface = PacketWire::open("qc-axis").unwrap();
    let mut buffer = [0; FRAME_BYTES_MAX];
    for payload in [vec![1; 46], vec![2; 1500]] {
        let sent = frame(0x88A4, &payload);
        cable.send(&sent).unwrap();
        let until = soon(&interface);
        assert_eq!(interface.receive(&mut buffer, until), Ok(Some(sent.len())));
        assert_eq!(buffer[..sent.len()], sent);
        interface.send(&frame(0x88B5, &payload)).unwrap();
        interface.send(&sent).unwrap();
        let until = soon(&cable);
        assert_eq!(cable.receive(&mut buffer, until), Ok(Some(sent.len())));
        assert_eq!(buffer[..sent.len()], sent);
    }
    let until = soon(&cable);
    assert_eq!(cable.receive(&mut buffer, until), Ok(None));
    assert!(cable.now() >= until, "the wait ended early");
}

#[test]
fn the_interface_goes_with_its_wire_and_is_nobody_elses() {
    own_network!();
    let Some(cable) = make("qc-axis") else { return };
    // What the test's own network shows: the folder is of the network that mounted it.
    let is_there = || {
        let shown = std::process::Command::new("ip").args(["-brief", "link"]).output().unwrap();
        String::from_utf8_lossy(&shown.stdout).contains(cable.name())
    };
    assert!(is_there());
    assert!(matches!(TapWire::make("qc-axis"), Err(TapError::Taken(name)) if name == "qc-axis"));
    let name = cable.name().to_owned();
    drop(cable);
    let shown = std::process::Command::new("ip").args(["-brief", "link"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&shown.stdout).contains(&name), "nothing is left behind");
    assert!(Path::new("/dev/net/tun").exists());
}
