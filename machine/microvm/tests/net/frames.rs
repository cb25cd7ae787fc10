//! Frames that pass, and those that are none.

use quietcore_microvm::net::{Counts, Service};
use quietcore_units::Nanos;
use vmm_sys_util::eventfd::{EFD_NONBLOCK, EventFd};

use crate::driver::{BUFFERS, Guest, MEMORY_BYTES, NEXT, RINGS, STRETCH, WRITE, frame};

const NEEDS_RESET: u32 = 64;

/// A guest at whose bells every frame comes back after a time, for which it waits or not.
fn guest(wait: Nanos, echo: Nanos) -> Guest {
    let guest = Guest::new(Service::AtBell { wait });
    guest.link.seen().echo = Some(echo);
    guest.begin();
    guest
}

#[test]
fn a_frame_goes_out_and_its_answer_is_there_when_the_guest_goes_on() {
    let guest = guest(Nanos::ZERO, Nanos::ZERO);
    for (index, bytes) in [(0, 60), (1, 14), (2, 1514)] {
        guest.offer_buffer(index);
        guest.offer_frame(index, &frame(bytes));
        guest.ring(1);
        assert_eq!(guest.used(1), (index + 1, u32::from(index), 0));
        assert_eq!(guest.used(0), (index + 1, u32::from(index), 12 + bytes as u32));
        let content = guest.buffer(index, 12 + bytes);
        assert_eq!(content[..12], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0], "one buffer holds it");
        assert_eq!(content[12..], frame(bytes));
    }
    let counts = Counts { sent: 3, received: 3, bells: 3, ..Counts::default() };
    assert_eq!(guest.net.counts(), counts);
    assert!(guest.shall_ring(1), "for what it sends");
}

#[test]
fn what_is_no_frame_costs_the_guest_that_frame_only() {
    let guest = guest(Nanos::ZERO, Nanos::ZERO);
    let (place, end) = (BUFFERS, MEMORY_BYTES as u64);
    type Chain = &'static [(u64, u32, u16, u16)];
    let chains: [(&str, Chain); 8] = [
        ("too short", &[(BUFFERS, 12 + 13, 0, 0)]),
        ("too long", &[(BUFFERS, 12 + 1515, 0, 0)]),
        ("of no bytes", &[(BUFFERS, 0, 0, 0)]),
        ("to be written", &[(BUFFERS, 100, WRITE, 0)]),
        ("beyond memory", &[(MEMORY_BYTES as u64 - 50, 100, 0, 0)]),
        ("at no address", &[(u64::MAX - 10, 100, 0, 0)]),
        ("endless", &[(BUFFERS, 10, NEXT, 0)]),
        ("of any length", &[(BUFFERS, u32::MAX, NEXT, 1), (BUFFERS, u32::MAX, NEXT, 0)]),
    ];
    for (number, (what, chain)) in (1..).zip(chains) {
        for (index, (place, bytes, flags, next)) in (0..).zip(chain) {
            guest.describe(1, index, *place, *bytes, *flags, *next);
        }
        guest.offer(1, 0);
        guest.ring(1);
        assert_eq!(guest.used(1), (number, 0, 0), "{what}");
        assert_eq!(guest.net.counts().malformed, u64::from(number), "{what}");
    }
    assert!(guest.link.seen().sent.is_empty());
    assert!(place < end && guest.read(0x70) == 15, "the device goes on");
    guest.offer_frame(3, &frame(60));
    guest.ring(1);
    assert_eq!(guest.net.counts().sent, 1);
}

#[test]
fn a_frame_in_pieces_is_put_together() {
    let guest = guest(Nanos::ZERO, Nanos::ZERO);
    guest.offer_frame(0, &frame(60));
    let whole = BUFFERS + 0x1_0000;
    for (index, (from, bytes)) in (1..).zip([(0, 5), (5, 7), (12, 1), (13, 59)]) {
        let next = if index == 4 { 0 } else { NEXT };
        guest.describe(1, index, whole + from, bytes, next, index + 1);
    }
    // The first offer is taken back: the pieces take its place.
    guest.set_word(RINGS + STRETCH + 0x1000 + 4, 1);
    guest.ring(1);
    assert_eq!(guest.link.seen().sent, [frame(60)]);
    assert_eq!(guest.used(1), (1, 1, 0));
}

