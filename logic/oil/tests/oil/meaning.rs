//! Tests of the meaning of objects together.

use quietcore_oil::{Action, Configuration};
use quietcore_osek::configuration::{Class, Kind, Scale};

use crate::support::{accept, accept_objects};

fn levels(configuration: &Configuration) -> Vec<(u8, u8)> {
    configuration.tasks().iter().map(|task| (task.priority, task.running_level)).collect()
}

fn ceilings(configuration: &Configuration) -> Vec<(Scale, u8)> {
    configuration.resources().iter().map(|it| (it.scale, it.ceiling)).collect()
}

#[test]
fn priorities_become_levels_in_their_order() {
    let configuration = accept_objects(
        "TASK a { PRIORITY = 4294967295; }; TASK b { PRIORITY = 0; }; TASK d { PRIORITY = 77; };\n\
         TASK e { PRIORITY = 77; };",
    );
    assert_eq!(levels(&configuration), [(3, 3), (1, 1), (2, 2), (2, 2)]);
    assert_eq!(configuration.class(), Class::Bcc2);
}

#[test]
fn two_hundred_and_fifty_four_priorities_are_the_most() {
    let tasks = |count: usize| -> String {
        (0..count).map(|task| format!("TASK t{task} {{ PRIORITY = {}; }};\n", task * 10)).collect()
    };
    let configuration = accept_objects(&tasks(254));
    assert_eq!(levels(&configuration)[253], (254, 254));
    let problems = crate::support::problems(&crate::support::whole(&tasks(255)));
    let last = "a.oil:256:24: `2540`: the tasks have 255 different priorities; 254 are the most";
    assert_eq!(problems, last);
}

#[test]
fn a_task_runs_at_its_priority_its_internal_ceiling_or_above_all() {
    let configuration = accept_objects(
        "TASK a { PRIORITY = 1; RESOURCE = r; }; TASK b { PRIORITY = 5; RESOURCE = r; };\n\
         TASK d { PRIORITY = 9; }; TASK e { PRIORITY = 7; SCHEDULE = NON; };\n\
         RESOURCE r { RESOURCEPROPERTY = INTERNAL; };",
    );
    assert_eq!(levels(&configuration), [(1, 2), (2, 2), (4, 4), (3, 255)]);
    assert_eq!(configuration.internal_resources()[0].ceiling, 2);
    // Only the kernel's own resource can be got.
    assert_eq!(ceilings(&configuration), [(Scale::Task, 255)]);
}

#[test]
fn a_ceiling_is_the_highest_of_those_that_use_the_resource() {
    let configuration = accept_objects(
        "TASK a { PRIORITY = 1; RESOURCE = r; RESOURCE = s; };\n\
         TASK b { PRIORITY = 2; RESOURCE = r; RESOURCE = RES_SCHEDULER; };\n\
         TASK d { PRIORITY = 3; };\n\
         ISR i { CATEGORY = 2; PRIORITY = 4; SOURCE = 1; RESOURCE = s; };\n\
         ISR j { CATEGORY = 2; PRIORITY = 7; SOURCE = 2; RESOURCE = s; };\n\
         RESOURCE r; RESOURCE s;",
    );
    let expected = [(Scale::Task, 2), (Scale::Interrupt, 7), (Scale::Task, 255)];
    assert_eq!(ceilings(&configuration), expected);
    assert_eq!(configuration.tasks()[1].resources, [0, 2]);
    assert_eq!(configuration.isrs()[0].resources, [1]);
}

#[test]
fn linked_resources_share_one_ceiling_over_all_their_names() {
    let link = |name: &str, to: &str| {
        format!("RESOURCE {name} {{ RESOURCEPROPERTY = LINKED {{ LINKEDRESOURCE = {to}; }}; }};\n")
    };
    let tasks = "TASK a { PRIORITY = 1; RESOURCE = third; };\n\
                 TASK b { PRIORITY = 2; RESOURCE = second; };\n\
                 TASK d { PRIORITY = 3; RESOURCE = alone; };\n";
    // `first` is used under its other names only.
    let objects = format!(
        "{tasks}{}RESOURCE first;\n{}RESOURCE alone;",
        link("third", "second"),
        link("second", "first")
    );
    let configuration = accept_objects(&objects);
    let expected = [
        (Scale::Task, 2),
        (Scale::Task, 2),
        (Scale::Task, 2),
        (Scale::Task, 3),
        (Scale::Task, 255),
    ];
    assert_eq!(ceilings(&configuration), expected);
    let links: Vec<_> = configuration.resources().iter().map(|it| it.linked_to).collect();
    assert_eq!(links, [Some(2), None, Some(1), None, None]);
}

