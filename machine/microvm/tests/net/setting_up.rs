//! Registers before the first frame.

use quietcore_microvm::net::Service;
use quietcore_units::Nanos;

use crate::driver::{Guest, RINGS, STRETCH};

const AT_BELL: Service = Service::AtBell { wait: Nanos::ZERO };
const NEEDS_RESET: u32 = 64;

#[test]
fn the_device_says_what_it_is() {
    let guest = Guest::new(AT_BELL);
    let is = [0x00, 0x04, 0x08].map(|offset| guest.read(offset));
    assert_eq!(is, [0x7472_6976, 2, 1]);
    guest.write(0x14, 1);
    assert_eq!(guest.read(0x10), 1, "version 1 of the standard");
    let mut address = [0; 8];
    guest.net.read(0x100, &mut address);
    assert_eq!(address, [2, 0, 0, 0, 0, 1, 1, 0], "its address, and a link that is up");
    assert_eq!(guest.read(0x1FC), 0, "there is no more of it");
    assert_eq!(guest.read(0x2000), u32::MAX, "another page is another device's");
    guest.write(0x30, 1);
    assert_eq!(guest.read(0x34), 256);
    guest.write(0x30, 2);
    assert_eq!(guest.read(0x34), 0, "there are two queues");
}

#[test]
fn a_driver_that_takes_less_or_more_than_there_is_is_refused() {
    let guest = Guest::new(AT_BELL);
    for features in [[0, 0], [1, 1], [0, 3]] {
        guest.write(0x70, 0);
        guest.write(0x70, 3);
        for (half, features) in (0..).zip(features) {
            guest.write(0x24, half);
            guest.write(0x20, features);
        }
        guest.write(0x70, 11);
        assert_eq!(guest.read(0x70), 3, "{features:?}");
    }
    guest.agree();
    assert_eq!(guest.read(0x70), 11);
}

#[test]
fn a_queue_beyond_memory_or_misplaced_is_not_made_ready() {
    for rings in [RINGS + (1 << 40), RINGS + (1 << 18), u64::MAX - 0xFFFF] {
        let guest = Guest::new(AT_BELL);
        guest.agree();
        guest.make_queue(0, rings);
        assert_eq!(guest.read(0x44), 0, "{rings:#x}");
        assert_eq!(guest.read(0x70) & NEEDS_RESET, NEEDS_RESET);
    }
    let guest = Guest::new(AT_BELL);
    guest.make_queue(0, RINGS);
    assert_eq!(guest.read(0x44), 0, "not before the features are agreed on");
}

#[test]
fn a_device_without_its_queues_does_not_begin() {
    let guest = Guest::new(AT_BELL);
    guest.agree();
    guest.make_queue(0, RINGS);
    guest.write(0x70, 15);
    assert_eq!(guest.read(0x70) & NEEDS_RESET, NEEDS_RESET);
    guest.begin();
    assert_eq!(guest.read(0x70), 15, "a reset mends it");
    assert_eq!(guest.read(0x44), 1);
    guest.write(0x44, 0);
    assert_eq!((guest.read(0x44), guest.read(0x70) & NEEDS_RESET), (0, NEEDS_RESET));
}

#[test]
fn a_queue_that_is_ready_stays_where_it_is() {
    let guest = Guest::new(AT_BELL);
    guest.begin();
    guest.make_queue(1, RINGS);
    guest.offer_frame(0, &[1; 60]);
    guest.ring(1);
    assert_eq!(guest.used(1).0, 1, "it is used at {:#x}", RINGS + STRETCH);
}
