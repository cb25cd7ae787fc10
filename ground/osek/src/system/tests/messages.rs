//! Messages that came, and what follows at the next look.

use super::machine::{
    ERROR_HOOKS, Site, Tested, at, isr_0, level, log, note, pass, raise, send, start,
};
use crate::configuration::{Configuration, Isr, Message, Notification, Task};
use crate::kernel::tests::{PLAIN, at_start, basic, extended};
use std::format;

const TASKS: &[Task] = &[basic(2), at_start(extended(1)), basic(3)];
const ISRS: &[Isr] = &[Isr { entry: isr_0, source: 0, level: 3, category: 2 }];
const MESSAGE: Message = Message {
    events: 0,
    number: 0,
    object: 0,
    notification: Notification::ActivateTask,
    is_group: false,
};
/// Signal 0 activates task 0, group 0 sets an event of task 1, signal 1 raises the ISR.
const MESSAGES: &[Message] = &[
    MESSAGE,
    Message {
        events: 4,
        object: 1,
        notification: Notification::SetEvent,
        is_group: true,
        ..MESSAGE
    },
    Message { number: 1, notification: Notification::RaiseIsr, ..MESSAGE },
];

/// Starts with task 1 waiting for event 4.
fn start_waiting() -> Tested {
    let system = start(Configuration {
        tasks: TASKS,
        isrs: ISRS,
        messages: MESSAGES,
        hooks: ERROR_HOOKS,
        accounting: false,
        ..PLAIN
    });
    system.wait_event(4).unwrap();
    log();
    system
}

/// A look, with no tick due.
fn look(system: Tested) {
    system.tick(0, 0, |left| panic!("{left} ticks are left"));
    // As the port does behind an interrupt.
    crate::port::Port::set_level(system.port(), 0);
}

#[test]
fn a_message_activates_sets_and_raises_then_the_highest_runs() {
    let system = start_waiting();
    at(Site::Isr0, |_| note(format!("the ISR at level {}", level())));
    look(system);
    assert_eq!(log(), [""; 0], "nothing was sent");
    send(0, false);
    send(0, true);
    send(1, false);
    look(system);
    // The machine notes a switch and goes on: the ISR comes as soon as the level lets it.
    assert_eq!(log(), ["leave Idle, begin 0", "the ISR at level 3"]);
    system.terminate_task().unwrap();
    assert_eq!(log(), ["leave Ended, resume 1"], "its event was set");
    assert_eq!(system.event(1).unwrap(), 4);
    look(system);
    assert_eq!(log(), [""; 0], "each is told once");
}

#[test]
fn several_sendings_between_two_looks_are_one_notification() {
    let system = start_waiting();
    at(Site::Isr0, |_| note("the ISR"));
    for _ in 0..5 {
        send(1, false);
    }
    look(system);
    look(system);
    assert_eq!(log(), ["the ISR"]);
}

/// Goal: no value is missed because its task still works on the one before.
/// Method: a task that is told to itself, again and again, before it ends.
#[test]
fn a_notification_that_is_refused_is_told_once_and_made_up_for() {
    let system = start_waiting();
    send(0, false);
    look(system);
    assert_eq!(log(), ["leave Idle, begin 0"]);
    send(0, false);
    look(system);
    assert_eq!(log(), ["Limit in ActivateTask, task 0", "ErrorHook(4)", "Error"]);
    send(0, false);
    look(system);
    look(system);
    assert_eq!(log(), [""; 0], "it is owed, and told already");
    system.terminate_task().unwrap();
    assert_eq!(log(), ["leave Ended, idle"]);
    look(system);
    assert_eq!(log(), ["leave Idle, begin 0"]);
    system.terminate_task().unwrap();
    log();
    look(system);
    assert_eq!(log(), [""; 0]);
}

#[test]
fn an_event_of_a_suspended_task_is_owed_to_it() {
    let system = start_waiting();
    send(0, true);
    look(system);
    assert_eq!(log(), ["leave Idle, resume 1"]);
    system.clear_event(4).unwrap();
    system.terminate_task().unwrap();
    log();
    send(0, true);
    look(system);
    assert_eq!(log(), ["State in SetEvent, task 1", "ErrorHook(7)", "Error"]);
    raise_activation(system);
    look(system);
    assert_eq!(system.event(1).unwrap(), 4, "it has it as soon as it is there");
}

/// Has the extended task activated, by an ISR.
fn raise_activation(system: Tested) {
    at(Site::Isr0, |system| system.activate_task(1).unwrap());
    raise(0);
    assert_eq!(log(), ["leave Idle, begin 1"]);
    assert_eq!(system.task_id(), Ok(Some(1)));
}

#[test]
fn a_look_comes_before_the_tick_and_both_lead_to_one_switch() {
    let system = start_waiting();
    pass(5);
    send(0, false);
    send(0, true);
    system.tick(3, 1005, |left| panic!("{left} ticks are left"));
    assert_eq!(log(), ["leave Idle, begin 0"]);
    system.terminate_task().unwrap();
    assert_eq!(log(), ["leave Ended, resume 1"]);
}
