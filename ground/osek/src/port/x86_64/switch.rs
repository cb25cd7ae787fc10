//! The switch from one context to another (System V ABI, x86-64).
//!
//! ```text
//!             ┌────────────────────┐ ◄ top, a multiple of 16
//!             │ 0                  │ return address of the first function: unwinding ends here
//!             │ … frames …         │
//!             │ return address     │ of the function that called the switch
//!             │ rbp rbx r12 … r15  │
//!             │ FCW      MXCSR     │ ◄ Context: all there is to know of a context that was left
//!             └────────────────────┘
//! ```
//!
//! A switch is a function call, so only what a callee preserves is saved. Of MXCSR and the x87
//! control word these are the control bits; they are rarely different between contexts, and loading
//! them is slower than all the rest, so it is done only where they are. A task begins with both as
//! after power-on: all exceptions masked, rounding to nearest, x87 with 64 bits of precision.
//!
//! Four ways, as a context that ended need not be saved and one that begins has nothing to restore:
//!
//! | | the other one goes on | the other one begins |
//! |---|---|---|
//! | this one goes on later | [`save_and_resume`] | [`save_and_begin`] |
//! | this one is over | [`drop_and_resume`] | [`drop_and_begin`] |
//!
//! Limits: shadow stacks (CET) must be off, since returning on another stack is what they forbid.
//! The thread pointer, segment registers and the direction flag are not touched.
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

/// The function that a context begins with. The arguments are those of the switch.
pub type Start = extern "C" fn(first: usize, second: usize) -> !;

/// Pushes what this context needs in order to go on. Then eax and r11d hold the control words.
macro_rules! save {
    () => {
        "push rbp
        push rbx
        push r12
        push r13
        push r14
        push r15
        sub rsp, 8
        stmxcsr [rsp]
        fnstcw [rsp + 4]
        mov eax, [rsp]
        movzx r11d, word ptr [rsp + 4]"
    };
}

/// Reads the control words into eax and r11d. The red zone lends the place.
macro_rules! note {
    () => {
        "stmxcsr [rsp - 8]
        fnstcw [rsp - 4]
        mov eax, [rsp - 8]
        movzx r11d, word ptr [rsp - 4]"
    };
}

/// Pops what a context was left with and returns to where it called. 0xFFC0 are the control bits
/// of MXCSR; the others say what happened.
macro_rules! resume {
    () => {
        "xor eax, [rsp]
        test eax, 0xFFC0
        jne 2f
        cmp r11w, [rsp + 4]
        jne 2f
        3:
        add rsp, 8
        pop r15
        pop r14
        pop r13
        pop r12
        pop rbx
        pop rbp
        ret
        2:
        ldmxcsr [rsp]
        fldcw [rsp + 4]
        jmp 3b"
    };
}

/// Jumps to the function in r10 with a return address of zero.
macro_rules! begin {
    () => {
        "xor eax, 0x1F80
        test eax, 0xFFC0
        jne 2f
        cmp r11w, 0x037F
        jne 2f
        3:
        xor ebp, ebp
        push 0
        jmp r10
        2:
        push 0x037F
        fldcw [rsp]
        mov dword ptr [rsp], 0x1F80
        ldmxcsr [rsp]
        pop rax
        jmp 3b"
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
    naked_asm!(save!(), "mov [rdi], rsp", "mov rsp, rsi", resume!())
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
    naked_asm!(
        save!(),
        "mov [rdi], rsp",
        "mov rsp, rsi",
        "mov r10, rdx",
        "mov rdi, rcx",
        "mov rsi, r8",
        begin!()
    )
}

/// Leaves this context for good and goes on in another.
///
/// # Safety
/// As [`save_and_resume`]. Nothing of this context is used any more.
#[unsafe(naked)]
pub unsafe extern "C" fn drop_and_resume(resume: Context) -> ! {
    naked_asm!(note!(), "mov rsp, rdi", resume!())
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
    naked_asm!(note!(), "mov r10, rsi", "mov rsp, rdi", "mov rdi, rdx", "mov rsi, rcx", begin!())
}

// Miri knows no assembly.
#[cfg(test)]
#[cfg(not(miri))]
mod tests;
