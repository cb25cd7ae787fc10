//! Cases of the services of tasks.

use super::*;

pub(super) fn lines() -> Vec<Line> {
    let mut lines = activations();
    lines.extend(ends());
    lines.extend(states());
    lines.extend(with_interrupts_held_back());
    lines
}

fn activations() -> Vec<Line> {
    use Service::ActivateTask;
    vec![
        line(ActivateTask, "a_higher_task_runs_at_once", None, TASK, || {
            SYSTEM.activate_task(HIGHER)?;
            if HIGHER_RUNS.load(Relaxed) == 1 { Ok(()) } else { Err(Status::State) }
        }),
        line(ActivateTask, "a_higher_task_runs_after_the_isr", None, ISR2, || {
            SYSTEM.activate_task(HIGHER)?;
            if HIGHER_RUNS.load(Relaxed) == 0 { Ok(()) } else { Err(Status::State) }
        })
        .then(|| must(HIGHER_RUNS.load(Relaxed) == 1, "the higher task did not run")),
        line(ActivateTask, "a_lower_task_becomes_ready", None, TASK_ISR, || {
            SYSTEM.activate_task(LOWER)
        })
        .then(|| must(state_is(LOWER, TaskState::Ready), "the lower task is not ready")),
        line(ActivateTask, "three_activations_are_kept", None, TASK_ISR, || {
            (0..3).try_for_each(|_| SYSTEM.activate_task(SEVERAL))
        })
        .only(In::Several),
        line(ActivateTask, "beyond_three_activations", Status::Limit, TASK_ISR, || {
            SYSTEM.activate_task(SEVERAL)
        })
        .after(|| (0..3).try_for_each(|_| SYSTEM.activate_task(SEVERAL)))
        .only(In::Several),
        line(ActivateTask, "it_is_ready", Status::Limit, TASK_ISR, || SYSTEM.activate_task(LOWER))
            .after(|| SYSTEM.activate_task(LOWER)),
        line(ActivateTask, "it_runs", Status::Limit, TASK_ISR, || SYSTEM.activate_task(ACTOR)),
        line(ActivateTask, "it_waits", Status::Limit, TASK_ISR, || SYSTEM.activate_task(WAITER))
            .after(|| SYSTEM.activate_task(WAITER))
            .only(In::Events),
        line(ActivateTask, "there_is_no_such_task", Status::Id, TASK_ISR, || {
            SYSTEM.activate_task(NOTHING)
        }),
    ]
}

fn ends() -> Vec<Line> {
    use Service::{ChainTask, Schedule, TerminateTask};
    vec![
        line(TerminateTask, "it_is_suspended_then", None, TASK, || SYSTEM.terminate_task())
            .ends()
            .then(|| must(state_is(ACTOR, TaskState::Suspended), "the task is not suspended")),
        line(TerminateTask, "it_has_a_resource", Status::Resource, TASK, || {
            SYSTEM.terminate_task()
        })
        .after(|| SYSTEM.get_resource(RESOURCE))
        .then(release)
        .extended_status(),
        line(ChainTask, "it_activates_another", None, TASK, || SYSTEM.chain_task(HIGHER))
            .ends()
            .then(|| {
                must(HIGHER_RUNS.load(Relaxed) == 1, "the chained task did not run")?;
                must(state_is(ACTOR, TaskState::Suspended), "the task is not suspended")
            }),
        line(ChainTask, "it_activates_itself", None, TASK, || SYSTEM.chain_task(ACTOR))
            .ends()
            .then(|| must(state_is(ACTOR, TaskState::Running), "the task does not run again")),
        line(ChainTask, "the_other_is_ready_already", Status::Limit, TASK, || {
            SYSTEM.chain_task(LOWER)
        })
        .after(|| SYSTEM.activate_task(LOWER))
        .then(|| must(state_is(ACTOR, TaskState::Running), "the task does not go on")),
        line(ChainTask, "there_is_no_such_task", Status::Id, TASK, || SYSTEM.chain_task(NOTHING)),
        line(ChainTask, "it_has_a_resource", Status::Resource, TASK, || SYSTEM.chain_task(LOWER))
            .after(|| SYSTEM.get_resource(RESOURCE))
            .then(release)
            .extended_status(),
        line(Schedule, "nothing_higher_is_ready", None, TASK, || SYSTEM.schedule()),
        line(Schedule, "it_has_a_resource", Status::Resource, TASK, || SYSTEM.schedule())
            .after(|| SYSTEM.get_resource(RESOURCE))
            .then(release)
            .extended_status(),
    ]
}

fn states() -> Vec<Line> {
    use Service::{GetTaskId, GetTaskState};
    vec![
        line(
            GetTaskId,
            "it_is_the_actor",
            None,
            &[CallLevel::Task, CallLevel::Isr2, CallLevel::PostTaskHook],
            || is(SYSTEM.task_id()? == Some(ACTOR)),
        ),
        line(GetTaskId, "it_is_the_one_that_is_entered", None, &[CallLevel::PreTaskHook], || {
            is(SYSTEM.task_id()? == Some(HIGHER))
        }),
        line(GetTaskState, "the_actor_runs", None, &[CallLevel::Task, CallLevel::Isr2], || {
            is(SYSTEM.task_state(ACTOR)? == TaskState::Running)
        }),
        line(
            GetTaskState,
            "the_one_that_is_left_still_runs",
            None,
            &[CallLevel::PostTaskHook],
            || is(SYSTEM.task_state(ACTOR)? == TaskState::Running),
        ),
        line(GetTaskState, "the_one_that_is_entered_runs", None, &[CallLevel::PreTaskHook], || {
            is(SYSTEM.task_state(HIGHER)? == TaskState::Running)
        }),
        line(GetTaskState, "a_task_is_suspended", None, LOOKING, || {
            is(SYSTEM.task_state(SEVERAL)? == TaskState::Suspended)
        }),
        line(GetTaskState, "a_task_waits", None, LOOKING, || {
            is(SYSTEM.task_state(WAITER)? == TaskState::Waiting)
        })
        .after(|| SYSTEM.activate_task(WAITER))
        .only(In::Events),
        line(GetTaskState, "there_is_no_such_task", Status::Id, LOOKING, || {
            SYSTEM.task_state(NOTHING).map(drop)
        }),
    ]
}

fn with_interrupts_held_back() -> Vec<Line> {
    use Service::{ActivateTask, TerminateTask};
    vec![
        line(
            ActivateTask,
            "interrupts_are_suspended",
            Status::DisabledInterrupts,
            TASK_ISR,
            || suspended(|| SYSTEM.activate_task(LOWER)),
        ),
        line(TerminateTask, "interrupts_are_disabled", Status::DisabledInterrupts, TASK, || {
            SYSTEM.disable_all_interrupts();
            let answer = SYSTEM.terminate_task();
            SYSTEM.enable_all_interrupts();
            answer
        }),
    ]
}

/// Makes a call with interrupts of category 2 suspended.
pub(super) fn suspended(call: impl FnOnce() -> Answer) -> Answer {
    SYSTEM.suspend_os_interrupts();
    let answer = call();
    SYSTEM.resume_os_interrupts();
    answer
}

/// A call that answered, but not with what it should.
pub(super) fn is(holds: bool) -> Answer {
    // No service that looks answers this.
    if holds { Ok(()) } else { Err(Status::StackFault) }
}

fn release() -> Result<(), &'static str> {
    must(SYSTEM.release_resource(RESOURCE).is_ok(), "the resource was lost")
}
