//! Exceptions: each is a crash, and leaves a record, unless it is one of a program's that somebody
//! [sees to](on_exception).
//!
//! The entries are made by the assembler, 16 bytes apart. Each pushes its number, and a zero where
//! the processor pushes no error code, so that all find the same frame.
// UNSAFETY: is entered by the processor.
#![expect(unsafe_code, reason = "the processor enters with a frame of its own")]

use core::arch::{asm, global_asm};
use core::mem::transmute;
use core::panic::PanicInfo;
use core::ptr;
use core::sync::atomic::{
    AtomicBool, AtomicPtr,
    Ordering::{Acquire, Relaxed, Release},
};

use quietcore_boot::{CrashRecord, port};

use crate::host;

/// Number of vectors that are exceptions.
const COUNT: usize = 32;

/// Distance of the entries in bytes.
const ENTRY_BYTES: u64 = 16;

/// The content of the stack when an exception has been entered.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Frame {
    registers: [u64; 15],
    pub(crate) vector: u64,
    error_code: u64,
    pub(crate) instruction: u64,
    code_segment: u64,
    flags: u64,
    pub(crate) stack: u64,
    stack_segment: u64,
}

/// Sees to an exception: gets its frame, and the address that a page fault is about. If it returns
/// `true`, the processor goes on as the frame says then.
pub(crate) type Keeper = fn(frame: &mut Frame, address: u64) -> bool;

static KEEPER: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

/// Says who sees to exceptions.
pub(crate) fn on_exception(keeper: Keeper) {
    KEEPER.store(keeper as *mut (), Release);
}

global_asm!(
    r#"
    .text
    .balign 16
    .globl quietcore_guest_exceptions
quietcore_guest_exceptions:
    .set vector, 0
    .rept {count}
    .balign 16
    # 8, 10 to 14, 17, 21, 29 and 30 come with an error code.
    .if (0x60227D00 >> vector) & 1
    .else
    push 0
    .endif
    push vector
    jmp quietcore_guest_exception
    .set vector, vector + 1
    .endr
quietcore_guest_exception:
    push rax
    push rbx
    push rcx
    push rdx
    push rsi
    push rdi
    push rbp
    push r8
    push r9
    push r10
    push r11
    push r12
    push r13
    push r14
    push r15
    cld
    mov rdi, rsp
    mov rbp, rsp
    and rsp, -16
    call {crash}
    mov rsp, rbp
    pop r15
    pop r14
    pop r13
    pop r12
    pop r11
    pop r10
    pop r9
    pop r8
    pop rbp
    pop rdi
    pop rsi
    pop rdx
    pop rcx
    pop rbx
    pop rax
    add rsp, 16
    iretq
"#,
    count = const COUNT,
    crash = sym crash
);

// SAFETY: what the assembler, the linker or the image defines under these names is of these types.
unsafe extern "C" {
    safe static quietcore_guest_exceptions: u8;
}

/// The address of a vector's entry.
pub(crate) fn entry(vector: usize) -> u64 {
    (&raw const quietcore_guest_exceptions).expose_provenance() as u64 + vector as u64 * ENTRY_BYTES
}

/// `true` while a crash is being told. One within it has nobody to be told to.
static IS_CRASHING: AtomicBool = AtomicBool::new(false);

/// Returns where somebody has seen to it.
extern "C" fn crash(frame: &mut Frame) {
    if IS_CRASHING.swap(true, Relaxed) {
        host::end(port::CRASHED);
    }
    let address: u64;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, cr2", out(reg) address, options(nomem, nostack, preserves_flags)) };
    let keeper = KEEPER.load(Acquire);
    if !keeper.is_null() {
        // SAFETY: `on_exception` made the pointer from such a function.
        let keeper = unsafe { transmute::<*mut (), Keeper>(keeper) };
        if keeper(frame, address) {
            IS_CRASHING.store(false, Relaxed);
            return;
        }
    }
    host::crash(&CrashRecord {
        vector: frame.vector,
        error_code: frame.error_code,
        instruction: frame.instruction,
        stack: frame.stack,
        flags: frame.flags,
        address,
        registers: frame.registers,
    });
}

/// A panic of the guest's own: says where on the console, and crashes.
#[panic_handler]
fn panic(information: &PanicInfo<'_>) -> ! {
    use core::fmt::Write as _;
    // There is nobody to be told that the console failed.
    let _ = writeln!(host::Console, "{information}");
    host::crash(&CrashRecord { vector: CrashRecord::PANIC, ..CrashRecord::default() })
}
