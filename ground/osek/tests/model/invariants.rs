//! Properties that hold at every step, whatever the reference says.
//!
//! The books here are kept from results of calls and from switches alone, so that a rule that both
//! sides break in the same way is seen.

use std::fmt::Write as _;

use quietcore_osek::configuration::{Configuration, Kind, SCHEDULER_LEVEL, Scale};
use quietcore_osek::status::Status;

use crate::observation::{Effect, Entered, Observation, State};
use crate::program::Step;

/// The state that the calls so far must have led to.
pub(crate) struct Books<'c> {
    configuration: &'c Configuration<'c>,
    /// Resources that each task holds, the last one last.
    held: Vec<Vec<u8>>,
    /// Resources that each ISR that runs holds, the innermost ISR last.
    isr_held: Vec<Vec<u8>>,
    accepted: Vec<u64>,
    begun: Vec<u64>,
    awaited: Vec<u64>,
}

/// A rule that does not hold.
pub(crate) type Breach = String;

impl<'c> Books<'c> {
    pub(crate) fn open(configuration: &'c Configuration<'c>) -> Self {
        let tasks = configuration.tasks;
        Self {
            configuration,
            held: vec![Vec::new(); tasks.len()],
            isr_held: Vec::new(),
            accepted: tasks.iter().map(|task| u64::from(task.autostart & 1)).collect(),
            begun: vec![0; tasks.len()],
            awaited: vec![0; tasks.len()],
        }
    }

    /// Resources that the running task, or the innermost ISR, holds.
    pub(crate) fn held(&self, running: Option<usize>) -> &[u8] {
        match (self.isr_held.last(), running) {
            (Some(held), _) => held,
            (None, Some(task)) => &self.held[task],
            (None, None) => &[],
        }
    }

    /// Returns `true` if a task was activated and that job did not begin.
    pub(crate) fn is_to_begin(&self, task: usize) -> bool {
        self.accepted[task] > self.begun[task]
    }

    /// Looks whether every activation has led to a job, when nothing is left to do.
    pub(crate) fn check_end(&self) -> Result<(), Breach> {
        match (0..self.begun.len()).find(|task| self.is_to_begin(*task)) {
            Some(task) => Err(format!("an activation of task {task} was lost")),
            None => Ok(()),
        }
    }

    pub(crate) fn begin_isr(&mut self) {
        self.isr_held.push(Vec::new());
    }

    /// Notes that the innermost ISR ended, and says whether it kept something.
    pub(crate) fn end_isr(&mut self) -> bool {
        self.isr_held.pop().is_some_and(|held| !held.is_empty())
    }

    /// Notes that a task ended.
    pub(crate) fn end(&mut self, task: usize) {
        self.held[task].clear();
    }

