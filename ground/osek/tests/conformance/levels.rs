//! Which service may be called from where (OSEK OS 2.2.3, figure 12-1).
//!
//! Allowed calls are made with parameters that they can succeed with, and do, whatever the kind of
//! checking. The others answer `E_OS_CALLEVEL` under extended status; under standard status the
//! standard leaves them undefined, and they are not tested.

use quietcore_osek::configuration::{Checking, Class};
use quietcore_osek::kernel::CallLevel;
use quietcore_osek::status::{Service, Status};

use crate::stage::{Answer, Case, SYSTEM, Scene, nothing, place};
use crate::world::{
    ALARM, CLASSES, COUNTER, EXTENDED_ACTOR, HIGHER, ISR_RESOURCE, LOWER, OTHER_TABLE, RESOURCE,
    SEVERAL, TABLE, WAITER,
};

/// All places that a service may be called from while the kernel runs.
pub(crate) const PLACES: [CallLevel; 8] = [
    CallLevel::Task,
    CallLevel::Isr2,
    CallLevel::ErrorHook,
    CallLevel::PreTaskHook,
    CallLevel::PostTaskHook,
    CallLevel::StartupHook,
    CallLevel::ShutdownHook,
    CallLevel::AlarmCallback,
];

const TASK: &[CallLevel] = &[CallLevel::Task];
pub(crate) const TASK_ISR: &[CallLevel] = &[CallLevel::Task, CallLevel::Isr2];
pub(crate) const LOOKING: &[CallLevel] = &[
    CallLevel::Task,
    CallLevel::Isr2,
    CallLevel::ErrorHook,
    CallLevel::PreTaskHook,
    CallLevel::PostTaskHook,
];

/// Returns `true` if the service is one of events, which only ECC1 and ECC2 have.
pub(crate) fn is_of_events(service: Service) -> bool {
    use Service::{ClearEvent, GetEvent, SetEvent, WaitEvent};
    matches!(service, SetEvent | ClearEvent | GetEvent | WaitEvent)
}

/// A service with the places it may be called from, and a call that succeeds there.
struct Level {
    service: Service,
    places: &'static [CallLevel],
    scene: Scene,
}

fn levels() -> Vec<Level> {
    use Service as S;
    let level = |service, places, scene| Level { service, places, scene };
    let set_alarm = || SYSTEM.set_relative_alarm(ALARM, 3, 0);
    let start = || SYSTEM.start_table_relative(TABLE, 3);
    let prepared = |prepare, call| Scene { prepare, ..Scene::of(call) };
    let extended = |scene| Scene { extended: true, ..scene };
    let ending = |call| Scene { ends: true, ..Scene::of(call) };
    vec![
        level(S::ActivateTask, TASK_ISR, Scene::of(|| SYSTEM.activate_task(LOWER))),
        level(S::TerminateTask, TASK, ending(|| SYSTEM.terminate_task())),
        level(S::ChainTask, TASK, ending(|| SYSTEM.chain_task(SEVERAL))),
        level(S::Schedule, TASK, Scene::of(|| SYSTEM.schedule())),
        level(S::GetTaskId, LOOKING, Scene::of(|| SYSTEM.task_id().map(drop))),
        level(S::GetTaskState, LOOKING, Scene::of(|| SYSTEM.task_state(HIGHER).map(drop))),
        level(S::GetResource, TASK_ISR, Scene::of(take_and_give)),
        level(S::ReleaseResource, TASK_ISR, Scene::of(give_what_was_taken)),
        level(
            S::SetEvent,
            TASK_ISR,
            prepared(|| SYSTEM.activate_task(WAITER), || SYSTEM.set_event(WAITER, 0b10)),
        ),
        level(S::ClearEvent, TASK, extended(Scene::of(|| SYSTEM.clear_event(0b10)))),
        level(
            S::GetEvent,
            LOOKING,
            prepared(|| SYSTEM.activate_task(WAITER), || SYSTEM.event(WAITER).map(drop)),
        ),
        level(S::WaitEvent, TASK, extended(prepared(set_own_event, || SYSTEM.wait_event(0b10)))),
        level(S::GetAlarmBase, LOOKING, Scene::of(|| SYSTEM.alarm_base(ALARM).map(drop))),
        level(
            S::GetAlarm,
            LOOKING,
            prepared(set_alarm, || SYSTEM.remaining_ticks(ALARM).map(drop)),
        ),
        level(S::SetRelAlarm, TASK_ISR, Scene::of(|| SYSTEM.set_relative_alarm(ALARM, 3, 0))),
        level(S::SetAbsAlarm, TASK_ISR, Scene::of(|| SYSTEM.set_absolute_alarm(ALARM, 3, 0))),
        level(S::CancelAlarm, TASK_ISR, prepared(set_alarm, || SYSTEM.cancel_alarm(ALARM))),
        level(S::GetCounterValue, TASK_ISR, Scene::of(|| SYSTEM.counter_value(COUNTER).map(drop))),
        level(S::IncrementCounter, TASK_ISR, Scene::of(|| SYSTEM.increment_counter(COUNTER))),
        level(
            S::StartScheduleTableRel,
            TASK_ISR,
            Scene::of(|| SYSTEM.start_table_relative(TABLE, 3)),
        ),
        level(
            S::StartScheduleTableAbs,
            TASK_ISR,
            Scene::of(|| SYSTEM.start_table_absolute(TABLE, 3)),
        ),
        level(S::StopScheduleTable, TASK_ISR, prepared(start, || SYSTEM.stop_table(TABLE))),
        level(
            S::NextScheduleTable,
            TASK_ISR,
            prepared(start, || SYSTEM.next_table(TABLE, OTHER_TABLE)),
        ),
        level(
            S::GetScheduleTableStatus,
            TASK_ISR,
            Scene::of(|| SYSTEM.table_status(TABLE).map(drop)),
        ),
    ]
}