#[test]
fn the_scheduler_is_a_resource_unless_it_is_switched_off() {
    let text = "OIL_VERSION = \"2.5\";\n\
                CPU c { OS k { USERESSCHEDULER = FALSE; }; TASK t { PRIORITY = 1; }; };";
    assert_eq!(accept(text).resources(), []);
    let with = accept(&text.replace("FALSE", "TRUE"));
    assert_eq!(with.resources()[0].name, "RES_SCHEDULER");
}

#[test]
fn masks_differ_where_a_task_has_both_events() {
    let configuration = accept_objects(
        "TASK a { PRIORITY = 1; EVENT = e; EVENT = f; EVENT = given; };\n\
         TASK b { PRIORITY = 2; EVENT = f; EVENT = g; };\n\
         EVENT e; EVENT f; EVENT g { MASK = AUTO; }; EVENT given { MASK = 0x3; };",
    );
    let masks: Vec<_> = configuration.events().iter().map(|event| event.mask).collect();
    // `g` has no task with `e` in common.
    assert_eq!(masks, [0x4, 0x8, 0x1, 0x3]);
    assert_eq!(configuration.tasks()[0].event_mask, 0xF);
    assert_eq!(configuration.tasks()[0].kind, Kind::Extended);
}

#[test]
fn sixty_four_events_fit_into_a_task() {
    let names: Vec<_> = (0..64).map(|event| format!("e{event}")).collect();
    let uses: String = names.iter().map(|name| format!("EVENT = {name};")).collect();
    let events: String = names.iter().map(|name| format!("EVENT {name};")).collect();
    let configuration = accept_objects(&format!("TASK t {{ PRIORITY = 1; {uses} }}; {events}"));
    assert_eq!(configuration.tasks()[0].event_mask, u64::MAX);
}

#[test]
fn the_class_is_the_least_that_has_all_that_is_used() {
    let class = |objects: &str| accept_objects(objects).class();
    assert_eq!(class("TASK t { PRIORITY = 1; };"), Class::Bcc1);
    assert_eq!(class("TASK t { PRIORITY = 1; ACTIVATION = 2; };"), Class::Bcc2);
    assert_eq!(class("TASK t { PRIORITY = 1; EVENT = e; }; EVENT e;"), Class::Ecc1);
    let both = "TASK t { PRIORITY = 1; EVENT = e; }; TASK u { PRIORITY = 1; }; EVENT e;";
    assert_eq!(class(both), Class::Ecc2);
    let given =
        "OIL_VERSION = \"2.5\"; CPU c { OS k { CLASS = ECC2; }; TASK t { PRIORITY = 1; }; };";
    assert_eq!(accept(given).class(), Class::Ecc2);
}

#[test]
fn the_default_mode_is_the_first_unless_one_has_its_name() {
    let modes = |objects: &str| {
        let configuration = accept_objects(objects);
        let names: Vec<_> = configuration.modes().iter().map(|mode| mode.name.clone()).collect();
        (names.join(" "), configuration.tasks()[0].autostart)
    };
    let task = "TASK t { PRIORITY = 1; AUTOSTART = TRUE";
    assert_eq!(modes(&format!("{task}; }};")), ("OSDEFAULTAPPMODE".to_owned(), 1));
    assert_eq!(modes(&format!("APPMODE m; {task}; }};")), ("m".to_owned(), 1));
    let both =
        format!("APPMODE m; APPMODE n; {task} {{ APPMODE = n; APPMODE = OSDEFAULTAPPMODE; }}; }};");
    assert_eq!(modes(&both), ("m n".to_owned(), 3));
    let named = format!("APPMODE m; APPMODE OSDEFAULTAPPMODE; {task} {{ APPMODE = m; }}; }};");
    assert_eq!(modes(&named), ("OSDEFAULTAPPMODE m".to_owned(), 2));
}