    /// Notes the result of a call.
    pub(crate) fn note_call(
        &mut self,
        running: Option<usize>,
        step: &Step,
        result: Result<(), Status>,
    ) -> Result<(), Breach> {
        if result.is_err() {
            return Ok(());
        }
        let caller = running.filter(|_| self.isr_held.is_empty());
        match (*step, caller) {
            (Step::Activate(task), _) => self.accepted[usize::from(task)] += 1,
            (Step::Chain(task), Some(caller)) => {
                self.accepted[usize::from(task)] += 1;
                self.end(caller);
            }
            (Step::Terminate, Some(caller)) => self.end(caller),
            (Step::WaitEvent(events), Some(caller)) => self.awaited[caller] = events,
            (Step::Get(resource), _) => {
                let all = self.held.iter().chain(&self.isr_held);
                if all.flatten().any(|held| *held == resource) {
                    return Err(format!("resource {resource} was taken by two"));
                }
                match (self.isr_held.last_mut(), running) {
                    (Some(held), _) => held.push(resource),
                    (None, Some(task)) => self.held[task].push(resource),
                    (None, None) => return Err("nobody took a resource".into()),
                }
            }
            (Step::Release(resource), _) => {
                let held = match (self.isr_held.last_mut(), running) {
                    (Some(held), _) => held,
                    (None, Some(task)) => &mut self.held[task],
                    (None, None) => return Err("nobody released a resource".into()),
                };
                if held.pop() != Some(resource) {
                    return Err(format!("resource {resource} was released out of order"));
                }
            }
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn note_effect(&mut self, effect: &Effect) {
        match effect {
            Effect::Activated(task) => self.accepted[*task] += 1,
            Effect::Switch(_, Entered::Begin(task)) => self.begun[*task] += 1,
            _ => {}
        }
    }

    /// Looks whether all rules hold in a state.
    pub(crate) fn check(&self, seen: &Observation) -> Result<(), Breach> {
        let mut breach = String::new();
        let running: Vec<usize> = tasks_in(seen, State::Running);
        if running != seen.running.into_iter().collect::<Vec<_>>() {
            let _ = write!(breach, "task {:?} runs, but {running:?} are running; ", seen.running);
        }
        if self.isr_held.is_empty() {
            self.check_ready(seen, &mut breach);
        }
        for task in 0..seen.states.len() {
            self.check_task(task, seen, &mut breach);
        }
        let ceiling = seen.running.map_or(0, |task| self.interrupt_ceiling(&self.held[task]));
        if self.isr_held.is_empty() && seen.interrupt_level != ceiling {
            let level = seen.interrupt_level;
            let _ = write!(breach, "the interrupt level is {level} instead of {ceiling}; ");
        }
        if breach.is_empty() { Ok(()) } else { Err(breach) }
    }

    /// Ready tasks are ready because what runs is as urgent, by itself or by what it holds.
    fn check_ready(&self, seen: &Observation, breach: &mut String) {
        for task in tasks_in(seen, State::Ready) {
            let priority = self.configuration.tasks[task].priority;
            let Some(running) = seen.running else {
                let _ = write!(breach, "task {task} is ready and nothing runs; ");
                continue;
            };
            if priority > seen.level {
                let _ = write!(breach, "task {task} is above level {}; ", seen.level);
            }
            let configured = &self.configuration.tasks[running];
            let holds_back = self.held[running].iter().any(|resource| {
                let resource = &self.configuration.resources[usize::from(*resource)];
                resource.scale == Scale::Interrupt || resource.ceiling >= priority
            });
            if priority > configured.running_level && !holds_back {
                let _ = write!(breach, "task {task} waits for task {running} without need; ");
            }
            if configured.running_level == SCHEDULER_LEVEL && seen.level != SCHEDULER_LEVEL {
                let _ = write!(breach, "task {running} can be preempted; ");
            }
        }
    }

    fn check_task(&self, task: usize, seen: &Observation, breach: &mut String) {
        let state = seen.states[task];
        if state == State::Waiting {
            let set = seen.events[task].unwrap_or(0);
            if set & self.awaited[task] != 0 {
                let _ = write!(breach, "task {task} waits for {set:#b}, which is set; ");
            }
            if self.configuration.tasks[task].kind == Kind::Basic {
                let _ = write!(breach, "task {task} is basic and waits; ");
            }
        }
        let (accepted, begun) = (self.accepted[task], self.begun[task]);
        if begun > accepted {
            let _ = write!(breach, "task {task} began {begun} jobs of {accepted}; ");
        }
        if state == State::Suspended && begun != accepted {
            let _ = write!(breach, "task {task} lost {} activations; ", accepted - begun);
        }
    }

    fn interrupt_ceiling(&self, held: &[u8]) -> u8 {
        let resources = held.iter().map(|held| &self.configuration.resources[usize::from(*held)]);
        let ceilings = resources.filter(|resource| resource.scale == Scale::Interrupt);
        ceilings.map(|resource| resource.ceiling).max().unwrap_or(0)
    }
}

fn tasks_in(seen: &Observation, state: State) -> Vec<usize> {
    (0..seen.states.len()).filter(|task| seen.states[*task] == state).collect()
}
