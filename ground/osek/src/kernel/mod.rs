//! The kernel's decisions: which task runs, and what services answer.
//!
//! A state machine without contexts, clocks or hooks. A port switches what is decided here, and
//! [`System`](crate::system::System) joins the two.
//!
//! ```text
//!             activate                dispatch
//! suspended ───────────► ready ◄─────────────────► running ──► suspended  (terminate, chain)
//!                          ▲         preempt          │
//!                          │                          ▼
//!                          └───────── event ─────  waiting     (extended tasks only)
//! ```
//!
//! Ready tasks are in two levels. New activations, and extended tasks whose event came, are in the
//! ready queue by level. Preempted tasks are on a stack: each was preempted by one of a higher
//! level, so the topmost is the highest, and within its level it is the oldest (OSEK OS 2.2.3,
//! 4.6.5). Picking the next task is one comparison of both tops.
//!
//! Bounds: every service but those below takes constant time.
//!
//! | what | bound |
//! |---|---|
//! | setting or cancelling an alarm, starting a table | alarms and schedule tables of its counter |
//! | stopping a table | the same, and all tables |
//! | the end of a task or an ISR that still holds resources | those |
//! | a tick of a counter | 4096 steps ([`TICK_STEPS_MAX`]), each as setting an alarm |
//! | a look at the messages | 64, each as activating a task |
//! | ticks that are late | the same, for an interrupt: what is left comes with the next one |
//! | `start` | the size of the tables |

mod accounting;
mod alarms;
mod events;
mod interrupts;
mod messages;
mod ready;
mod resources;
mod schedule_tables;
mod tasks;
#[cfg(test)]
pub(crate) mod tests;
mod timeline;

pub use accounting::Budget;
pub use alarms::{AlarmBase, Due};
pub use interrupts::Interrupted;
pub use messages::Arrival;
pub use schedule_tables::TableStatus;

use quietcore_units::KernelJob;

#[cfg(doc)]
use crate::configuration::TICK_STEPS_MAX;
use crate::configuration::{
    ALARMS_MAX, Configuration, ISRS_MAX, RESOURCES_MAX, SCHEDULE_TABLES_MAX, SCHEDULER_LEVEL,
    TASKS_MAX,
};
use crate::port::{Enter, Leave};
use crate::status::Status;
use interrupts::IsrState;
use messages::MessageStates;
use ready::Ready;
use resources::{NO_RESOURCE, ResourceState};
use schedule_tables::{TableState, TableStates};
use tasks::TaskControl;
use timeline::Timeline;

/// State of a task, as `GetTaskState` tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum TaskState {
    /// It has no job.
    #[default]
    Suspended = 0,
    /// It could run, and waits for the processor.
    Ready = 1,
    /// It has the processor.
    Running = 2,
    /// It waits for an event.
    Waiting = 3,
}

/// The call level of a service: the context that calls it (OSEK OS 2.2.3, 12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CallLevel {
    /// Before the start and after the end.
    Outside = 0,
    /// The body of a task.
    Task = 1,
    /// An ISR of category 2.
    Isr2 = 2,
    /// `ErrorHook`
    ErrorHook = 3,
    /// `PreTaskHook`
    PreTaskHook = 4,
    /// `PostTaskHook`
    PostTaskHook = 5,
    /// `StartupHook`
    StartupHook = 6,
    /// `ShutdownHook`
    ShutdownHook = 7,
    /// The callback of an alarm.
    AlarmCallback = 8,
}

/// A set of call levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLevels(u16);

impl CallLevels {
    /// The set of these.
    pub const fn of(levels: &[CallLevel]) -> Self {
        let mut bits = 0;
        let mut index = 0;
        while index < levels.len() {
            bits |= 1 << levels[index] as u16;
            index += 1;
        }
        Self(bits)
    }

    /// Returns `true` if `level` is in the set.
    #[inline]
    pub const fn contain(self, level: CallLevel) -> bool {
        self.0 & (1 << level as u16) != 0
    }
}

/// The context that runs, beneath ISRs and hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Current {
    Idle,
    Task(u8),
    /// It ends as soon as the dispatcher leaves it.
    Ending(u8),
    /// It ends, and is activated again at once.
    Chaining(u8),
    /// It waits as soon as the dispatcher leaves it.
    Blocking(u8),
}

