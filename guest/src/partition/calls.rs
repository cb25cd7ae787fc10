//! Calls into a program that may crash or never return.
//!
//! ```text
//! task ── enter ── step ── leave            way out: kept while the call runs
//!                   └ exception, or over its time ──► registers, stack as at the call; it failed
//! ```
//!
//! Whose call an exception or an interrupt has hit says the stack that it was on. What is no call's
//! (an interrupt's own work, which may lie on the same stack) is not ended: that is the guest's.
//!
//! A function of ours that a program calls may hold something that the next call needs. Such a
//! stretch is in [shelter](SHELTER): a call is not ended there for its time, and is looked at again
//! soon.
//!
//! A program that is a kernel has stacks of its own in its data, on which its call goes on. It may
//! be [interrupted](interrupt_leader) at an instant that it has asked for: then a function of it is
//! called on the stack that the interrupt has hit, and may go on in another context of the kernel.
//! What the interrupt has put there waits until that context is gone on with, in a later call.
//!
//! A call that fails leaves the arithmetic as after power-on.
// UNSAFETY: goes on where a call began.
#![expect(unsafe_code, reason = "what fails is left by changing the stack pointer")]

use core::arch::{asm, global_asm};
use core::mem::transmute;
use core::ptr;
use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
    compiler_fence,
};

use quietcore_boot::places::{PROGRAM_DATA, PROGRAM_DATA_BYTES_MAX};
use quietcore_exchange::com::Shelter;
use quietcore_exchange::program_face::{Entry, Interrupt};

use crate::exceptions::Frame;
use crate::interrupts::Interrupted;
use crate::pages::is_code_of_image;
use crate::partition::board::running_context;
use crate::partition::releases::NEVER;
use crate::partition::{CONTEXTS, LEADER};

/// Time until a call is looked at again that could not be ended.
const AGAIN_NS: u64 = 1_000_000;

global_asm!(
    r#"
    .text
    .balign 16
    # entry, argument, place of the way out
quietcore_guest_call:
    push rbp
    push rbx
    push r12
    push r13
    push r14
    push r15
    push rdx
    mov [rdx], rsp
    mov rax, rdi
    mov edi, esi
    call rax
    pop rdx
    mov qword ptr [rdx], 0
    xor eax, eax
    jmp 2f
    .globl quietcore_guest_call_failed
quietcore_guest_call_failed:
    cld
    fninit
    mov dword ptr [rsp - 8], 0x1F80
    ldmxcsr [rsp - 8]
    pop rdx
    mov qword ptr [rdx], 0
    mov eax, 1
2:
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbx
    pop rbp
    ret
"#
);

// SAFETY: as the assembler defines them.
unsafe extern "C" {
    fn quietcore_guest_call(entry: Entry, argument: u32, way_out: *mut u64) -> u64;
    safe static quietcore_guest_call_failed: u8;
}

/// A call, with the time that it may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Called {
    /// Slot of the program.
    pub(crate) slot: u8,
    /// When the call is over its time.
    pub(crate) until_ns: u64,
    /// The function for an interrupt that the program asks for.
    pub(crate) interrupt: Option<Interrupt>,
}

/// The event that ended a call early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The exception; `None` where the call was over its time.
    pub(crate) vector: Option<u8>,
    /// The address that a page fault is about.
    pub(crate) address: u64,
    /// Address of the instruction.
    pub(crate) instruction: u64,
}

/// The number that stands for no exception.
const OVER_TIME: u64 = 256;

/// The calls of one context.
#[derive(Debug)]
pub(crate) struct Guard {
    /// The stack: its lowest address with the guard below it, and its end.
    bottom: AtomicUsize,
    top: AtomicUsize,
    /// The stack pointer to go back to; zero while no call runs.
    way_out: AtomicU64,
    /// When the call that runs has to be over.
    until: AtomicU64,
    is_sheltered: AtomicBool,
    /// The slot of the program that is called.
    slot: AtomicU8,
    /// The function for an interrupt that the program asked for; null if it has none.
    interrupt: AtomicPtr<()>,
    /// `true` if such an interrupt came in shelter.
    is_interrupted: AtomicBool,
    /// Number of interrupts that are being seen to on this stack.
    interrupts: AtomicU32,
    failure: [AtomicU64; 3],
}

