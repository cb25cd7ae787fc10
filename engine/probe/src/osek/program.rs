//! The program that is measured: tables, tasks and ISRs, as a Rust program of the kernel has them.
//!
//! | task | priority | what it does |
//! |------|:--------:|--------------|
//! | MainTask | 1 | carries out the series, one after the other; starts by itself |
//! | Task1 | 2 | nothing: the published program has it, and no routine uses it |
//! | Task3 | 3 | the task that is activated, or that is next |
//! | Task4 | 4 | activates Task3, which is lower |
//!
//! Tasks that are beside them lie below, are ready from the start, and never run: MainTask goes on
//! until the end. Each routine with an interrupt has an ISR of its own.

use quietcore_osek::configuration::{Checking, Class, Configuration, Isr, Kind, Task};

use super::machine::{Bring, SYSTEM};
use super::measurement::{SHARED, carry_out};
use super::reading::Reading;
use super::{Routine, Variant};

/// The first of the tasks that run, behind those that are only ready.
pub(super) const TASK3: u8 = 2;
/// The task that activates a lower one.
pub(super) const TASK4: u8 = 3;

/// Bytes of a task's stack; a signal's frame lies on it, too.
const STACK_BYTES: u32 = 32 << 10;
/// Bytes of MainTask's, which makes histograms between the series.
const MAIN_STACK_BYTES: u32 = 256 << 10;

/// The most tasks beside the four.
pub const OTHERS_MAX: u8 = 251;

/// The sources of the ISRs, one for each routine that has an interrupt.
mod source {
    pub(super) const ISR2_ENTRY: u32 = 0;
    pub(super) const ISR1_ENTRY: u32 = 1;
    pub(super) const ISR1_EXIT: u32 = 2;
    pub(super) const TASK_ENTRY: u32 = 3;
    pub(super) const TASK_EXIT: u32 = 4;
}

/// The level of ISRs of category 2, and that of category 1, which lies above.
const LEVELS: [u8; 2] = [2, 3];

/// The tables of a variant of the program. They live as long as the process.
pub(super) fn tables<R: Reading>(variant: Variant) -> &'static Configuration<'static> {
    let others = variant.others.min(OTHERS_MAX);
    let mut tasks = vec![
        task(main_task::<R>, others + 1, MAIN_STACK_BYTES, true),
        task(task1, others + 2, STACK_BYTES, false),
        task(task3::<R>, others + 3, STACK_BYTES, false),
        task(task4::<R>, others + 4, STACK_BYTES, false),
    ];
    for index in 0..others {
        tasks.push(task(task1, index + 1, STACK_BYTES, true));
    }
    let isrs = vec![
        isr(isr2_entry::<R>, source::ISR2_ENTRY, 2),
        isr(isr1_entry::<R>, source::ISR1_ENTRY, 1),
        isr(isr1_exit::<R>, source::ISR1_EXIT, 1),
        isr(task_entry_isr2::<R>, source::TASK_ENTRY, 2),
        isr(task_exit_isr2, source::TASK_EXIT, 2),
    ];
    // Two tasks share a priority where there are 255: there are no more priorities than 254.
    let many = tasks.iter().any(|task| task.priority == 255);
    for task in tasks.iter_mut().filter(|_| many) {
        task.priority = (task.priority - 1).max(1);
        task.running_level = task.priority;
    }
    Box::leak(Box::new(Configuration {
        class: if variant.others > 0 { Class::Ecc2 } else { Class::Ecc1 },
        checking: if variant.extended { Checking::Extended } else { Checking::Standard },
        accounting: variant.accounting,
        tasks: tasks.leak(),
        isrs: isrs.leak(),
        ..Configuration::EMPTY
    }))
}

/// A basic task that is preemptable and can be activated once.
const fn task(entry: extern "C" fn(), priority: u8, stack_bytes: u32, autostart: bool) -> Task {
    Task {
        entry,
        events: 0,
        budget_ns: 0,
        inter_arrival_ns: 0,
        autostart: autostart as u32,
        stack_bytes,
        priority,
        running_level: priority,
        activations: 1,
        kind: Kind::Basic,
    }
}

const fn isr(entry: extern "C" fn(), source: u32, category: u8) -> Isr {
    Isr { entry, source, level: LEVELS[(2 - category) as usize], category }
}

extern "C" fn main_task<R: Reading>() {
    carry_out::<R>();
    SYSTEM.shut_down(0);
}

/// Task1, and those that are only ready.
extern "C" fn task1() {
    SHARED.note(SYSTEM.terminate_task());
}

extern "C" fn task3<R: Reading>() {
    let now = R::end();
    match SHARED.routine() {
        Routine::Act | Routine::Istentry | Routine::Terml => SHARED.stop_at(now),
        Routine::Istexit => SHARED.start_at(R::begin()),
        _ => {}
    }
    SHARED.note(SYSTEM.terminate_task());
}

extern "C" fn task4<R: Reading>() {
    if SHARED.routine() == Routine::Actl {
        SHARED.start_at(R::begin());
        let result = SYSTEM.activate_task(TASK3);
        SHARED.stop_at(R::end());
        SHARED.note(result);
    } else {
        SHARED.note(SYSTEM.activate_task(TASK3));
        SHARED.start_at(R::begin());
    }
    SHARED.note(SYSTEM.terminate_task());
}

extern "C" fn isr1_entry<R: Reading>() {
    SHARED.stop_at(R::end());
}

extern "C" fn isr2_entry<R: Reading>() {
    SHARED.stop_at(R::end());
}

extern "C" fn isr1_exit<R: Reading>() {
    SHARED.start_at(R::begin());
}

extern "C" fn task_entry_isr2<R: Reading>() {
    SHARED.note(SYSTEM.activate_task(TASK3));
    SHARED.start_at(R::begin());
}

extern "C" fn task_exit_isr2() {
    SHARED.note(SYSTEM.activate_task(TASK3));
}

/// Carries out a routine once, and leaves its two readings behind.
#[inline]
pub(super) fn once<R: Reading, T: Bring>(routine: Routine) {
    match routine {
        Routine::Empty => {
            SHARED.start_at(R::begin());
            SHARED.stop_at(R::end());
        }
        Routine::Act => {
            SHARED.start_at(R::begin());
            let result = SYSTEM.activate_task(TASK3);
            SHARED.note(result);
        }
        Routine::Actl | Routine::Terml => SHARED.note(SYSTEM.activate_task(TASK4)),
        Routine::Intdisable => {
            SHARED.start_at(R::begin());
            SYSTEM.disable_all_interrupts();
            SHARED.stop_at(R::end());
            SYSTEM.enable_all_interrupts();
        }
        Routine::Intenable => {
            SYSTEM.disable_all_interrupts();
            SHARED.start_at(R::begin());
            SYSTEM.enable_all_interrupts();
            SHARED.stop_at(R::end());
        }
        Routine::Isr2entry => {
            SHARED.start_at(R::begin());
            T::bring(source::ISR2_ENTRY);
        }
        Routine::Isrentry => {
            SHARED.start_at(R::begin());
            T::bring(source::ISR1_ENTRY);
        }
        Routine::Isrexit => {
            T::bring(source::ISR1_EXIT);
            SHARED.stop_at(R::end());
        }
        Routine::Istentry => T::bring(source::TASK_ENTRY),
        Routine::Istexit => {
            T::bring(source::TASK_EXIT);
            SHARED.stop_at(R::end());
        }
    }
}
