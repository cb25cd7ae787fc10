//! The entries of interrupts.
//!
//! The processor enters on a stack of its own. From there the entry goes on below what the
//! interrupted code has on its stack, beyond the 128 bytes that this may use without having moved
//! the stack pointer (System V ABI, 3.2.2):
//!
//! ```text
//! interrupted stack                          entry stack
//! │ … frames …        │ ◄ stack pointer      │ frame of the processor │
//! │ 128 bytes in use  │                      └────────────────────────┘
//! │ frame, copied     │
//! │ volatile registers│ ◄ the handler runs here; it may leave this context, and come back
//! ```
//!
//! So the entry stack is free again before interrupts are let in, and what was interrupted may be
//! left for another context and gone on with later.
// UNSAFETY: is entered by the processor.
#![expect(unsafe_code, reason = "the processor enters with a frame of its own")]

use core::arch::{asm, global_asm};
use core::mem::transmute;
use core::ptr;
use core::sync::atomic::{
    AtomicPtr,
    Ordering::{Acquire, Release},
};

/// The first vector that is no exception.
pub(crate) const FIRST: usize = 32;
/// How many there are from there.
pub(crate) const COUNT: usize = 224;
/// How far the entries are apart.
const ENTRY_BYTES: u64 = 16;

// SAFETY: what the assembler, the linker or the image defines under these names is of these types.
unsafe extern "C" {
    safe static quietcore_guest_interrupts: u8;
}

/// What an interrupt has interrupted, as it goes on.
#[derive(Debug)]
#[repr(C)]
pub struct Interrupted {
    registers: [u64; 10],
    /// The instruction that comes next.
    pub instruction: u64,
    code_segment: u64,
    flags: u64,
    /// The stack pointer.
    pub stack: u64,
    stack_segment: u64,
}

/// What is done at an interrupt, with interrupts off, on the stack of what it interrupts. It may
/// leave that context for another; it returns when that goes on, as is said then.
pub type Handler = fn(vector: u8, interrupted: &mut Interrupted);

static HANDLER: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

/// Says what is done at interrupts. Until then, nothing is.
pub fn on_interrupt(handler: Handler) {
    HANDLER.store(handler as *mut (), Release);
}

extern "C" fn handle(vector: u64, interrupted: &mut Interrupted) {
    let handler = HANDLER.load(Acquire);
    if !handler.is_null() {
        // SAFETY: `on_interrupt` made the pointer from such a function.
        let handler = unsafe { transmute::<*mut (), Handler>(handler) };
        handler(vector as u8, interrupted);
    }
}

global_asm!(
    r#"
    .text
    .balign 16
    .globl quietcore_guest_interrupts
quietcore_guest_interrupts:
    .set vector, {first}
    .rept {count}
    .balign 16
    push rdi
    mov edi, vector
    jmp quietcore_guest_enter
    .set vector, vector + 1
    .endr
quietcore_guest_enter:
    # Entry stack: rdi, then the frame: instruction, segment, flags, stack, segment.
    push rsi
    mov rsi, [rsp + 40]
    sub rsi, 128
    and rsi, -16
    push rax
    mov rax, [rsp + 56]
    mov [rsi - 8], rax
    mov rax, [rsp + 48]
    mov [rsi - 16], rax
    mov rax, [rsp + 40]
    mov [rsi - 24], rax
    mov rax, [rsp + 32]
    mov [rsi - 32], rax
    mov rax, [rsp + 24]
    mov [rsi - 40], rax
    mov rax, [rsp + 16]
    mov [rsi - 48], rax
    mov rax, [rsp + 8]
    mov [rsi - 56], rax
    mov rax, [rsp]
    lea rsp, [rsi - 56]
    # Interrupted stack: rsi, rdi, then the frame.
    push rax
    push rcx
    push rdx
    push r8
    push r9
    push r10
    push r11
    push rbp
    mov rbp, rsp
    mov rsi, rsp
    and rsp, -16
    cld
    call {handle}
    mov rsp, rbp
    pop rbp
    pop r11
    pop r10
    pop r9
    pop r8
    pop rdx
    pop rcx
    pop rax
    pop rsi
    pop rdi
    iretq
"#,
    first = const FIRST,
    count = const COUNT,
    handle = sym handle
);

/// Does something with interrupts off.
#[inline]
pub(crate) fn without_interrupts<R>(work: impl FnOnce() -> R) -> R {
    let flags: u64;
    // SAFETY: reads the flags and holds interrupts back.
    unsafe { asm!("pushfq", "pop {}", "cli", out(reg) flags) };
    let result = work();
    if flags & 1 << 9 != 0 {
        // SAFETY: they were let in before.
        unsafe { asm!("sti", options(nomem, nostack)) };
    }
    result
}

/// The address of a vector's entry, which is 32 or more.
pub(crate) fn entry(vector: usize) -> u64 {
    let first = (&raw const quietcore_guest_interrupts).expose_provenance() as u64;
    first + (vector - FIRST) as u64 * ENTRY_BYTES
}
