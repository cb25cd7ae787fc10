//! Services of resources and events.

use super::tasks::is;
use super::*;
use crate::levels::own_resource;

pub(super) fn lines() -> Vec<Line> {
    let mut lines = resources();
    lines.extend(event_settings());
    lines.extend(event_waits());
    lines
}

fn resources() -> Vec<Line> {
    use Service::{GetResource, ReleaseResource};
    vec![
        line(GetResource, "a_higher_task_has_to_wait_for_it", None, TASK, || {
            SYSTEM.get_resource(RESOURCE)?;
            SYSTEM.activate_task(HIGHER)?;
            is(HIGHER_RUNS.load(Relaxed) == 0)
        })
        .then(|| {
            must(SYSTEM.release_resource(RESOURCE).is_ok(), "it was not held")?;
            must(HIGHER_RUNS.load(Relaxed) == 1, "the higher task did not run then")
        }),
        line(GetResource, "they_nest", None, TASK, || {
            SYSTEM.get_resource(RESOURCE)?;
            SYSTEM.get_resource(OTHER_RESOURCE)?;
            SYSTEM.release_resource(OTHER_RESOURCE)?;
            SYSTEM.release_resource(RESOURCE)
        }),
        line(GetResource, "with_an_isr_among_its_users", None, TASK_ISR, || {
            SYSTEM.get_resource(ISR_RESOURCE)?;
            SYSTEM.release_resource(ISR_RESOURCE)
        }),
        line(GetResource, "it_is_held_already", Status::Access, TASK_ISR, || {
            let resource = own_resource();
            SYSTEM.get_resource(resource)?;
            let answer = SYSTEM.get_resource(resource);
            SYSTEM.release_resource(resource)?;
            answer
        }),
        line(GetResource, "its_ceiling_is_below_the_task", Status::Access, TASK, || {
            SYSTEM.get_resource(LOW_RESOURCE)
        }),
        line(GetResource, "its_ceiling_is_below_the_isr", Status::Access, ISR2, || {
            SYSTEM.get_resource(LOW_ISR_RESOURCE)
        }),
        line(GetResource, "it_is_one_of_tasks_only", Status::Access, ISR2, || {
            SYSTEM.get_resource(RESOURCE)
        }),
        line(GetResource, "there_is_no_such_resource", Status::Id, TASK_ISR, || {
            SYSTEM.get_resource(NOTHING)
        }),
        line(ReleaseResource, "it_was_not_taken", Status::NoFunction, TASK_ISR, || {
            SYSTEM.release_resource(own_resource())
        }),
        line(ReleaseResource, "another_was_taken_after_it", Status::NoFunction, TASK, || {
            SYSTEM.get_resource(RESOURCE)?;
            SYSTEM.get_resource(OTHER_RESOURCE)?;
            let answer = SYSTEM.release_resource(RESOURCE);
            SYSTEM.release_resource(OTHER_RESOURCE)?;
            SYSTEM.release_resource(RESOURCE)?;
            answer
        }),
        line(ReleaseResource, "its_ceiling_is_below_the_task", Status::Access, TASK, || {
            SYSTEM.release_resource(LOW_RESOURCE)
        })
        .extended_status(),
        line(ReleaseResource, "there_is_no_such_resource", Status::Id, TASK_ISR, || {
            SYSTEM.release_resource(NOTHING)
        }),
    ]
}

fn wait() -> Answer {
    SYSTEM.activate_task(WAITER)
}

fn event_settings() -> Vec<Line> {
    use Service::SetEvent;
    vec![
        line(SetEvent, "a_higher_task_goes_on_at_once", None, TASK, || {
            SYSTEM.set_event(WAITER, 0b01)?;
            is(WAITER_RUNS.load(Relaxed) == 1)
        })
        .after(wait)
        .only(In::Events),
        line(SetEvent, "a_higher_task_goes_on_after_the_isr", None, ISR2, || {
            SYSTEM.set_event(WAITER, 0b01)
        })
        .after(wait)
        .then(|| must(WAITER_RUNS.load(Relaxed) == 1, "the waiter did not go on"))
        .only(In::Events),
        line(SetEvent, "it_waits_for_another_event", None, TASK_ISR, || {
            SYSTEM.set_event(WAITER, 0b10)
        })
        .after(wait)
        .then(|| must(state_is(WAITER, TaskState::Waiting), "the waiter does not wait on"))
        .only(In::Events),
        line(SetEvent, "the_task_is_suspended", Status::State, TASK_ISR, || {
            SYSTEM.set_event(SUSPENDED_EXTENDED, 0b01)
        })
        .only(In::Events),
        line(SetEvent, "the_task_is_a_basic_one", Status::Access, TASK_ISR, || {
            SYSTEM.set_event(LOWER, 0b01)
        })
        .only(In::Events),
        line(SetEvent, "there_is_no_such_task", Status::Id, TASK_ISR, || {
            SYSTEM.set_event(NOTHING, 0b01)
        })
        .only(In::Events),
    ]
}

fn event_waits() -> Vec<Line> {
    use Service::{ClearEvent, GetEvent, WaitEvent};
    vec![
        line(ClearEvent, "only_these_are_cleared", None, TASK, || {
            SYSTEM.set_event(EXTENDED_ACTOR, 0b11)?;
            SYSTEM.clear_event(0b01)?;
            is(SYSTEM.event(EXTENDED_ACTOR)? == 0b10)
        })
        .in_extended_task(),
        line(ClearEvent, "the_task_is_a_basic_one", Status::Access, TASK, || {
            SYSTEM.clear_event(0b01)
        })
        .only(In::Events),
        line(GetEvent, "those_that_are_set_are_told", None, LOOKING, || {
            is(SYSTEM.event(WAITER)? == 0b10)
        })
        .after(|| {
            SYSTEM.activate_task(WAITER)?;
            SYSTEM.set_event(WAITER, 0b10)
        })
        .only(In::Events),
        line(GetEvent, "the_task_is_suspended", Status::State, LOOKING, || {
            SYSTEM.event(SUSPENDED_EXTENDED).map(drop)
        })
        .only(In::Events),
        line(GetEvent, "the_task_is_a_basic_one", Status::Access, LOOKING, || {
            SYSTEM.event(LOWER).map(drop)
        })
        .only(In::Events),
        line(GetEvent, "there_is_no_such_task", Status::Id, LOOKING, || {
            SYSTEM.event(NOTHING).map(drop)
        })
        .only(In::Events),
        line(WaitEvent, "it_is_set_already", None, TASK, || {
            SYSTEM.set_event(EXTENDED_ACTOR, 0b01)?;
            SYSTEM.wait_event(0b11)?;
            is(SYSTEM.event(EXTENDED_ACTOR)? == 0b01)
        })
        .in_extended_task(),
        line(WaitEvent, "the_task_is_a_basic_one", Status::Access, TASK, || {
            SYSTEM.wait_event(0b01)
        })
        .only(In::Events),
        line(WaitEvent, "it_has_a_resource", Status::Resource, TASK, || {
            SYSTEM.get_resource(RESOURCE)?;
            let answer = SYSTEM.wait_event(0b01);
            SYSTEM.release_resource(RESOURCE)?;
            answer
        })
        .in_extended_task()
        .extended_status(),
    ]
}
