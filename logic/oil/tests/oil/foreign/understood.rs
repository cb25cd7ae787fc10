//! Tests of the meaning of files of other implementations.

use quietcore_oil::Reading;

use super::{accepted, read_file};
use crate::support::understand;

#[test]
fn a_stack_is_what_this_machine_needs_and_never_less_than_asked_for() {
    let stacks = |name: &str| -> Vec<u32> {
        accepted(name).tasks().iter().map(|task| task.stack_bytes).collect()
    };
    assert_eq!(stacks("erika2-two-stacks.oil"), [16384, 32768, 16384]);
    assert_eq!(stacks("nxtosek-shift-jis.oil"), [20000]);
    assert_eq!(stacks("trampoline-implementation.oil"), [32768]);
}

#[test]
fn interrupts_keep_their_order_and_get_sources_of_their_own() {
    let isrs = |name: &str| -> Vec<(String, u8, u32)> {
        let configuration = accepted(name);
        let isrs = configuration.isrs().iter();
        isrs.map(|isr| (isr.name.clone(), isr.level, isr.source)).collect()
    };
    let row = |name: &str, level, source| (name.to_owned(), level, source);
    // As they are, since they can be: category 1 lies above category 2.
    assert_eq!(isrs("erika3-x86.oil"), [row("second", 1, 0x21), row("first", 4, 0x22)]);
    assert_eq!(isrs("erika3-tricore.oil"), [row("button", 2, 0), row("trap_pre", 1, 1)]);
    assert_eq!(isrs("erika3-extended.oil"), [row("Lptmr", 1, 0), row("Port", 2, 1)]);
    let [one, other] = isrs("ciaa-blinking.oil").try_into().unwrap();
    assert_eq!((one.1, other.1), (1, 1), "what is equally urgent stays so");
}

/// Goal: a program with two interrupts at one vector has one source for both.
#[test]
fn the_same_vector_is_the_same_source() {
    let text = "CPU c { OS k; TASK t { PRIORITY = 1; };\n\
                ISR a { CATEGORY = 2; PRIORITY = 1; SOURCE = 0; };\n\
                ISR b { CATEGORY = 2; PRIORITY = 1; ENTRY = \"UART\"; };\n\
                ISR c2 { CATEGORY = 2; PRIORITY = 2; ENTRY = \"UART\"; }; };";
    let configuration = understand(text).unwrap();
    let sources: Vec<_> = configuration.isrs().iter().map(|isr| isr.source).collect();
    assert_eq!(sources, [0, 1, 1]);
}

#[test]
fn a_hardware_counter_without_a_time_has_the_cycle_of_the_partition() {
    let tick = |name: &str, tick_ns| {
        let reading = Reading { strict: false, tick_ns };
        read_file(name, reading).unwrap().hardware_tick_ns()
    };
    assert_eq!(tick("erika3-counter-only.oil", Some(250_000)), Some(250_000));
    assert_eq!(tick("erika3-counter-only.oil", None), Some(1_000_000));
    // What a file says itself is not changed: the site file is held against it later.
    assert_eq!(tick("erika3-tricore.oil", Some(250_000)), Some(10_000_000));
    // The counter that Trampoline defines itself, and one that its timer drives.
    assert_eq!(tick("trampoline-blink.oil", Some(2_000_000)), Some(2_000_000));
    assert_eq!(tick("trampoline-counters.oil", Some(2_000_000)), Some(2_000_000));
    // ERIKA 2 and nxtOSEK let the program drive it.
    assert_eq!(tick("erika2-blink.oil", Some(2_000_000)), None);
}

/// Goal: a time that no tick may have is refused, and not read as if none were given.
#[test]
fn seconds_that_no_tick_may_have_are_refused() {
    let text = |seconds: &str| {
        format!(
            "CPU c {{ OS k; TASK t {{ PRIORITY = 1; }};\nCOUNTER n {{ TYPE = HARDWARE; \
             MAXALLOWEDVALUE = 9; TICKSPERBASE = 1; MINCYCLE = 1;\nSECONDSPERTICK = {seconds}; \
             }}; }};"
        )
    };
    let tick = |seconds| understand(&text(seconds)).map(|it| it.hardware_tick_ns());
    assert_eq!(tick("0.25").unwrap(), Some(250_000_000));
    assert_eq!(tick("0.0").unwrap(), Some(1_000_000));
    for seconds in ["100.0", "1e-9"] {
        let said = tick(seconds).unwrap_err().to_string();
        assert!(said.contains(&format!("a.oil:3:18: `{seconds}`: ")), "{said}");
    }
}

#[test]
fn schedule_tables_of_others_mean_the_same() {
    let configuration = accepted("trampoline-schedule.oil");
    let [once, asked] = configuration.schedule_tables() else { panic!("there are two") };
    assert_eq!((once.duration, once.repeating, once.autostart, once.start), (10, false, 1, 3));
    let offsets: Vec<_> = once.points.iter().map(|point| point.offset).collect();
    assert_eq!(offsets, [4, 6]);
    assert_eq!((asked.duration, asked.repeating, asked.autostart), (20, true, 0));
    let configuration = accepted("erika2-protection.oil");
    let [plan] = configuration.schedule_tables() else { panic!("there is one") };
    assert_eq!((plan.duration, plan.repeating, plan.start, plan.points.len()), (100, true, 5, 2));
}

/// Goal: text that two tools write differently is one application.
#[test]
fn parts_of_objects_add_up_and_contradictions_are_refused() {
    let poll = accepted("erika2-split-objects.oil");
    assert_eq!(poll.tasks().len(), 1);
    let twice = "CPU c { OS k; TASK t { PRIORITY = 1; }; TASK t { PRIORITY = 2; }; };";
    let said = understand(twice).unwrap_err().to_string();
    assert!(said.contains("the name of a task in line 1 already"), "{said}");
    let status = "CPU c { OS k { STATUS = STANDARD; }; OS k { STATUS = EXTENDED; };\n\
                  TASK t { PRIORITY = 1; }; };";
    let said = understand(status).unwrap_err().to_string();
    assert!(said.contains("`STATUS`: given twice"), "{said}");
}
