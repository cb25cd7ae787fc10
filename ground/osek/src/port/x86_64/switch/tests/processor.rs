//! Registers as tests of the switch look at them.
// UNSAFETY: looks at registers.
#![expect(unsafe_code, reason = "registers are looked at")]

use core::arch::asm;

use super::{Context, save_and_resume};

/// Control bits of MXCSR and the x87 control word: as a context begins, and two others.
pub(super) const ROUNDINGS: [(u32, u16); 3] =
    [(0x1F80, 0x037F), (0x3F80, 0x077F), (0x5F80, 0x0B7F)];

pub(super) fn control_words() -> (u32, u16) {
    let mut mxcsr = 0_u32;
    let mut word = 0_u16;
    // SAFETY: stores four bytes.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut mxcsr, options(nostack)) };
    // SAFETY: stores two bytes.
    unsafe { asm!("fnstcw [{}]", in(reg) &raw mut word, options(nostack)) };
    (mxcsr & 0xFFC0, word)
}

pub(super) fn set_control_words((mxcsr, word): (u32, u16)) {
    // SAFETY: only rounding modes and precision are changed, and given back by the test.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const mxcsr, options(nostack)) };
    // SAFETY: as above.
    unsafe { asm!("fldcw [{}]", in(reg) &raw const word, options(nostack)) };
}

// Inlined, so that it is the caller's.
#[inline(always)]
pub(super) fn stack_pointer() -> usize {
    let pointer: usize;
    // SAFETY: reads the stack pointer.
    unsafe { asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack)) };
    pointer
}

/// Writes to all registers that a callee preserves.
pub(super) fn spoil() {
    // SAFETY: they are declared as changed, or given back.
    unsafe {
        asm!(
            "push rbx",
            "push rbp",
            "mov rbx, -1",
            "mov rbp, -1",
            "mov r12, -1",
            "mov r13, -1",
            "mov r14, -1",
            "mov r15, -1",
            "pop rbp",
            "pop rbx",
            out("r12") _, out("r13") _, out("r14") _, out("r15") _,
        );
    }
}

/// Switches with these values in the registers that a callee preserves, and reads them back.
///
/// # Safety
/// As [`save_and_resume`].
pub(super) unsafe fn with_values(values: &mut [u64; 6], save: *mut Context, resume: Context) {
    // SAFETY: there are six words; rbx and rbp are given back. The call follows the ABI: the stack
    // is aligned, and all registers that a callee may change are declared as changed.
    unsafe {
        asm!(
            "push rbx",
            "push rbp",
            "push rdx",
            "mov r12, [rdx]",
            "mov r13, [rdx + 8]",
            "mov r14, [rdx + 16]",
            "mov r15, [rdx + 24]",
            "mov rbx, [rdx + 32]",
            "mov rbp, [rdx + 40]",
            "mov rax, rsp",
            "and rsp, -16",
            "push rax",
            "push rax",
            "call {switch}",
            "pop rsp",
            "pop rdx",
            "mov [rdx], r12",
            "mov [rdx + 8], r13",
            "mov [rdx + 16], r14",
            "mov [rdx + 24], r15",
            "mov [rdx + 32], rbx",
            "mov [rdx + 40], rbp",
            "pop rbp",
            "pop rbx",
            switch = sym save_and_resume,
            in("rdi") save,
            in("rsi") resume.0,
            in("rdx") values.as_mut_ptr(),
            out("r12") _, out("r13") _, out("r14") _, out("r15") _,
            clobber_abi("C"),
        );
    }
}
