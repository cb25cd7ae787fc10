//! The clock board's registers and its instants, driven by a guest that writes whatever it likes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quietcore_boot::board::{PERIOD_MAX, PERIOD_MIN, port};
use quietcore_microvm::board::{Registers, Schedule, Written};

/// A write: which port, how many bytes, these, and how much later the board looks, in ns.
type Write = (u8, u8, [u8; 8], u32);

fuzz_target!(|writes: Vec<Write>| {
    let (mut registers, mut schedule) = (Registers::default(), Schedule::default());
    let mut now_ns = 0_u64;
    for (place, length, bytes, later) in writes {
        let number = port::PERIOD.wrapping_add(u16::from(place % 8)).wrapping_sub(1);
        let data = &bytes[..usize::from(length % 9)];
        now_ns += u64::from(later);
        if let Written::Order(order) = registers.write(number, data) {
            assert!((PERIOD_MIN..=PERIOD_MAX).contains(&order.period));
            schedule.follow(order, u32::from(place / 8), now_ns);
        }
        if let Some(due_ns) = schedule.next_ns().filter(|due_ns| *due_ns <= now_ns) {
            schedule.raised(now_ns);
            let next_ns = schedule.next_ns().expect("the board is on");
            assert!(due_ns < next_ns && now_ns < next_ns);
        }
        let mut answer = [0; 8];
        registers.read(number, &mut answer[..data.len()]);
    }
});
