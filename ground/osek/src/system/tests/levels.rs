//! From where each service can be called (OSEK OS 2.2.3, figure 12-1).

use super::machine::{ERROR_HOOKS, Tested, as_stranger, level, log, set_level_to, start};
use crate::configuration::{Alarm, Checking, Configuration, Counter, Task};
use crate::kernel::tests::{PLAIN, activation, at_start, basic, extended, software};
use crate::kernel::{CallLevel, CallLevels};
use crate::status::Status;

use CallLevel::{ErrorHook, Isr2, PostTaskHook, PreTaskHook};

const TASKS: &[Task] = &[at_start(extended(1)), basic(1)];
const COUNTERS: &[Counter] = &[software(9)];
const ALARMS: &[Alarm] =
    &[Alarm { action: activation(1), counter: 0, autostart: 1, first: 5, cycle: 0 }];
const CONFIGURATION: Configuration<'static> = Configuration {
    tasks: TASKS,
    counters: COUNTERS,
    alarms: ALARMS,
    accounting: false,
    hooks: ERROR_HOOKS,
    ..PLAIN
};

const TASK: CallLevels = CallLevels::of(&[CallLevel::Task]);
const TASK_OR_ISR: CallLevels = CallLevels::of(&[CallLevel::Task, Isr2]);
const LOOKING: CallLevels =
    CallLevels::of(&[CallLevel::Task, Isr2, ErrorHook, PreTaskHook, PostTaskHook]);

const ALL: [CallLevel; 9] = [
    CallLevel::Outside,
    CallLevel::Task,
    Isr2,
    ErrorHook,
    PreTaskHook,
    PostTaskHook,
    CallLevel::StartupHook,
    CallLevel::ShutdownHook,
    CallLevel::AlarmCallback,
];

type Service = fn(Tested) -> Option<Status>;

/// Every service that can fail, with the levels of the figure.
const SERVICES: [(&str, CallLevels, Service); 25] = [
    ("ActivateTask", TASK_OR_ISR, |system| system.activate_task(1).err()),
    ("TerminateTask", TASK, |system| system.terminate_task().err()),
    ("ChainTask", TASK, |system| system.chain_task(1).err()),
    ("Schedule", TASK, |system| system.schedule().err()),
    ("GetTaskID", LOOKING, |system| system.task_id().err()),
    ("GetTaskState", LOOKING, |system| system.task_state(0).err()),
    ("GetResource", TASK_OR_ISR, |system| system.get_resource(0).err()),
    ("ReleaseResource", TASK_OR_ISR, |system| system.release_resource(0).err()),
    ("SetEvent", TASK_OR_ISR, |system| system.set_event(0, 1).err()),
    ("ClearEvent", TASK, |system| system.clear_event(1).err()),
    ("GetEvent", LOOKING, |system| system.event(0).err()),
    ("WaitEvent", TASK, |system| system.wait_event(1).err()),
    ("GetAlarmBase", LOOKING, |system| system.alarm_base(0).err()),
    ("GetAlarm", LOOKING, |system| system.remaining_ticks(0).err()),
    ("SetRelAlarm", TASK_OR_ISR, |system| system.set_relative_alarm(0, 1, 0).err()),
    ("SetAbsAlarm", TASK_OR_ISR, |system| system.set_absolute_alarm(0, 1, 0).err()),
    ("CancelAlarm", TASK_OR_ISR, |system| system.cancel_alarm(0).err()),
    ("GetCounterValue", TASK_OR_ISR, |system| system.counter_value(0).err()),
    ("IncrementCounter", TASK_OR_ISR, |system| system.increment_counter(0).err()),
    ("StartScheduleTableRel", TASK_OR_ISR, |system| system.start_table_relative(0, 1).err()),
    ("StartScheduleTableAbs", TASK_OR_ISR, |system| system.start_table_absolute(0, 1).err()),
    ("StopScheduleTable", TASK_OR_ISR, |system| system.stop_table(0).err()),
    ("NextScheduleTable", TASK_OR_ISR, |system| system.next_table(0, 0).err()),
    ("GetScheduleTableStatus", TASK_OR_ISR, |system| system.table_status(0).err()),
    // Refused twice: there is no such task either.
    ("ActivateTask of none", TASK_OR_ISR, |system| system.activate_task(9).err()),
];

/// Some under Miri, where each start takes its time; the kernel's paths are the same.
fn services() -> impl Iterator<Item = (&'static str, CallLevels, Service)> {
    SERVICES.into_iter().step_by(if cfg!(miri) { 4 } else { 1 })
}

