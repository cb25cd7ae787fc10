//! An image that has its timer go off a hundred times and says how late it was.
// UNSAFETY: lets interrupts in, and is called by a name.

#![no_std]
#![no_main]
#![expect(unsafe_code, reason = "an image lets interrupts in")]

use core::fmt::Write as _;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use quietcore_boot::HostPage;
use quietcore_guest::apic::{Apic, TIMER_VECTOR};
use quietcore_guest::clock::Clock;
use quietcore_guest::probing::halt;
use quietcore_guest::{host, interrupts};

/// Used in place of the counter's frequency if no host says one.
const GUESS: HostPage = HostPage::of_counter(1_000_000_000);
const PAUSE_NS: u64 = 100_000;

static COUNT: AtomicU64 = AtomicU64::new(0);

#[unsafe(no_mangle)]
extern "C" fn quietcore_guest_main() -> u8 {
    let clock = Clock::new(&host::page().unwrap_or(GUESS));
    // SAFETY: the one processor, with interrupts off.
    let apic = unsafe { Apic::switch_on(clock) };
    interrupts::on_interrupt(|vector, interrupted| {
        interrupted.leave_halt();
        if vector == TIMER_VECTOR {
            COUNT.fetch_add(1, Relaxed);
        }
    });
    let (mut early, mut longest) = (0, 0);
    for count in 0..100 {
        let due = apic.now() + PAUSE_NS;
        apic.set_timer(Some(due));
        while COUNT.load(Relaxed) == count {
            halt();
        }
        apic.end_of_interrupt();
        let now = apic.now();
        early += u32::from(now < due);
        longest = longest.max(now.saturating_sub(due));
    }
    let _ = writeln!(host::Console, "100 times, {early} early, {longest} ns late at most");
    0
}
