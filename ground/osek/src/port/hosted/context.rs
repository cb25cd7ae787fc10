//! The machine as the kernel sees it.
// UNSAFETY: switches contexts.
#![expect(unsafe_code, reason = "a machine inside of a thread switches its stacks")]

use core::ptr;

use super::{Driver, Hosted, IDLE, NEVER, alone, machine_at};
use crate::configuration::Entry;
use crate::port::processor::switch::{
    drop_and_begin, drop_and_resume, save_and_begin, save_and_resume,
};
use crate::port::{Enter, Fault, Job, Leave, Port};

impl Port for Hosted {
    /// Whether the caller runs on one of the machine's stacks: the only places where interrupts may
    /// be taken.
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
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is live; the clock exists on every Linux.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
        // Seconds since the start of the machine, in ns, fit for 584 years.
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }

    fn set_timer(&self, at_ns: Option<u64>) {
        self.budget_ns.set(at_ns.unwrap_or(NEVER));
        self.arm();
    }

    #[inline]
    unsafe fn switch(&self, leave: Leave, enter: Enter) {
        let save = match leave {
            Leave::Task(task) => self.contexts.place(usize::from(task)),
            Leave::Idle => {
                // Without tasks the end of a step needs no timer. From now on it does.
                self.arm();
                self.contexts.place(IDLE)
            }
            Leave::Ended => ptr::null_mut(),
        };
        let resume = match enter {
            Enter::Begin(task, entry) => {
                self.entered.set(Some(task));
                let top = self.stacks.top(task);
                let this = ptr::from_ref(self).expose_provenance();
                let entry = (entry as *const ()).expose_provenance();
                if save.is_null() {
                    // SAFETY: the task has no other job, so that its stack is free; the one that
                    // ended may have been its own.
                    unsafe { drop_and_begin(top, begin_task, this, entry) };
                }
                // SAFETY: as above; the place is this context's.
                unsafe { save_and_begin(save, top, begin_task, this, entry) };
                return;
            }
            Enter::Resume(task) => {
                self.entered.set(Some(task));
                self.contexts.get(usize::from(task))
            }
            Enter::Idle => {
                self.entered.set(None);
                self.contexts.get(IDLE)
            }
        };
        if save.is_null() {
            // SAFETY: our caller resumes only what was left.
            unsafe { drop_and_resume(resume) };
        }
        // SAFETY: as above; the place is this context's.
        unsafe { save_and_resume(save, resume) };
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

    fn note_job(&self, job: &Job) {
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
    let entry: *const () = ptr::with_exposed_provenance(entry);
    // SAFETY: `switch` made the number from such a function.
    let entry = unsafe { core::mem::transmute::<*const (), Entry>(entry) };
    port.set_level(0);
    entry();
    port.system().missing_end()
}