#[test]
fn counters_stand_behind_those_that_increment_them() {
    let configuration = accept_objects(
        "TASK t { PRIORITY = 1; };\n\
         COUNTER third { MAXALLOWEDVALUE = 9; }; COUNTER other { MAXALLOWEDVALUE = 9; };\n\
         COUNTER second { MAXALLOWEDVALUE = 9; };\n\
         COUNTER first { MAXALLOWEDVALUE = 9; NANOSECONDSPERTICK = 1000000; };\n\
         ALARM a { COUNTER = second; ACTION = INCREMENTCOUNTER { COUNTER = third; }; };\n\
         SCHEDULETABLE s { COUNTER = first; DURATION = 5;\n\
           EXPIRYPOINT = p { OFFSET = 0; ACTION = INCREMENTCOUNTER { COUNTER = second; }; }; };",
    );
    let names: Vec<_> = configuration.counters().iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["other", "first", "second", "third"]);
    let alarm = &configuration.alarms()[0];
    assert_eq!((alarm.counter, &alarm.action), (2, &Action::IncrementCounter(3)));
    let table = &configuration.schedule_tables()[0];
    assert_eq!((table.counter, &table.points[0].actions[0]), (1, &Action::IncrementCounter(2)));
    assert_eq!(configuration.hardware_tick_ns(), Some(1_000_000));
    assert_eq!(configuration.system_counter(), Some(1));
}

#[test]
fn the_system_counter_is_the_one_of_that_name() {
    let configuration = accept_objects(
        "TASK t { PRIORITY = 1; }; COUNTER soft { MAXALLOWEDVALUE = 9; };\n\
         COUNTER a { MAXALLOWEDVALUE = 9; TYPE = HARDWARE; NANOSECONDSPERTICK = 1000; };\n\
         COUNTER SYSTEM_COUNTER { MAXALLOWEDVALUE = 9; NANOSECONDSPERTICK = 1000; };",
    );
    assert_eq!(configuration.system_counter(), Some(2));
    let none = accept_objects("TASK t { PRIORITY = 1; }; COUNTER s { MAXALLOWEDVALUE = 9; };");
    assert_eq!((none.system_counter(), none.hardware_tick_ns()), (None, None));
}

#[test]
fn a_schedule_table_may_end_at_its_last_point_and_reach_over_its_end() {
    let objects = |rest: &str| {
        format!(
            "TASK t {{ PRIORITY = 1; }}; COUNTER k1 {{ MAXALLOWEDVALUE = 99; MINCYCLE = 10; }};\n\
             SCHEDULETABLE s {{ COUNTER = k1; {rest} }};"
        )
    };
    let point = |offset: u32| {
        format!("EXPIRYPOINT = p {{ OFFSET = {offset}; ACTION = ACTIVATETASK {{ TASK = t; }}; }};")
    };
    // A table that runs once may end with its last point.
    accept_objects(&objects(&format!("DURATION = 20; {}{}", point(0), point(20))));
    // The last delay of a repeating one is that to its first point: here 5 + 10.
    accept_objects(&objects(&format!(
        "DURATION = 25; REPEATING = TRUE; {}{}",
        point(10),
        point(20)
    )));
}

#[test]
fn counters_that_multiply_beyond_what_a_tick_may_take_are_refused_at_the_first_of_them() {
    let chain = |width: usize| -> String {
        let counters: String = (0..3)
            .map(|counter| format!("COUNTER k{counter} {{ MAXALLOWEDVALUE = 9; }};\n"))
            .collect();
        let alarm = |counter: usize, alarm: usize| {
            let action = if counter < 2 {
                format!("INCREMENTCOUNTER {{ COUNTER = k{}; }}", counter + 1)
            } else {
                "ACTIVATETASK { TASK = t; }".to_owned()
            };
            format!("ALARM a{counter}_{alarm} {{ COUNTER = k{counter}; ACTION = {action}; }};\n")
        };
        let alarms: String =
            (0..3).flat_map(|counter| (0..width).map(move |index| alarm(counter, index))).collect();
        format!("TASK t {{ PRIORITY = 1; }};\n{counters}{alarms}")
    };
    // 15 + 15 * 15 + 15 * 15 * 15 = 3615, and 16 + 16 * 16 + 16 * 16 * 16 = 4368.
    accept_objects(&chain(15));
    let problems = crate::support::problems(&crate::support::whole(&chain(16)));
    let told = "a.oil:3:9: `k0`: all that one tick of it can lead to are 4096 steps at most, \
                those of all hardware counters together";
    assert_eq!(problems, told);
}
