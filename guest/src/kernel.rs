//! The OSEK kernel on this processor.
//!
//! An interrupt that leads to nothing that passes is noted and over. Where something passes, the
//! registers of floating-point arithmetic are put away first: what is taken may be a function of
//! the program's, or lead to another task, and both may use them.
// UNSAFETY: lets interrupts in, and shares the machine with their entries.
#![expect(unsafe_code, reason = "interrupts are let in by instructions of their own")]

use core::arch::asm;
use core::cell::Cell;
use core::fmt::Write as _;
use core::ptr;
use core::sync::atomic::{
    AtomicPtr,
    Ordering::{Acquire, Release},
};

use quietcore_boot::HostPage;
use quietcore_osek::configuration::{Configuration, TASKS_MAX};
use quietcore_osek::port::Fault;
use quietcore_osek::port::bare::{Arrival, Bare, Board, Refused, Stack};
use quietcore_osek::system::System;
use quietcore_units::KernelJob;

use crate::apic::{Apic, SPURIOUS_VECTOR, TIMER_VECTOR};
use crate::clock::Clock;
use crate::host;
use crate::interrupts::{self, Interrupted};
use crate::pages::Pages;

/// The vector of source 0; the others follow.
pub const SOURCE_VECTOR: u8 = 0x30;

/// Bytes of a task's stack for the entry of an interrupt, the kernel and what they call.
const RESERVE_BYTES: usize = 16 << 10;

/// This processor, as the kernel's board.
#[derive(Debug)]
pub struct Processor {
    apic: Cell<Option<Apic>>,
}

// SAFETY: there is one processor, and what it is was said before interrupts were let in.
unsafe impl Sync for Processor {}

impl Processor {
    /// A processor that has not been set up.
    pub const fn new() -> Self {
        Self { apic: Cell::new(None) }
    }

    /// Its local interrupt controller.
    ///
    /// # Panics
    /// Before the kernel runs.
    pub fn apic(&self) -> Apic {
        self.apic.get().expect("a kernel that runs has a processor that was set up")
    }
}

impl Default for Processor {
    fn default() -> Self {
        Self::new()
    }
}

impl Board for Processor {
    fn now(&self) -> u64 {
        self.apic().now()
    }

    fn set_timer(&self, at_ns: Option<u64>) {
        self.apic().set_timer(at_ns);
    }

    fn wait(&self) {
        // One that came before it has been taken to its end, tasks included, so that nothing waits
        // to be looked at.
        interrupts::wait();
    }

    fn note_job(&self, _: &KernelJob) {}

    fn note_error(&self, fault: &Fault) {
        // There is nobody to be told that the console failed.
        let _ = writeln!(host::Console, "kernel: {fault:?}");
    }

    fn end(&self, status: u8) -> ! {
        host::end(status)
    }
}

/// The machine that interrupts are for.
static MACHINE: AtomicPtr<Bare<Processor>> = AtomicPtr::new(ptr::null_mut());

/// Runs the kernel on this processor; returns only where that can't be.
///
/// # Safety
/// Called once, with interrupts off, by the function that the image begins with. Nobody else takes
/// pages behind the image.
pub unsafe fn run(
    system: &'static System<Bare<Processor>>,
    configuration: &'static Configuration<'static>,
    mode: u8,
    host: &HostPage,
) -> Refused {
    let machine = system.port();
    // SAFETY: as our caller promises.
    let mut pages = unsafe { Pages::behind_image(host.memory_bytes) };
    let mut stacks = [Stack { bottom: 0, top: 0 }; TASKS_MAX];
    for (task, stack) in configuration.tasks.iter().zip(&mut stacks) {
        let bytes = task.stack_bytes as usize + RESERVE_BYTES;
        // Where there is no more memory the kernel refuses the stack.
        let place = pages.take_guard().and_then(|_| pages.take(bytes));
        *stack = place.map_or(*stack, |bottom| Stack { bottom, top: bottom + bytes });
    }
    // SAFETY: as our caller promises.
    machine.board().apic.set(Some(unsafe { Apic::switch_on(Clock::new(host)) }));
    MACHINE.store(ptr::from_ref(machine).cast_mut(), Release);
    interrupts::on_interrupt(handle);
    // SAFETY: entries and handler are in place. Nothing passes yet.
    unsafe { asm!("sti", options(nostack)) };
    // SAFETY: as our caller promises; the stacks were just taken.
    unsafe { machine.run(system, configuration, mode, &stacks) }
}

/// All 512 bytes of `fxsave`.
#[repr(C, align(16))]
struct Registers([u8; 512]);

fn handle(vector: u8, interrupted: &mut Interrupted) {
    // SAFETY: null, or a machine that lives for ever.
    let Some(machine) = (unsafe { MACHINE.load(Acquire).as_ref() }) else { return };
    if vector == SPURIOUS_VECTOR {
        return;
    }
    machine.board().apic().end_of_interrupt();
    let arrival = match vector {
        TIMER_VECTOR => {
            interrupted.leave_halt();
            Arrival::Timer
        }
        SOURCE_VECTOR.. => Arrival::Source(u32::from(vector - SOURCE_VECTOR)),
        _ => return,
    };
    if machine.arrive(arrival) {
        let mut registers = Registers([0; 512]);
        let place = &raw mut registers.0;
        // SAFETY: the place is of this size and alignment. Interrupts come in again from here on,
        // each on this stack.
        unsafe { asm!("fxsave64 [{}]", "sti", in(reg) place, options(nostack)) };
        machine.take();
        // SAFETY: puts back what was put away, with interrupts off until the entry has returned.
        unsafe { asm!("cli", "fxrstor64 [{}]", in(reg) place, options(nostack)) };
    }
}