/// A change of contexts, decided.
#[derive(Clone, Copy, Debug)]
pub struct Switch {
    /// The fate of the context that is left.
    pub leave: Leave,
    /// Which one goes on.
    pub enter: Enter,
    /// The job that ended with it, where jobs are accounted.
    pub job: Option<KernelJob>,
}

/// The kernel: tasks, resources, alarms and schedule tables, without a machine.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone))]
pub struct Kernel<'c> {
    configuration: &'c Configuration<'c>,
    call_level: CallLevel,
    mode: u8,
    current: Current,
    /// The level that the running task has now; zero when idle.
    level: u8,
    /// The interrupt level that the running context asks for.
    interrupt_level: u8,
    ready: Ready,
    preempted_count: u8,
    preempted: [u8; TASKS_MAX],
    tasks: [TaskControl; TASKS_MAX],
    resources: [ResourceState; RESOURCES_MAX],
    isrs: [IsrState; ISRS_MAX],
    /// The ISR of category 2 that runs; none in a task.
    isr: Option<u8>,
    timeline: Timeline,
    /// The cycle of each alarm; zero for a single one.
    cycles: [u32; ALARMS_MAX],
    tables: TableStates,
    messages: MessageStates,
    /// When the running task began to run or went on, in ns.
    since_ns: u64,
}

/// The configuration before the start.
static NOTHING: Configuration<'static> = Configuration::EMPTY;

impl<'c> Kernel<'c> {
    /// A kernel that has not started.
    pub const fn new() -> Self {
        Self {
            configuration: &NOTHING,
            call_level: CallLevel::Outside,
            mode: 0,
            current: Current::Idle,
            level: 0,
            interrupt_level: 0,
            ready: Ready::new(),
            preempted_count: 0,
            preempted: [0; TASKS_MAX],
            tasks: [TaskControl::NEW; TASKS_MAX],
            resources: [ResourceState::FREE; RESOURCES_MAX],
            isrs: [IsrState::NEW; ISRS_MAX],
            isr: None,
            timeline: Timeline::new(),
            cycles: [0; ALARMS_MAX],
            tables: [TableState::NEW; SCHEDULE_TABLES_MAX],
            messages: MessageStates::NEW,
            since_ns: 0,
        }
    }

    /// Starts in application mode `mode`: what starts by itself is activated, set and started.
    /// Nothing runs yet. `configuration` has passed [`check`](crate::check::check).
    ///
    /// # Errors
    /// [`Status::Value`] where there is no such mode.
    pub fn start(
        &mut self,
        configuration: &'c Configuration<'c>,
        mode: u8,
        now_ns: u64,
    ) -> Result<(), Status> {
        if mode >= configuration.mode_count {
            return Err(Status::Value);
        }
        self.configuration = configuration;
        self.mode = mode;
        self.call_level = CallLevel::StartupHook;
        self.current = Current::Idle;
        self.level = 0;
        self.interrupt_level = 0;
        self.ready.reset(configuration.tasks);
        self.preempted_count = 0;
        self.tasks.fill(TaskControl::NEW);
        self.resources.fill(ResourceState::FREE);
        self.isrs.fill(IsrState::NEW);
        self.isr = None;
        self.messages = MessageStates::NEW;
        self.since_ns = now_ns;
        self.timeline.reset(configuration);
        for task in 0..configuration.tasks.len() {
            let starts = configuration.tasks[task].autostart & (1 << mode) != 0;
            if starts && self.admit_arrival(task, now_ns).is_ok() {
                self.request(task, now_ns);
            }
        }
        self.start_alarms();
        self.start_tables();
        Ok(())
    }

    /// The tables it runs by.
    pub fn configuration(&self) -> &'c Configuration<'c> {
        self.configuration
    }

    /// From where services are called now.
    #[inline]
    pub fn call_level(&self) -> CallLevel {
        self.call_level
    }

    /// Sets the call level and returns the one before.
    #[inline]
    pub fn enter(&mut self, level: CallLevel) -> CallLevel {
        core::mem::replace(&mut self.call_level, level)
    }

    /// The application mode it was started in.
    pub fn mode(&self) -> u8 {
        self.mode
    }

