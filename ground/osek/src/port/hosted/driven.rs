//! A machine that is driven: a module in a partition, whose leading thread lends it its time.
//!
//! ```text
//! leading thread   initialize ─► step ─────────────► step ───────────────► terminate
//! machine            StartupHook  tick, tasks, idle    tick, tasks ─┐ until
//!                                                      … go on there in the next step
//! ```
//!
//! A step raises the tick, with which messages are looked at, and goes on where the machine was
//! left. It ends when the kernel is idle, or at the instant at which it has to be back: then the
//! loader's timer interrupts it, unless the tasks hold back the kernel's interrupts then; in that
//! case it ends when they let them go. A critical section is never cut in two by the end of a step.
//! A category 1 ISR is not, either.
//!
//! The timer is set only when a task runs, and for as long as one does: a step that finds nothing
//! to do makes no system call.
//!
//! The loader promises that `interrupt` is called by a signal handler that runs on the stack of
//! what it interrupts (without `SA_ONSTACK`) and changes no mask (`SA_NODEFER`, empty `sa_mask`),
//! since it returns when that context goes on, which may be in another step. In a guest it is the
//! entry of the timer's interrupt that does so, with interrupts let in again.
//!
//! After a crash in which the caller jumped out of a step, [`terminate`] and [`initialize`] both
//! begin with throwing away whatever was; a step before that does nothing.
// UNSAFETY: switches to the machine's context, and takes a table of C.
#![expect(unsafe_code, reason = "the machine's context is gone on in")]

mod services;

use quietcore_units::KernelJob;

use super::flood::Flood;
use super::{Driver, Hosted, INSIDE, NEVER, OUTSIDE, Own, Refused, surroundings};
use crate::configuration::{Configuration, Message};
use crate::port::controller::Interrupt;
use crate::port::processor::switch::save_and_resume;
use crate::port::{Fault, Port as _};
use crate::status::{Service, Status};
use crate::system::System;
use services::Given;
pub use services::Services;

/// Most errors that the loader is told of in a second: one in each cycle of a millisecond.
const TOLD_MAX: u32 = 1000;

/// The part of the machine that is needed only where it is driven.
#[derive(Debug)]
pub(super) struct Driven {
    given: Own<Given>,
    flood: Own<Flood>,
    /// Ticks that no tick's interrupt has taken yet.
    ticks_due: Own<u32>,
    /// `true` from the start of the kernel until its end.
    has_started: Own<bool>,
    /// `true` if the machine was entered and has not come back; so it stays when its caller jumps
    /// out.
    is_entered: Own<bool>,
}

impl Driven {
    pub(super) const fn new() -> Self {
        Self {
            given: Own::new(Given::NOTHING),
            flood: Own::new(Flood::new(TOLD_MAX)),
            ticks_due: Own::new(0),
            has_started: Own::new(false),
            is_entered: Own::new(false),
        }
    }

    pub(super) fn take_ticks(&self) -> u32 {
        self.ticks_due.0.replace(0)
    }

    pub(super) fn set_clock(&self, at_ns: Option<u64>) {
        self.given.get().interrupt_at(at_ns);
    }

    /// The instant now, as the loader tells it.
    #[cfg(target_os = "none")]
    pub(super) fn clock_ns(&self) -> u64 {
        self.given.get().clock_ns()
    }

    pub(super) fn message_count(&self, message: &Message) -> u64 {
        self.given.get().message_count(message)
    }

    pub(super) fn note_job(&self, job: &KernelJob) {
        self.given.get().note_job(job);
    }

    /// Writes an error down. Errors that come too fast are left out: they would push all else out
    /// of the loader's memory.
    pub(super) fn note_error(&self, fault: &Fault, now_ns: u64) {
        let mut flood = self.flood.get();
        let passed = flood.pass(now_ns);
        self.flood.set(flood);
        if passed.is_none() && fault.status != Status::StackFault {
            return;
        }
        self.given.get().note_error(fault.task, fault.status as u8, fault.service as u8);
    }

