//! The machine as the kernel needs it: contexts, interrupt level, time.
//!
//! A port switches contexts, holds back interrupts and tells the time. It decides nothing: which
//! task runs is the kernel's decision alone.
//!
//! ```text
//! interrupt level   0            1 … 62                              63
//!                   all pass     those above the level pass          none passes
//!                                └ category 2 ┘└ category 1 ┘
//! ```
//!
//! While the kernel's own state is in use the level is that of the most urgent ISR of category 2,
//! so that ISRs of category 1 are never held back by a service.
// UNSAFETY: a context switch leaves one stack and goes on in another.
#![expect(unsafe_code, reason = "a context switch can break every rule of Rust")]

pub mod bare;
pub mod controller;
#[cfg(feature = "hosted")]
pub mod hosted;
pub(crate) mod own;
pub(crate) mod ticks;
pub mod x86_64;

pub use x86_64 as processor;

use quietcore_units::KernelJob;

use crate::configuration::Message;
use crate::status::Status;

/// The level at which nothing passes.
pub const ALL_HELD: u8 = 63;

/// The fate of the context that is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// It goes on later, as this task's.
    Task(u8),
    /// The idle context goes on later.
    Idle,
    /// It is over: the task ended.
    Ended,
}

/// Which context goes on.
#[derive(Clone, Copy, Debug)]
pub enum Enter {
    /// A job begins, on the empty stack of this task.
    Begin(u8, crate::configuration::Entry),
    /// This task goes on where it was left.
    Resume(u8),
    /// There is nothing to do.
    Idle,
}

/// An error that was found, as the error hook gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The status of the error, as the error hook gets it.
    pub status: Status,
    /// The service that found the error.
    pub service: crate::status::Service,
    /// The task that it is about: of an alarm's or a schedule table's action the one that it is
    /// for, of an inter-arrival time the one that was activated too early, else the one that was
    /// running, where one was.
    pub task: Option<u8>,
}

/// A machine that the kernel runs on.
///
/// All methods take `&self`: a port is entered again while a context that it left is still inside
/// one of them. Only one context runs at any instant.
pub trait Port: Sync {
    /// Returns `true` if the caller runs in one of the machine's contexts. Any other caller is a
    /// stranger, perhaps another thread, and no service does anything for it. A machine without
    /// other threads always returns `true`.
    #[inline]
    fn is_inside(&self) -> bool {
        true
    }

    /// Returns the level; interrupts up to it are held back.
    fn level(&self) -> u8;

    /// Raises or lowers the interrupt level. When it falls, the interrupts that were held back
    /// above the new one are taken before this returns, the most urgent first, each with
    /// [`System::interrupt`](crate::system::System::interrupt).
    fn set_level(&self, level: u8);

    /// The instant, in ns, on a clock that never goes back.
    fn now(&self) -> u64;

    /// Has [`System::timer`](crate::system::System::timer) called at an instant, once, with the
    /// interrupt level raised to that of the kernel; `None` for never. The last call counts.
    fn set_timer(&self, at_ns: Option<u64>);

    /// Leaves this context and goes on in another. Returns when this one goes on.
    ///
    /// # Safety
    /// Called by the kernel's dispatcher only, at the kernel's interrupt level. `Resume` names a
    /// task whose context was left before with [`Leave::Task`] and not resumed since.
    unsafe fn switch(&self, leave: Leave, enter: Enter);

    /// Waits for an interrupt; called by the idle context again and again, at level 0.
    fn idle(&self);

    /// Returns `false` if something was written beyond the end of a task's stack.
    fn stack_is_intact(&self, task: u8) -> bool;

    /// Returns a count of the sendings of a message so far, which changes with each; zero before
    /// the first. A machine that gets no messages always returns zero.
    fn message_count(&self, message: &Message) -> u64 {
        let _ = message;
        0
    }

    /// Notes an ISR as pending: it is taken as soon as the level allows. Called at the kernel's
    /// interrupt level, on a machine that gets messages.
    fn pend_isr(&self, isr: u8) {
        let _ = isr;
    }

    /// Takes note of a job, where the configuration asks for accounting.
    fn note_job(&self, job: &KernelJob);

    /// Takes note of an error, beside the error hook.
    fn note_error(&self, fault: &Fault);

    /// Takes note that the program called `ShutdownOS`, and which task ran.
    fn note_shut_down(&self, status: u8, task: Option<u8>) {
        let _ = (status, task);
    }

    /// Ends the machine after the shutdown hook. Does not return to the caller.
    fn shut_down(&self, status: u8) -> !;
}
