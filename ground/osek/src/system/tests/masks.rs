//! Interrupts that the program holds back: what passes, and what is as before afterwards.

use super::machine::{
    CATEGORY_1_LEVEL, ERROR_HOOKS, Tested, interrupt_after, level, log, raise, set_level_to, start,
    take_interrupt,
};
use crate::configuration::{Configuration, Isr, Resource, Scale, Task};
use crate::kernel::tests::{PLAIN, at_start, basic};
use crate::port::ALL_HELD;
use crate::status::Status;

const TASKS: &[Task] = &[at_start(basic(1))];
const ISRS: &[Isr] = &[
    Isr { entry: super::machine::isr_0, source: 0, level: 3, category: 2 },
    Isr { entry: super::machine::isr_1, source: 1, level: 7, category: 2 },
];
const RESOURCES: &[Resource] = &[Resource { scale: Scale::Interrupt, ceiling: 3 }];
const KERNEL: u8 = 7;

const CONFIGURATION: Configuration<'static> = Configuration {
    tasks: TASKS,
    isrs: ISRS,
    resources: RESOURCES,
    accounting: false,
    hooks: ERROR_HOOKS,
    ..PLAIN
};

type Call = fn(Tested);
const DISABLE: Call = |system| system.disable_all_interrupts();
const ENABLE: Call = |system| system.enable_all_interrupts();
const SUSPEND: Call = |system| system.suspend_all_interrupts();
const RESUME: Call = |system| system.resume_all_interrupts();
const SUSPEND_OS: Call = |system| system.suspend_os_interrupts();
const RESUME_OS: Call = |system| system.resume_os_interrupts();

/// Calls these, and tells the level after each.
fn levels<const N: usize>(system: Tested, calls: [Call; N]) -> [u8; N] {
    calls.map(|call| {
        call(system);
        level()
    })
}

#[test]
fn each_pair_holds_back_what_it_should() {
    let system = start(CONFIGURATION);
    assert_eq!(levels(system, [DISABLE, ENABLE]), [ALL_HELD, 0]);
    assert_eq!(levels(system, [SUSPEND, RESUME]), [ALL_HELD, 0]);
    assert_eq!(levels(system, [SUSPEND_OS, RESUME_OS]), [KERNEL, 0]);
}

#[test]
fn suspensions_nest_and_disabling_does_not() {
    let system = start(CONFIGURATION);
    assert_eq!(levels(system, [SUSPEND, SUSPEND, RESUME, RESUME]), [63, 63, 63, 0]);
    assert_eq!(levels(system, [SUSPEND_OS, SUSPEND_OS, RESUME_OS, RESUME_OS]), [7, 7, 7, 0]);
    assert_eq!(levels(system, [DISABLE, DISABLE, ENABLE, ENABLE]), [63, 63, 0, 0]);
    let mixed = [SUSPEND_OS, SUSPEND, DISABLE, ENABLE, RESUME, RESUME_OS];
    assert_eq!(levels(system, mixed), [7, 63, 63, 63, 7, 0]);
    let mixed = [SUSPEND, SUSPEND_OS, RESUME_OS, RESUME];
    assert_eq!(levels(system, mixed), [63, 63, 63, 0]);
}

/// An end without a beginning is an error of the program, and harmless.
#[test]
fn an_end_without_a_beginning_does_nothing() {
    let system = start(CONFIGURATION);
    assert_eq!(levels(system, [ENABLE, RESUME, RESUME_OS]), [0, 0, 0]);
    assert_eq!(levels(system, [SUSPEND_OS, RESUME, ENABLE, RESUME_OS]), [7, 7, 7, 0]);
    assert_eq!(system.schedule(), Ok(()), "nothing is held back");
}

