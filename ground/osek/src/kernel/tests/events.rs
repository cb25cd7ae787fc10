//! Events: none is lost, and each wakes whom it should.

use super::*;
use crate::kernel::TaskState;
use crate::status::Status;

#[test]
fn a_task_waits_until_one_of_its_events_is_set() {
    let tasks = [at_start(extended(2)), at_start(basic(1))];
    let configuration = Configuration { tasks: &tasks, ..PLAIN };
    let mut kernel = started(&configuration);
    assert_eq!(kernel.wait_event(0b110), Ok(true));
    assert_eq!(switch(&mut kernel), (Leave::Task(0), Entered::Begin(1)));
    assert_eq!(kernel.task_state(0), Ok(TaskState::Waiting));
    kernel.set_event(0, 0b001, 0).unwrap();
    assert!(!kernel.must_dispatch(), "it does not wait for this one");
    kernel.set_event(0, 0b100, 0).unwrap();
    assert_eq!(switch(&mut kernel), (Leave::Task(1), Entered::Resume(0)));
    assert_eq!(kernel.event(0), Ok(0b101), "nothing clears events but the task");
    assert_eq!(kernel.wait_event(0b100), Ok(false), "it is set already");
    kernel.clear_event(0b100).unwrap();
    assert_eq!(kernel.event(0), Ok(0b001));
}

/// OSEK OS 2.2.3, 13.2.3.1: events are cleared when the task leaves the suspended state. What is
/// set after that, before it first runs, is for this job.
#[test]
fn an_event_that_is_set_before_the_task_begins_is_kept() {
    let tasks = [extended(1), at_start(basic(2))];
    let configuration = Configuration { tasks: &tasks, ..PLAIN };
    let mut kernel = started(&configuration);
    assert_eq!(kernel.set_event(0, 1, 0), Err(Status::State), "it is suspended");
    kernel.activate_task(0, 0).unwrap();
    kernel.set_event(0, 1, 0).unwrap();
    assert_eq!(end(&mut kernel), Some(0));
    assert_eq!(kernel.event(0), Ok(1));
    assert_eq!(kernel.wait_event(1), Ok(false));
}

#[test]
fn a_new_activation_begins_without_events() {
    let tasks = [at_start(extended(1))];
    let configuration = Configuration { tasks: &tasks, ..PLAIN };
    let mut kernel = started(&configuration);
    kernel.set_event(0, 1, 0).unwrap();
    kernel.chain_task(0, 0).unwrap();
    settle(&mut kernel);
    assert_eq!(kernel.event(0), Ok(0));
    kernel.set_event(0, 1, 0).unwrap();
    end(&mut kernel);
    kernel.activate_task(0, 0).unwrap();
    assert_eq!(kernel.event(0), Ok(0), "even before it runs");
}

/// Woken twice it would be in the ready queue twice.
#[test]
fn a_woken_task_is_not_woken_again() {
    let tasks = [at_start(extended(1)), at_start(extended(1)), at_start(basic(2))];
    let configuration = Configuration { tasks: &tasks, ..PLAIN };
    let mut kernel = started(&configuration);
    assert_eq!(end(&mut kernel), Some(0));
    kernel.wait_event(1).unwrap();
    assert_eq!(settle(&mut kernel), Some(1));
    for _ in 0..3 {
        kernel.set_event(0, 1, 0).unwrap();
    }
    assert_eq!(end(&mut kernel), Some(0));
    assert_eq!(end(&mut kernel), None);
}

/// OSEK OS 2.2.3, 4.6.5: who comes from waiting is the newest of its priority.
#[test]
fn a_woken_task_goes_behind_its_equals() {
    let tasks = [at_start(extended(1)), basic(1), at_start(basic(2))];
    let configuration = Configuration { tasks: &tasks, ..PLAIN };
    let mut kernel = started(&configuration);
    assert_eq!(end(&mut kernel), Some(0));
    kernel.wait_event(1).unwrap();
    settle(&mut kernel);
    kernel.activate_task(2, 0).unwrap();
    settle(&mut kernel);
    kernel.activate_task(1, 0).unwrap();
    kernel.set_event(0, 1, 0).unwrap();
    assert_eq!(end(&mut kernel), Some(1));
    assert_eq!(end(&mut kernel), Some(0));
}

#[test]
fn a_task_that_is_not_preemptable_lets_others_run_while_it_waits() {
    let tasks = [at_start(not_preemptable(extended(1))), at_start(basic(1)), basic(2)];
    let configuration = Configuration { tasks: &tasks, ..PLAIN };
    let mut kernel = started(&configuration);
    kernel.wait_event(1).unwrap();
    assert_eq!(settle(&mut kernel), Some(1));
    assert_eq!(kernel.level(), 1);
    kernel.set_event(0, 1, 0).unwrap();
    assert!(!kernel.must_dispatch(), "while it waits its level is its priority");
    assert_eq!(end(&mut kernel), Some(0));
    assert_eq!(kernel.level(), SCHEDULER_LEVEL);
}

#[test]
fn events_belong_to_extended_tasks_of_extended_classes() {
    let tasks = [at_start(basic(1))];
    let configuration = Configuration { tasks: &tasks, ..PLAIN };
    let mut kernel = started(&configuration);
    assert_eq!(kernel.set_event(0, 1, 0), Err(Status::Access));
    assert_eq!(kernel.event(0), Err(Status::Access));
    assert_eq!(kernel.wait_event(1), Err(Status::Access));
    assert_eq!(kernel.clear_event(1), Err(Status::Access));
    assert_eq!(kernel.set_event(1, 1, 0), Err(Status::Id));
    for class in [Class::Bcc1, Class::Bcc2] {
        let configuration = Configuration { tasks: &tasks, class, ..PLAIN };
        let mut kernel = started(&configuration);
        assert_eq!(kernel.set_event(0, 1, 0), Err(Status::Service));
        assert_eq!(kernel.event(0), Err(Status::Service));
        assert_eq!(kernel.wait_event(1), Err(Status::Service));
        assert_eq!(kernel.clear_event(1), Err(Status::Service));
    }
}
