//! Resources (OSEK OS 2.2.3, 8 and 13.4).

use quietcore_osek::configuration::Scale;
use quietcore_osek::status::Status;

use super::Reference;

impl Reference<'_> {
    pub(super) fn get(&mut self, resource: usize) -> Result<(), Status> {
        if resource >= self.configuration.resources.len() {
            return Err(Status::Id);
        }
        let is_user = self.is_user(resource)?;
        let by_task = self.tasks.iter().any(|task| task.held.contains(&resource));
        let by_isr = self.frames.iter().any(|frame| frame.held.contains(&resource));
        if !is_user || by_task || by_isr {
            return Err(Status::Access);
        }
        self.held()?.push(resource);
        Ok(())
    }

    pub(super) fn release(&mut self, resource: usize) -> Result<(), Status> {
        if resource >= self.configuration.resources.len() {
            return Err(Status::Id);
        }
        if !self.is_user(resource)? && self.is_extended() {
            return Err(Status::Access);
        }
        let held = self.held()?;
        if held.last() != Some(&resource) {
            return Err(Status::NoFunction);
        }
        held.pop();
        Ok(())
    }

    /// Returns the resources that the caller holds.
    fn held(&mut self) -> Result<&mut Vec<usize>, Status> {
        match (self.frames.last_mut(), self.running) {
            (Some(frame), _) => Ok(&mut frame.held),
            (None, Some(task)) => Ok(&mut self.tasks[task].held),
            (None, None) => Err(Status::CallLevel),
        }
    }

    /// Returns `true` if the ceiling is at least the caller's own level.
    fn is_user(&self, resource: usize) -> Result<bool, Status> {
        let configured = &self.configuration.resources[resource];
        let ceiling = configured.ceiling;
        match (self.frames.last(), self.running, configured.scale) {
            (Some(_), _, Scale::Task) => Ok(false),
            (Some(frame), _, Scale::Interrupt) => {
                Ok(self.configuration.isrs[frame.isr].level <= ceiling)
            }
            (None, Some(task), Scale::Task) => {
                Ok(self.configuration.tasks[task].priority <= ceiling)
            }
            (None, Some(_), Scale::Interrupt) => Ok(true),
            (None, None, _) => Err(Status::CallLevel),
        }
    }
}
