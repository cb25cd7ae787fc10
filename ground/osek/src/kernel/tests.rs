//! The kernel's decisions, each by the shortest story that shows it.
//!
//! A story drives the kernel as the system does: calls, then a dispatch at the level of tasks. What
//! random programs find out together is in the crate's `tests/model`.

mod accounting;
mod alarms;
mod events;
mod interleavings;
mod interrupts;
mod resources;
mod tables;
mod tasks;

use super::{CallLevel, Kernel};
use crate::configuration::{
    Action, ActionKind, Class, Configuration, Counter, Kind, SCHEDULER_LEVEL, Task,
};
use crate::port::{Enter, Leave};

pub(crate) extern "C" fn nothing() {}

/// A preemptable basic task.
pub(crate) const fn basic(priority: u8) -> Task {
    Task {
        entry: nothing,
        events: 0,
        budget_ns: 0,
        inter_arrival_ns: 0,
        autostart: 0,
        stack_bytes: 4096,
        priority,
        running_level: priority,
        activations: 1,
        kind: Kind::Basic,
    }
}

/// A preemptable extended task.
pub(crate) const fn extended(priority: u8) -> Task {
    Task { events: u64::MAX, kind: Kind::Extended, ..basic(priority) }
}

/// The same task, not preemptable.
pub(crate) const fn not_preemptable(task: Task) -> Task {
    Task { running_level: SCHEDULER_LEVEL, ..task }
}

/// The same task, started with the kernel.
pub(crate) const fn at_start(task: Task) -> Task {
    Task { autostart: 1, ..task }
}

/// A counter that the machine's tick drives.
pub(crate) const fn hardware(max_allowed: u32) -> Counter {
    Counter { max_allowed, ticks_per_base: 1, min_cycle: 1, hardware: true, tick_ns: 1 }
}

/// A counter that `IncrementCounter` advances.
pub(crate) const fn software(max_allowed: u32) -> Counter {
    Counter { hardware: false, tick_ns: 0, ..hardware(max_allowed) }
}

/// The activation of a task.
pub(crate) const fn activation(task: u16) -> Action {
    Action { kind: ActionKind::ActivateTask, object: task, events: 0, callback: None }
}

/// Class ECC2, extended status, with accounts.
pub(crate) const PLAIN: Configuration<'static> =
    Configuration { class: Class::Ecc2, accounting: true, ..Configuration::EMPTY };

/// A kernel that has started, and runs what starts by itself.
fn started<'c>(configuration: &'c Configuration<'c>) -> Kernel<'c> {
    assert_eq!(crate::check::check(configuration), Ok(()));
    let mut kernel = Kernel::new();
    kernel.start(configuration, 0, 0).expect("mode 0 exists");
    kernel.enter(CallLevel::Task);
    settle(&mut kernel);
    kernel
}

/// Switches where that is needed, and tells who runs now.
fn settle(kernel: &mut Kernel<'_>) -> Option<u8> {
    settle_at(kernel, 0)
}

fn settle_at(kernel: &mut Kernel<'_>, now_ns: u64) -> Option<u8> {
    if kernel.call_level() == CallLevel::Task {
        kernel.dispatch(now_ns);
        assert!(!kernel.must_dispatch(), "one dispatch is enough");
    }
    kernel.running()
}

/// Ends the running task, and tells who runs then.
fn end(kernel: &mut Kernel<'_>) -> Option<u8> {
    kernel.terminate_task().expect("the running task may end");
    settle(kernel)
}

/// Dispatches, and returns the contexts that are left and entered.
fn switch(kernel: &mut Kernel<'_>) -> (Leave, Entered) {
    let switch = kernel.dispatch(0).expect("another task has to run");
    let entered = match switch.enter {
        Enter::Begin(task, _) => Entered::Begin(task),
        Enter::Resume(task) => Entered::Resume(task),
        Enter::Idle => Entered::Idle,
    };
    (switch.leave, entered)
}

/// [`Enter`], without the functions, which can't be compared.
#[derive(Debug, PartialEq, Eq)]
enum Entered {
    Begin(u8),
    Resume(u8),
    Idle,
}