/// Pairs that cross each other hold back what each asks for, and end where they began.
#[test]
fn crossed_pairs_end_at_the_level_before_the_first() {
    let system = start(CONFIGURATION);
    assert_eq!(levels(system, [SUSPEND, SUSPEND_OS, RESUME, RESUME_OS]), [63, 63, 7, 0]);
    assert_eq!(levels(system, [SUSPEND_OS, SUSPEND, RESUME_OS, RESUME]), [7, 63, 63, 0]);
    assert_eq!(levels(system, [DISABLE, SUSPEND, ENABLE, RESUME]), [63, 63, 63, 0]);
}

#[test]
fn the_level_of_a_resource_is_the_one_to_go_back_to() {
    let system = start(CONFIGURATION);
    system.get_resource(0).unwrap();
    assert_eq!(level(), 3);
    assert_eq!(levels(system, [SUSPEND_OS, RESUME_OS, DISABLE, ENABLE]), [7, 3, 63, 3]);
    system.release_resource(0).unwrap();
    assert_eq!(level(), 0);
}

/// An ISR of category 1 passes the kernel's level, and uses the same services within a pair of the
/// task that it interrupts.
#[test]
fn an_isr_of_category_1_stays_at_its_level_and_leaves_the_task_at_its_own() {
    let system = start(CONFIGURATION);
    for outer in [[SUSPEND_OS, RESUME_OS], [|_| {}, |_| {}]] {
        outer[0](system);
        let before = level();
        set_level_to(CATEGORY_1_LEVEL);
        assert_eq!(levels(system, [SUSPEND, RESUME]), [63, 40]);
        assert_eq!(levels(system, [DISABLE, ENABLE]), [63, 40]);
        assert_eq!(levels(system, [SUSPEND_OS, RESUME_OS]), [40, 40]);
        set_level_to(before);
        outer[1](system);
        assert_eq!(level(), 0);
    }
}

#[test]
fn what_was_held_back_comes_when_the_last_pair_ends() {
    let system = start(CONFIGURATION);
    levels(system, [SUSPEND, DISABLE]);
    raise(0);
    raise(1);
    assert_eq!(levels(system, [ENABLE]), [63]);
    assert_eq!(log(), [""; 0]);
    assert_eq!(levels(system, [RESUME]), [0]);
    assert_eq!(log(), ["Isr1", "Isr0"], "the most urgent first");
}

#[test]
fn three_hundred_levels_end_with_the_last_one() {
    let system = start(CONFIGURATION);
    (0..300).for_each(|_| SUSPEND_OS(system));
    (1..300).for_each(|_| RESUME_OS(system));
    assert_eq!(level(), KERNEL);
    assert_eq!(system.schedule(), Err(Status::DisabledInterrupts));
    RESUME_OS(system);
    assert_eq!(level(), 0);
}

/// Wherever an ISR of category 1 comes within these services and uses them itself, the task's pair
/// holds what it should and ends where it began.
#[test]
fn an_isr_of_category_1_may_come_within_the_services() {
    let pairs = [(SUSPEND_OS, RESUME_OS), (SUSPEND, RESUME), (DISABLE, ENABLE)];
    let bodies: [Call; 3] = [
        |system| assert_eq!(levels(system, [SUSPEND_OS, RESUME_OS]), [40, 40]),
        |system| assert_eq!(levels(system, [SUSPEND, RESUME]), [63, 40]),
        |system| assert_eq!(levels(system, [DISABLE, ENABLE]), [63, 40]),
    ];
    for (index, (hold, let_go)) in pairs.into_iter().enumerate() {
        let held = if index == 0 { KERNEL } else { ALL_HELD };
        for body in bodies {
            let mut uses = 0;
            loop {
                let system = start(CONFIGURATION);
                interrupt_after(uses, body);
                assert_eq!(levels(system, [hold, let_go]), [held, 0], "after {uses} uses");
                if take_interrupt() {
                    break;
                }
                uses += 1;
            }
            assert!(uses >= 2, "it has come in some places");
        }
    }
}
