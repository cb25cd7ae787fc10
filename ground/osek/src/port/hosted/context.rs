//! The machine as the kernel sees it.
// UNSAFETY: switches contexts.
#![expect(unsafe_code, reason = "a machine inside of a thread switches its stacks")]

use core::ptr;

use quietcore_units::KernelJob;

use super::{Driver, Hosted, IDLE, NEVER, alone, machine_at, surroundings};
use crate::configuration::Message;
use crate::port::controller::Interrupt;
use crate::port::own::{ContextEntry, entry_of};
use crate::port::{Enter, Fault, Leave, Port};

impl Port for Hosted {
    /// Returns `true` if the caller runs on one of the machine's stacks: the only places where
    /// interrupts may be taken.
    #[inline]
    fn is_inside(&self) -> bool {
        let here = 0_u8;
        self.stacks.contain((&raw const here).addr())
    }

    #[inline]
    fn level(&self) -> u8 {
        self.controller.level()
    }

    #[inline]
    fn set_level(&self, level: u8) {
        if self.controller.set_level(level) {
            self.take();
        }
    }

    #[inline]
    fn now(&self) -> u64 {
        surroundings::now_ns(&self.driven)
    }

    fn set_timer(&self, at_ns: Option<u64>) {
        self.budget_ns.set(at_ns.unwrap_or(NEVER));
        self.arm();
    }

    #[inline]
    unsafe fn switch(&self, leave: Leave, enter: Enter) {
        let leave = match leave {
            Leave::Task(task) => Some(usize::from(task)),
            Leave::Idle => {
                // Without tasks the end of a step needs no timer. From now on it does.
                self.arm();
                Some(IDLE)
            }
            Leave::Ended => None,
        };
        let (entered, way) = match enter {
            Enter::Begin(task, entry) => {
                let this = ptr::from_ref(self).expose_provenance();
                let top = self.stacks.top(task);
                (Some(task), ContextEntry::Begin { top, start: begin_task, this, entry })
            }
            Enter::Resume(task) => (Some(task), ContextEntry::Resume(usize::from(task))),
            Enter::Idle => (None, ContextEntry::Resume(IDLE)),
        };
        self.entered.set(entered);
        // SAFETY: our caller resumes only what was left. A task that begins has no other job, so
        // that its stack is free; the one that ended may have been its own.
        unsafe { self.contexts.go(leave, way) };
    }

    fn idle(&self) {
        match self.driver.get() {
            Driver::Driven => self.leave(),
            Driver::Alone | Driver::Nobody => alone::wait(),
        }
    }

    #[inline]
    fn stack_is_intact(&self, task: u8) -> bool {
        self.stacks.is_intact(task)
    }

    fn message_count(&self, message: &Message) -> u64 {
        self.driven.message_count(message)
    }

    fn pend_isr(&self, isr: u8) {
        self.controller.pend(Interrupt::Isr(isr));
    }

    fn note_job(&self, job: &KernelJob) {
        if self.driver.get() == Driver::Driven {
            self.driven.note_job(job);
        }
    }

    fn note_error(&self, fault: &Fault) {
        match self.driver.get() {
            Driver::Driven => self.driven.note_error(fault, self.now()),
            Driver::Alone | Driver::Nobody => self.write_fault(fault),
        }
    }

    fn note_shut_down(&self, status: u8, task: Option<u8>) {
        self.driven.note_shut_down(status, task);
    }

    fn shut_down(&self, status: u8) -> ! {
        self.outcome.set(Ok(status));
        self.driven.note_end();
        self.leave_for_good()
    }
}

/// The first function of a job: calls the task's at level zero.
extern "C" fn begin_task(this: usize, entry: usize) -> ! {
    let port = machine_at(this);
    // SAFETY: this is a context's start, which got it so.
    let entry = unsafe { entry_of(entry) };
    port.set_level(0);
    entry();
    port.system().missing_end()
}