impl Guard {
    const fn new() -> Self {
        Self {
            bottom: AtomicUsize::new(0),
            top: AtomicUsize::new(0),
            way_out: AtomicU64::new(0),
            until: AtomicU64::new(NEVER),
            is_sheltered: AtomicBool::new(false),
            slot: AtomicU8::new(0),
            interrupt: AtomicPtr::new(ptr::null_mut()),
            is_interrupted: AtomicBool::new(false),
            interrupts: AtomicU32::new(0),
            failure: [const { AtomicU64::new(0) }; 3],
        }
    }

    /// Says where the stack is, with the page below it that is no memory.
    pub(crate) fn set_stack(&self, bottom: usize, top: usize) {
        self.bottom.store(bottom, Relaxed);
        self.top.store(top, Relaxed);
    }

    #[inline]
    fn has(&self, stack: usize) -> bool {
        (self.bottom.load(Relaxed)..self.top.load(Relaxed)).contains(&stack)
    }

    /// Returns `true` if this is a stack in the data of the program that is called.
    fn lends(&self, stack: u64) -> bool {
        let data = PROGRAM_DATA[usize::from(self.slot.load(Relaxed) & 1)];
        (data..data + PROGRAM_DATA_BYTES_MAX).contains(&stack)
    }

    /// Returns `true` while a call runs.
    #[inline]
    pub(crate) fn is_inside(&self) -> bool {
        self.way_out.load(Relaxed) != 0
    }

    /// Calls `entry(argument)` of the program in a slot; at `until_ns` it is over its time. An
    /// interrupt that it asks for calls `interrupt` meanwhile.
    ///
    /// # Errors
    /// [`Failure`] when it crashed or was ended.
    ///
    /// # Safety
    /// Called in the context of this guard, for C code that is at its place. No frame between here
    /// and its crash owns anything that must be cleaned up, which holds for C; those that do are in
    /// shelter.
    #[inline]
    pub(crate) unsafe fn call(
        &self,
        entry: Entry,
        argument: u32,
        called: &Called,
    ) -> Result<(), Failure> {
        self.until.store(called.until_ns, Relaxed);
        self.slot.store(called.slot, Relaxed);
        let interrupt = called.interrupt.map_or(ptr::null_mut(), |it| it as *mut ());
        self.interrupt.store(interrupt, Relaxed);
        self.is_interrupted.store(false, Relaxed);
        compiler_fence(SeqCst);
        // SAFETY: as our caller promises.
        let failed = unsafe { quietcore_guest_call(entry, argument, self.way_out.as_ptr()) };
        compiler_fence(SeqCst);
        if failed == 0 {
            return Ok(());
        }
        Err(self.failure())
    }

    /// Returns the function for an interrupt, as long as the call runs.
    fn interrupt(&self) -> Option<Interrupt> {
        let interrupt = self.interrupt.load(Relaxed);
        if interrupt.is_null() || !self.is_inside() {
            return None;
        }
        // SAFETY: `call` made the pointer from such a function.
        Some(unsafe { transmute::<*mut (), Interrupt>(interrupt) })
    }

    #[cold]
    fn failure(&self) -> Failure {
        self.is_sheltered.store(false, Relaxed);
        let [vector, address, instruction] = self.failure.each_ref().map(|word| word.load(Relaxed));
        let vector = (vector != OVER_TIME).then_some(vector as u8);
        Failure { vector, address, instruction }
    }

    /// Notes what ends the call, and returns where it goes on: instruction and stack.
    fn fail(&self, vector: u64, address: u64, instruction: u64) -> (u64, u64) {
        for (place, word) in self.failure.iter().zip([vector, address, instruction]) {
            place.store(word, Relaxed);
        }
        self.until.store(NEVER, Relaxed);
        self.interrupt.store(ptr::null_mut(), Relaxed);
        let failed = (&raw const quietcore_guest_call_failed).expose_provenance() as u64;
        (failed, self.way_out.load(Relaxed))
    }
}

/// The guards of all contexts.
static GUARDS: [Guard; CONTEXTS] = [const { Guard::new() }; CONTEXTS];

/// The guard of a context.
#[inline]
pub(crate) fn guard(context: usize) -> &'static Guard {
    &GUARDS[context]
}