/// Fewer under Miri, for the same reason.
fn tried() -> impl Iterator<Item = CallLevel> {
    ALL.into_iter().step_by(if cfg!(miri) { 4 } else { 1 })
}

#[test]
fn extended_status_refuses_calls_from_elsewhere() {
    for (name, levels, service) in services() {
        for level in tried() {
            let system = start(CONFIGURATION);
            system.cell.with(|kernel| kernel.enter(level));
            let refused = service(system) == Some(Status::CallLevel);
            assert_eq!(refused, !levels.contain(level), "{name} from {level:?}");
            let hooked = log().iter().any(|line| line == "ErrorHook(2)");
            let silent = matches!(level, ErrorHook | CallLevel::Outside);
            assert_eq!(hooked, refused && !silent, "{name} from {level:?}");
        }
    }
}

/// Standard status leaves that to the program, but for what would break the kernel: nobody ends or
/// blocks a task from outside of it.
#[test]
fn standard_status_refuses_only_what_would_break_the_kernel() {
    let breaking = ["TerminateTask", "ChainTask", "Schedule", "ClearEvent", "WaitEvent"];
    for (name, _, service) in services() {
        for level in tried().filter(|level| *level != CallLevel::Task) {
            let system = start(Configuration { checking: Checking::Standard, ..CONFIGURATION });
            system.cell.with(|kernel| kernel.enter(level));
            let refused = service(system) == Some(Status::CallLevel);
            assert_eq!(refused, breaking.contains(&name), "{name} from {level:?}");
            let switched = log().iter().any(|line| line.starts_with("leave"));
            assert!(!switched, "{name} from {level:?}");
        }
    }
}

/// An ISR of category 1 may have come in the middle of a service, so its calls touch nothing.
#[test]
fn services_called_from_above_the_kernel_are_refused_in_silence() {
    for checking in [Checking::Standard, Checking::Extended] {
        for (name, _, service) in services() {
            let system = start(Configuration { checking, ..CONFIGURATION });
            set_level_to(2);
            assert_eq!(service(system), Some(Status::CallLevel), "{name}");
            assert_eq!((log().len(), level()), (0, 2), "{name}");
        }
    }
}

/// Whoever holds interrupts back calls no service, from wherever.
#[test]
fn services_are_refused_while_the_caller_holds_interrupts_back() {
    let masks: [fn(Tested); 3] = [
        |system| system.disable_all_interrupts(),
        |system| system.suspend_all_interrupts(),
        |system| system.suspend_os_interrupts(),
    ];
    for (name, _, service) in services() {
        for mask in masks.into_iter().take(if cfg!(miri) { 1 } else { 3 }) {
            let system = start(CONFIGURATION);
            mask(system);
            assert_eq!(service(system), Some(Status::DisabledInterrupts), "{name}");
            assert_eq!(log()[1], "ErrorHook(10)", "{name}");
        }
    }
}

/// Goal: another thread that calls a service breaks nothing, with either status.
/// Method: nobody's call of each service, after which nothing was seen of it and the level is as
/// before; then what holds back interrupts, and the end.
#[test]
fn what_a_stranger_calls_is_refused_before_anything_is_touched() {
    for checking in [Checking::Standard, Checking::Extended] {
        let system = start(Configuration { checking, ..CONFIGURATION });
        for (name, _, service) in services() {
            let answer = as_stranger(|| service(system));
            assert_eq!(answer, Some(Status::CallLevel), "{name}");
            assert_eq!((log().len(), level(), system.error_service()), (0, 0, 0), "{name}");
        }
        let voids: [fn(Tested); 7] = [
            |system| system.disable_all_interrupts(),
            |system| system.enable_all_interrupts(),
            |system| system.suspend_all_interrupts(),
            |system| system.resume_all_interrupts(),
            |system| system.suspend_os_interrupts(),
            |system| system.resume_os_interrupts(),
            |system| system.shut_down(1),
        ];
        for void in voids {
            as_stranger(|| void(system));
            assert_eq!((log().len(), level()), (0, 0));
            assert_eq!(system.task_id(), Ok(Some(0)), "services can be called as before");
        }
        // What a task holds back stays so, whoever lets go.
        system.suspend_os_interrupts();
        let held = level();
        as_stranger(|| system.resume_os_interrupts());
        assert_eq!((held, level()), (1, 1));
    }
}
