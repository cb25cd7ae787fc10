//! Services of tasks, resources and events (OSEK OS 2.2.3, 13.2, 13.4, 13.5, 13.7).
//!
//! Each refuses a call from where the standard does not allow it with [`Status::CallLevel`] under
//! extended status, and while the caller holds interrupts back with [`Status::DisabledInterrupts`].

use core::sync::atomic::Ordering::Relaxed;

use super::{Call, System};
use crate::kernel::{CallLevel, CallLevels, Kernel, TaskState};
use crate::port::Port;
use crate::status::{Service, Status};

/// Call levels of services that change something.
pub(super) const TASK_OR_ISR: CallLevels = CallLevels::of(&[CallLevel::Task, CallLevel::Isr2]);

/// Call levels of services that change the running task.
const TASK: CallLevels = CallLevels::of(&[CallLevel::Task]);

/// Call levels of services that only look.
pub(super) const LOOKING: CallLevels = CallLevels::of(&[
    CallLevel::Task,
    CallLevel::Isr2,
    CallLevel::ErrorHook,
    CallLevel::PreTaskHook,
    CallLevel::PostTaskHook,
]);

impl<P: Port> System<P> {
    /// `ActivateTask`: asks for a job of a task.
    ///
    /// # Errors
    /// [`Status::Limit`] where it has as many activations as it may;
    /// [`Status::ProtectionArrival`] where it comes too early. Extended status: [`Status::Id`].
    #[inline]
    pub fn activate_task(&self, task: u8) -> Result<(), Status> {
        let call = || Call::of_one(Service::ActivateTask, task);
        self.serve(TASK_OR_ISR, call, |kernel| kernel.activate_task(task, self.release_ns()))
    }

    /// `TerminateTask`: ends the calling task. Returns only with an error.
    ///
    /// # Errors
    /// Extended status: [`Status::Resource`] where it still has one, [`Status::CallLevel`].
    #[inline]
    pub fn terminate_task(&self) -> Result<(), Status> {
        let call = || Call::new(Service::TerminateTask, [0; 3]);
        self.serve(TASK, call, Kernel::terminate_task)
    }

    /// `ChainTask`: ends the calling task and activates one. Returns only with an error.
    ///
    /// # Errors
    /// As [`System::terminate_task`] and [`System::activate_task`]; the calling task goes on then.
    pub fn chain_task(&self, task: u8) -> Result<(), Status> {
        let call = || Call::of_one(Service::ChainTask, task);
        self.serve(TASK, call, |kernel| kernel.chain_task(task, self.release_ns()))
    }

    /// `Schedule`: lets a higher task run before a task that is not preemptable.
    ///
    /// # Errors
    /// Extended status: [`Status::Resource`], [`Status::CallLevel`].
    pub fn schedule(&self) -> Result<(), Status> {
        let call = || Call::new(Service::Schedule, [0; 3]);
        self.serve(TASK, call, |kernel| kernel.schedule().map(drop))
    }

    /// `GetTaskID`: the running task; `None` where none runs.
    ///
    /// # Errors
    /// Extended status: [`Status::CallLevel`].
    pub fn task_id(&self) -> Result<Option<u8>, Status> {
        let call = || Call::new(Service::GetTaskId, [0; 3]);
        self.serve(LOOKING, call, |kernel| Ok(kernel.running()))
    }

    /// `GetTaskState`
    ///
    /// # Errors
    /// [`Status::Id`]; extended status: [`Status::CallLevel`].
    pub fn task_state(&self, task: u8) -> Result<TaskState, Status> {
        let call = || Call::of_one(Service::GetTaskState, task);
        self.serve(LOOKING, call, |kernel| kernel.task_state(task))
    }

    /// `GetResource`: takes a resource; the caller runs at its ceiling from now on.
    ///
    /// # Errors
    /// [`Status::Id`]; [`Status::Access`] where it is taken, or its ceiling is below the caller.
    #[inline]
    pub fn get_resource(&self, resource: u8) -> Result<(), Status> {
        let call = || Call::of_one(Service::GetResource, resource);
        let decide = |kernel: &mut Kernel<'static>| kernel.get_resource(resource);
        self.serve_and(TASK_OR_ISR, call, decide, |level, _| *level).map(drop)
    }

    /// `ReleaseResource`: gives back the resource that was taken last.
    ///
    /// # Errors
    /// [`Status::Id`]; [`Status::NoFunction`] where it is not the last one that the caller took.
    /// Extended status: [`Status::Access`] where its ceiling is below the caller.
    #[inline]
    pub fn release_resource(&self, resource: u8) -> Result<(), Status> {
        let call = || Call::of_one(Service::ReleaseResource, resource);
        let decide = |kernel: &mut Kernel<'static>| kernel.release_resource(resource);
        self.serve_and(TASK_OR_ISR, call, decide, |level, _| *level).map(drop)
    }

    /// `SetEvent`: sets events of an extended task, which goes on if it waits for one of them.
    ///
    /// # Errors
    /// [`Status::Access`] for a basic task, [`Status::State`] for a suspended one, [`Status::Id`].
    /// [`Status::Service`] in classes BCC1 and BCC2, as all services of events.
    #[inline]
    pub fn set_event(&self, task: u8, events: u64) -> Result<(), Status> {
        let call = || Call::new(Service::SetEvent, [u64::from(task), events, 0]);
        self.serve(TASK_OR_ISR, call, |kernel| kernel.set_event(task, events, self.release_ns()))
    }

    /// `ClearEvent`: clears events of the calling task.
    ///
    /// # Errors
    /// [`Status::Access`] for a basic task, [`Status::CallLevel`].
    pub fn clear_event(&self, events: u64) -> Result<(), Status> {
        let call = || Call::new(Service::ClearEvent, [events, 0, 0]);
        self.serve(TASK, call, |kernel| kernel.clear_event(events))
    }

    /// `GetEvent`: the events of an extended task that are set.
    ///
    /// # Errors
    /// [`Status::Id`], [`Status::Access`], [`Status::State`]; extended status:
    /// [`Status::CallLevel`].
    pub fn event(&self, task: u8) -> Result<u64, Status> {
        let call = || Call::of_one(Service::GetEvent, task);
        self.serve(LOOKING, call, |kernel| kernel.event(task))
    }

    /// `WaitEvent`: waits until one of these events of the calling task is set.
    ///
    /// # Errors
    /// [`Status::Access`] for a basic task, [`Status::CallLevel`], [`Status::Resource`] where it
    /// still has one.
    #[inline]
    pub fn wait_event(&self, events: u64) -> Result<(), Status> {
        let call = || Call::new(Service::WaitEvent, [events, 0, 0]);
        self.serve(TASK, call, |kernel| kernel.wait_event(events).map(drop))
    }

    /// `GetActiveApplicationMode`
    pub fn active_application_mode(&self) -> u8 {
        self.mode.load(Relaxed)
    }
}