#[test]
fn a_buffer_that_is_too_short_loses_the_frame_and_none_keeps_it() {
    let guest = guest(Nanos::ZERO, Nanos::ZERO);
    guest.offer_frame(0, &frame(60));
    guest.ring(1);
    assert_eq!(guest.net.counts().received, 0, "there is no buffer");
    assert!(guest.shall_ring(0), "so that it is known when there is one");
    guest.offer_buffer(0);
    guest.ring(0);
    assert_eq!(guest.used(0), (1, 0, 72), "the frame was kept");
    guest.describe(0, 1, BUFFERS, 71, WRITE, 0);
    guest.offer(0, 1);
    guest.offer_frame(1, &frame(60));
    guest.ring(1);
    assert_eq!(guest.used(0), (2, 1, 0));
    let Counts { received, dropped, .. } = guest.net.counts();
    assert_eq!((received, dropped), (1, 1));
}

#[test]
fn an_answer_that_is_late_is_waited_for_or_rung_for() {
    let late = Nanos::from_micros(100);
    let waiting = guest(Nanos::from_micros(200), late);
    waiting.offer_buffer(0);
    waiting.offer_buffer(1);
    waiting.offer_frame(0, &frame(60));
    waiting.ring(1);
    assert_eq!(waiting.net.counts().received, 1);
    assert!(!waiting.shall_ring(0), "nothing comes by itself");

    let ringing = guest(Nanos::ZERO, late);
    ringing.offer_buffer(0);
    ringing.offer_frame(0, &frame(60));
    ringing.ring(1);
    assert_eq!(ringing.net.counts().received, 0);
    assert!(ringing.shall_ring(0), "nobody else would bring it");
    ringing.link.seen().now += late;
    ringing.ring(0);
    assert_eq!(ringing.used(0), (1, 0, 72));
}

#[test]
fn rings_that_can_not_be_cost_the_guest_the_device_until_a_reset() {
    let breaks: [fn(&Guest); 2] = [
        // More entries than the queue has.
        |guest| guest.set_word(RINGS + STRETCH + 0x1000 + 2, 100),
        // A head that is no descriptor.
        |guest| guest.offer(1, 200),
    ];
    for break_it in breaks {
        let guest = guest(Nanos::ZERO, Nanos::ZERO);
        break_it(&guest);
        guest.ring(1);
        assert_eq!(guest.read(0x70) & NEEDS_RESET, NEEDS_RESET);
        assert_eq!(guest.net.counts().broken, 1);
        guest.ring(1);
        assert_eq!(guest.net.counts().bells, 1, "it does not listen any more");
        guest.begin();
        guest.offer_frame(0, &frame(60));
        guest.ring(1);
        assert_eq!(guest.net.counts().sent, 1, "a reset mends it");
    }
}

#[test]
fn a_guest_that_wants_interrupts_gets_them_and_another_does_not() {
    let event = EventFd::new(EFD_NONBLOCK).unwrap();
    let Guest { net, memory, link } = Guest::new(Service::AtBell { wait: Nanos::ZERO });
    let net = net.with_interrupt(event.try_clone().unwrap());
    let guest = Guest { net, memory, link };
    guest.link.seen().echo = Some(Nanos::ZERO);
    guest.begin();
    guest.offer_buffer(0);
    guest.offer_frame(0, &frame(60));
    guest.ring(1);
    assert_eq!(event.read().unwrap(), 2, "for the frame that is out, and for the one that came");
    assert_eq!(guest.read(0x60), 1);
    guest.write(0x64, 1);
    assert_eq!(guest.read(0x60), 0);
    for queue in [0, 1] {
        guest.set_word(RINGS + queue * STRETCH + 0x1000, 1);
    }
    guest.offer_buffer(1);
    guest.offer_frame(1, &frame(60));
    guest.ring(1);
    assert_eq!(guest.used(0).0, 2);
    assert!(event.read().is_err() && guest.read(0x60) == 0, "it polls");
}
