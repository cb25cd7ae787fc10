//! Ticks, and what expires with them.

use super::machine::{ERROR_HOOKS, Site, Tested, at, callback, level, log, note, start};
use crate::configuration::{
    Action, ActionKind, Alarm, Configuration, Counter, ExpiryPoint, ScheduleTable, Task,
};
use crate::kernel::tests::{PLAIN, activation, at_start, basic, extended, hardware, software};
use crate::status::Status;
use std::format;
use std::string::String;
use std::vec::Vec;

const TASKS: &[Task] = &[Task { activations: 9, ..basic(2) }, at_start(extended(1)), basic(3)];
const COUNTERS: &[Counter] = &[
    Counter { tick_ns: 10, ..hardware(u32::MAX) },
    software(3),
    software(3),
    Counter { tick_ns: 10, ..hardware(9) },
];
const CALL: Action =
    Action { kind: ActionKind::Callback, object: 0, events: 0, callback: Some(callback) };
const SET: Action = Action { kind: ActionKind::SetEvent, events: 4, ..activation(1) };

const fn increment(counter: u16) -> Action {
    Action { kind: ActionKind::IncrementCounter, ..activation(counter) }
}

const fn alarm(counter: u16, action: Action) -> Alarm {
    Alarm { action, counter, autostart: 0, first: 0, cycle: 0 }
}

/// Alarms by number: activate; activate on the other hardware counter; set an event; call; advance
/// counter 1; on that, advance counter 2; on that, activate.
const ALARMS: &[Alarm] = &[
    alarm(0, activation(0)),
    alarm(3, activation(2)),
    alarm(0, SET),
    alarm(0, CALL),
    alarm(0, increment(1)),
    alarm(1, increment(2)),
    alarm(2, activation(0)),
];
const TABLES: &[ScheduleTable] = &[ScheduleTable {
    counter: 0,
    first_point: 0,
    point_count: 1,
    repeating: false,
    duration: 5,
    autostart: 0,
    start: 0,
}];
const POINTS: &[ExpiryPoint] = &[ExpiryPoint { offset: 0, first_action: 0, action_count: 3 }];
const ACTIONS: &[Action] = &[CALL, SET, activation(0)];

/// Starts with task 1 waiting for event 4.
fn start_waiting(accounting: bool) -> Tested {
    let system = start(Configuration {
        tasks: TASKS,
        counters: COUNTERS,
        alarms: ALARMS,
        schedule_tables: TABLES,
        expiry_points: POINTS,
        actions: ACTIONS,
        hooks: ERROR_HOOKS,
        accounting,
        ..PLAIN
    });
    system.wait_event(4).unwrap();
    log();
    system
}

/// A tick that leaves nothing.
fn tick(system: Tested, ticks: u32, due_ns: u64) {
    system.tick(ticks, due_ns, |left| panic!("{left} ticks are left"));
}

#[test]
fn a_tick_activates_sets_and_calls_then_switches_once() {
    let system = start_waiting(false);
    for alarm in [3, 2, 0] {
        system.set_relative_alarm(alarm, 1, 0).unwrap();
    }
    at(Site::Callback, |system| {
        let result = system.task_id();
        note(format!("called at level {}: {result:?}", level()));
    });
    tick(system, 1, 0);
    let expected = [
        "CallLevel in GetTaskId, nobody",
        "ErrorHook(2)",
        "Error",
        "called at level 1: Err(CallLevel)",
        "leave Idle, begin 0",
    ];
    assert_eq!(log(), expected);
    assert_eq!(system.event(1), Ok(4));
}

#[test]
fn a_point_of_a_table_carries_out_its_actions_in_their_order() {
    let system = start_waiting(false);
    system.start_table_relative(0, 2).unwrap();
    tick(system, 1, 0);
    assert_eq!(log(), [""; 0]);
    tick(system, 1, 0);
    assert_eq!(log(), ["Callback", "leave Idle, begin 0"]);
    assert_eq!(system.event(1), Ok(4));
}

