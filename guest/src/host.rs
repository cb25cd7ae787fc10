//! The memory that the host fills, and the ports by which it hears the guest.
// UNSAFETY: reads memory that the host wrote, and writes to ports.
#![expect(unsafe_code, reason = "ports and the host's page are beyond what Rust knows")]

use core::arch::asm;
use core::fmt;
use core::ptr;
use core::sync::atomic::AtomicU64;

use quietcore_boot::{
    CRASH_RECORD, CrashRecord, HOST_PAGE, HOST_TIME, HostPage, HostTime, LATE_BYTES, LATE_RELEASES,
    LateReleases, RECORD_BYTES, Refused, port,
};

use crate::{devices, xen};

/// Returns the page that the host filled before it started this guest.
///
/// # Errors
/// [`Refused`].
pub fn page() -> Result<HostPage, Refused> {
    let place: *const [u8; RECORD_BYTES] = ptr::with_exposed_provenance(HOST_PAGE as usize);
    // SAFETY: the page is memory of this guest that nothing else uses, and no reference to it is
    // made.
    let bytes = unsafe { place.read_volatile() };
    HostPage::from_bytes(&bytes)
}

/// Returns the host's time, in its page.
pub fn time() -> HostTime<'static> {
    let word = |index: u64| {
        let place = ptr::with_exposed_provenance_mut((HOST_TIME + 8 * index) as usize);
        // SAFETY: aligned memory of this guest for ever, which all reach by atomics from now on.
        unsafe { AtomicU64::from_ptr(place) }
    };
    HostTime::new([word(0), word(1), word(2)])
}

/// Tells of releases that were late.
pub fn tell_late(late: &LateReleases) {
    let place: *mut [u8; LATE_BYTES] = ptr::with_exposed_provenance_mut(LATE_RELEASES as usize);
    // SAFETY: memory of this guest that nothing else uses, and no reference to it is made.
    unsafe { place.write_volatile(late.to_bytes()) };
    // SAFETY: the port is the host's, which asked for it.
    unsafe {
        asm!(
            "out dx, al",
            in("dx") port::LATE, in("al") 0_u8,
            options(nostack, preserves_flags),
        );
    }
}

/// Leaves a crash record and ends.
pub fn crash(record: &CrashRecord) -> ! {
    let place: *mut [u8; RECORD_BYTES] = ptr::with_exposed_provenance_mut(CRASH_RECORD as usize);
    // SAFETY: as above.
    unsafe { place.write_volatile(record.to_bytes()) };
    end(port::CRASHED)
}

/// Ends this guest with a status.
pub fn end(status: u8) -> ! {
    devices::note_end(status);
    loop {
        if xen::is_here() {
            xen::end();
        }
        // SAFETY: the port is the host's. A host that does not know it lets this guest halt.
        unsafe {
            asm!(
                "out dx, al", "cli", "hlt",
                in("dx") port::END, in("al") status,
                options(nomem, nostack),
            );
        }
    }
}

/// The console. What is written to it at once leaves the guest once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Console;

impl fmt::Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if xen::say(text.as_bytes()) {
            return Ok(());
        }
        // SAFETY: reads the text, and writes it to a port that takes text.
        unsafe {
            asm!(
                "rep outsb",
                in("dx") port::CONSOLE,
                inout("rsi") text.as_ptr() => _,
                inout("rcx") text.len() => _,
                options(readonly, nostack),
            );
        }
        Ok(())
    }
}
