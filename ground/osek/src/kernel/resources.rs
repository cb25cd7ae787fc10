//! Resources under the immediate priority ceiling protocol (OSEK OS 2.2.3, 8 and 13.4).
//!
//! A task that gets a resource runs at its ceiling from then on, so no other user of it can even
//! begin. If an ISR is among the users the ceiling is an interrupt level: interrupts up to it are
//! held back, and no task is preempted.

use super::{CallLevel, Current, Kernel};
use crate::configuration::Scale;
use crate::status::Status;

/// Ends the chain of resources that one holds.
pub(super) const NO_RESOURCE: u8 = u8::MAX;

/// The holder of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    Task(u8),
    Isr(u8),
}

/// The kernel's state of a resource.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResourceState {
    holder: Option<Holder>,
    /// The levels before it was taken.
    level: u8,
    interrupt_level: u8,
    /// The one that its holder took before.
    before: u8,
}

impl ResourceState {
    pub(super) const FREE: Self =
        Self { holder: None, level: 0, interrupt_level: 0, before: NO_RESOURCE };
}

impl Kernel<'_> {
    /// `GetResource`. Returns the interrupt level from now on.
    ///
    /// # Errors
    /// [`Status::Id`], [`Status::Access`], [`Status::CallLevel`].
    #[inline]
    pub fn get_resource(&mut self, resource: u8) -> Result<u8, Status> {
        let index = usize::from(resource);
        let configured = *self.configuration.resources.get(index).ok_or(Status::Id)?;
        let holder = self.holder()?;
        // In standard status too: a second holder would break the chain of the first.
        if self.resources[index].holder.is_some() || !self.may_use(holder, resource) {
            return Err(Status::Access);
        }
        let before = *self.last_of(holder);
        self.resources[index] = ResourceState {
            holder: Some(holder),
            level: self.level,
            interrupt_level: self.interrupt_level,
            before,
        };
        *self.last_of(holder) = resource;
        match configured.scale {
            Scale::Task => self.level = self.level.max(configured.ceiling),
            Scale::Interrupt => {
                if matches!(holder, Holder::Task(_)) {
                    self.level = Self::ABOVE_ALL;
                }
                self.interrupt_level = self.interrupt_level.max(configured.ceiling);
            }
        }
        Ok(self.interrupt_level)
    }

    /// `ReleaseResource`. Returns the interrupt level from now on.
    ///
    /// # Errors
    /// [`Status::Id`], [`Status::NoFunction`], [`Status::Access`], [`Status::CallLevel`].
    #[inline]
    pub fn release_resource(&mut self, resource: u8) -> Result<u8, Status> {
        let index = usize::from(resource);
        if index >= self.configuration.resources.len() {
            return Err(Status::Id);
        }
        let holder = self.holder()?;
        if self.checks() && !self.may_use(holder, resource) {
            return Err(Status::Access);
        }
        // Not taken, by another, or not the last one taken: all are out of order.
        if self.resources[index].holder != Some(holder) || *self.last_of(holder) != resource {
            return Err(Status::NoFunction);
        }
        self.give_back(resource);
        Ok(self.interrupt_level)
    }

    /// Gives back a resource that is the last one its holder took.
    #[inline]
    pub(super) fn give_back(&mut self, resource: u8) {
        let index = usize::from(resource);
        let state = core::mem::replace(&mut self.resources[index], ResourceState::FREE);
        self.level = state.level;
        self.interrupt_level = state.interrupt_level;
        if let Some(holder) = state.holder {
            *self.last_of(holder) = state.before;
        }
    }

    /// Returns the caller, as one that may hold a resource.
    #[inline]
    fn holder(&self) -> Result<Holder, Status> {
        match (self.call_level, self.isr, self.current) {
            (CallLevel::Task, _, Current::Task(task)) => Ok(Holder::Task(task)),
            (CallLevel::Isr2, Some(isr), _) => Ok(Holder::Isr(isr)),
            _ => Err(Status::CallLevel),
        }
    }

    /// Returns `true` if the ceiling is at least the level of the one that would hold it.
    #[inline]
    fn may_use(&self, holder: Holder, resource: u8) -> bool {
        let configured = &self.configuration.resources[usize::from(resource)];
        match (holder, configured.scale) {
            (Holder::Task(task), Scale::Task) => {
                self.configuration.tasks[usize::from(task)].priority <= configured.ceiling
            }
            (Holder::Task(_), Scale::Interrupt) => true,
            (Holder::Isr(_), Scale::Task) => false,
            (Holder::Isr(isr), Scale::Interrupt) => {
                self.configuration.isrs[usize::from(isr)].level <= configured.ceiling
            }
        }
    }

    #[inline]
    fn last_of(&mut self, holder: Holder) -> &mut u8 {
        match holder {
            Holder::Task(task) => &mut self.tasks[usize::from(task)].resource,
            Holder::Isr(isr) => &mut self.isrs[usize::from(isr)].resource,
        }
    }
}