/// A machine that was late brings several ticks at once. What each of them releases was due at that
/// tick, in the order of time on all counters; nothing is skipped, and no tick costs time.
#[test]
fn late_ticks_release_when_they_were_due() {
    let system = start_waiting(true);
    system.set_relative_alarm(0, 2, 3).unwrap();
    system.set_relative_alarm(1, 4, 0).unwrap();
    tick(system, 9, 5000);
    let mut jobs: Vec<String> = Vec::new();
    for _ in 0..4 {
        system.terminate_task().unwrap();
        jobs.extend(log().into_iter().filter(|line| line.starts_with("job")));
    }
    let expected = [
        "job of 2 ended, from 4950 to 1000",
        "job of 0 ended, from 4930 to 1000",
        "job of 0 ended, from 4960 to 1000",
        "job of 0 ended, from 4990 to 1000",
    ];
    assert_eq!(jobs, expected);
    assert_eq!(system.counter_value(0), Ok(9));
    assert_eq!(system.counter_value(3), Ok(9));
    system.cancel_alarm(0).unwrap();
    tick(system, u32::MAX - 1, 9000);
    assert_eq!(system.counter_value(0), Ok(7));
}

/// Goal: however late ticks are, one interrupt takes a bounded time, and no tick is lost.
/// Method: each tick activates a task that can't be activated so often; the machine was away for a
/// long time. Ticks of one step each are worked off, as many as there may be steps.
// Miri takes minutes for so many, and finds the same paths in the tests around.
#[cfg(not(miri))]
#[test]
fn ticks_that_are_very_late_come_in_portions() {
    let system = start_waiting(true);
    system.set_relative_alarm(1, 1, 1).unwrap();
    let (mut left, mut told) = (10_000, Vec::new());
    while left != 0 {
        let ticks = core::mem::take(&mut left);
        system.tick(ticks, 200_000, |later| left = later);
        told.push(left);
    }
    assert_eq!(told, [10_000 - 4096, 10_000 - 2 * 4096, 0]);
    assert_eq!(system.counter_value(0), Ok(10_000));
    let released = "job of 2 ended, from 100010 to 1000";
    system.terminate_task().unwrap();
    assert!(log().iter().any(|line| line == released), "the first of them, when it was due");
}

/// Each step of the chain is due after as many of the one before as it takes.
#[test]
fn counters_that_advance_counters_expire_in_one_tick() {
    let system = start_waiting(false);
    system.set_relative_alarm(4, 1, 1).unwrap();
    system.set_relative_alarm(5, 2, 2).unwrap();
    system.set_relative_alarm(6, 3, 0).unwrap();
    tick(system, 5, 0);
    assert_eq!(log(), [""; 0]);
    assert_eq!((system.counter_value(1), system.counter_value(2)), (Ok(1), Ok(2)));
    tick(system, 1, 0);
    assert_eq!(log(), ["leave Idle, begin 0"]);
}

#[test]
fn a_task_that_advances_a_counter_may_be_preempted_by_what_expires() {
    let system = start_waiting(false);
    system.activate_task(0).unwrap();
    system.set_relative_alarm(6, 1, 0).unwrap();
    system.set_event(1, 4).unwrap();
    log();
    system.increment_counter(2).unwrap();
    assert_eq!(log(), [""; 0], "it is activated once more, and waits for itself");
    system.terminate_task().unwrap();
    assert_eq!(log(), ["leave Ended, begin 0"]);
    system.terminate_task().unwrap();
    assert_eq!(log(), ["leave Ended, resume 1"]);
    system.set_relative_alarm(6, 1, 0).unwrap();
    system.increment_counter(2).unwrap();
    assert_eq!(log(), ["leave Task(1), begin 0"]);
    assert_eq!(system.increment_counter(0), Err(Status::Id), "that one is the machine's");
}

/// The error hook learns of the service that the kernel called in the alarm's name.
#[test]
fn an_action_that_fails_is_told() {
    let system = start_waiting(false);
    system.activate_task(2).unwrap();
    system.set_relative_alarm(1, 1, 0).unwrap();
    log();
    tick(system, 1, 0);
    assert_eq!(log(), ["Limit in ActivateTask, task 2", "ErrorHook(4)", "Error"]);
    assert_eq!((system.error_service(), system.error_parameter(0)), (1, 2));
    assert_eq!(level(), 1, "the port goes back to the level before, as after any interrupt");
}

/// Whoever runs at that tick has nothing to do with it.
#[test]
fn an_action_that_fails_is_told_of_the_task_that_it_was_for() {
    let system = start_waiting(false);
    system.activate_task(2).unwrap();
    for _ in 0..9 {
        system.activate_task(0).unwrap();
    }
    system.set_relative_alarm(0, 1, 0).unwrap();
    log();
    tick(system, 1, 0);
    assert_eq!(log()[0], "Limit in ActivateTask, task 0", "task 2 runs");
}
