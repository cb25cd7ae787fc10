//! Tasks: activation, end, order, preemption.

use super::*;
use crate::configuration::Checking;
use crate::kernel::TaskState;
use crate::status::Status;

#[test]
fn a_higher_task_preempts_and_a_lower_or_equal_one_waits() {
    let tasks = [at_start(basic(2)), basic(2), basic(1), basic(3)];
    let configuration = Configuration { tasks: &tasks, ..PLAIN };
    let mut kernel = started(&configuration);
    assert_eq!(kernel.running(), Some(0));
    for task in [1, 2] {
        kernel.activate_task(task, 0).unwrap();
        assert!(!kernel.must_dispatch());
        assert_eq!(kernel.task_state(task), Ok(TaskState::Ready));
    }
    kernel.activate_task(3, 0).unwrap();
    assert_eq!(switch(&mut kernel), (Leave::Task(0), Entered::Begin(3)));
    assert_eq!(kernel.task_state(0), Ok(TaskState::Ready));
    kernel.terminate_task().unwrap();
    assert_eq!(switch(&mut kernel), (Leave::Ended, Entered::Resume(0)));
    assert_eq!(kernel.task_state(3), Ok(TaskState::Suspended));
    assert_eq!(end(&mut kernel), Some(1));
    assert_eq!(end(&mut kernel), Some(2));
    kernel.terminate_task().unwrap();
    assert_eq!(switch(&mut kernel), (Leave::Ended, Entered::Idle));
}

/// OSEK OS 2.2.3, 4.6.5: a preempted task is the oldest of its priority.
#[test]
fn a_preempted_task_goes_on_before_an_equal_one_that_came_first() {
    let tasks = [at_start(basic(2)), at_start(basic(2)), basic(3)];
    let configuration = Configuration { tasks: &tasks, ..PLAIN };
    let mut kernel = started(&configuration);
    kernel.activate_task(2, 0).unwrap();
    assert_eq!(settle(&mut kernel), Some(2));
    assert_eq!(end(&mut kernel), Some(0));
    assert_eq!(end(&mut kernel), Some(1));
}

/// Jobs of one priority begin in the order of their activations, whosever they are.
#[test]
fn equal_tasks_run_in_the_order_of_their_activations() {
    let several = Task { activations: 3, ..basic(1) };
    let tasks = [several, several, at_start(basic(2))];
    let configuration = Configuration { tasks: &tasks, ..PLAIN };
    let mut kernel = started(&configuration);
    for task in [0, 1, 1, 0, 1] {
        kernel.activate_task(task, 0).unwrap();
    }
    let order = [(); 6].map(|()| end(&mut kernel));
    assert_eq!(order, [Some(0), Some(1), Some(1), Some(0), Some(1), None]);
}

#[test]
fn activations_are_limited_and_the_running_one_counts() {
    let tasks = [at_start(Task { activations: 2, ..basic(1) }), at_start(extended(2))];
    let configuration = Configuration { tasks: &tasks, ..PLAIN };
    let mut kernel = started(&configuration);
    assert_eq!(kernel.activate_task(1, 0), Err(Status::Limit), "an extended task has one");
    assert_eq!(end(&mut kernel), Some(0));
    assert_eq!(kernel.activate_task(0, 0), Ok(()));
    assert_eq!(kernel.activate_task(0, 0), Err(Status::Limit));
    assert_eq!(end(&mut kernel), Some(0));
    assert_eq!(kernel.activate_task(0, 0), Ok(()), "the first one has ended");
    assert_eq!(kernel.activate_task(2, 0), Err(Status::Id));
}

/// It is activated while it runs, so it would exceed its limit if the one before had not ended.
#[test]
fn a_task_may_chain_itself_at_its_limit_and_becomes_the_newest() {
    let tasks = [at_start(basic(1)), at_start(basic(1))];
    let configuration = Configuration { tasks: &tasks, ..PLAIN };
    let mut kernel = started(&configuration);
    assert_eq!(kernel.chain_task(0, 0), Ok(()));
    assert_eq!(switch(&mut kernel), (Leave::Ended, Entered::Begin(1)));
    assert_eq!(kernel.task_state(0), Ok(TaskState::Ready));
    kernel.terminate_task().unwrap();
    assert_eq!(switch(&mut kernel), (Leave::Ended, Entered::Begin(0)));
}

#[test]
fn a_chain_that_fails_leaves_the_task_running() {
    let tasks = [at_start(basic(2)), at_start(basic(1))];
    let configuration = Configuration { tasks: &tasks, ..PLAIN };
    let mut kernel = started(&configuration);
    assert_eq!(kernel.chain_task(1, 0), Err(Status::Limit));
    assert_eq!(kernel.chain_task(9, 0), Err(Status::Id));
    assert!(!kernel.must_dispatch());
    assert_eq!(kernel.task_state(0), Ok(TaskState::Running));
}

