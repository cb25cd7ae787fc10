//! Tasks and events (OSEK OS 2.2.3, 13.2 and 13.5).

use quietcore_osek::status::Status;

use super::{Reference, Request};
use crate::observation::{Effect, State};
use crate::program::Step;

/// A task in the reference.
pub(super) struct TaskModel {
    pub(super) state: State,
    /// Activations whose jobs have not ended.
    pub(super) activations: u8,
    /// `true` while it has its internal resource.
    pub(super) has_internal: bool,
    /// The resources that it holds, the last one taken last.
    pub(super) held: Vec<usize>,
    pub(super) set: u64,
    pub(super) awaited: u64,
    pub(super) released: u64,
    pub(super) started: u64,
    pub(super) executed: u64,
    last_activation: Option<u64>,
}

impl Default for TaskModel {
    fn default() -> Self {
        Self {
            state: State::Suspended,
            activations: 0,
            has_internal: false,
            held: Vec::new(),
            set: 0,
            awaited: 0,
            released: 0,
            started: 0,
            executed: 0,
            last_activation: None,
        }
    }
}

impl Reference<'_> {
    /// Carries out a call, without the switch that may follow.
    pub(super) fn serve(&mut self, step: &Step) -> Result<(), Status> {
        match *step {
            Step::Activate(task) => self.activate(usize::from(task), self.now),
            Step::Terminate => self.terminate(),
            Step::Chain(task) => self.chain(usize::from(task)),
            Step::Schedule => self.give_way(),
            Step::Get(resource) => self.get(usize::from(resource)),
            Step::Release(resource) => self.release(usize::from(resource)),
            Step::ReleaseLast => Ok(()),
            Step::SetEvent(task, events) => self.set_event(usize::from(task), events, self.now),
            Step::ClearEvent(events) => {
                let task = self.calling_extended_task()?;
                self.tasks[task].set &= !events;
                Ok(())
            }
            Step::WaitEvent(events) => self.wait(events),
            _ => self.serve_time(step),
        }
    }

    pub(super) fn activate(&mut self, task: usize, at: u64) -> Result<(), Status> {
        let configured = self.configuration.tasks.get(task).ok_or(Status::Id)?;
        if self.tasks[task].activations == configured.activations {
            return Err(Status::Limit);
        }
        self.arrive(task, at)?;
        self.add_job(task, at);
        Ok(())
    }

    fn arrive(&mut self, task: usize, at: u64) -> Result<(), Status> {
        let distance = self.configuration.tasks[task].inter_arrival_ns;
        let model = &mut self.tasks[task];
        if model.last_activation.is_some_and(|last| distance != 0 && at < last + distance) {
            return Err(Status::ProtectionArrival);
        }
        model.last_activation = Some(at);
        Ok(())
    }

    fn add_job(&mut self, task: usize, released: u64) {
        let model = &mut self.tasks[task];
        model.activations += 1;
        if model.state == State::Suspended {
            model.state = State::Ready;
            model.set = 0;
        }
        self.ready.push((task, Request::Begins { released }));
    }

    fn calling_task(&self) -> Result<usize, Status> {
        match self.running {
            Some(task) if self.frames.is_empty() => Ok(task),
            _ => Err(Status::CallLevel),
        }
    }

    fn calling_extended_task(&self) -> Result<usize, Status> {
        if !self.configuration.class.has_events() {
            return Err(Status::Service);
        }
        let task = self.calling_task()?;
        self.find_extended(task)?;
        Ok(task)
    }

    fn terminate(&mut self) -> Result<(), Status> {
        let task = self.calling_task()?;
        self.refuse_held(task)?;
        self.end_job(task);
        Ok(())
    }

    fn chain(&mut self, next: usize) -> Result<(), Status> {
        let task = self.calling_task()?;
        if next >= self.tasks.len() {
            return Err(Status::Id);
        }
        self.refuse_held(task)?;
        if next == task {
            self.arrive(task, self.now)?;
            self.end_job(task);
            self.add_job(task, self.now);
        } else {
            self.activate(next, self.now)?;
            self.end_job(task);
        }
        Ok(())
    }

    fn give_way(&mut self) -> Result<(), Status> {
        let task = self.calling_task()?;
        self.refuse_held(task)?;
        if self.tasks[task].held.is_empty() {
            self.tasks[task].has_internal = false;
        }
        Ok(())
    }

    fn refuse_held(&self, task: usize) -> Result<(), Status> {
        let refuses = self.is_extended() && !self.tasks[task].held.is_empty();
        if refuses { Err(Status::Resource) } else { Ok(()) }
    }

    /// The running task's job ends, and with it what the task holds.
    pub(super) fn end_job(&mut self, task: usize) {
        self.tell_job(task, false);
        let model = &mut self.tasks[task];
        model.held.clear();
        model.has_internal = false;
        model.activations -= 1;
        model.state = if model.activations == 0 { State::Suspended } else { State::Ready };
        self.running = None;
    }

    fn tell_job(&mut self, task: usize, waits: bool) {
        let model = &self.tasks[task];
        self.effects.push(Effect::Job {
            task,
            waits,
            released: model.released,
            started: model.started,
            finished: self.now,
            execution: model.executed,
        });
    }

    pub(super) fn set_event(&mut self, task: usize, events: u64, at: u64) -> Result<(), Status> {
        self.find_extended(task)?;
        let model = &mut self.tasks[task];
        if model.state == State::Suspended {
            return Err(Status::State);
        }
        model.set |= events;
        if model.state == State::Waiting && model.set & model.awaited != 0 {
            model.state = State::Ready;
            self.ready.push((task, Request::Wakes { released: at }));
        }
        Ok(())
    }

    fn wait(&mut self, events: u64) -> Result<(), Status> {
        let task = self.calling_extended_task()?;
        if !self.tasks[task].held.is_empty() {
            return Err(Status::Resource);
        }
        if self.tasks[task].set & events == 0 {
            self.tell_job(task, true);
            let model = &mut self.tasks[task];
            model.awaited = events;
            model.state = State::Waiting;
            model.has_internal = false;
            self.running = None;
        }
        Ok(())
    }
}