/// That whose stack this is.
#[inline]
fn guard_of(stack: u64) -> Option<&'static Guard> {
    let place = usize::try_from(stack).ok()?;
    let own = GUARDS.iter().find(|guard| guard.has(place));
    own.or_else(|| GUARDS.iter().find(|guard| guard.is_inside() && guard.lends(stack)))
}

/// That of the context which runs.
#[inline]
fn running() -> Option<&'static Guard> {
    let stack: u64;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, rsp", out(reg) stack, options(nomem, nostack, preserves_flags)) };
    guard_of(stack)
}

/// By what a program's services begin and end a stretch in which its call is not ended.
pub(crate) const SHELTER: Shelter = Shelter { enter: || shelter(true), leave: || shelter(false) };

fn shelter(is_sheltered: bool) {
    compiler_fence(SeqCst);
    let guard = running();
    if let Some(guard) = guard {
        guard.is_sheltered.store(is_sheltered, Relaxed);
    }
    compiler_fence(SeqCst);
    if let Some(guard) = guard
        && !is_sheltered
        && guard.is_interrupted.swap(false, Relaxed)
        && let Some(interrupt) = guard.interrupt()
    {
        interrupt();
    }
}

/// Returns the function for the interrupt that a program asked for now, if its call of the leading
/// task was hit and is not in shelter. To be called with interrupts let in, after
/// [`end_interrupt`]: it may return in a later call.
pub(crate) fn interrupt_leader(seen: &Seen) -> Option<Interrupt> {
    let guard = seen.guard.filter(|guard| ptr::eq(*guard, &GUARDS[LEADER]))?;
    if !guard.is_inside() {
        return None;
    }
    if guard.is_sheltered.load(Relaxed) {
        guard.is_interrupted.store(true, Relaxed);
        return None;
    }
    guard.interrupt()
}

/// Sees to an exception: where it is that of a call, the call has failed.
pub(crate) fn see_to_exception(frame: &mut Frame, address: u64) -> bool {
    // Those that say nothing of the instruction: non-maskable interrupt, double fault, machine
    // check.
    if matches!(frame.vector, 2 | 8 | 18) {
        return false;
    }
    let guard = guard_of(frame.stack).or_else(|| {
        // A program that has lost its stack: that of the task which runs.
        let is_own = is_code_of_image(frame.instruction);
        if is_own { None } else { Some(&GUARDS[running_context()?]) }
    });
    let Some(guard) = guard else { return false };
    if !guard.is_inside() || guard.interrupts.load(Relaxed) != 0 {
        return false;
    }
    let address = if frame.vector == 14 { address } else { 0 };
    let (instruction, stack) = guard.fail(frame.vector, address, frame.instruction);
    (frame.instruction, frame.stack) = (instruction, stack);
    true
}

/// An interrupt that is being seen to.
#[derive(Debug)]
pub(crate) struct Seen {
    guard: Option<&'static Guard>,
    /// `true` if it has interrupted a call, whose registers are to be kept.
    pub(crate) is_inside: bool,
}

/// Begins to see to an interrupt: ends the call that it has hit, if that is over its time.
pub(crate) fn begin_interrupt(interrupted: &mut Interrupted, now_ns: u64) -> Seen {
    let guard = guard_of(interrupted.stack);
    let mut is_inside = false;
    if let Some(guard) = guard {
        is_inside = guard.is_inside();
        let depth = guard.interrupts.load(Relaxed);
        guard.interrupts.store(depth + 1, Relaxed);
        let is_over = is_inside && guard.until.load(Relaxed) <= now_ns;
        if is_over && depth == 0 && !guard.is_sheltered.load(Relaxed) {
            (interrupted.instruction, interrupted.stack) =
                guard.fail(OVER_TIME, 0, interrupted.instruction);
        }
    }
    Seen { guard, is_inside }
}

/// Ends that, in the context that was interrupted.
pub(crate) fn end_interrupt(seen: &Seen) {
    if let Some(guard) = seen.guard {
        guard.interrupts.store(guard.interrupts.load(Relaxed) - 1, Relaxed);
    }
}

/// When the calls that run have to be looked at next.
pub(crate) fn next_look(now_ns: u64) -> u64 {
    let inside = GUARDS.iter().filter(|guard| guard.is_inside());
    let until = inside.map(|guard| guard.until.load(Relaxed)).filter(|until| *until != NEVER);
    until.min().map_or(NEVER, |until| until.max(now_ns + AGAIN_NS))
}
