//! Events (OSEK OS 2.2.3, 7 and 13.5). Only extended tasks have them.

use super::ready::Entry;
use super::resources::NO_RESOURCE;
use super::{Current, Kernel, TaskState};
use crate::configuration::Kind;
use crate::status::Status;

impl Kernel<'_> {
    /// `SetEvent`. `at_ns` is the instant of the release that it may be.
    ///
    /// # Errors
    /// [`Status::Service`], [`Status::Id`], [`Status::Access`], [`Status::State`].
    #[inline]
    pub fn set_event(&mut self, task: u8, events: u64, at_ns: u64) -> Result<(), Status> {
        let index = self.extended(task)?;
        let control = &mut self.tasks[index];
        if control.state == TaskState::Suspended {
            return Err(Status::State);
        }
        control.events |= events;
        if control.state == TaskState::Waiting && control.events & control.awaited != 0 {
            control.state = TaskState::Ready;
            control.awaited = 0;
            let level = self.configuration.tasks[index].priority;
            self.ready.push(level, Entry { task, released_ns: at_ns });
        }
        Ok(())
    }

    /// `ClearEvent`, of the running task.
    ///
    /// # Errors
    /// [`Status::Service`], [`Status::CallLevel`], [`Status::Access`].
    pub fn clear_event(&mut self, events: u64) -> Result<(), Status> {
        let index = self.own_events()?;
        self.tasks[index].events &= !events;
        Ok(())
    }

    /// `GetEvent`: the events that are set.
    ///
    /// # Errors
    /// [`Status::Service`], [`Status::Id`], [`Status::Access`], [`Status::State`].
    pub fn event(&self, task: u8) -> Result<u64, Status> {
        let index = self.extended(task)?;
        let control = &self.tasks[index];
        match control.state {
            TaskState::Suspended => Err(Status::State),
            _ => Ok(control.events),
        }
    }

    /// `WaitEvent`: `true` where the running task waits from the next dispatch on.
    ///
    /// # Errors
    /// [`Status::Service`], [`Status::CallLevel`], [`Status::Access`], [`Status::Resource`].
    #[inline]
    pub fn wait_event(&mut self, events: u64) -> Result<bool, Status> {
        let index = self.own_events()?;
        let control = &mut self.tasks[index];
        // In standard status too: tasks that run meanwhile would have the ceiling's level.
        if control.resource != NO_RESOURCE {
            return Err(Status::Resource);
        }
        if control.events & events != 0 {
            return Ok(false);
        }
        control.awaited = events;
        // An identifier is below 255.
        self.current = Current::Blocking(index as u8);
        Ok(true)
    }

    /// The place of an extended task.
    #[inline]
    fn extended(&self, task: u8) -> Result<usize, Status> {
        self.refuse_without_events()?;
        let index = usize::from(task);
        let configured = self.configuration.tasks.get(index).ok_or(Status::Id)?;
        if configured.kind == Kind::Extended { Ok(index) } else { Err(Status::Access) }
    }

    /// The place of the running task, which is an extended one.
    #[inline]
    fn own_events(&self) -> Result<usize, Status> {
        self.refuse_without_events()?;
        let task = self.running_task()?;
        self.extended(task)
    }

    #[inline]
    fn refuse_without_events(&self) -> Result<(), Status> {
        if self.configuration.class.has_events() { Ok(()) } else { Err(Status::Service) }
    }
}
