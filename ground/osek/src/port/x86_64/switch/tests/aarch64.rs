//! Registers as tests of the switch look at them, on 64-bit Arm.
// UNSAFETY: looks at registers.
#![expect(unsafe_code, reason = "registers are looked at")]

use core::arch::asm;

use super::{Context, save_and_resume};

/// FPCR: as a context begins, and two others. There is no second word.
pub(super) const ROUNDINGS: [(u32, u16); 3] = [(0, 0), (1 << 22, 0), (2 << 22, 0)];

pub(super) fn control_words() -> (u32, u16) {
    let word: u64;
    // SAFETY: reads a register.
    unsafe { asm!("mrs {}, fpcr", out(reg) word, options(nomem, nostack)) };
    (word as u32, 0)
}

pub(super) fn set_control_words((word, _): (u32, u16)) {
    // SAFETY: only the rounding mode is changed, and given back by the test.
    unsafe { asm!("msr fpcr, {}", in(reg) u64::from(word), options(nomem, nostack)) };
}

// Inlined, so that it is the caller's.
#[inline(always)]
pub(super) fn stack_pointer() -> usize {
    let pointer: usize;
    // SAFETY: reads the stack pointer.
    unsafe { asm!("mov {}, sp", out(reg) pointer, options(nomem, nostack)) };
    pointer
}

/// Writes to registers that a callee preserves.
pub(super) fn spoil() {
    // SAFETY: they are declared as changed.
    unsafe {
        asm!(
            "mov x20, #-1",
            "mov x28, #-1",
            "fmov d8, xzr",
            "fmov d15, xzr",
            out("x20") _, out("x28") _, out("d8") _, out("d15") _,
        );
    }
}

/// Switches with these values in registers that a callee preserves, and reads them back.
///
/// # Safety
/// As [`save_and_resume`].
pub(super) unsafe fn with_values(values: &mut [u64; 6], save: *mut Context, resume: Context) {
    // SAFETY: there are six words. The call follows the ABI: all registers that a callee may
    // change, and those used here, are declared as changed.
    unsafe {
        asm!(
            "str x2, [sp, #-16]!",
            "ldp x20, x21, [x2]",
            "ldp x27, x28, [x2, #16]",
            "ldp d8, d15, [x2, #32]",
            "bl {switch}",
            "ldr x2, [sp], #16",
            "stp x20, x21, [x2]",
            "stp x27, x28, [x2, #16]",
            "stp d8, d15, [x2, #32]",
            switch = sym save_and_resume,
            in("x0") save,
            in("x1") resume.0,
            in("x2") values.as_mut_ptr(),
            out("x20") _, out("x21") _, out("x27") _, out("x28") _, out("d8") _, out("d15") _,
            clobber_abi("C"),
        );
    }
}
