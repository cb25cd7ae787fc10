//! Task management (OSEK OS 2.2.3, 13.2).

use super::ready::Entry;
use super::resources::NO_RESOURCE;
use super::{CallLevel, CallLevels, Current, Kernel, TaskState};
use crate::status::Status;

const TASK_ONLY: CallLevels = CallLevels::of(&[CallLevel::Task]);

/// The kernel's state of a task.
#[derive(Clone, Copy, Debug)]
pub(super) struct TaskControl {
    pub(super) state: TaskState,
    /// Activation requests that have not ended, the running one among them.
    pub(super) requests: u8,
    /// The level at which it was preempted.
    pub(super) level: u8,
    /// `true` if it begins when it runs next; `false` if it goes on.
    pub(super) begins: bool,
    /// The resource that it took last.
    pub(super) resource: u8,
    /// Events that are set.
    pub(super) events: u64,
    /// Events of which it waits for any.
    pub(super) awaited: u64,
    pub(super) released_ns: u64,
    pub(super) started_ns: u64,
    pub(super) executed_ns: u64,
    pub(super) has_started: bool,
    /// When it was activated last.
    pub(super) activated_ns: Option<u64>,
}

impl TaskControl {
    pub(super) const NEW: Self = Self {
        state: TaskState::Suspended,
        requests: 0,
        level: 0,
        begins: true,
        resource: NO_RESOURCE,
        events: 0,
        awaited: 0,
        released_ns: 0,
        started_ns: 0,
        executed_ns: 0,
        has_started: false,
        activated_ns: None,
    };
}

impl Kernel<'_> {
    /// `ActivateTask`. `at_ns` is the instant of the release; it counts where jobs are accounted.
    ///
    /// # Errors
    /// [`Status::Id`], [`Status::Limit`], [`Status::ProtectionArrival`].
    #[inline]
    pub fn activate_task(&mut self, task: u8, at_ns: u64) -> Result<(), Status> {
        let index = usize::from(task);
        let configured = self.configuration.tasks.get(index).ok_or(Status::Id)?;
        if self.tasks[index].requests >= configured.activations {
            return Err(Status::Limit);
        }
        self.admit_arrival(index, at_ns)?;
        self.request(index, at_ns);
        Ok(())
    }

    /// Refuses an activation that comes too early after the one before; else notes its instant.
    #[inline]
    pub(super) fn admit_arrival(&mut self, index: usize, at_ns: u64) -> Result<(), Status> {
        let inter_arrival_ns = self.configuration.tasks[index].inter_arrival_ns;
        if inter_arrival_ns == 0 {
            return Ok(());
        }
        let control = &mut self.tasks[index];
        if let Some(last_ns) = control.activated_ns
            && at_ns.saturating_sub(last_ns) < inter_arrival_ns
        {
            return Err(Status::ProtectionArrival);
        }
        control.activated_ns = Some(at_ns);
        Ok(())
    }

    /// Adds an activation, whose limit was looked at.
    #[inline]
    pub(super) fn request(&mut self, index: usize, released_ns: u64) {
        let control = &mut self.tasks[index];
        control.requests += 1;
        if control.state == TaskState::Suspended {
            control.state = TaskState::Ready;
            control.begins = true;
            // Now, not when it begins: what is set from here on is for this job.
            control.events = 0;
        }
        let level = self.configuration.tasks[index].priority;
        // An identifier is below 255.
        self.ready.push(level, Entry { task: index as u8, released_ns });
    }

    /// `TerminateTask`: the running task ends with the next dispatch.
    ///
    /// # Errors
    /// [`Status::CallLevel`], [`Status::Resource`].
    #[inline]
    pub fn terminate_task(&mut self) -> Result<(), Status> {
        let task = self.running_task()?;
        self.refuse_held(task)?;
        self.current = Current::Ending(task);
        Ok(())
    }

    /// `ChainTask`: the running task ends with the next dispatch, and another one is activated.
    ///
    /// # Errors
    /// [`Status::CallLevel`], [`Status::Resource`], [`Status::Id`], [`Status::Limit`],
    /// [`Status::ProtectionArrival`].
    pub fn chain_task(&mut self, next: u8, at_ns: u64) -> Result<(), Status> {
        let task = self.running_task()?;
        if usize::from(next) >= self.configuration.tasks.len() {
            return Err(Status::Id);
        }
        self.refuse_held(task)?;
        if next == task {
            // It leaves the running state before it is activated: no second activation.
            self.admit_arrival(usize::from(next), at_ns)?;
            self.current = Current::Chaining(task);
        } else {
            self.activate_task(next, at_ns)?;
            self.current = Current::Ending(task);
        }
        Ok(())
    }

    /// `Schedule`: a task that is not preemptable, or has an internal resource, gives way to a
    /// higher one. `true` where one is to be dispatched.
    ///
    /// # Errors
    /// [`Status::CallLevel`], [`Status::Resource`].
    pub fn schedule(&mut self) -> Result<bool, Status> {
        let task = self.running_task()?;
        self.refuse_held(task)?;
        let control = &self.tasks[usize::from(task)];
        if control.resource != NO_RESOURCE {
            return Ok(false);
        }
        let priority = self.configuration.tasks[usize::from(task)].priority;
        let gives_way = self.ready.top() > priority;
        if gives_way {
            self.level = priority;
        }
        Ok(gives_way)
    }

    /// `GetTaskState`.
    ///
    /// # Errors
    /// [`Status::Id`].
    pub fn task_state(&self, task: u8) -> Result<TaskState, Status> {
        let known = usize::from(task) < self.configuration.tasks.len();
        if known { Ok(self.tasks[usize::from(task)].state) } else { Err(Status::Id) }
    }

    /// Ends the running task whatever it holds: it returned without an end, or used up its budget.
    /// `None` where no task runs.
    pub fn abandon_running(&mut self) -> Option<u8> {
        let Current::Task(task) = self.current else { return None };
        self.current = Current::Ending(task);
        Some(task)
    }

    /// The running task, where a task calls.
    #[inline]
    pub(super) fn running_task(&self) -> Result<u8, Status> {
        // Checked in standard status too: an ISR that ended its task would end another one.
        match self.current {
            Current::Task(task) if TASK_ONLY.contain(self.call_level) => Ok(task),
            _ => Err(Status::CallLevel),
        }
    }

    /// Refuses a task that holds a resource, where programming errors are looked for.
    #[inline]
    pub(super) fn refuse_held(&self, task: u8) -> Result<(), Status> {
        let holds = self.tasks[usize::from(task)].resource != NO_RESOURCE;
        if self.checks() && holds { Err(Status::Resource) } else { Ok(()) }
    }

    /// A task leaves the running state for good; its next activation may be waiting already. What
    /// it still held, under standard status or because it was ended by force, is given back.
    #[inline]
    pub(super) fn end(&mut self, task: u8) {
        while self.tasks[usize::from(task)].resource != NO_RESOURCE {
            self.give_back(self.tasks[usize::from(task)].resource);
        }
        let control = &mut self.tasks[usize::from(task)];
        control.requests -= 1;
        control.begins = true;
        control.state = if control.requests == 0 { TaskState::Suspended } else { TaskState::Ready };
    }
}