fn set_own_event() -> Answer {
    SYSTEM.set_event(EXTENDED_ACTOR, 0b10)
}

/// An ISR has resources of its own.
pub(crate) fn own_resource() -> u8 {
    match place() {
        CallLevel::Isr2 => ISR_RESOURCE,
        _ => RESOURCE,
    }
}

fn take_and_give() -> Answer {
    let resource = own_resource();
    SYSTEM.get_resource(resource)?;
    SYSTEM.release_resource(resource)
}

fn give_what_was_taken() -> Answer {
    let resource = own_resource();
    if TASK_ISR.contains(&place()) {
        SYSTEM.get_resource(resource)?;
    }
    SYSTEM.release_resource(resource)
}

/// A case for each service, place, class and kind of checking.
pub(crate) fn cases() -> impl Iterator<Item = Case> {
    levels().into_iter().flat_map(|level| {
        let Level { service, places, scene } = level;
        CLASSES.into_iter().flat_map(move |class| {
            PLACES.into_iter().flat_map(move |place| {
                [Checking::Standard, Checking::Extended].into_iter().filter_map(move |checking| {
                    let (status, when) = expected(service, places, place, class, checking)?;
                    let has_objects = class.has_events() || !is_of_events(service);
                    let prepare = if has_objects { scene.prepare } else { nothing };
                    let extended = scene.extended && has_objects;
                    // A call that is refused ends nothing.
                    let ends = scene.ends && status.is_none();
                    let scene = Scene { prepare, extended, ends, ..scene };
                    Some(Case { service, when, place, class, checking, status, scene })
                })
            })
        })
    })
}

/// Returns the status that a call has to answer; `None` if nothing is promised.
fn expected(
    service: Service,
    places: &[CallLevel],
    place: CallLevel,
    class: Class,
    checking: Checking,
) -> Option<(Option<Status>, &'static str)> {
    let allowed = places.contains(&place);
    if allowed && is_of_events(service) && !class.has_events() {
        return Some((Some(Status::Service), "the_class_has_no_events"));
    }
    match (allowed, checking) {
        (true, _) => Some((None, "called_from_where_it_may_be")),
        (false, Checking::Extended) => Some((Some(Status::CallLevel), "called_from_elsewhere")),
        (false, Checking::Standard) => None,
    }
}
