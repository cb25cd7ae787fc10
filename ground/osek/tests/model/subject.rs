//! The kernel, driven as the system drives it: it decides, and this carries out.

use quietcore_osek::configuration::{Action, ActionKind, Configuration};
use quietcore_osek::kernel::{self, CallLevel, Due, Interrupted, Kernel, TableStatus, TaskState};
use quietcore_osek::port::{Enter, Leave};
use quietcore_osek::status::Status;
use quietcore_units::KernelJob;

use crate::observation::{Budget, Effect, Entered, Left, Observation, State, Subject, Table};
use crate::program::Step;

/// A kernel that runs a program.
pub(crate) struct Driven<'c> {
    kernel: Box<Kernel<'c>>,
    configuration: &'c Configuration<'c>,
    interrupted: Vec<Interrupted>,
    effects: Vec<Effect>,
}

impl<'c> Driven<'c> {
    pub(crate) fn start(configuration: &'c Configuration<'c>, now_ns: u64) -> Self {
        let mut kernel = Box::new(Kernel::new());
        kernel.start(configuration, 0, now_ns).expect("mode 0 exists");
        kernel.enter(CallLevel::Task);
        let mut driven =
            Self { kernel, configuration, interrupted: Vec::new(), effects: Vec::new() };
        driven.dispatch(now_ns);
        driven
    }

    fn dispatch(&mut self, now_ns: u64) {
        if self.kernel.call_level() != CallLevel::Task {
            return;
        }
        if let Some(switch) = self.kernel.dispatch(now_ns) {
            self.effects.extend(switch.job.map(effect_of_job));
            let left = match switch.leave {
                Leave::Task(task) => Left::Task(usize::from(task)),
                Leave::Idle => Left::Idle,
                Leave::Ended => Left::Ended,
            };
            let entered = match switch.enter {
                Enter::Begin(task, _) => Entered::Begin(usize::from(task)),
                Enter::Resume(task) => Entered::Resume(usize::from(task)),
                Enter::Idle => Entered::Idle,
            };
            self.effects.push(Effect::Switch(left, entered));
        }
        assert!(!self.kernel.must_dispatch(), "one dispatch is enough");
    }

    fn expire(&mut self, counter: usize, at_ns: u64) {
        while let Some(due) = self.kernel.take_due(counter) {
            match due {
                Due::Alarm(action) => self.carry_out(&action, at_ns),
                Due::Point { first, count } => {
                    let first = usize::from(first);
                    for index in first..first + usize::from(count) {
                        self.carry_out(&self.configuration.actions[index], at_ns);
                    }
                }
            }
        }
    }

    fn carry_out(&mut self, action: &Action, at_ns: u64) {
        let object = action.object as u8;
        let index = usize::from(action.object);
        let effect = match action.kind {
            ActionKind::ActivateTask => match self.kernel.activate_task(object, at_ns) {
                Ok(()) => Effect::Activated(index),
                Err(status) => Effect::Failed(action.object, status),
            },
            ActionKind::SetEvent => match self.kernel.set_event(object, action.events, at_ns) {
                Ok(()) => Effect::EventSet(index),
                Err(status) => Effect::Failed(action.object, status),
            },
            ActionKind::Callback => Effect::Callback(action.object),
            ActionKind::IncrementCounter => {
                self.effects.push(Effect::Incremented(action.object));
                return self.increment(index, at_ns);
            }
        };
        self.effects.push(effect);
    }

    fn increment(&mut self, counter: usize, at_ns: u64) {
        self.kernel.advance(counter, 1);
        self.expire(counter, at_ns);
    }

