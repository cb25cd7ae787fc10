//! A MainDevice among SubDevices that answer whatever they like.

use proptest::prelude::*;
use quietcore_wire::fake::FakeWire;

use super::*;
use crate::expectation::StartUp;
use crate::frame::datagrams;
use crate::mailbox::{Mailbox, Object};
use crate::subdevice::{ClockSettings, SyncSettings};

/// A SubDevice with everything that the supervision asks for.
fn equipped(position: u16) -> SubDevice {
    let managers = [
        [0x00, 0x10, 32, 0, 0x26, 0, 1, 0],
        [0x80, 0x10, 32, 0, 0x22, 0, 1, 0],
        [0x00, 0x11, 2, 0, 0x64, 0, 1, 0],
    ];
    let place = 2 * usize::from(position);
    let object = Object { index: 0x6020, subindex: 1, complete: false };
    let sync = SyncSettings { activation: 3, start_ns: 5, period_ns: 1_000_000, second_ns: 0 };
    SubDevice {
        managers: managers.to_vec(),
        fmmus: alloc::vec![[0; 16]; 2],
        mailbox: Mailbox::of(&managers),
        clock: Some(ClockSettings { delay_ns: 500, sync: Some(sync) }),
        start_up: alloc::vec![StartUp { object, data: alloc::vec![1; 40] }],
        ..SubDevice::fake(position, place..place + 2, 10 + place..12 + place)
    }
}

proptest! {
    /// Goal: nothing that comes back from the wire makes the MainDevice panic or wait too long.
    /// Method: each datagram comes back with other data and another working counter, some frames
    /// not at all.
    #[test]
    fn whatever_subdevices_answer_the_cycle_goes_on(
        noise in prop::collection::vec((prop_oneof![any::<u8>(), Just(0xFF)], 0_u16..4), 1..60),
        truncate: bool,
    ) {
        let mut next = 0;
        let mut wire = FakeWire::new(|frame: &mut [u8]| {
            let sizes: Vec<_> = datagrams(frame).map(|one| one.data.len()).collect();
            let mut at = 16;
            for bytes in sizes {
                let (value, counter) = noise[next % noise.len()];
                next += 1;
                for (offset, byte) in frame[at + 10..at + 10 + bytes].iter_mut().enumerate() {
                    let same = value == 0xFF;
                    *byte = if same { value } else { value.wrapping_mul(offset as u8 | 1) };
                }
                let end = at + 10 + bytes;
                frame[end..end + 2].copy_from_slice(&counter.to_le_bytes());
                if truncate && value == 0 {
                    frame[at] ^= 0xFF;
                }
                at = end + 2;
            }
        });
        let mut fieldbus = Fieldbus::assemble(&mut wire, alloc::vec![equipped(0), equipped(1)]);
        for _ in 0..300 {
            let until = fieldbus.wire().now() + Nanos::from_millis(1);
            let outcome = fieldbus.cycle(until);
            prop_assert!(fieldbus.wire().now() <= until, "{outcome:?}");
            fieldbus.supervise();
            fieldbus.wire_mut().advance(Nanos::from_millis(50));
            while fieldbus.take_alarm().is_some() {}
        }
    }
}
