//! An image that crashes in the way that the host page's job asks for: by its number of bytes.
// UNSAFETY: crashes on purpose.

#![no_std]
#![no_main]
#![expect(unsafe_code, reason = "a crash is not safe")]

use core::fmt::Write as _;
use core::ptr;

use quietcore_guest::host;

#[unsafe(no_mangle)]
extern "C" fn quietcore_guest_main() -> u8 {
    let way = host::page().map_or(0, |page| page.job.bytes);
    let _ = write!(host::Console, "crashing in way {way}");
    match way {
        // SAFETY: not safe at all; there is no memory there.
        1 => unsafe { ptr::without_provenance_mut::<u32>(0x70_0000_0000).write_volatile(1) },
        // SAFETY: an instruction that is none.
        2 => unsafe { core::arch::asm!("ud2") },
        3 => panic!("on purpose"),
        // SAFETY: leaves no stack, so that the next push faults within its fault.
        4 => unsafe { core::arch::asm!("mov rsp, 0x7000000000", "push 1") },
        _ => {}
    }
    42
}
