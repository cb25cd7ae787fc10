//! Switches: their order, their hooks, the start and the end.

use super::machine::{
    ERROR_HOOKS, HOOKS, Site, at, ends_with, level, log, new_system, note, start,
};
use crate::check::Table;
use crate::configuration::{Class, Configuration, Task};
use crate::kernel::tests::{PLAIN, at_start, basic, extended};
use crate::kernel::{CallLevel, TaskState};
use crate::status::Status;
use crate::system::{StartError, System};
use std::format;
use std::vec;

const QUIET: Configuration<'static> =
    Configuration { accounting: false, hooks: ERROR_HOOKS, ..PLAIN };

/// Notes who runs, in which state, at which interrupt level.
fn tell(system: &System<impl crate::port::Port>, hook: &str) {
    let task = system.task_id().unwrap().unwrap();
    let state = system.task_state(task).unwrap();
    note(format!("{hook}: task {task} is {state:?}, level {}", level()));
}

fn tell_of_tasks() {
    at(Site::PreTask, |system| tell(system, "pre"));
    at(Site::PostTask, |system| tell(system, "post"));
}

/// OSEK OS 2.2.3, 11.2: the task that is left is still running in PostTaskHook, and the one that is
/// entered already in PreTaskHook; both hooks run with interrupts of category 2 held back.
#[test]
fn hooks_see_the_task_that_is_left_and_the_one_that_is_entered() {
    const TASKS: &[Task] = &[at_start(extended(1)), basic(2)];
    let system = start(Configuration { tasks: TASKS, hooks: HOOKS, ..QUIET });
    tell_of_tasks();
    system.activate_task(1).unwrap();
    let switch = ["post: task 0 is Running, level 1", "pre: task 1 is Running, level 1"];
    assert_eq!(log(), [switch[0], switch[1], "leave Task(0), begin 1"]);
    system.terminate_task().unwrap();
    let switch = ["post: task 1 is Running, level 1", "pre: task 0 is Running, level 1"];
    assert_eq!(log(), [switch[0], switch[1], "leave Ended, resume 0"]);
    system.wait_event(1).unwrap();
    assert_eq!(log(), ["post: task 0 is Running, level 1", "leave Task(0), idle"]);
    assert_eq!((system.task_id(), system.task_state(0)), (Ok(None), Ok(TaskState::Waiting)));
    assert_eq!(level(), 0);
}

#[test]
fn the_start_runs_the_hook_then_tasks_then_idles() {
    const TASKS: &[Task] = &[at_start(basic(1))];
    let system = new_system();
    at(Site::Startup, |system| {
        let place = system.cell.with(|kernel| kernel.call_level());
        note(format!(
            "startup at {place:?}, level {}, {:?}",
            level(),
            system.active_application_mode()
        ));
    });
    let configuration =
        super::machine::keep(Configuration { tasks: TASKS, hooks: HOOKS, mode_count: 2, ..QUIET });
    system.start(configuration, 0).unwrap();
    assert_eq!(log(), ["startup at StartupHook, level 1, 0"]);
    assert_eq!(ends_with(|| system.run()), "idle");
    // The idle context waits here because the machine has no other; a real one would be left.
    assert_eq!(log(), ["PreTask", "leave Idle, begin 0", "idle at level 0"]);
    system.terminate_task().unwrap();
    assert_eq!(log(), ["PostTask", "leave Ended, idle"]);
}

#[test]
fn what_cannot_work_does_not_start() {
    let system = new_system();
    const BROKEN: &Configuration<'static> =
        &Configuration { class: Class::Bcc1, tasks: &[extended(1)], hooks: HOOKS, ..QUIET };
    match system.start(BROKEN, 0) {
        Err(StartError::Refused(refusal)) => assert_eq!(refusal.table, Table::Tasks),
        other => panic!("{other:?}"),
    }
    const TASKS: &[Task] = &[at_start(basic(1))];
    const WORKING: &Configuration<'static> = &Configuration { tasks: TASKS, hooks: HOOKS, ..QUIET };
    assert_eq!(system.start(WORKING, 1), Err(StartError::UnknownMode(1)));
    assert_eq!(system.activate_task(0), Err(Status::CallLevel), "it has not started");
    assert_eq!(log(), ["CallLevel in ActivateTask, nobody"], "and no hook was called");
    assert_eq!(system.start(WORKING, 0), Ok(()));
}

#[test]
fn chain_schedule_and_release_switch_as_they_should() {
    const TASKS: &[Task] = &[at_start(Task { running_level: 255, ..basic(1) }), basic(2), basic(1)];
    let system = start(Configuration { tasks: TASKS, ..QUIET });
    system.activate_task(1).unwrap();
    assert_eq!(log(), [""; 0], "it is not preemptable");
    system.schedule().unwrap();
    assert_eq!(log(), ["leave Task(0), begin 1"]);
    system.chain_task(2).unwrap();
    assert_eq!(log(), ["leave Ended, resume 0"], "task 2 is not above task 0");
    system.chain_task(0).unwrap();
    assert_eq!(log(), ["leave Ended, begin 2"], "the oldest of its priority");
    system.terminate_task().unwrap();
    assert_eq!(log(), ["leave Ended, begin 0"]);
}

#[test]
fn shutdown_calls_the_hook_and_ends_the_machine() {
    const TASKS: &[Task] = &[at_start(basic(1))];
    let system = start(Configuration { tasks: TASKS, ..QUIET });
    at(Site::Shutdown, |system| {
        let place = system.cell.with(|kernel| kernel.call_level());
        note(format!("at {place:?}, level {}", level()));
    });
    assert_eq!(ends_with(|| system.shut_down(7)), "shut down");
    assert_eq!(
        log(),
        ["ShutdownHook(7)", "at ShutdownHook, level 1", "shut down with 7 at level 1"]
    );
    assert_eq!(system.cell.with(|kernel| kernel.call_level()), CallLevel::Outside);
    assert_eq!(system.activate_task(0), Err(Status::CallLevel));
    assert_eq!(log(), vec!["CallLevel in ActivateTask, task 0"], "and no hook is called any more");
}

/// `ShutdownOS` is not for the shutdown hook; where the hook calls it all the same, it is over.
#[test]
fn a_shutdown_hook_that_shuts_down_is_not_called_again() {
    const TASKS: &[Task] = &[at_start(basic(1))];
    let system = start(Configuration { tasks: TASKS, ..QUIET });
    at(Site::Shutdown, |system| {
        assert_eq!(ends_with(|| system.shut_down(8)), "shut down");
        note("the story goes on, which the machine would not");
    });
    assert_eq!(ends_with(|| system.shut_down(7)), "shut down");
    assert_eq!(log()[..2], ["ShutdownHook(7)", "shut down with 8 at level 1"]);
}
