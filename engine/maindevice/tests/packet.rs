//! The MainDevice over raw sockets, with the simulated segment on the other end of a pair of
//! virtual interfaces.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use quietcore_maindevice::{Expectation, Fieldbus};
use quietcore_segment::{Options, Segment, SubDevice};
use quietcore_skip::own_network;
use quietcore_units::Nanos;
use quietcore_wire::{PacketWire, Server, Wire as _};

/// Goal: what works in process works over a wire, on the machine's own clock.
#[test]
fn a_drive_on_a_wire_is_switched_on() {
    own_network!();
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    let line = ["coupler", "digital-output-8", "servo-drive"];
    let server = thread::spawn(move || {
        let subdevices = line.iter().map(|name| SubDevice::by_name(name).unwrap()).collect();
        let segment = Segment::new(subdevices, Options::default());
        let wire = PacketWire::open("right").unwrap();
        Server::new(wire, segment).serve(|_| asked.load(Ordering::Relaxed)).unwrap()
    });
    let wire = PacketWire::open("left").unwrap();
    let expectation = Expectation::anything(Nanos::from_millis(1));
    let mut fieldbus = Fieldbus::bring_up(wire, &expectation).unwrap();
    let mut complete = 0;
    for control in [0x06_u8, 0x07, 0x0F] {
        fieldbus.outputs_mut(2)[0] = control;
        for _ in 0..100 {
            let until = fieldbus.wire().now() + Nanos::from_millis(100);
            complete += u32::from(fieldbus.cycle(until).is_complete());
            fieldbus.supervise();
        }
    }
    // Other work on this machine may hold a frame up beyond its time.
    assert!(complete > 290, "{complete} of 300 cycles were complete");
    assert_eq!(fieldbus.inputs(2)[0] & 0x6F, 0x27, "operation enabled");
    stop.store(true, Ordering::Relaxed);
    let served = server.join().unwrap();
    assert_eq!(served.received, served.answered);
}
