//! ISRs of category 2 as the port brings them, and what they leave behind.

use super::machine::{
    Body, ERROR_HOOKS, HOOKS, Site, at, ends_with, keep, level, log, new_system, note, raise, start,
};
use crate::configuration::{Configuration, Isr, Resource, Scale, Task};
use crate::kernel::tests::{PLAIN, at_start, basic};
use std::format;

const TASKS: &[Task] = &[at_start(basic(1)), basic(2)];
const ISRS: &[Isr] = &[
    Isr { entry: super::machine::isr_0, source: 0, level: 3, category: 2 },
    Isr { entry: super::machine::isr_1, source: 1, level: 7, category: 2 },
];
const RESOURCES: &[Resource] = &[
    Resource { scale: Scale::Interrupt, ceiling: 3 },
    Resource { scale: Scale::Task, ceiling: 2 },
];
const CONFIGURATION: Configuration<'static> = Configuration {
    tasks: TASKS,
    isrs: ISRS,
    resources: RESOURCES,
    accounting: false,
    hooks: ERROR_HOOKS,
    ..PLAIN
};

#[test]
fn an_isr_runs_at_its_level_and_switches_at_its_end() {
    let system = start(CONFIGURATION);
    at(Site::Isr0, |system| {
        note(format!("isr at level {}, {:?} runs", level(), system.task_id().unwrap()));
        system.activate_task(1).unwrap();
        note(format!("still at level {}", level()));
    });
    raise(0);
    let expected = ["isr at level 3, Some(0) runs", "still at level 3", "leave Task(0), begin 1"];
    assert_eq!(log(), expected);
    assert_eq!(level(), 0);
    system.terminate_task().unwrap();
    assert_eq!(log(), ["leave Ended, resume 0"]);
}

/// A hook that ends with interrupts held back is told so itself, and not the code that follows it.
#[test]
fn a_hook_that_ends_with_interrupts_held_back_is_told() {
    let holds: [Body; 3] = [
        |system| system.suspend_all_interrupts(),
        |system| system.disable_all_interrupts(),
        |system| system.suspend_os_interrupts(),
    ];
    for hold in holds {
        let system = new_system();
        at(Site::Startup, hold);
        let configuration = keep(Configuration { hooks: HOOKS, ..CONFIGURATION });
        system.start(configuration, 0).unwrap();
        let expected = ["DisabledInterrupts in None, nobody", "ErrorHook(10)", "Error"];
        assert_eq!((log(), level()), (expected.map(Into::into).into(), 7));
        let _ = ends_with(|| system.run());
        log();
        raise(0);
        assert_eq!(log(), ["Isr0"], "the ISR is not to blame");
        at(Site::PostTask, hold);
        system.activate_task(1).unwrap();
        assert_eq!(log()[0], "DisabledInterrupts in None, task 0");
        assert_eq!(level(), 0);
    }
}

#[test]
fn a_nested_isr_leaves_the_switch_to_the_outer_one() {
    start(CONFIGURATION);
    at(Site::Isr0, |_| {
        raise(1);
        note(format!("the outer one goes on at level {}", level()));
    });
    at(Site::Isr1, |system| {
        note(format!("the inner one at level {}", level()));
        system.activate_task(1).unwrap();
    });
    raise(0);
    let expected =
        ["the inner one at level 7", "the outer one goes on at level 3", "leave Task(0), begin 1"];
    assert_eq!(log(), expected);
}

/// A service is not interrupted by what would call the kernel; what comes meanwhile comes after.
#[test]
fn an_interrupt_in_a_hook_comes_after_the_service() {
    let system = start(Configuration { hooks: HOOKS, ..CONFIGURATION });
    at(Site::PostTask, |_| {
        raise(0);
        note("post");
    });
    system.terminate_task().unwrap();
    assert_eq!(log(), ["post", "leave Ended, idle", "Isr0"]);
}

#[test]
fn an_interrupt_that_a_resource_held_back_comes_after_its_release() {
    let system = start(CONFIGURATION);
    at(Site::Isr0, |system| system.activate_task(1).unwrap());
    system.get_resource(0).unwrap();
    raise(0);
    raise(1);
    assert_eq!(log(), ["Isr1"], "that one is above the ceiling");
    system.release_resource(0).unwrap();
    assert_eq!(log(), ["leave Task(0), begin 1"]);
}

#[test]
fn a_release_switches_before_it_returns() {
    let system = start(CONFIGURATION);
    system.get_resource(1).unwrap();
    system.activate_task(1).unwrap();
    assert_eq!(log(), [""; 0]);
    system.release_resource(1).unwrap();
    assert_eq!(log(), ["leave Task(0), begin 1"]);
}

#[test]
fn a_resource_that_an_isr_keeps_is_taken_from_it_and_told() {
    let system = start(CONFIGURATION);
    at(Site::Isr0, |system| system.get_resource(0).unwrap());
    raise(0);
    assert_eq!(log(), ["Resource in None, task 0", "ErrorHook(6)", "Error"]);
    assert_eq!(system.get_resource(0), Ok(()), "it is free");
}

/// The switch at the end of the ISR, and its hooks, run at the kernel's level and not above it.
#[test]
fn masks_that_an_isr_keeps_are_taken_from_it_and_told() {
    let system = start(Configuration { hooks: HOOKS, ..CONFIGURATION });
    at(Site::Isr0, |system| {
        system.activate_task(1).unwrap();
        system.suspend_all_interrupts();
        system.disable_all_interrupts();
    });
    at(Site::PreTask, |_| note(format!("pre at level {}", level())));
    raise(0);
    let expected = [
        "DisabledInterrupts in None, task 0",
        "ErrorHook(10)",
        "Error",
        "PostTask",
        "pre at level 7",
        "leave Task(0), begin 1",
    ];
    assert_eq!(log(), expected);
    assert_eq!(system.schedule(), Ok(()), "nothing is held back");
}