#[test]
fn a_task_that_is_not_preemptable_gives_way_with_schedule_and_at_its_end() {
    let tasks = [at_start(not_preemptable(basic(1))), basic(2), basic(3)];
    let configuration = Configuration { tasks: &tasks, ..PLAIN };
    let mut kernel = started(&configuration);
    assert_eq!(kernel.level(), SCHEDULER_LEVEL);
    kernel.activate_task(1, 0).unwrap();
    assert!(!kernel.must_dispatch());
    assert_eq!(kernel.schedule(), Ok(true));
    assert_eq!(switch(&mut kernel), (Leave::Task(0), Entered::Begin(1)));
    assert_eq!(end(&mut kernel), Some(0));
    assert_eq!(kernel.level(), SCHEDULER_LEVEL, "it is not preemptable again");
    kernel.activate_task(2, 0).unwrap();
    assert!(!kernel.must_dispatch());
    assert_eq!(end(&mut kernel), Some(2));
}

#[test]
fn schedule_changes_nothing_where_nobody_higher_is_ready() {
    let tasks = [at_start(not_preemptable(basic(2))), at_start(basic(2)), basic(3)];
    let configuration = Configuration { tasks: &tasks, ..PLAIN };
    let mut kernel = started(&configuration);
    assert_eq!(kernel.schedule(), Ok(false), "one of its own priority waits on");
    assert_eq!(settle(&mut kernel), Some(0));
    kernel.activate_task(2, 0).unwrap();
    assert!(!kernel.must_dispatch(), "it is still not preemptable");
}

/// Tasks of a group don't preempt each other; one above the group preempts them all.
#[test]
fn an_internal_resource_lasts_from_begin_to_end_but_for_schedule() {
    let member = |priority| Task { running_level: 3, ..basic(priority) };
    let tasks = [at_start(member(1)), member(3), basic(4), basic(2)];
    let configuration = Configuration { tasks: &tasks, ..PLAIN };
    let mut kernel = started(&configuration);
    kernel.activate_task(1, 0).unwrap();
    kernel.activate_task(3, 0).unwrap();
    assert!(!kernel.must_dispatch());
    kernel.activate_task(2, 0).unwrap();
    assert_eq!(settle(&mut kernel), Some(2));
    assert_eq!(end(&mut kernel), Some(0), "its level is the ceiling, not its priority");
    assert_eq!(kernel.schedule(), Ok(true));
    assert_eq!(settle(&mut kernel), Some(1));
    assert_eq!(end(&mut kernel), Some(3));
    assert_eq!(end(&mut kernel), Some(0));
    assert_eq!(kernel.level(), 3);
}

#[test]
fn services_of_tasks_are_refused_elsewhere_in_standard_status_too() {
    let tasks = [at_start(extended(1))];
    for checking in [Checking::Standard, Checking::Extended] {
        let configuration = Configuration { tasks: &tasks, checking, ..PLAIN };
        let mut kernel = started(&configuration);
        kernel.enter_isr(None, 0);
        assert_eq!(kernel.terminate_task(), Err(Status::CallLevel));
        assert_eq!(kernel.chain_task(0, 0), Err(Status::CallLevel));
        assert_eq!(kernel.schedule(), Err(Status::CallLevel));
        assert_eq!(kernel.wait_event(1), Err(Status::CallLevel));
        assert_eq!(kernel.clear_event(1), Err(Status::CallLevel));
    }
}

#[test]
fn a_start_begins_anew_in_the_mode_that_is_asked_for() {
    let tasks = [Task { autostart: 0b01, ..basic(1) }, Task { autostart: 0b10, ..basic(2) }];
    let configuration = Configuration { tasks: &tasks, mode_count: 2, ..PLAIN };
    let mut kernel = started(&configuration);
    assert_eq!((kernel.running(), kernel.mode()), (Some(0), 0));
    assert_eq!(kernel.start(&configuration, 2, 0), Err(Status::Value));
    assert_eq!(kernel.running(), Some(0), "nothing has changed");
    kernel.start(&configuration, 1, 0).unwrap();
    assert_eq!((kernel.call_level(), kernel.running()), (CallLevel::StartupHook, None));
    kernel.enter(CallLevel::Task);
    assert_eq!((settle(&mut kernel), kernel.mode()), (Some(1), 1));
    assert_eq!(kernel.task_state(0), Ok(TaskState::Suspended));
}

/// As many as there may be, each preempted by the next.
#[test]
fn all_tasks_can_be_preempted_at_once() {
    let tasks: [Task; 254] = core::array::from_fn(|index| basic(index as u8 + 1));
    let configuration = Configuration { tasks: &tasks, ..PLAIN };
    let mut kernel = started(&configuration);
    for task in 0..254 {
        kernel.activate_task(task, 0).unwrap();
        assert_eq!(settle(&mut kernel), Some(task));
    }
    for task in (0..253).rev() {
        assert_eq!(end(&mut kernel), Some(task));
    }
    assert_eq!(end(&mut kernel), None);
}
