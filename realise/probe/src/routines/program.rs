//! The program that is measured: tables, tasks and ISRs, as a Rust program of the kernel has them.
//!
//! | task | priority | work |
//! |------|:--------:|------|
//! | MainTask | 1 | carries out the series, one after the other; starts by itself |
//! | Task1 | 2 | nothing: the published program has it, and no routine uses it |
//! | Task3 | 3 | the task that is activated, or that is next |
//! | Task4 | 4 | activates Task3, which is lower |
//!
//! Other tasks lie below them, are ready from the start, and never run, because MainTask goes on
//! until the end. Each routine with an interrupt has an ISR of its own.

use quietcore_osek::configuration::{Isr, Kind, Task};
use quietcore_units::Routine;

use super::{Bring, Kernel, MARKS, Reading};

/// Number of Task3, which lies above MainTask and below Task4.
const TASK3: u8 = 2;
/// Number of Task4, which activates a lower task.
const TASK4: u8 = 3;

/// Number of interrupt sources: one for each routine that has an interrupt, from 0 on.
pub const SOURCES: u32 = 5;

/// The sources of the ISRs.
mod source {
    pub(super) const ISR2_ENTRY: u32 = 0;
    pub(super) const ISR1_ENTRY: u32 = 1;
    pub(super) const ISR1_EXIT: u32 = 2;
    pub(super) const TASK_ENTRY: u32 = 3;
    pub(super) const TASK_EXIT: u32 = 4;
}

/// Returns the source of a routine's interrupt; `None` where it has none.
pub const fn source_of(routine: Routine) -> Option<u32> {
    match routine {
        Routine::Isr2entry => Some(source::ISR2_ENTRY),
        Routine::Isrentry => Some(source::ISR1_ENTRY),
        Routine::Isrexit => Some(source::ISR1_EXIT),
        Routine::Istentry => Some(source::TASK_ENTRY),
        Routine::Istexit => Some(source::TASK_EXIT),
        _ => None,
    }
}

/// The levels of ISRs of category 2 and of category 1, which lies above.
const LEVELS: [u8; 2] = [2, 3];

/// Sizes of the tasks' stacks, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stacks {
    /// Stack of MainTask, whose body the caller gives.
    pub main: u32,
    /// Stack of each other task.
    pub other: u32,
}

/// Returns the four tasks, with room for `others` below them; `main` is MainTask's body, which
/// shuts down.
pub const fn tasks<K: Kernel, R: Reading>(
    main: extern "C" fn(),
    others: u8,
    stacks: Stacks,
) -> [Task; 4] {
    [
        task(main, others + 1, stacks.main, true),
        task(task1::<K>, others + 2, stacks.other, false),
        task(task3::<K, R>, others + 3, stacks.other, false),
        task(task4::<K, R>, others + 4, stacks.other, false),
    ]
}

/// Returns a task that is ready and never runs.
pub const fn other<K: Kernel>(priority: u8, stacks: Stacks) -> Task {
    task(task1::<K>, priority, stacks.other, true)
}

/// Returns the ISRs, one for each source.
pub const fn isrs<K: Kernel, R: Reading>() -> [Isr; SOURCES as usize] {
    [
        isr(isr2_entry::<R>, source::ISR2_ENTRY, 2),
        isr(isr1_entry::<R>, source::ISR1_ENTRY, 1),
        isr(isr1_exit::<R>, source::ISR1_EXIT, 1),
        isr(task_entry_isr2::<K, R>, source::TASK_ENTRY, 2),
        isr(task_exit_isr2::<K>, source::TASK_EXIT, 2),
    ]
}

/// Returns a basic task that is preemptable and can be activated once.
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

/// Ends at once: the body of Task1, and of the tasks that are only ready.
extern "C" fn task1<K: Kernel>() {
    MARKS.note(K::system().terminate_task());
}

extern "C" fn task3<K: Kernel, R: Reading>() {
    let now = R::end();
    match MARKS.routine() {
        Routine::Act | Routine::Istentry | Routine::Terml => MARKS.stop_at(now),
        Routine::Istexit => MARKS.start_at(R::begin()),
        _ => {}
    }
    MARKS.note(K::system().terminate_task());
}

extern "C" fn task4<K: Kernel, R: Reading>() {
    if MARKS.routine() == Routine::Actl {
        MARKS.start_at(R::begin());
        let result = K::system().activate_task(TASK3);
        MARKS.stop_at(R::end());
        MARKS.note(result);
    } else {
        MARKS.note(K::system().activate_task(TASK3));
        MARKS.start_at(R::begin());
    }
    MARKS.note(K::system().terminate_task());
}

extern "C" fn isr1_entry<R: Reading>() {
    MARKS.stop_at(R::end());
}

extern "C" fn isr2_entry<R: Reading>() {
    MARKS.stop_at(R::end());
}

extern "C" fn isr1_exit<R: Reading>() {
    MARKS.start_at(R::begin());
}

extern "C" fn task_entry_isr2<K: Kernel, R: Reading>() {
    MARKS.note(K::system().activate_task(TASK3));
    MARKS.start_at(R::begin());
}

extern "C" fn task_exit_isr2<K: Kernel>() {
    MARKS.note(K::system().activate_task(TASK3));
}

/// Carries out a routine once, and leaves its two readings in [`MARKS`].
#[inline]
pub(super) fn once<K: Kernel, R: Reading, T: Bring>(routine: Routine) {
    match routine {
        Routine::Empty => {
            MARKS.start_at(R::begin());
            MARKS.stop_at(R::end());
        }
        Routine::Act => {
            MARKS.start_at(R::begin());
            let result = K::system().activate_task(TASK3);
            MARKS.note(result);
        }
        Routine::Actl | Routine::Terml => MARKS.note(K::system().activate_task(TASK4)),
        Routine::Intdisable => {
            MARKS.start_at(R::begin());
            K::system().disable_all_interrupts();
            MARKS.stop_at(R::end());
            K::system().enable_all_interrupts();
        }
        Routine::Intenable => {
            K::system().disable_all_interrupts();
            MARKS.start_at(R::begin());
            K::system().enable_all_interrupts();
            MARKS.stop_at(R::end());
        }
        Routine::Isr2entry => {
            MARKS.start_at(R::begin());
            T::bring(source::ISR2_ENTRY);
        }
        Routine::Isrentry => {
            MARKS.start_at(R::begin());
            T::bring(source::ISR1_ENTRY);
        }
        Routine::Isrexit => {
            T::bring(source::ISR1_EXIT);
            MARKS.stop_at(R::end());
        }
        Routine::Istentry => T::bring(source::TASK_ENTRY),
        Routine::Istexit => {
            T::bring(source::TASK_EXIT);
            MARKS.stop_at(R::end());
        }
    }
}
