//! The compared behaviour: all that a program could find out, and all that the kernel asks its port
//! for.

use quietcore_osek::status::Status;

use crate::program::Step;

/// State of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Suspended,
    Ready,
    Running,
    Waiting,
}

/// State of a schedule table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    Stopped,
    Next,
    Running,
}

/// The time that is left to the running task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Budget {
    Unlimited,
    Until(u64),
    Exhausted(usize),
}

/// The state as seen from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Observation {
    pub(crate) running: Option<usize>,
    pub(crate) level: u8,
    pub(crate) interrupt_level: u8,
    pub(crate) states: Vec<State>,
    pub(crate) events: Vec<Result<u64, Status>>,
    /// Ticks until each alarm expires.
    pub(crate) alarms: Vec<Result<u32, Status>>,
    pub(crate) counters: Vec<u32>,
    pub(crate) tables: Vec<Table>,
    /// Known at the level of tasks only.
    pub(crate) budget: Option<Budget>,
}

/// The context that is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    Idle,
    Task(usize),
    Ended,
}

/// The context that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    Idle,
    Begin(usize),
    Resume(usize),
}

/// Something that came of a step, in the order in which it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// A job ended, or began to wait.
    Job { task: usize, waits: bool, released: u64, started: u64, finished: u64, execution: u64 },
    /// One context was left and another entered.
    Switch(Left, Entered),
    /// Something that expired activated a task.
    Activated(usize),
    /// Something that expired set events.
    EventSet(usize),
    /// Something that expired called a function.
    Callback(u16),
    /// Something that expired advanced a counter.
    Incremented(u16),
    /// Something that expired failed.
    Failed(u16, Status),
}

/// One that programs run on: the kernel, or the reference.
pub(crate) trait Subject {
    /// The running task or ISR calls a service.
    fn perform(&mut self, step: &Step, now_ns: u64) -> Result<(), Status>;
    /// The running task returned without an end, or used up its budget.
    fn abandon(&mut self, now_ns: u64);
    /// Begins an ISR at `now_ns`.
    fn begin_isr(&mut self, isr: usize, now_ns: u64);
    /// The innermost ISR ends. `true` where it kept a resource.
    fn end_isr(&mut self, now_ns: u64) -> bool;
    /// The machine's tick, the last of them now, one each nanosecond.
    fn tick(&mut self, ticks: u32, now_ns: u64);
    /// Returns all that can be seen now.
    fn observe(&self, now_ns: u64) -> Observation;
    /// Takes the effects since the last call.
    fn take_effects(&mut self) -> Vec<Effect>;
}
