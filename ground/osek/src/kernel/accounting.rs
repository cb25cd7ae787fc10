//! Execution times of jobs, and their budgets; beyond OSEK.

use quietcore_units::KernelJob;

use super::{CallLevel, Current, Kernel};

/// The time that is left to the running task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// It has none, or nothing runs.
    Unlimited,
    /// It may run until this instant, in ns, if nothing preempts it.
    Until(u64),
    /// It has used it up.
    Exhausted(u8),
}

impl Kernel<'_> {
    /// The budget of the running task at an instant.
    #[inline]
    pub fn budget(&self, now_ns: u64) -> Budget {
        let Current::Task(task) = self.current else { return Budget::Unlimited };
        let budget_ns = self.configuration.tasks[usize::from(task)].budget_ns;
        if budget_ns == 0 {
            return Budget::Unlimited;
        }
        let executed_ns = self.tasks[usize::from(task)].executed_ns;
        let running_ns = now_ns.saturating_sub(self.since_ns);
        match budget_ns.checked_sub(executed_ns.saturating_add(running_ns)) {
            None | Some(0) => Budget::Exhausted(task),
            Some(left_ns) => Budget::Until(now_ns.saturating_add(left_ns)),
        }
    }

    /// The machine stops as a whole: what comes until [`Kernel::resume_account`] is no task's time.
    pub fn pause_account(&mut self, now_ns: u64) {
        if let (Current::Task(task), CallLevel::Task) = (self.current, self.call_level) {
            self.note_execution(task, now_ns);
        }
    }

    /// The machine goes on.
    pub fn resume_account(&mut self, now_ns: u64) {
        self.since_ns = now_ns;
    }

    /// Adds the time since the task began to run or went on.
    #[inline]
    pub(super) fn note_execution(&mut self, task: u8, now_ns: u64) {
        let control = &mut self.tasks[usize::from(task)];
        control.executed_ns += now_ns.saturating_sub(self.since_ns);
        self.since_ns = now_ns;
    }

    /// Notes that a task runs for the first time since its release.
    #[inline]
    pub(super) fn note_start(&mut self, task: u8, now_ns: u64) {
        let control = &mut self.tasks[usize::from(task)];
        if !control.has_started {
            control.has_started = true;
            control.started_ns = now_ns;
        }
    }

    /// Closes the account of a job.
    #[inline]
    pub(super) fn end_job(&mut self, task: u8, waits: bool, now_ns: u64) -> Option<KernelJob> {
        if !self.configuration.accounting {
            return None;
        }
        self.note_execution(task, now_ns);
        let control = &mut self.tasks[usize::from(task)];
        let job = KernelJob {
            task: u32::from(task),
            waits: u32::from(waits),
            released_ns: control.released_ns,
            started_ns: control.started_ns,
            finished_ns: now_ns,
            execution_ns: control.executed_ns,
        };
        control.executed_ns = 0;
        control.has_started = false;
        Some(job)
    }
}
