//! Links by their messages, and by a pair of interfaces that flap in a namespace of their own.

use std::env;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::message::{Link, links};
use super::*;

/// A message about a link of index 7 with these flags.
fn message(kind: u16, flags: u32, name: &str) -> Vec<u8> {
    let mut attributes = vec![8_u8, 0, 13, 0, 1, 2, 3, 4];
    let length = u16::try_from(name.len() + 5).unwrap();
    attributes.extend(length.to_ne_bytes());
    attributes.extend(3_u16.to_ne_bytes());
    attributes.extend(name.as_bytes());
    attributes.push(0);
    attributes.resize(attributes.len().next_multiple_of(4), 0);
    let mut bytes = Vec::new();
    bytes.extend(u32::try_from(32 + attributes.len()).unwrap().to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend([0; 10]);
    bytes.extend([0, 0, 1, 0]);
    bytes.extend(7_i32.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend([0; 4]);
    bytes.extend(attributes);
    bytes
}

fn link(name: &str, is_up: bool, is_gone: bool) -> Link {
    Link { index: 7, name: name.to_owned(), is_up, is_gone }
}

#[test]
fn messages_about_links_are_read_and_others_passed_over() {
    let mut datagram = message(16, 0x1_1043, "eth1");
    datagram.extend(message(18, 0x1_1043, "eth2"));
    datagram.extend(message(16, 0x1003, "a\u{1b}b"));
    datagram.extend(message(17, 0x1003, "eth1"));
    let expected =
        [link("eth1", true, false), link("a\u{fffd}b", false, false), link("eth1", false, true)];
    assert_eq!(links(&datagram), expected);
    let cut = message(16, 0x1_1043, "eth1");
    assert!(links(&cut[..cut.len() - 5]).is_empty());
}

#[test]
fn a_link_comes_up_once_until_it_went_down() {
    let mut heard = Heard::default();
    let mut state = Links::listen().unwrap();
    let (up, down) = (link("eth1", true, false), link("eth1", false, false));
    state.note(vec![up.clone(), up.clone(), down, up.clone()], &mut heard);
    assert_eq!(heard.came_up, ["eth1", "eth1"]);
    state.note(vec![link("eth1", true, true), up], &mut heard);
    assert_eq!(heard.came_up.len(), 3, "another one of the same number");
}

proptest! {
    #[test]
    fn any_bytes_are_links_or_none(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for link in links(&bytes) {
            prop_assert!(link.name.chars().count() <= 16);
        }
    }
}

/// The variable by which the test knows that it is in a namespace of its own.
const INSIDE: &str = "QUIETCORE_TEST_LINKS";

/// Goal: each time a link comes up is heard.
/// Method: in a network namespace of its own one end of a pair goes down and up.
#[test]
fn each_flap_of_a_link_is_heard() {
    if env::var_os(INSIDE).is_some() {
        return flap();
    }
    if !rustix::process::geteuid().is_root() {
        quietcore_skip::skip!("network namespaces are made by root");
        return;
    }
    let own = env::current_exe().unwrap();
    let name = "changed::links::tests::each_flap_of_a_link_is_heard";
    let output = Command::new("unshare")
        .arg("--net")
        .arg(own)
        .args([name, "--exact", "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{said}");
}

fn flap() {
    let ip = |arguments: &str| {
        let status = Command::new("ip").args(arguments.split(' ')).status().unwrap();
        assert!(status.success(), "ip {arguments}");
    };
    ip("link add left type veth peer name right");
    ip("link set right up");
    let mut listening = Links::listen().unwrap();
    let mut came_up = Vec::new();
    for flap in 1..=5 {
        ip("link set left up");
        let end = Instant::now() + Duration::from_secs(10);
        while came_up.iter().filter(|name| *name == "left").count() < flap {
            assert!(Instant::now() < end, "flap {flap}: {came_up:?}");
            let heard = listening.hear();
            assert!(!heard.lost);
            came_up.extend(heard.came_up);
            thread::sleep(Duration::from_millis(5));
        }
        ip("link set left down");
    }
    assert_eq!(came_up.iter().filter(|name| *name == "left").count(), 5, "{came_up:?}");
}
