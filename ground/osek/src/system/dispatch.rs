//! The switch from one task to another.
// UNSAFETY: asks the port to leave this context.
#![expect(unsafe_code, reason = "the dispatcher is what context switches are there for")]

use core::sync::atomic::Ordering::Relaxed;

use super::{Call, System};
use crate::kernel::{Budget, CallLevel, Kernel, Switch};
use crate::port::{Leave, Port};
use crate::status::{Service, Status};

impl<P: Port> System<P> {
    /// Switches where another task has to run and the caller is at the level of tasks. To be called
    /// under the lock, which whoever goes on has, too.
    #[inline]
    pub(super) fn dispatch_if_needed(&self) {
        let needed = self
            .cell
            .with(|kernel| kernel.call_level() == CallLevel::Task && kernel.must_dispatch());
        if needed {
            self.dispatch();
        }
    }

    fn dispatch(&self) {
        let accounting = self.accounts();
        let (hooks, running) =
            self.cell.with(|kernel| (kernel.configuration().hooks, kernel.running()));
        if let Some(task) = running {
            self.call_hook(hooks.post_task, CallLevel::PostTaskHook);
            if !self.port.stack_is_intact(task) {
                self.stack_fault(task);
            }
        }
        let now_ns = if accounting { self.port.now() } else { 0 };
        let Some(switch) = self.cell.with(|kernel| kernel.dispatch(now_ns)) else { return };
        let Switch { leave, enter, job } = switch;
        if let Some(job) = job {
            self.port.note_job(&job);
        }
        if leave == Leave::Ended {
            // What it held back ends with it; a task that is preempted holds nothing back.
            self.masks.reset();
        }
        if self.cell.with(|kernel| kernel.running().is_some()) {
            self.call_hook(hooks.pre_task, CallLevel::PreTaskHook);
        }
        if accounting {
            self.watch_budget(now_ns);
        }
        // SAFETY: under the lock, and as the kernel decided: it resumes only what it left.
        unsafe { self.port.switch(leave, enter) };
    }

    /// Sets the timer to the end of the running task's budget.
    fn watch_budget(&self, now_ns: u64) {
        match self.cell.with(|kernel| kernel.budget(now_ns)) {
            Budget::Until(at_ns) => {
                self.timer_is_set.store(true, Relaxed);
                self.port.set_timer(Some(at_ns));
            }
            // It is found at its next interrupt.
            Budget::Exhausted(_) => {
                self.timer_is_set.store(true, Relaxed);
                self.port.set_timer(Some(now_ns));
            }
            Budget::Unlimited => {
                if self.timer_is_set.swap(false, Relaxed) {
                    self.port.set_timer(None);
                }
            }
        }
    }

    /// The machine stops as a whole and goes on when `stopped` returns: that is nobody's execution
    /// time, and no part of a budget. The port calls it at the kernel's interrupt level.
    pub fn stop(&self, stopped: impl FnOnce()) {
        if !self.accounts() {
            return stopped();
        }
        let left_ns = self.port.now();
        self.cell.with(|kernel| kernel.pause_account(left_ns));
        stopped();
        let entered_ns = self.port.now();
        self.cell.with(|kernel| kernel.resume_account(entered_ns));
        if self.timer_is_set.load(Relaxed) {
            self.watch_budget(entered_ns);
        }
    }

    /// The timer that [`Port::set_timer`] was asked for: a task that has used up its budget is
    /// ended, and the error names it. The port calls it at the kernel's interrupt level.
    pub fn timer(&self) {
        // While an ISR runs, which is not the task's time, it is put off to the end of that.
        let is_early = self.cell.with(|kernel| kernel.call_level() != CallLevel::Task);
        self.timer_is_late.store(is_early, Relaxed);
        if is_early {
            return;
        }
        let now_ns = self.port.now();
        match self.cell.with(|kernel| kernel.budget(now_ns)) {
            Budget::Exhausted(_) => {
                self.fail_by_itself(Status::ProtectionTime);
                self.end_by_force();
            }
            Budget::Until(_) | Budget::Unlimited => self.watch_budget(now_ns),
        }
    }

    /// A task wrote beyond the end of its stack. What lies there may be broken, so that the error
    /// hook is all that follows, and the end.
    pub fn stack_fault(&self, task: u8) -> ! {
        self.port.set_level(self.kernel_level());
        self.fail_in(&Call::new(Service::None, [0; 3]), Status::StackFault, Some(task));
        self.end(Status::StackFault as u8)
    }

    /// The function of a task returned without an end. The port calls it in the task's context, at
    /// any interrupt level; it does not return.
    pub fn missing_end(&self) -> ! {
        self.masks.reset();
        self.port.set_level(self.kernel_level());
        self.fail_by_itself(Status::MissingEnd);
        self.end_by_force();
        unreachable!("a task that ended does not go on");
    }

    /// Ends the running task, and what it holds. Returns only where no task runs.
    fn end_by_force(&self) {
        if self.cell.with(Kernel::abandon_running).is_some() {
            self.dispatch_if_needed();
        }
    }
}