    /// The task that runs, or was interrupted.
    #[inline]
    pub fn running(&self) -> Option<u8> {
        match self.current {
            Current::Idle => None,
            Current::Task(task)
            | Current::Ending(task)
            | Current::Chaining(task)
            | Current::Blocking(task) => Some(task),
        }
    }

    /// The level that the running task has now; zero when idle.
    pub fn level(&self) -> u8 {
        self.level
    }

    /// The interrupt level that what runs asks for: of its ISR, and of the resources that it holds.
    pub fn interrupt_level(&self) -> u8 {
        self.interrupt_level
    }

    /// Returns `true` if another task than the running one has to run, once no ISR is active.
    #[inline]
    pub fn must_dispatch(&self) -> bool {
        match self.current {
            Current::Task(_) | Current::Idle => self.ready.top() > self.level,
            Current::Ending(_) | Current::Chaining(_) | Current::Blocking(_) => true,
        }
    }

    /// Leaves the running task for the one that has to run. `None` where it goes on.
    #[inline]
    pub fn dispatch(&mut self, now_ns: u64) -> Option<Switch> {
        if !self.must_dispatch() {
            return None;
        }
        let (leave, job) = self.leave_running(now_ns);
        let enter = self.enter_next();
        self.since_ns = now_ns;
        if let (true, Some(task)) = (self.configuration.accounting, self.running()) {
            self.note_start(task, now_ns);
        }
        Some(Switch { leave, enter, job })
    }

    #[inline]
    fn leave_running(&mut self, now_ns: u64) -> (Leave, Option<KernelJob>) {
        match self.current {
            Current::Idle => (Leave::Idle, None),
            Current::Task(task) => {
                self.note_execution(task, now_ns);
                let control = &mut self.tasks[usize::from(task)];
                control.state = TaskState::Ready;
                control.level = self.level;
                self.preempted[usize::from(self.preempted_count)] = task;
                self.preempted_count += 1;
                (Leave::Task(task), None)
            }
            Current::Ending(task) => {
                let job = self.end_job(task, false, now_ns);
                self.end(task);
                (Leave::Ended, job)
            }
            Current::Chaining(task) => {
                let job = self.end_job(task, false, now_ns);
                self.end(task);
                self.request(usize::from(task), now_ns);
                (Leave::Ended, job)
            }
            Current::Blocking(task) => {
                let job = self.end_job(task, true, now_ns);
                self.tasks[usize::from(task)].state = TaskState::Waiting;
                (Leave::Task(task), job)
            }
        }
    }

    /// The highest of the preempted and the ready; the preempted one among equals.
    #[inline]
    fn enter_next(&mut self) -> Enter {
        if let Some(last) = self.preempted_count.checked_sub(1) {
            let task = self.preempted[usize::from(last)];
            let control = &mut self.tasks[usize::from(task)];
            if control.level >= self.ready.top() {
                self.preempted_count = last;
                control.state = TaskState::Running;
                // A task that gave way with `Schedule` takes its internal resource again.
                let own = self.configuration.tasks[usize::from(task)].running_level;
                self.level = control.level.max(own);
                self.current = Current::Task(task);
                return Enter::Resume(task);
            }
        }
        let Some(entry) = self.ready.pop() else {
            self.current = Current::Idle;
            self.level = 0;
            return Enter::Idle;
        };
        let configured = &self.configuration.tasks[usize::from(entry.task)];
        let control = &mut self.tasks[usize::from(entry.task)];
        control.state = TaskState::Running;
        self.level = configured.running_level;
        self.current = Current::Task(entry.task);
        if control.begins {
            control.begins = false;
            control.released_ns = entry.released_ns;
            Enter::Begin(entry.task, configured.entry)
        } else {
            control.released_ns = entry.released_ns;
            Enter::Resume(entry.task)
        }
    }

    /// Returns `true` if services look for programming errors (extended status).
    #[inline]
    fn checks(&self) -> bool {
        matches!(self.configuration.checking, crate::configuration::Checking::Extended)
    }

    /// The level of one that holds a resource whose ceiling is an interrupt level.
    const ABOVE_ALL: u8 = SCHEDULER_LEVEL;
}

impl Default for Kernel<'_> {
    fn default() -> Self {
        Self::new()
    }
}

const _: () = assert!(NO_RESOURCE as usize >= RESOURCES_MAX);
