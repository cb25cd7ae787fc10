//! A guest that does with the device what bytes say: for a property test, and for the fuzzer.
//!
//! Whatever it does, the host's process goes on, no frame is longer than one can be or shorter (the
//! link asserts it), and the next guest finds a device that works.

use quietcore_microvm::net::Service;
use quietcore_units::Nanos;
use vm_memory::{Bytes as _, GuestAddress};

use crate::driver::{BUFFERS, Guest, MEMORY_BYTES, RINGS, STRETCH, frame};

/// Things that one guest does at most.
const DEEDS_MAX: usize = 512;

/// Takes numbers from bytes, zero beyond their end.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn word(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    fn double(&mut self) -> u32 {
        u32::from(self.word()) << 16 | u32::from(self.word())
    }

    /// An address: mostly in the guest's memory, sometimes anywhere.
    fn address(&mut self) -> u64 {
        match self.byte() % 8 {
            0 => u64::from(self.double()) << 32 | u64::from(self.double()),
            1 => MEMORY_BYTES as u64 - u64::from(self.byte()),
            2 => RINGS + u64::from(self.word()) % (2 * STRETCH),
            _ => BUFFERS + u64::from(self.word()),
        }
    }
}

/// Does what the bytes say.
pub(crate) fn use_device(bytes: &[u8]) {
    let mut numbers = Numbers(bytes);
    let wait = Nanos::new(u64::from(numbers.byte()));
    let guest = Guest::new(Service::AtBell { wait });
    guest.link.seen().echo =
        Some(Nanos::new(u64::from(numbers.byte()))).filter(|delay| *delay != Nanos::new(7));
    for _ in 0..DEEDS_MAX {
        if numbers.0.is_empty() {
            break;
        }
        do_one(&guest, &mut numbers);
    }
    guest.begin();
    guest.link.seen().sent.clear();
    guest.offer_frame(0, &frame(60));
    guest.ring(1);
    assert_eq!(guest.link.seen().sent, [frame(60)], "a reset mends everything");
}

fn do_one(guest: &Guest, numbers: &mut Numbers<'_>) {
    match numbers.byte() % 10 {
        0 => {
            let (offset, bytes) = (u64::from(numbers.word() % 0x1200), numbers.byte() % 9);
            let value: Vec<u8> = (0..bytes).map(|_| numbers.byte()).collect();
            guest.net.write(offset, &value);
        }
        1 => {
            let (offset, bytes) = (u64::from(numbers.word() % 0x1200), numbers.byte() % 9);
            guest.net.read(offset, &mut vec![0; usize::from(bytes)]);
        }
        2 => {
            let (address, value) = (numbers.address(), numbers.double());
            // Its own memory is all that a guest can write.
            let _ = guest.memory.write_obj(value, GuestAddress(address));
        }
        3 => guest.begin(),
        4 => {
            let queue = u64::from(numbers.byte() % 2);
            let index = u16::from(numbers.byte() % 8);
            let (place, bytes) = (numbers.address(), numbers.double() >> (numbers.byte() % 32));
            let (flags, next) = (numbers.word() % 8, u16::from(numbers.byte() % 10));
            guest.describe(queue, index, place, bytes, flags, next);
        }
        5 => guest.offer(u64::from(numbers.byte() % 2), u16::from(numbers.byte() % 10)),
        6 => guest.ring(u32::from(numbers.byte() % 3)),
        7 => guest.offer_buffer(u16::from(numbers.byte() % 8)),
        8 => {
            let bytes = 14 + usize::from(numbers.word()) % 1501;
            guest.offer_frame(u16::from(numbers.byte() % 8), &frame(bytes));
        }
        _ => {
            let mut seen = guest.link.seen();
            seen.now += Nanos::new(u64::from(numbers.byte()));
            let (now, bytes) = (seen.now, 14 + usize::from(numbers.word()) % 1501);
            if seen.coming.len() < 64 {
                seen.coming.push_back((now, frame(bytes)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whatever_a_guest_does_the_device_goes_on(bytes in vec(any::<u8>(), 0..2_000)) {
            super::use_device(&bytes);
        }
    }
}
