//! The device with a thread that serves it.

use std::thread;
use std::time::{Duration, Instant};

use quietcore_microvm::net::{Net, Service};
use quietcore_units::Nanos;

use crate::driver::{Guest, frame};

/// No thread takes so long for a few frames, on an emulated machine neither.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until something holds.
fn soon(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "{what}");
        thread::yield_now();
    }
}

/// Has the thread that serves a device return, also where a test fails: else its scope would wait
/// for ever.
struct Stop<'a>(&'a Net);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Runs a guest beside the thread that serves it.
fn served(spin: Nanos, run: impl Fn(&Guest)) {
    let guest = Guest::new(Service::Thread { spin });
    guest.link.seen().echo = Some(Nanos::ZERO);
    thread::scope(|scope| {
        scope.spawn(|| guest.net.serve(None));
        let _stop = Stop(&guest.net);
        guest.begin();
        run(&guest);
    });
}

#[test]
fn a_thread_that_sleeps_is_rung() {
    served(Nanos::ZERO, |guest| {
        for index in 0..4 {
            soon("it asks to be rung", || guest.shall_ring(1));
            guest.offer_buffer(index);
            guest.offer_frame(index, &frame(60));
            let before = guest.net.counts().bells;
            guest.ring(1);
            soon("the answer comes", || guest.used(0).0 == index + 1);
            // A thread that saw the frame right before it slept answers before it takes the bell,
            // and takes two that it has not taken yet as one.
            soon("the bell is taken", || guest.net.counts().bells > before);
        }
    });
}

#[test]
fn a_thread_that_spins_sees_a_frame_without_a_bell() {
    served(Nanos::MAX, |guest| {
        soon("it need not be rung", || !guest.shall_ring(1));
        let begun = guest.net.counts().bells;
        for index in 0..4 {
            guest.offer_buffer(index);
            guest.offer_frame(index, &frame(60));
            soon("the answer comes", || guest.used(0).0 == index + 1);
        }
        assert_eq!(guest.net.counts().bells, begun);
    });
}

#[test]
fn a_frame_that_comes_by_itself_is_waited_for_and_a_buffer_for_it_too() {
    served(Nanos::ZERO, |guest| {
        soon("it asks for a buffer", || guest.shall_ring(0));
        guest.link.seen().coming.push_back((Nanos::ZERO, frame(60)));
        guest.offer_buffer(0);
        guest.ring(0);
        soon("the frame comes", || guest.used(0).0 == 1);
    });
}

#[test]
fn a_guest_that_breaks_the_device_does_not_keep_its_thread_busy() {
    served(Nanos::MAX, |guest| {
        guest.offer(1, 200);
        guest.ring(1);
        soon("it is broken", || guest.net.counts().broken == 1);
        guest.begin();
        guest.offer_frame(0, &frame(60));
        guest.ring(1);
        soon("a reset mends it", || guest.net.counts().sent == 1);
    });
}

#[test]
fn a_guest_without_end_does_not_keep_the_thread_from_pausing() {
    served(Nanos::ZERO, |guest| {
        guest.link.seen().echo = None;
        guest.link.seen().endless = Some(guest.memory.clone());
        guest.offer_frame(0, &frame(60));
        guest.ring(1);
        soon("it pauses", || guest.net.counts().pauses >= 3);
        assert_eq!(guest.net.counts().broken, 0);
    });
}
