//! Resources: ceilings, nesting, and what is left behind.

use super::*;
use crate::configuration::{Checking, Isr, Resource, Scale};
use crate::status::Status;

const LOW: u8 = 0;
const HIGH: u8 = 1;
const SHARED_WITH_ISR: u8 = 2;

const RESOURCES: [Resource; 3] = [
    Resource { scale: Scale::Task, ceiling: 2 },
    Resource { scale: Scale::Task, ceiling: 4 },
    Resource { scale: Scale::Interrupt, ceiling: 2 },
];

const fn isr(level: u8) -> Isr {
    Isr { entry: nothing, source: 0, level, category: 2 }
}

const ISRS: [Isr; 3] = [isr(1), isr(2), isr(3)];

fn with<'c>(tasks: &'c [Task]) -> Configuration<'c> {
    Configuration { tasks, resources: &RESOURCES, isrs: &ISRS, ..PLAIN }
}

/// The task in the middle, which uses nothing, waits too: that is what bounds the inversion.
#[test]
fn who_holds_a_resource_is_preempted_only_above_its_ceiling() {
    let tasks = [at_start(basic(1)), basic(3), basic(4), basic(5)];
    let configuration = with(&tasks);
    let mut kernel = started(&configuration);
    assert_eq!(kernel.get_resource(HIGH), Ok(0));
    kernel.activate_task(1, 0).unwrap();
    kernel.activate_task(2, 0).unwrap();
    assert!(!kernel.must_dispatch());
    kernel.activate_task(3, 0).unwrap();
    assert_eq!(settle(&mut kernel), Some(3));
    assert_eq!(end(&mut kernel), Some(0));
    assert_eq!(kernel.level(), 4, "it holds the resource still");
    assert_eq!(kernel.release_resource(HIGH), Ok(0));
    assert_eq!(settle(&mut kernel), Some(2));
    assert_eq!(end(&mut kernel), Some(1));
}

#[test]
fn levels_fall_step_by_step_as_nested_resources_are_released() {
    let tasks = [at_start(basic(1))];
    let configuration = with(&tasks);
    let mut kernel = started(&configuration);
    let taken = [LOW, SHARED_WITH_ISR, HIGH].map(|resource| {
        let interrupt_level = kernel.get_resource(resource).unwrap();
        (kernel.level(), interrupt_level)
    });
    assert_eq!(taken, [(2, 0), (SCHEDULER_LEVEL, 2), (SCHEDULER_LEVEL, 2)]);
    let released = [HIGH, SHARED_WITH_ISR, LOW].map(|resource| {
        let interrupt_level = kernel.release_resource(resource).unwrap();
        (kernel.level(), interrupt_level)
    });
    assert_eq!(released, [(SCHEDULER_LEVEL, 2), (2, 0), (1, 0)]);
}

/// The lower one is taken last: the level must not fall when it is taken.
#[test]
fn a_lower_ceiling_within_a_higher_one_changes_nothing() {
    let tasks = [at_start(basic(1))];
    let configuration = with(&tasks);
    let mut kernel = started(&configuration);
    kernel.get_resource(HIGH).unwrap();
    kernel.get_resource(LOW).unwrap();
    assert_eq!(kernel.level(), 4);
    kernel.release_resource(LOW).unwrap();
    assert_eq!(kernel.level(), 4);
}

#[test]
fn a_resource_that_is_taken_or_too_low_is_refused() {
    let tasks = [at_start(basic(3))];
    for checking in [Checking::Standard, Checking::Extended] {
        let configuration = Configuration { checking, ..with(&tasks) };
        let mut kernel = started(&configuration);
        assert_eq!(kernel.get_resource(LOW), Err(Status::Access), "its ceiling is below the task");
        assert_eq!(kernel.get_resource(9), Err(Status::Id));
        assert_eq!(kernel.get_resource(HIGH), Ok(0));
        assert_eq!(kernel.get_resource(HIGH), Err(Status::Access), "it is taken");
        assert_eq!(kernel.level(), 4);
    }
}

