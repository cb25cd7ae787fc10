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
//!
//! No processor enters while interrupts are held back. QEMU's emulated SVM does: where an interrupt
//! was injected and QEMU's own thread is called away before the next exit, it delivers the same
//! interrupt once more (its `helper_vmrun` leaves `exception_index` at the vector; so in 7.2 and
//! 10.0). Such an entry raises the interrupt again, for when interrupts are let in, and does no
//! more. Nothing is lost by it but where the frame of the first one is still on the entry stack,
//! which the second overwrites. What was interrupted is known then if it was [`wait`], and else the
//! guest can't go on, and says why.
// UNSAFETY: is entered by the processor.
#![expect(unsafe_code, reason = "the processor enters with a frame of its own")]

use core::arch::{asm, global_asm};
use core::mem::transmute;
use core::ptr;
use core::sync::atomic::{
    AtomicPtr, AtomicU64,
    Ordering::{Acquire, Release},
};

use quietcore_boot::CrashRecord;

use crate::apic;
use crate::descriptors::{self, ENTRY_STACK_BYTES};
use crate::host;

/// The first vector that is no exception.
pub(crate) const FIRST: usize = 32;
/// Number of vectors from there.
pub(crate) const COUNT: usize = 224;
/// Of the flags: interrupts are let in.
const LET_IN: u64 = 1 << 9;
/// Distance of the entries in bytes.
const ENTRY_BYTES: u64 = 16;

// SAFETY: what the assembler, the linker or the image defines under these names is of these types.
unsafe extern "C" {
    safe static quietcore_guest_interrupts: u8;
    safe static quietcore_guest_halt_place: u8;
    fn quietcore_guest_wait();
}

/// The stack pointer of [`wait`] while it waits, else zero.
static WAITING: AtomicU64 = AtomicU64::new(0);

/// Lets interrupts in until one has come, and leaves them so.
#[inline]
pub fn wait() {
    // SAFETY: it changes nothing but the flag of interrupts.
    unsafe { quietcore_guest_wait() };
}

/// The context that an interrupt has interrupted, as it goes on.
#[derive(Debug)]
#[repr(C)]
pub struct Interrupted {
    registers: [u64; 10],
    /// The instruction that comes next.
    pub instruction: u64,
    code_segment: u64,
    flags: u64,
    /// Its stack pointer (rsp).
    pub stack: u64,
    stack_segment: u64,
}

impl Interrupted {
    /// Has an interrupt that came just before the halt of [`wait`] end it, too. A processor lets
    /// none in there, but an emulated one below a hypervisor may: what is waited for would have
    /// come, and the guest would sleep on.
    pub fn leave_halt(&mut self) {
        let place = (&raw const quietcore_guest_halt_place).expose_provenance() as u64;
        if self.instruction == place {
            // The halt is one byte.
            self.instruction += 1;
        }
    }
}

/// Handles an interrupt, with interrupts off, on the stack of what it interrupts. It may leave that
/// context for another; it returns when that goes on, as is said then.
pub type Handler = fn(vector: u8, interrupted: &mut Interrupted);

static HANDLER: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

/// Says what is done at interrupts. Until then, nothing is.
pub fn on_interrupt(handler: Handler) {
    HANDLER.store(handler as *mut (), Release);
}

extern "C" fn handle(vector: u64, interrupted: &mut Interrupted) {
    if interrupted.flags & LET_IN == 0 {
        apic::raise_again(vector as u8);
        return;
    }
    let handler = HANDLER.load(Acquire);
    if !handler.is_null() {
        // SAFETY: `on_interrupt` made the pointer from such a function.
        let handler = unsafe { transmute::<*mut (), Handler>(handler) };
        handler(vector as u8, interrupted);
    }
}

/// An interrupt came while they were held back, and what the one before it has interrupted is lost.
extern "C" fn lost() -> ! {
    host::crash(&CrashRecord { vector: CrashRecord::HELD_BACK, ..CrashRecord::default() });
}

global_asm!(
    r#"
    .text
    .globl quietcore_guest_wait
quietcore_guest_wait:
    mov [rip + {waiting}], rsp
    sti
    .globl quietcore_guest_halt_place
quietcore_guest_halt_place:
    hlt
quietcore_guest_waited:
    mov qword ptr [rip + {waiting}], 0
    ret
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
quietcore_guest_held_back:
    push rsi
    # A handler is on another stack, and its frame is whole.
    mov rsi, [rsp + 40]
    sub rsi, offset {entry_stack}
    cmp rsi, {entry_stack_bytes}
    ja 1f
    mov rsi, [rip + {waiting}]
    test rsi, rsi
    jz 2f
    mov [rsp + 40], rsi
    mov qword ptr [rsp + 32], 0x202
    mov qword ptr [rsp + 16], offset quietcore_guest_waited
1:
    pop rsi
    jmp quietcore_guest_go_on
2:
    mov rsp, offset {exception_stack} + {exception_stack_bytes}
    call {lost}
quietcore_guest_enter:
    # Entry stack: rdi, then the frame: instruction, segment, flags, stack, segment.
    # Bit 9 of the flags says that interrupts were let in.
    test byte ptr [rsp + 25], 2
    jz quietcore_guest_held_back
quietcore_guest_go_on:
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
    mov qword ptr [rip + {waiting}], 0
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
    handle = sym handle,
    lost = sym lost,
    waiting = sym WAITING,
    entry_stack = sym descriptors::ENTRY_STACK_PLACE,
    entry_stack_bytes = const ENTRY_STACK_BYTES,
    exception_stack = sym descriptors::EXCEPTION_STACK_PLACE,
    exception_stack_bytes = const descriptors::STACK_BYTES
);

/// Does something with interrupts off.
#[inline]
pub(crate) fn without_interrupts<R>(work: impl FnOnce() -> R) -> R {
    let flags: u64;
    // SAFETY: reads the flags and holds interrupts back.
    unsafe { asm!("pushfq", "pop {}", "cli", out(reg) flags) };
    let result = work();
    if flags & LET_IN != 0 {
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
