//! Interrupt levels on the bare machine: the task priority register, which is CR8.
//!
//! ```text
//! vector   0x00 … 0x1F    0x20 … 0xFF
//!          exceptions     class = vector / 16, 2 to 15; passes where class > CR8
//! ```
//!
//! The processor knows sixteen classes, two of them reserved, and the kernel 62 levels of ISRs, so
//! five levels share a class: one of them does not interrupt another. Level 63 is the interrupt
//! flag: nothing passes, whatever its class.
//!
//! Never run yet: it is completed with the virtual machine that runs it.
// UNSAFETY: writes control registers.
#![expect(unsafe_code, reason = "control registers are written by instructions of their own")]

use core::arch::asm;

use crate::port::ALL_HELD;

/// The class of the vectors of ISRs of a level, and of CR8 while it is held back; 2 to 14, and zero
/// for level 0, at which all pass.
pub const fn class_of(level: u8) -> u64 {
    if level == 0 { 0 } else { 1 + (level as u64).div_ceil(5) }
}

/// Sets the interrupt level of this processor.
///
/// # Safety
/// The processor is in ring 0, and its interrupt descriptor table is set up.
#[inline]
pub unsafe fn set(level: u8) {
    if level >= ALL_HELD {
        // SAFETY: our caller is in ring 0. Memory is not declared unchanged: what was written
        // before stays before.
        unsafe { asm!("cli", options(nostack)) };
        return;
    }
    let class = class_of(level);
    // SAFETY: as above; a class is 15 at most.
    unsafe { asm!("mov cr8, {}", in(reg) class, options(nostack)) };
    // SAFETY: our caller has a descriptor table.
    unsafe { asm!("sti", options(nostack)) };
}

/// Waits for an interrupt, at level 0.
///
/// # Safety
/// As [`set`].
#[inline]
pub unsafe fn wait() {
    // SAFETY: as our caller promises. `sti` lets nothing in before `hlt`, so that no interrupt is
    // missed between the two.
    unsafe { asm!("sti", "hlt", options(nostack)) };
}

const _: () = assert!(class_of(ALL_HELD - 1) <= 14);