#[test]
fn resources_are_released_in_reverse() {
    let tasks = [at_start(basic(1)), basic(5)];
    let configuration = with(&tasks);
    let mut kernel = started(&configuration);
    assert_eq!(kernel.release_resource(LOW), Err(Status::NoFunction), "it is not taken");
    kernel.get_resource(LOW).unwrap();
    kernel.get_resource(HIGH).unwrap();
    assert_eq!(kernel.release_resource(LOW), Err(Status::NoFunction), "another is released before");
    assert_eq!(kernel.release_resource(9), Err(Status::Id));
    kernel.activate_task(1, 0).unwrap();
    assert_eq!(settle(&mut kernel), Some(1));
    assert_eq!(kernel.release_resource(HIGH), Err(Status::Access), "too low for this task");
    assert_eq!(kernel.level(), 5);
}

#[test]
fn an_isr_takes_resources_of_its_own_scale_only() {
    let configuration = with(&[]);
    let mut kernel = started(&configuration);
    let interrupted = kernel.enter_isr(Some(0), 0);
    assert_eq!(kernel.get_resource(HIGH), Err(Status::Access));
    assert_eq!(kernel.get_resource(SHARED_WITH_ISR), Ok(2));
    assert_eq!(kernel.release_resource(SHARED_WITH_ISR), Ok(1), "back to the level of the ISR");
    assert!(!kernel.leave_isr(interrupted, 0));
    kernel.enter_isr(Some(2), 0);
    assert_eq!(kernel.get_resource(SHARED_WITH_ISR), Err(Status::Access), "its ceiling is below");
}

/// Under standard status nobody looks; the levels must fall nevertheless.
#[test]
fn what_a_task_holds_at_its_end_is_given_back() {
    let tasks = [at_start(basic(1)), basic(2)];
    let configuration = Configuration { checking: Checking::Standard, ..with(&tasks) };
    let mut kernel = started(&configuration);
    for resource in [LOW, SHARED_WITH_ISR] {
        kernel.get_resource(resource).unwrap();
    }
    kernel.activate_task(1, 0).unwrap();
    assert_eq!(end(&mut kernel), Some(1));
    assert_eq!((kernel.level(), kernel.interrupt_level()), (2, 0));
    assert_eq!(kernel.get_resource(SHARED_WITH_ISR), Ok(2));
}

#[test]
fn extended_status_refuses_to_end_or_to_give_way_with_a_resource() {
    let tasks = [at_start(not_preemptable(extended(1))), basic(5)];
    let configuration = with(&tasks);
    let mut kernel = started(&configuration);
    kernel.get_resource(LOW).unwrap();
    kernel.activate_task(1, 0).unwrap();
    assert_eq!(kernel.terminate_task(), Err(Status::Resource));
    assert_eq!(kernel.chain_task(1, 0), Err(Status::Resource));
    assert_eq!(kernel.schedule(), Err(Status::Resource));
    assert_eq!(kernel.wait_event(1), Err(Status::Resource));
    assert!(!kernel.must_dispatch());
}

/// Waiting with a resource would leave its interrupt level to all who run meanwhile.
#[test]
fn standard_status_does_not_let_a_task_wait_or_give_way_with_a_resource_either() {
    let tasks = [at_start(not_preemptable(extended(1))), basic(5)];
    let configuration = Configuration { checking: Checking::Standard, ..with(&tasks) };
    let mut kernel = started(&configuration);
    kernel.get_resource(SHARED_WITH_ISR).unwrap();
    kernel.activate_task(1, 0).unwrap();
    assert_eq!(kernel.wait_event(1), Err(Status::Resource));
    assert_eq!(kernel.schedule(), Ok(false));
    assert!(!kernel.must_dispatch());
}

#[test]
fn a_task_that_is_ended_by_force_gives_back_what_it_holds() {
    let tasks = [at_start(basic(1))];
    let configuration = with(&tasks);
    let mut kernel = started(&configuration);
    for resource in [HIGH, SHARED_WITH_ISR, LOW] {
        kernel.get_resource(resource).unwrap();
    }
    assert_eq!(kernel.abandon_running(), Some(0));
    assert_eq!(settle(&mut kernel), None);
    assert_eq!((kernel.level(), kernel.interrupt_level()), (0, 0));
    assert_eq!(kernel.abandon_running(), None, "nobody runs");
}
