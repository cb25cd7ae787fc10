//! Tells Valgrind where stacks are.
//!
//! Valgrind guesses from the stack pointer whether a program switched its stack, and guesses wrong
//! where two stacks lie close to each other. A client request is a sequence of instructions that
//! does nothing on a processor, and that Valgrind recognises: four rotations of `rdi` by 128 bits
//! in all, then an exchange of `rbx` with itself; `rax` points to the request and its arguments,
//! the answer comes in `rdx`.
// UNSAFETY: instructions that the compiler does not know.
#![expect(unsafe_code, reason = "a request is a sequence of instructions")]

/// Number of the request that registers a stack (`VG_USERREQ__STACK_REGISTER`).
const STACK_REGISTER: u64 = 0x1501;

/// Registers a stack from its lowest address to the one above its highest. Outside of Valgrind it
/// does nothing.
pub(super) fn register_stack(lowest: *const u8, top: *const u8) {
    if cfg!(miri) {
        return;
    }
    let request = [STACK_REGISTER, lowest.addr() as u64, top.addr() as u64, 0, 0, 0];
    // SAFETY: on a processor nothing changes: the rotations add up to whole turns.
    unsafe {
        core::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") request.as_ptr(),
            inout("rdx") 0_u64 => _,
            options(nostack),
        );
    }
}
