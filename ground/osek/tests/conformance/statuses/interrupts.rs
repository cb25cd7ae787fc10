//! Services that hold interrupts back, and those of execution control. None of them answers a
//! status; what is looked at is what they do.

use super::tasks::is;
use super::*;
use crate::stage::{CATEGORY_1_RUNS, CATEGORY_2_RUNS, MODE, will_end};
use crate::world::{CATEGORY_1_SOURCE, CATEGORY_2_SOURCE};

/// From where all interrupts may be suspended.
const SUSPENDING: &[CallLevel] = &[
    CallLevel::Task,
    CallLevel::Isr2,
    CallLevel::ErrorHook,
    CallLevel::PreTaskHook,
    CallLevel::PostTaskHook,
    CallLevel::AlarmCallback,
];

/// From where the application mode may be asked for.
const ASKING: &[CallLevel] = &[
    CallLevel::Task,
    CallLevel::Isr2,
    CallLevel::ErrorHook,
    CallLevel::PreTaskHook,
    CallLevel::PostTaskHook,
    CallLevel::StartupHook,
    CallLevel::ShutdownHook,
];

/// From where the kernel may be shut down.
const ENDING: &[CallLevel] =
    &[CallLevel::Task, CallLevel::Isr2, CallLevel::ErrorHook, CallLevel::StartupHook];

/// The status that a case shuts down with.
pub(crate) const END: u8 = 7;

pub(super) fn lines() -> Vec<Line> {
    use Service as S;
    let mut lines = vec![
        line(S::GetActiveApplicationMode, "it_is_the_one_of_the_start", None, ASKING, || {
            is(SYSTEM.active_application_mode() == MODE)
        }),
        line(
            S::ShutdownOs,
            "the_hook_gets_the_status_and_nothing_runs_after",
            None,
            ENDING,
            || {
                will_end();
                SYSTEM.shut_down(END);
                Ok(())
            },
        ),
        line(S::SuspendAllInterrupts, "they_nest", None, SUSPENDING, || {
            SYSTEM.suspend_all_interrupts();
            SYSTEM.suspend_all_interrupts();
            SYSTEM.resume_all_interrupts();
            raise();
            let held = ran() == (0, 0);
            SYSTEM.resume_all_interrupts();
            is(held && ran().0 == 1)
        }),
        line(S::SuspendOsInterrupts, "they_nest", None, TASK_ISR, || {
            SYSTEM.suspend_os_interrupts();
            SYSTEM.suspend_os_interrupts();
            SYSTEM.resume_os_interrupts();
            raise();
            let held = ran() == (1, 0);
            SYSTEM.resume_os_interrupts();
            is(held && ran() == (1, 1))
        }),
        line(S::ResumeAllInterrupts, "nothing_was_suspended", None, SUSPENDING, || {
            SYSTEM.resume_all_interrupts();
            raise();
            is(ran().0 == 1)
        }),
    ];
    for service in [S::DisableAllInterrupts, S::EnableAllInterrupts] {
        lines.push(line(service, "category_1_and_2_are_held_back", None, TASK_ISR, || {
            SYSTEM.disable_all_interrupts();
            raise();
            let held = ran() == (0, 0);
            SYSTEM.enable_all_interrupts();
            is(held && ran() == (1, 1))
        }));
    }
    for service in [S::SuspendAllInterrupts, S::ResumeAllInterrupts] {
        lines.push(line(service, "category_1_and_2_are_held_back", None, TASK_ISR, || {
            SYSTEM.suspend_all_interrupts();
            raise();
            let held = ran() == (0, 0);
            SYSTEM.resume_all_interrupts();
            is(held && ran() == (1, 1))
        }));
    }
    for service in [S::SuspendOsInterrupts, S::ResumeOsInterrupts] {
        lines.push(line(service, "category_2_is_held_back", None, TASK_ISR, || {
            SYSTEM.suspend_os_interrupts();
            raise();
            let held = ran() == (1, 0);
            SYSTEM.resume_os_interrupts();
            is(held && ran() == (1, 1))
        }));
    }
    lines
}

/// Raises an ISR of each category.
fn raise() {
    SYSTEM.port().trigger(CATEGORY_2_SOURCE);
    SYSTEM.port().trigger(CATEGORY_1_SOURCE);
}

/// Counts the runs of the ISRs of both categories.
fn ran() -> (u32, u32) {
    (CATEGORY_1_RUNS.load(Relaxed), CATEGORY_2_RUNS.load(Relaxed))
}
