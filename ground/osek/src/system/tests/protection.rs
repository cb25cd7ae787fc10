//! Budgets, missing ends and stacks: the kernel ends what does not behave, and says whom.

use super::machine::{
    ERROR_HOOKS, HOOKS, Site, at, ends_with, let_timer_come, level, log, note, pass, raise,
    spoil_stacks, start,
};
use crate::configuration::{Configuration, Isr, Resource, Scale, Task};
use crate::kernel::tests::{PLAIN, at_start, basic};
use std::format;

const LIMITED: Task = at_start(Task { budget_ns: 100, ..basic(1) });
const TASKS: &[Task] = &[LIMITED, basic(2)];
const ISRS: &[Isr] = &[Isr { entry: super::machine::isr_0, source: 0, level: 3, category: 2 }];
const RESOURCES: &[Resource] = &[Resource { scale: Scale::Task, ceiling: 2 }];
const CONFIGURATION: Configuration<'static> =
    Configuration { tasks: TASKS, isrs: ISRS, resources: RESOURCES, hooks: ERROR_HOOKS, ..PLAIN };

#[test]
fn the_timer_is_set_while_a_limited_task_runs() {
    let system = start(CONFIGURATION);
    pass(40);
    system.activate_task(1).unwrap();
    assert_eq!(log(), ["no timer", "leave Task(0), begin 1"]);
    pass(1000);
    system.terminate_task().unwrap();
    let expected = ["job of 1 ended, from 1040 to 2040", "timer at 2100", "leave Ended, resume 0"];
    assert_eq!(log(), expected);
    pass(10);
    system.terminate_task().unwrap();
    let expected = ["job of 0 ended, from 1000 to 2050", "no timer", "leave Ended, idle"];
    assert_eq!(log(), expected);
}

#[test]
fn a_task_that_used_up_its_budget_is_ended_and_named() {
    let system = start(CONFIGURATION);
    system.get_resource(0).unwrap();
    let_timer_come();
    let expected = [
        "ProtectionTime in None, task 0",
        "ErrorHook(13)",
        "Error",
        "job of 0 ended, from 1000 to 1100",
        "no timer",
        "leave Ended, idle",
    ];
    assert_eq!(log(), expected);
    assert_eq!(system.activate_task(0), Ok(()), "it may begin again");
    assert_eq!(log(), ["timer at 1200", "leave Idle, begin 0"]);
    assert_eq!(system.get_resource(0), Ok(()), "what it held is free");
}

/// The time of ISRs is not the task's: the timer is then too early, and is set again.
#[test]
fn a_timer_that_comes_too_early_is_set_again() {
    start(CONFIGURATION);
    at(Site::Isr0, |_| pass(30));
    raise(0);
    let_timer_come();
    assert_eq!(log(), ["timer at 1130"]);
    let_timer_come();
    assert_eq!(log()[0], "ProtectionTime in None, task 0");
}

/// The ISR's time is not the task's: the timer is set to what is left of that, once. Where nothing
/// is left, the task is ended at once.
#[test]
fn a_timer_within_an_isr_is_put_off_to_its_end() {
    start(CONFIGURATION);
    at(Site::Isr0, |_| {
        pass(500);
        let_timer_come();
        note("the ISR goes on");
    });
    raise(0);
    let log_of_isr = log();
    assert_eq!(log_of_isr[0], "the ISR goes on");
    assert!(log_of_isr[1].starts_with("timer at "), "{log_of_isr:?}");
    assert_eq!(log_of_isr.len(), 2, "{log_of_isr:?}");
    let_timer_come();
    assert_eq!(log()[0], "ProtectionTime in None, task 0");
}

/// It returned with a resource and with interrupts held back, the worst that it can do.
#[test]
fn a_task_without_an_end_is_ended_and_named() {
    let system = start(Configuration { hooks: HOOKS, ..CONFIGURATION });
    at(Site::PostTask, |_| note(format!("post at level {}", level())));
    system.get_resource(0).unwrap();
    system.suspend_all_interrupts();
    // The machine has no contexts, so that it comes back to where no task would.
    assert!(ends_with(|| system.missing_end()).contains("a task that ended does not go on"));
    let expected = [
        "MissingEnd in None, task 0",
        "ErrorHook(11)",
        "Error",
        "post at level 3",
        "job of 0 ended, from 1000 to 1000",
        "no timer",
        "leave Ended, idle",
    ];
    assert_eq!(log(), expected);
    assert_eq!(system.activate_task(1), Ok(()), "nothing is held back");
    assert_eq!(system.get_resource(0), Ok(()), "and nothing taken");
}

#[test]
fn a_spoilt_stack_ends_the_machine() {
    let system = start(CONFIGURATION);
    spoil_stacks();
    assert_eq!(ends_with(|| system.terminate_task().unwrap()), "shut down");
    let expected = [
        "StackFault in None, task 0",
        "ErrorHook(12)",
        "Error",
        "ShutdownHook(12)",
        "Shutdown",
        "shut down with 12 at level 3",
    ];
    assert_eq!(log(), expected);
}

#[test]
fn activations_that_come_too_early_are_told() {
    const TASKS: &[Task] = &[Task { inter_arrival_ns: 100, activations: 3, ..basic(1) }];
    let system = start(Configuration { tasks: TASKS, ..CONFIGURATION });
    system.activate_task(0).unwrap();
    pass(99);
    log();
    assert!(system.activate_task(0).is_err());
    assert_eq!(log(), ["ProtectionArrival in ActivateTask, task 0", "ErrorHook(14)", "Error"]);
    assert_eq!(system.error_parameter(0), 0);
    pass(1);
    assert_eq!(system.activate_task(0), Ok(()));
}

#[test]
fn a_budget_stands_still_while_the_machine_is_away() {
    let system = start(CONFIGURATION);
    pass(60);
    system.stop(|| pass(1_000_000));
    assert_eq!(log(), ["timer at 1001100"], "40 of its 100 ns are left");
    system.terminate_task().unwrap();
    log();
    system.stop(|| pass(1_000_000));
    assert_eq!(log(), [""; 0], "nobody runs");
}

/// Goal: the task that comes too early is named, not the one that asked for it.
#[test]
fn activations_that_come_too_early_are_told_of_who_was_activated() {
    const TASKS: &[Task] = &[basic(1), Task { inter_arrival_ns: 100, activations: 3, ..basic(2) }];
    let system = start(Configuration { tasks: TASKS, ..CONFIGURATION });
    system.activate_task(1).unwrap();
    system.terminate_task().unwrap();
    system.activate_task(0).unwrap();
    log();
    assert!(system.activate_task(1).is_err());
    assert_eq!(log()[0], "ProtectionArrival in ActivateTask, task 1", "task 0 runs");
}
