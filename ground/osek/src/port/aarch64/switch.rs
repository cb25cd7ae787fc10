//! The switch from one context to another (AAPCS64).
//!
//! ```text
//!             ┌────────────────────┐ ◄ top, a multiple of 16
//!             │ … frames …         │
//!             │ FPCR               │
//!             │ d8 … d15           │
//!             │ x19 … x28 x29 x30  │ ◄ Context: all there is to know of a context that was left
//!             └────────────────────┘
//! ```
//!
//! The same four ways, with the same promises, as on x86-64; see there for what they are. A task
//! begins with an FPCR of zero, a frame pointer of zero and a return address of zero, at which
//! unwinding ends. FPCR is written only where it differs, since that waits for all that came
//! before.
//!
//! Its tests run under emulation (`qemu-aarch64`), which is no proof of its timing.
// UNSAFETY: changes the stack pointer.
#![expect(unsafe_code, reason = "a context switch is what no safe function can do")]

use core::arch::naked_asm;

/// A context that was left: where its registers lie on its stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Context(*mut u8);

impl Context {
    /// None; must not be resumed.
    pub const NONE: Self = Self(core::ptr::null_mut());
}

/// What a context begins with. The arguments are those of the switch.
pub type Start = extern "C" fn(first: usize, second: usize) -> !;

/// Stores what this context needs in order to go on, and notes where in `[x0]`.
macro_rules! save {
    () => {
        "sub sp, sp, #176
        stp x19, x20, [sp]
        stp x21, x22, [sp, #16]
        stp x23, x24, [sp, #32]
        stp x25, x26, [sp, #48]
        stp x27, x28, [sp, #64]
        stp x29, x30, [sp, #80]
        stp d8, d9, [sp, #96]
        stp d10, d11, [sp, #112]
        stp d12, d13, [sp, #128]
        stp d14, d15, [sp, #144]
        mrs x9, fpcr
        str x9, [sp, #160]
        mov x10, sp
        str x10, [x0]"
    };
}

/// Loads what the context in x1 was left with, and returns to where it called.
macro_rules! resume {
    () => {
        "mov sp, x1
        mrs x9, fpcr
        ldr x10, [sp, #160]
        cmp x9, x10
        b.eq 2f
        msr fpcr, x10
        2:
        ldp x19, x20, [sp]
        ldp x21, x22, [sp, #16]
        ldp x23, x24, [sp, #32]
        ldp x25, x26, [sp, #48]
        ldp x27, x28, [sp, #64]
        ldp x29, x30, [sp, #80]
        ldp d8, d9, [sp, #96]
        ldp d10, d11, [sp, #112]
        ldp d12, d13, [sp, #128]
        ldp d14, d15, [sp, #144]
        add sp, sp, #176
        ret"
    };
}

/// Jumps to the function in x16.
macro_rules! begin {
    () => {
        "mrs x9, fpcr
        cbz x9, 2f
        msr fpcr, xzr
        2:
        mov x29, #0
        mov x30, #0
        br x16"
    };
}

/// Leaves this context, noting it in `save`, and goes on in another. Returns when this one is
/// resumed.
///
/// # Safety
/// `save` is writable. `resume` was noted by a switch, was not resumed since, and its stack is
/// unchanged.
#[unsafe(naked)]
pub unsafe extern "C" fn save_and_resume(save: *mut Context, resume: Context) {
    naked_asm!(save!(), resume!())
}

/// Leaves this context, noting it in `save`, and calls `start(first, second)` on the stack that
/// ends below `top`. Returns when this one is resumed.
///
/// # Safety
/// `save` is writable. `top` is a multiple of 16, and the memory below it is a stack that nothing
/// else uses.
#[unsafe(naked)]
pub unsafe extern "C" fn save_and_begin(
    save: *mut Context,
    top: *mut u8,
    start: Start,
    first: usize,
    second: usize,
) {
    naked_asm!(save!(), "mov sp, x1", "mov x16, x2", "mov x0, x3", "mov x1, x4", begin!())
}

/// Leaves this context for good and goes on in another.
///
/// # Safety
/// As [`save_and_resume`]. Nothing of this context is used any more.
#[unsafe(naked)]
pub unsafe extern "C" fn drop_and_resume(resume: Context) -> ! {
    naked_asm!("mov x1, x0", resume!())
}

/// Leaves this context for good and calls `start(first, second)` on the stack that ends below
/// `top`, which may be this context's.
///
/// # Safety
/// As [`save_and_begin`]. Nothing of this context is used any more.
#[unsafe(naked)]
pub unsafe extern "C" fn drop_and_begin(
    top: *mut u8,
    start: Start,
    first: usize,
    second: usize,
) -> ! {
    naked_asm!("mov sp, x0", "mov x16, x1", "mov x0, x2", "mov x1, x3", begin!())
}

// Miri knows no assembly.
#[cfg(test)]
#[cfg(not(miri))]
#[path = "../x86_64/switch/tests.rs"]
mod tests;
