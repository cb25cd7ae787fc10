//! The error hook, and what it may ask.

use super::machine::{ERROR_HOOKS, Site, at, log, note, start};
use crate::configuration::{Configuration, Task};
use crate::kernel::tests::{PLAIN, at_start, basic, extended};
use crate::status::{Service, Status};
use std::format;

const TASKS: &[Task] = &[at_start(extended(1)), basic(1)];
const CONFIGURATION: Configuration<'static> =
    Configuration { tasks: TASKS, accounting: false, hooks: ERROR_HOOKS, ..PLAIN };

fn tell_of_call() {
    at(Site::Error, |system| {
        let parameters = [0, 1, 2, 3].map(|index| system.error_parameter(index));
        note(format!("service {}, {parameters:?}", system.error_service()));
    });
}

#[test]
fn the_hook_learns_the_service_and_its_parameters() {
    let system = start(CONFIGURATION);
    tell_of_call();
    assert_eq!(system.activate_task(9), Err(Status::Id));
    assert_eq!(log(), ["Id in ActivateTask, task 0", "ErrorHook(3)", "service 1, [9, 0, 0, 0]"]);
    assert_eq!(system.set_event(1, 6), Err(Status::Access));
    assert_eq!(log(), ["Access in SetEvent, task 0", "ErrorHook(1)", "service 15, [1, 6, 0, 0]"]);
    assert_eq!(system.set_relative_alarm(4, 5, 6), Err(Status::Id));
    assert_eq!(log(), ["Id in SetRelAlarm, task 0", "ErrorHook(3)", "service 21, [4, 5, 6, 0]"]);
    assert_eq!(system.get_resource(7), Err(Status::Id));
    assert_eq!(log(), ["Id in GetResource, task 0", "ErrorHook(3)", "service 13, [7, 0, 0, 0]"]);
    assert_eq!(system.increment_counter(8), Err(Status::Id));
    assert_eq!(log()[2], "service 27, [8, 0, 0, 0]");
    assert_eq!(system.next_table(1, 2), Err(Status::Id));
    assert_eq!(log()[2], "service 31, [1, 2, 0, 0]");
}

#[test]
fn what_succeeds_calls_no_hook() {
    let system = start(CONFIGURATION);
    system.activate_task(1).unwrap();
    system.task_state(1).unwrap();
    assert_eq!(log(), [""; 0]);
}

/// OSEK OS 2.2.3, 11.1: the hook is not called for errors of services that it calls itself.
#[test]
fn errors_within_the_hook_do_not_call_it_again() {
    let system = start(CONFIGURATION);
    at(Site::Error, |system| {
        let results = (system.task_state(9), system.activate_task(1));
        note(format!("{results:?}, service {}", system.error_service()));
    });
    assert_eq!(system.activate_task(9), Err(Status::Id));
    let expected = [
        "Id in ActivateTask, task 0",
        "ErrorHook(3)",
        "Id in GetTaskState, task 0",
        "CallLevel in ActivateTask, task 0",
        "(Err(Id), Err(CallLevel)), service 1",
    ];
    assert_eq!(log(), expected);
    assert_eq!(system.activate_task(9), Err(Status::Id));
    assert_eq!(log(), expected, "and it is called for the next one");
}

/// The hook of an error in another hook returns to that one's place.
#[test]
fn an_error_in_another_hook_calls_the_hook() {
    let hooks = super::machine::HOOKS;
    let system = start(Configuration { hooks, ..CONFIGURATION });
    at(Site::PostTask, |system| {
        let result = system.activate_task(1);
        note(format!("{result:?} {:?}", system.task_id()));
    });
    system.terminate_task().unwrap();
    let expected = [
        "CallLevel in ActivateTask, task 0",
        "ErrorHook(2)",
        "Error",
        "Err(CallLevel) Ok(Some(0))",
        "leave Ended, idle",
    ];
    assert_eq!(log(), expected);
}

/// The numbers that C programs compare with are those of `status.rs`.
#[test]
fn the_service_is_told_by_its_number() {
    let system = start(CONFIGURATION);
    assert_eq!(system.error_service(), Service::None as u8);
    assert_eq!(system.remaining_ticks(3), Err(Status::Id));
    assert_eq!(system.error_service(), Service::GetAlarm as u8);
    assert_eq!(system.error_parameter(0), 3);
}