    pub(super) fn note_shut_down(&self, status: u8, task: Option<u8>) {
        self.given.get().note_error(task, status, Service::ShutdownOs as u8);
    }

    pub(super) fn note_end(&self) {
        self.has_started.set(false);
    }
}

/// Starts the kernel: the startup hook runs, and what starts by itself is ready. A machine that was
/// driven before is thrown away, whatever it was at.
///
/// # Errors
/// [`Refused`]; then nothing is left. `ShutdownOS` in the startup hook is no error: see [`ended`].
///
/// # Safety
/// `services` is null or the loader's table, which outlives the machine. This and all
/// functions below are called by one thread at a time, and not from inside of the machine.
pub unsafe fn initialize(
    system: &'static System<Hosted>,
    configuration: &'static Configuration<'static>,
    mode: u8,
    services: *const Services,
) -> Result<(), Refused> {
    let port = system.port();
    if port.driver.get() == Driver::Alone {
        return Err(Refused::AlreadyRuns);
    }
    terminate(port);
    // SAFETY: as our caller promises.
    port.driven.given.set(unsafe { Given::read(services) });
    port.driven.flood.set(Flood::new(TOLD_MAX));
    port.driven.ticks_due.set(0);
    port.driven.has_started.set(true);
    surroundings::check(&port.driven)?;
    port.prepare(system, configuration, Driver::Driven)?;
    port.gate.open();
    port.driven.is_entered.set(true);
    port.enter(mode);
    port.driven.is_entered.set(false);
    let outcome = port.outcome.get();
    if outcome.is_err() {
        terminate(port);
    }
    outcome.map(drop)
}

/// Runs the machine until it is idle, or has to be back. Does nothing where it does not run.
pub fn step(port: &Hosted) {
    let driven = &port.driven;
    if !has_started(port) || driven.is_entered.get() {
        return;
    }
    let given = driven.given.get();
    let mut ticks = port.ticks.get();
    let due = ticks.of_cycle(given.due_ns().unwrap_or_else(|| port.now()));
    port.ticks.set(ticks);
    driven.ticks_due.set(driven.ticks_due.get().saturating_add(due));
    // Messages are looked at with the tick, in each step.
    if driven.ticks_due.get() != 0 || !port.configuration.get().messages.is_empty() {
        port.controller.pend(Interrupt::Tick);
    }
    port.until_ns.set(given.until_ns().unwrap_or(NEVER));
    if port.entered.get().is_some() {
        port.arm();
    }
    let (outside, inside) = (port.ways.place(OUTSIDE), port.ways.get(INSIDE));
    driven.is_entered.set(true);
    // SAFETY: it was left by `initialize` or by the step before, and not since.
    unsafe { save_and_resume(outside, inside) };
    driven.is_entered.set(false);
}

/// An instant has come that the loader was asked for. Called by its signal handler in the thread
/// inside of a step; anywhere else nothing comes of it.
pub fn interrupt(port: &Hosted) {
    // Also where the step has not got to the machine yet: it is looked at there.
    port.controller.pend(Interrupt::Timer);
    if port.is_inside() {
        let before = surroundings::errno();
        port.take();
        surroundings::set_errno(before);
    }
}

/// Throws the machine away, from whatever state. No hook is called.
pub fn terminate(port: &Hosted) {
    if port.driver.get() != Driver::Driven {
        return;
    }
    port.hold_all();
    port.gate.close(super::alone::give_way);
    port.driver.set(Driver::Nobody);
    port.driven.has_started.set(false);
    port.driven.is_entered.set(false);
    port.driven.given.set(Given::NOTHING);
    port.stacks.unmap();
}

/// Returns `true` from the start of the kernel until its end.
pub fn has_started(port: &Hosted) -> bool {
    port.driver.get() == Driver::Driven && port.driven.has_started.get()
}

/// The status that `ShutdownOS` got, where it ended the machine.
pub fn ended(port: &Hosted) -> Option<u8> {
    let has_ended = port.driver.get() == Driver::Driven && !port.driven.has_started.get();
    if has_ended { port.outcome.get().ok() } else { None }
}
