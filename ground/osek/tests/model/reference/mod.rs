//! The reference: a scheduler as the standard tells it, plain and slow.
//!
//! Lists that are searched from their beginning, priorities that are computed anew whenever they
//! are asked for, ticks that are counted one by one. Nothing here is shared with the kernel but the
//! tables, the statuses and the words in which both are compared.

mod resources;
mod tasks;
mod time;

use quietcore_osek::configuration::{Checking, Configuration, Kind, SCHEDULER_LEVEL, Scale};
use quietcore_osek::status::Status;

use crate::observation::{Budget, Effect, Entered, Left, Observation, State, Subject};
use crate::program::Step;
use tasks::TaskModel;
use time::{AlarmModel, TableModel};

/// Why a task is ready.
#[derive(Clone, Copy)]
enum Request {
    /// It was activated, and this job has not begun.
    Begins { released: u64 },
    /// An event came for it.
    Wakes { released: u64 },
    /// It was preempted by another.
    Preempted,
}

/// An ISR that has begun.
struct Frame {
    isr: usize,
    held: Vec<usize>,
}

/// A scheduler that runs a program.
pub(crate) struct Reference<'c> {
    configuration: &'c Configuration<'c>,
    tasks: Vec<TaskModel>,
    running: Option<usize>,
    /// Ready tasks, the oldest first.
    ready: Vec<(usize, Request)>,
    frames: Vec<Frame>,
    values: Vec<u32>,
    alarms: Vec<AlarmModel>,
    tables: Vec<TableModel>,
    /// Counts what is set on counters: among those that expire at once the oldest is first.
    order: u64,
    now: u64,
    effects: Vec<Effect>,
}

impl<'c> Reference<'c> {
    pub(crate) fn start(configuration: &'c Configuration<'c>, now: u64) -> Self {
        let mut reference = Self {
            configuration,
            tasks: configuration.tasks.iter().map(|_| TaskModel::default()).collect(),
            running: None,
            ready: Vec::new(),
            frames: Vec::new(),
            values: vec![0; configuration.counters.len()],
            alarms: configuration.alarms.iter().map(|_| AlarmModel::default()).collect(),
            tables: configuration.schedule_tables.iter().map(|_| TableModel::default()).collect(),
            order: 0,
            now,
            effects: Vec::new(),
        };
        for (task, configured) in configuration.tasks.iter().enumerate() {
            if configured.autostart & 1 != 0 {
                reference.activate(task, now).expect("nothing was activated before");
            }
        }
        reference.start_counting();
        reference.schedule(Left::Idle);
        reference
    }

    /// Lets time pass; it is the running task's, unless an ISR runs.
    fn pass(&mut self, now: u64) {
        if let (Some(task), true) = (self.running, self.frames.is_empty()) {
            self.tasks[task].executed += now - self.now;
        }
        self.now = now;
    }

    /// The priority that a task has now (OSEK OS 2.2.3, 4.6.5 and 8.5): its own, raised by its
    /// internal resource and by those that it holds. A ceiling of ISRs lies above all tasks.
    fn priority(&self, task: usize) -> u8 {
        let configured = &self.configuration.tasks[task];
        let model = &self.tasks[task];
        let mut priority = configured.priority;
        if model.has_internal {
            priority = priority.max(configured.running_level);
        }
        for resource in &model.held {
            let configured = &self.configuration.resources[*resource];
            priority = priority.max(match configured.scale {
                Scale::Task => configured.ceiling,
                Scale::Interrupt => SCHEDULER_LEVEL,
            });
        }
        priority
    }

    /// The interrupt level of a task or an ISR that holds these.
    fn held_level(&self, held: &[usize]) -> u8 {
        let resources = held.iter().map(|resource| &self.configuration.resources[*resource]);
        let ceilings = resources.filter(|resource| resource.scale == Scale::Interrupt);
        ceilings.map(|resource| resource.ceiling).max().unwrap_or(0)
    }

    fn interrupt_level(&self) -> u8 {
        let mut level = self.running.map_or(0, |task| self.held_level(&self.tasks[task].held));
        for frame in &self.frames {
            level = level.max(self.configuration.isrs[frame.isr].level);
            level = level.max(self.held_level(&frame.held));
        }
        level
    }

    /// Runs the oldest of the ready tasks with the highest priority, if it is above the running
    /// one's, or none runs. `left` is the context in which none does.
    fn schedule(&mut self, left: Left) {
        let highest = self.ready.iter().map(|(task, _)| self.priority(*task)).max();
        if let Some(running) = self.running {
            if highest.is_none_or(|highest| highest <= self.priority(running)) {
                return;
            }
            self.tasks[running].state = State::Ready;
            // A preempted task is the oldest of its priority.
            self.ready.insert(0, (running, Request::Preempted));
            self.running = None;
            self.enter_next(Left::Task(running));
        } else if highest.is_some() || left != Left::Idle {
            self.enter_next(left);
        }
    }

