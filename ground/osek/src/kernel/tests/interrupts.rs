//! ISRs of category 2: their levels, their nesting, and when tasks are looked at again.

use super::*;
use crate::configuration::{Isr, Resource, Scale};
use crate::status::Status;

const fn isr(level: u8) -> Isr {
    Isr { entry: nothing, source: 0, level, category: 2 }
}

const ISRS: [Isr; 3] = [isr(1), isr(2), isr(5)];
const RESOURCES: [Resource; 2] = [
    Resource { scale: Scale::Interrupt, ceiling: 2 },
    Resource { scale: Scale::Interrupt, ceiling: 5 },
];

#[test]
fn tasks_are_switched_when_the_outermost_isr_ends() {
    let tasks = [at_start(basic(1)), basic(2), basic(3)];
    let configuration = Configuration { tasks: &tasks, isrs: &ISRS, ..PLAIN };
    let mut kernel = started(&configuration);
    let outer = kernel.enter_isr(Some(0), 0);
    kernel.activate_task(1, 0).unwrap();
    let inner = kernel.enter_isr(Some(2), 0);
    assert_eq!(kernel.interrupt_level(), 5);
    kernel.activate_task(2, 0).unwrap();
    assert!(!kernel.leave_isr(inner, 0));
    assert_eq!((kernel.call_level(), kernel.interrupt_level()), (CallLevel::Isr2, 1));
    assert_eq!(kernel.running(), Some(0), "the interrupted task is the one that runs");
    assert!(!kernel.leave_isr(outer, 0));
    assert_eq!((kernel.call_level(), kernel.interrupt_level()), (CallLevel::Task, 0));
    assert_eq!(switch(&mut kernel), (Leave::Task(0), Entered::Begin(2)));
}

#[test]
fn the_idle_context_is_interrupted_like_a_task() {
    let tasks = [basic(1)];
    let configuration = Configuration { tasks: &tasks, isrs: &ISRS, ..PLAIN };
    let mut kernel = started(&configuration);
    let interrupted = kernel.enter_isr(Some(1), 0);
    kernel.activate_task(0, 0).unwrap();
    kernel.leave_isr(interrupted, 0);
    assert_eq!(switch(&mut kernel), (Leave::Idle, Entered::Begin(0)));
}

/// The kernel's own ISR, the tick, has no entry in the table and no level of its own.
#[test]
fn the_tick_leaves_levels_alone_and_holds_nothing() {
    let configuration = Configuration { isrs: &ISRS, resources: &RESOURCES, ..PLAIN };
    let mut kernel = started(&configuration);
    let tick = kernel.enter_isr(None, 0);
    assert_eq!((kernel.call_level(), kernel.interrupt_level()), (CallLevel::Isr2, 0));
    assert_eq!(kernel.get_resource(0), Err(Status::CallLevel));
    assert!(!kernel.leave_isr(tick, 0));
}

#[test]
fn what_an_isr_keeps_is_taken_from_it() {
    let tasks = [at_start(basic(1)), basic(2)];
    let configuration =
        Configuration { tasks: &tasks, isrs: &ISRS, resources: &RESOURCES, ..PLAIN };
    let mut kernel = started(&configuration);
    let outer = kernel.enter_isr(Some(0), 0);
    assert_eq!(kernel.get_resource(0), Ok(2));
    let inner = kernel.enter_isr(Some(2), 0);
    assert_eq!(kernel.get_resource(0), Err(Status::Access), "the outer one has it");
    assert_eq!(kernel.get_resource(1), Ok(5));
    assert_eq!(kernel.release_resource(0), Err(Status::Access), "its ceiling is below this ISR");
    assert!(kernel.leave_isr(inner, 0));
    assert_eq!(kernel.interrupt_level(), 2, "the outer one has its own still");
    kernel.activate_task(1, 0).unwrap();
    assert!(kernel.leave_isr(outer, 0));
    assert_eq!((kernel.level(), kernel.interrupt_level()), (1, 0));
    assert_eq!(settle(&mut kernel), Some(1), "the level of tasks is as before");
    assert_eq!(kernel.get_resource(0), Ok(2), "it can be taken again");
}

#[test]
fn an_interrupt_above_a_resource_returns_to_its_level() {
    let tasks = [at_start(basic(1)), basic(2)];
    let configuration =
        Configuration { tasks: &tasks, isrs: &ISRS, resources: &RESOURCES, ..PLAIN };
    let mut kernel = started(&configuration);
    assert_eq!(kernel.get_resource(0), Ok(2));
    let interrupted = kernel.enter_isr(Some(2), 0);
    kernel.activate_task(1, 0).unwrap();
    kernel.leave_isr(interrupted, 0);
    assert_eq!((kernel.level(), kernel.interrupt_level()), (SCHEDULER_LEVEL, 2));
    assert!(!kernel.must_dispatch(), "who holds a resource of ISRs is not preempted");
    assert_eq!(kernel.release_resource(0), Ok(0));
    assert_eq!(settle(&mut kernel), Some(1));
}
