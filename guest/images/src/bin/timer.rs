//! An image that has its timer go off a hundred times and says how late it was.

#![cfg_attr(target_os = "none", no_std, no_main)]
#![cfg_attr(target_os = "none", allow(unsafe_code, reason = "an image shares state with its interrupts"))]

#[cfg(not(target_os = "none"))]
fn main() {
    eprintln!("an image for a guest; build it for x86_64-unknown-none");
}

#[cfg(target_os = "none")]
mod image {
    use core::fmt::Write as _;
    use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use quietcore_boot::HostPage;
    use quietcore_guest::apic::{Apic, TIMER_VECTOR};
    use quietcore_guest::clock::Clock;
    use quietcore_guest::{host, interrupts};

    static COUNT: AtomicU64 = AtomicU64::new(0);

    #[unsafe(no_mangle)]
    extern "C" fn quietcore_guest_main() -> u8 {
        let page = host::page().unwrap_or(HostPage { counter_hz: 1_000_000_000, ..HostPage::default() });
        let clock = Clock::new(&page);
        // SAFETY: the one processor, with interrupts off.
        let apic = unsafe { Apic::switch_on(clock) };
        interrupts::on_interrupt(|vector| {
            if vector == TIMER_VECTOR {
                COUNT.fetch_add(1, Relaxed);
            }
        });
        let mut longest = 0;
        for count in 0..100 {
            let due = apic.now() + 100_000;
            apic.set_timer(Some(due));
            while COUNT.load(Relaxed) == count {
                // SAFETY: interrupts are let in for the halt alone.
                unsafe { core::arch::asm!("sti", "hlt", "cli", options(nostack)) };
            }
            apic.end_of_interrupt();
            longest = longest.max(apic.now().saturating_sub(due));
        }
        let _ = writeln!(host::Console, "{apic:?}\n100 times, {longest} ns late at most");
        0
    }
}