    fn enter_next(&mut self, left: Left) {
        let highest = self.ready.iter().map(|(task, _)| self.priority(*task)).max();
        let place = self.ready.iter().position(|(task, _)| Some(self.priority(*task)) == highest);
        let Some(place) = place else {
            return self.effects.push(Effect::Switch(left, Entered::Idle));
        };
        let (task, request) = self.ready.remove(place);
        let now = self.now;
        let model = &mut self.tasks[task];
        model.state = State::Running;
        model.has_internal = true;
        let entered = match request {
            Request::Begins { released } | Request::Wakes { released } => {
                model.released = released;
                model.started = now;
                model.executed = 0;
                match request {
                    Request::Begins { .. } => Entered::Begin(task),
                    _ => Entered::Resume(task),
                }
            }
            Request::Preempted => Entered::Resume(task),
        };
        self.running = Some(task);
        self.effects.push(Effect::Switch(left, entered));
    }

    fn is_extended(&self) -> bool {
        self.configuration.checking == Checking::Extended
    }

    fn event(&self, task: usize) -> Result<u64, Status> {
        self.find_extended(task)?;
        match self.tasks[task].state {
            State::Suspended => Err(Status::State),
            _ => Ok(self.tasks[task].set),
        }
    }

    fn find_extended(&self, task: usize) -> Result<(), Status> {
        if !self.configuration.class.has_events() {
            return Err(Status::Service);
        }
        match self.configuration.tasks.get(task) {
            None => Err(Status::Id),
            Some(configured) if configured.kind == Kind::Basic => Err(Status::Access),
            Some(_) => Ok(()),
        }
    }

    fn budget(&self, now: u64) -> Budget {
        let Some(task) = self.running else { return Budget::Unlimited };
        let budget = self.configuration.tasks[task].budget_ns;
        let executed = self.tasks[task].executed + (now - self.now);
        match budget {
            0 => Budget::Unlimited,
            budget if executed >= budget => Budget::Exhausted(task),
            budget => Budget::Until(now + budget - executed),
        }
    }
}

impl Subject for Reference<'_> {
    fn perform(&mut self, step: &Step, now_ns: u64) -> Result<(), Status> {
        self.pass(now_ns);
        let before = self.running;
        let result = self.serve(step);
        if self.frames.is_empty() {
            let left = match (before, self.running) {
                (Some(task), None) if self.tasks[task].state == State::Waiting => Left::Task(task),
                (Some(_), None) => Left::Ended,
                _ => Left::Idle,
            };
            self.schedule(left);
            // Who was not preempted after all takes its internal resource again.
            if let Some(task) = self.running {
                self.tasks[task].has_internal = true;
            }
        }
        result
    }

    fn abandon(&mut self, now_ns: u64) {
        self.pass(now_ns);
        if let Some(task) = self.running {
            self.end_job(task);
            self.schedule(Left::Ended);
        }
    }

    fn begin_isr(&mut self, isr: usize, now_ns: u64) {
        self.pass(now_ns);
        self.frames.push(Frame { isr, held: Vec::new() });
    }

    fn end_isr(&mut self, now_ns: u64) -> bool {
        self.pass(now_ns);
        let frame = self.frames.pop().expect("an ISR runs");
        if self.frames.is_empty() {
            self.schedule(Left::Idle);
        }
        !frame.held.is_empty()
    }

    fn tick(&mut self, ticks: u32, now_ns: u64) {
        self.pass(now_ns);
        for left in (0..ticks).rev() {
            self.count_hardware(now_ns - u64::from(left));
        }
        if self.frames.is_empty() {
            self.schedule(Left::Idle);
        }
    }

    fn observe(&self, now_ns: u64) -> Observation {
        Observation {
            running: self.running,
            level: self.running.map_or(0, |task| self.priority(task)),
            interrupt_level: self.interrupt_level(),
            states: self.tasks.iter().map(|task| task.state).collect(),
            events: (0..self.tasks.len()).map(|task| self.event(task)).collect(),
            alarms: self.alarms.iter().map(AlarmModel::remaining).collect(),
            counters: self.values.clone(),
            tables: self.tables.iter().map(TableModel::status).collect(),
            budget: self.frames.is_empty().then(|| self.budget(now_ns)),
        }
    }

    fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }
}