    fn call(&mut self, step: &Step, now_ns: u64) -> Result<(), Status> {
        let kernel = &mut self.kernel;
        match *step {
            Step::Activate(task) => kernel.activate_task(task, now_ns),
            Step::Terminate => kernel.terminate_task(),
            Step::Chain(task) => kernel.chain_task(task, now_ns),
            Step::Schedule => kernel.schedule().map(drop),
            Step::Get(resource) => kernel.get_resource(resource).map(drop),
            Step::Release(resource) => kernel.release_resource(resource).map(drop),
            Step::ReleaseLast => Ok(()),
            Step::SetEvent(task, events) => kernel.set_event(task, events, now_ns),
            Step::ClearEvent(events) => kernel.clear_event(events),
            Step::WaitEvent(events) => kernel.wait_event(events).map(drop),
            Step::SetRelative(alarm, increment, cycle) => {
                kernel.set_relative_alarm(alarm, increment, cycle)
            }
            Step::SetAbsolute(alarm, start, cycle) => {
                kernel.set_absolute_alarm(alarm, start, cycle)
            }
            Step::Cancel(alarm) => kernel.cancel_alarm(alarm),
            Step::Increment(counter) => {
                let counter = kernel.software_counter(counter)?;
                self.increment(counter, now_ns);
                Ok(())
            }
            Step::StartRelative(table, offset) => kernel.start_table_relative(table, offset),
            Step::StartAbsolute(table, value) => kernel.start_table_absolute(table, value),
            Step::Stop(table) => kernel.stop_table(table),
            Step::Next(from, to) => kernel.next_table(from, to),
        }
    }
}

impl Subject for Driven<'_> {
    fn perform(&mut self, step: &Step, now_ns: u64) -> Result<(), Status> {
        let result = self.call(step, now_ns);
        self.dispatch(now_ns);
        result
    }

    fn abandon(&mut self, now_ns: u64) {
        self.kernel.abandon_running();
        self.dispatch(now_ns);
    }

    fn begin_isr(&mut self, isr: usize, now_ns: u64) {
        self.interrupted.push(self.kernel.enter_isr(Some(isr as u8), now_ns));
    }

    fn end_isr(&mut self, now_ns: u64) -> bool {
        let interrupted = self.interrupted.pop().expect("an ISR runs");
        let kept = self.kernel.leave_isr(interrupted, now_ns);
        self.dispatch(now_ns);
        kept
    }

    fn tick(&mut self, ticks: u32, now_ns: u64) {
        let interrupted = self.kernel.enter_isr(None, now_ns);
        let mut left = ticks;
        while left > 0 {
            left -= self.kernel.advance_hardware(left);
            for counter in 0..self.configuration.counters.len() {
                if self.configuration.counters[counter].hardware {
                    self.expire(counter, now_ns - u64::from(left));
                }
            }
        }
        self.kernel.leave_isr(interrupted, now_ns);
        self.dispatch(now_ns);
    }

    fn observe(&self, now_ns: u64) -> Observation {
        let kernel = &self.kernel;
        let tasks = 0..self.configuration.tasks.len() as u8;
        let alarms = 0..self.configuration.alarms.len() as u8;
        let counters = 0..self.configuration.counters.len() as u8;
        let tables = 0..self.configuration.schedule_tables.len() as u8;
        let state = |task| state_of(kernel.task_state(task).expect("the task exists"));
        let table = |table| table_of(kernel.table_status(table).expect("the table exists"));
        Observation {
            running: kernel.running().map(usize::from),
            level: kernel.level(),
            interrupt_level: kernel.interrupt_level(),
            states: tasks.clone().map(state).collect(),
            events: tasks.map(|task| kernel.event(task)).collect(),
            alarms: alarms.map(|alarm| kernel.remaining_ticks(alarm)).collect(),
            counters: counters
                .map(|counter| kernel.counter_value(counter).expect("the counter exists"))
                .collect(),
            tables: tables.map(table).collect(),
            budget: self.interrupted.is_empty().then(|| budget_of(kernel.budget(now_ns))),
        }
    }

    fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }
}

fn effect_of_job(job: KernelJob) -> Effect {
    Effect::Job {
        task: job.task as usize,
        waits: job.waits == 1,
        released: job.released_ns,
        started: job.started_ns,
        finished: job.finished_ns,
        execution: job.execution_ns,
    }
}

fn state_of(state: TaskState) -> State {
    match state {
        TaskState::Suspended => State::Suspended,
        TaskState::Ready => State::Ready,
        TaskState::Running => State::Running,
        TaskState::Waiting => State::Waiting,
    }
}

fn table_of(status: TableStatus) -> Table {
    match status {
        TableStatus::Stopped => Table::Stopped,
        TableStatus::Next => Table::Next,
        TableStatus::Running => Table::Running,
    }
}

fn budget_of(budget: kernel::Budget) -> Budget {
    match budget {
        kernel::Budget::Unlimited => Budget::Unlimited,
        kernel::Budget::Until(at_ns) => Budget::Until(at_ns),
        kernel::Budget::Exhausted(task) => Budget::Exhausted(usize::from(task)),
    }
}
