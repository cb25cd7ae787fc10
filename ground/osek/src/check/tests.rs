//! One case a rule: a configuration that works, and the smallest change that breaks it.

use super::*;
use crate::configuration::{
    Alarm, Class, Counter, ExpiryPoint, Isr, Message, Resource, ScheduleTable, Task,
};
use crate::kernel::tests::{activation, basic, extended, hardware, nothing, software};
use std::string::ToString;
use std::vec;
use std::vec::Vec;

/// All tables, as they can be changed.
#[derive(Clone)]
struct Tables {
    class: Class,
    accounting: bool,
    mode_count: u8,
    tasks: Vec<Task>,
    isrs: Vec<Isr>,
    resources: Vec<Resource>,
    counters: Vec<Counter>,
    alarms: Vec<Alarm>,
    schedule_tables: Vec<ScheduleTable>,
    points: Vec<ExpiryPoint>,
    actions: Vec<Action>,
    messages: Vec<Message>,
}

impl Tables {
    /// Makes tables with an entry of each kind, which pass the check.
    fn working() -> Self {
        let isr = |level, category| Isr { entry: nothing, source: 0, level, category };
        let alarm = Alarm { action: activation(0), counter: 0, autostart: 1, first: 1, cycle: 5 };
        let increment = Action { kind: ActionKind::IncrementCounter, ..activation(1) };
        let message = |object, notification| Message {
            events: 1,
            number: 3,
            object,
            notification,
            is_group: false,
        };
        let point = |offset, first_action| ExpiryPoint { offset, first_action, action_count: 1 };
        Self {
            class: Class::Ecc2,
            accounting: true,
            mode_count: 1,
            tasks: vec![Task { activations: 3, ..basic(1) }, extended(1)],
            isrs: vec![isr(1, 2), isr(2, 2), isr(3, 1)],
            resources: vec![
                Resource { scale: Scale::Task, ceiling: SCHEDULER_LEVEL },
                Resource { scale: Scale::Interrupt, ceiling: 2 },
            ],
            counters: vec![Counter { min_cycle: 2, ..hardware(9) }, software(9), hardware(9)],
            alarms: vec![alarm, Alarm { action: increment, ..alarm }],
            schedule_tables: vec![ScheduleTable {
                counter: 0,
                first_point: 0,
                point_count: 2,
                repeating: true,
                duration: 9,
                autostart: 1,
                start: 1,
            }],
            points: vec![point(0, 0), point(8, 1)],
            actions: vec![increment, Action { kind: ActionKind::SetEvent, ..activation(1) }],
            messages: vec![
                message(0, Notification::ActivateTask),
                message(1, Notification::SetEvent),
                message(1, Notification::RaiseIsr),
            ],
        }
    }

    fn check(&self) -> Result<(), Refusal> {
        check(&Configuration {
            class: self.class,
            accounting: self.accounting,
            mode_count: self.mode_count,
            tasks: &self.tasks,
            isrs: &self.isrs,
            resources: &self.resources,
            counters: &self.counters,
            alarms: &self.alarms,
            schedule_tables: &self.schedule_tables,
            expiry_points: &self.points,
            actions: &self.actions,
            messages: &self.messages,
            ..Configuration::EMPTY
        })
    }
}

/// Changes tables so that they break one rule.
type Change = fn(&mut Tables);

/// Each change is refused, and told so.
fn refuse(cases: &[(Change, &str)]) {
    assert_eq!(Tables::working().check(), Ok(()));
    for (change, expected) in cases {
        let mut tables = Tables::working();
        change(&mut tables);
        let refusal = tables.check().map_err(|refusal| refusal.to_string());
        assert_eq!(refusal, Err((*expected).into()));
    }
}

#[test]
fn nothing_at_all_can_work() {
    assert_eq!(check(&Configuration::EMPTY), Ok(()));
}

#[test]
fn tables_fit_the_kernel() {
    let rule = "there are no more entries than the kernel has places";
    let full = |table: &str| std::format!("{table}[0]: {rule}");
    let many = Tables::working();
    let fills: [(Change, &str); 9] = [
        (|all| all.messages.resize(65, all.messages[0]), "Messages"),
        (|all| all.tasks.resize(256, basic(1)), "Tasks"),
        (|all| all.isrs.resize(63, all.isrs[0]), "Isrs"),
        (|all| all.resources.resize(256, all.resources[0]), "Resources"),
        (|all| all.counters.resize(33, software(1)), "Counters"),
        (|all| all.alarms.resize(256, all.alarms[0]), "Alarms"),
        (|all| all.schedule_tables.resize(33, all.schedule_tables[0]), "ScheduleTables"),
        (|all| all.points.resize(65536, all.points[0]), "ExpiryPoints"),
        (|all| all.actions.resize(65536, all.actions[0]), "Actions"),
    ];
    // The last two take long under Miri.
    for (fill, table) in fills.into_iter().take(if cfg!(miri) { 6 } else { 8 }) {
        let mut tables = many.clone();
        fill(&mut tables);
        let refusal = tables.check().map_err(|refusal| refusal.to_string());
        assert_eq!(refusal, Err(full(table)));
    }
}

#[test]
fn as_much_as_fits_is_accepted() {
    let mut tables = Tables::working();
    tables.tasks.resize(255, basic(254));
    tables.isrs.resize(62, tables.isrs[0]);
    tables.resources.resize(255, tables.resources[0]);
    tables.counters.resize(32, software(1));
    tables.alarms.resize(255, tables.alarms[0]);
    tables.schedule_tables.resize(32, tables.schedule_tables[0]);
    tables.mode_count = 32;
    assert_eq!(tables.check(), Ok(()));
}

#[test]
fn modes_and_tasks() {
    refuse(&[
        (|all| all.mode_count = 0, "System[0]: there are 1 to 32 application modes"),
        (|all| all.mode_count = 33, "System[0]: there are 1 to 32 application modes"),
        (|all| all.tasks[1].priority = 0, "Tasks[1]: a priority is 1 to 254"),
        (|all| all.tasks[1].priority = 255, "Tasks[1]: a priority is 1 to 254"),
        (|all| all.tasks[1].priority = 2, "Tasks[1]: a task does not run below its priority"),
        (|all| all.tasks[0].activations = 0, "Tasks[0]: a task can be activated once at least"),
        (|all| all.class = Class::Bcc2, "Tasks[1]: extended tasks need class ECC1 or ECC2"),
        (|all| all.tasks[0].events = 1, "Tasks[0]: a basic task has no events"),
        (|all| all.tasks[1].activations = 2, "Tasks[1]: an extended task is activated once"),
        (|all| all.class = Class::Ecc1, "Tasks[0]: several activations need class BCC2 or ECC2"),
        (
            |all| {
                all.class = Class::Ecc1;
                all.tasks[0].activations = 1;
            },
            "Tasks[1]: several tasks of one priority need class BCC2 or ECC2",
        ),
        (
            |all| {
                all.accounting = false;
                all.tasks[1].budget_ns = 1;
            },
            "Tasks[1]: budgets and arrival times need accounting",
        ),
        (
            |all| {
                all.accounting = false;
                all.tasks[1].inter_arrival_ns = 1;
            },
            "Tasks[1]: budgets and arrival times need accounting",
        ),
        (
            |all| all.tasks = vec![Task { activations: 205, ..basic(1) }; 5],
            "Tasks[0]: all tasks together have 1024 activations at most",
        ),
    ]);
}

#[test]
fn interrupts_and_resources() {
    let ceiling = "a ceiling is a level of a task, or of an ISR of category 2";
    let refused = [0, 1].map(|index| std::format!("Resources[{index}]: {ceiling}"));
    refuse(&[
        (|all| all.isrs[1].level = 0, "Isrs[1]: an interrupt level is 1 to 62"),
        (|all| all.isrs[1].level = 63, "Isrs[1]: an interrupt level is 1 to 62"),
        (|all| all.isrs[1].category = 3, "Isrs[1]: a category is 1 or 2"),
        (|all| all.isrs[2].level = 2, "Isrs[2]: an ISR of category 1 lies above all of category 2"),
        (|all| all.resources[0].ceiling = 0, &refused[0]),
        (|all| all.resources[1].ceiling = 0, &refused[1]),
        (|all| all.resources[1].ceiling = 3, &refused[1]),
    ]);
}

/// Level 1 is the kernel's own tick's, even where no ISR of category 2 is.
#[test]
fn an_isr_of_category_1_lies_above_the_tick() {
    let mut tables = Tables::working();
    tables.resources.clear();
    tables.messages.clear();
    tables.isrs = vec![Isr { entry: nothing, source: 0, level: 1, category: 1 }];
    assert!(tables.check().is_err());
    tables.isrs[0].level = 2;
    assert_eq!(tables.check(), Ok(()));
}

#[test]
fn counters_and_alarms() {
    let action = "an action has a task, an extended task, a function or a software counter";
    let alarm = std::format!("Alarms[0]: {action}");
    let refused_action = std::format!("Actions[1]: {action}");
    refuse(&[
        (|all| all.counters[1].max_allowed = 0, "Counters[1]: a counter counts to 1 at least"),
        (
            |all| all.counters[1].min_cycle = 0,
            "Counters[1]: the shortest cycle is 1 to the largest value",
        ),
        (
            |all| all.counters[1].min_cycle = 10,
            "Counters[1]: the shortest cycle is 1 to the largest value",
        ),
        (
            |all| all.counters[0].tick_ns = 0,
            "Counters[0]: a hardware counter has a tick, and a software counter has none",
        ),
        (
            |all| all.counters[1].tick_ns = 5,
            "Counters[1]: a hardware counter has a tick, and a software counter has none",
        ),
        (
            |all| all.counters[2].tick_ns = 5,
            "Counters[2]: all hardware counters have the same tick, which is the machine's",
        ),
        (|all| all.alarms[0].counter = 3, "Alarms[0]: its counter exists"),
        (|all| all.alarms[0].first = 10, "Alarms[0]: it first expires within the counter's range"),
        (
            |all| all.alarms[0].cycle = 1,
            "Alarms[0]: its cycle is zero, or within what the counter allows",
        ),
        (
            |all| all.alarms[0].cycle = 10,
            "Alarms[0]: its cycle is zero, or within what the counter allows",
        ),
        (|all| all.alarms[0].action = activation(2), &alarm),
        (|all| all.alarms[0].action.kind = ActionKind::SetEvent, &alarm),
        (|all| all.alarms[0].action.kind = ActionKind::Callback, &alarm),
        (|all| all.alarms[0].action.kind = ActionKind::IncrementCounter, &alarm),
        (|all| all.actions[1].object = 2, &refused_action),
    ]);
}

#[test]
fn schedule_tables() {
    let one = "ScheduleTables[0]: its duration is 1 to the counter's range";
    let points = "ScheduleTables[0]: it has one point at least, and they exist";
    let ends = "ScheduleTables[0]: its last point and the first one of the next run are not at the \
                same tick";
    refuse(&[
        (|all| all.schedule_tables[0].counter = 3, "ScheduleTables[0]: its counter exists"),
        (|all| all.schedule_tables[0].duration = 0, one),
        (|all| all.schedule_tables[0].duration = 10, one),
        (
            |all| all.schedule_tables[0].start = 10,
            "ScheduleTables[0]: it starts within the counter's range",
        ),
        (|all| all.schedule_tables[0].point_count = 0, points),
        (|all| all.schedule_tables[0].point_count = 3, points),
        (|all| all.schedule_tables[0].first_point = 9, points),
        (|all| all.points[0].offset = 8, "ScheduleTables[0]: the offsets of its points rise"),
        (|all| all.points[1].offset = 10, "ScheduleTables[0]: its points lie within its duration"),
        (|all| all.points[1].offset = 9, ends),
        (
            |all| all.points[1].first_action = 2,
            "ScheduleTables[0]: the actions of its points exist",
        ),
    ]);
}

/// A counter that advances itself would never come to the end of a tick.
#[test]
fn counters_advance_only_those_after_them() {
    let rule = "a counter advances only counters that come after it in the table";
    let alarm = std::format!("Alarms[1]: {rule}");
    let table = std::format!("ScheduleTables[0]: {rule}");
    refuse(&[
        (|all| all.alarms[1].counter = 1, &alarm),
        (|all| all.alarms[1].counter = 2, &alarm),
        (
            |all| {
                all.schedule_tables[0].counter = 1;
                all.schedule_tables[0].start = 1;
            },
            &table,
        ),
    ]);
}

/// Goal: what one tick can lead to is bounded, so that no chain of counters stops the machine.
/// Method: chains of alarms that all increment the next counter, one alarm below the limit and one
/// above; then the same with a schedule table, and with two hardware counters together.
#[test]
fn what_one_tick_leads_to_is_bounded() {
    let rule = "all that one tick of it can lead to are 4096 steps at most, those of all hardware \
                counters together";
    let refused = |index: usize| Err(Refusal { table: Table::Counters, index, rule });
    let alarm = |counter, action| Alarm { action, counter, autostart: 0, first: 0, cycle: 0 };
    let increment = |to| Action { kind: ActionKind::IncrementCounter, ..activation(to) };
    // 16 times on the last one, 16 × (1 + 16) on that before, 15 × (1 + 272) on the first: 4095.
    let chain = || {
        let counters = vec![hardware(9), software(9), software(9), hardware(9)];
        let mut alarms = vec![alarm(2, activation(0)); 16];
        alarms.extend([alarm(1, increment(2)); 16]);
        alarms.extend([alarm(0, increment(1)); 15]);
        Tables { counters, alarms, schedule_tables: vec![], ..Tables::working() }
    };
    let (mut fits, mut exceeds) = (chain(), chain());
    fits.alarms.push(alarm(0, activation(0)));
    assert_eq!(fits.check(), Ok(()));
    exceeds.alarms.push(alarm(0, increment(2)));
    assert_eq!(exceeds.check(), refused(0));
    let mut both = fits.clone();
    both.alarms.push(alarm(3, activation(0)));
    assert_eq!(both.check(), refused(0), "two hardware counters have one tick");
    // 2 beside its actions, of which the last point has most.
    let mut by_table = fits;
    by_table.alarms.truncate(32);
    by_table.schedule_tables = Tables::working().schedule_tables;
    by_table.actions.splice(1.., vec![increment(1); 14]);
    by_table.points[1].action_count = 14;
    assert_eq!(by_table.check(), Ok(()));
    by_table.actions.push(increment(1));
    by_table.points[1].action_count = 15;
    assert_eq!(by_table.check(), refused(0));
    // Eight to the power of 31.
    let all = (0..31).flat_map(|counter| [alarm(counter, increment(counter + 1)); 8]);
    let counters = [vec![hardware(9)], vec![software(9); 31]].concat();
    let worst = Tables { counters, alarms: all.collect(), ..chain() };
    assert_eq!(worst.check(), refused(27), "8, 72, 584, 4680 from the last one on");
}

#[test]
fn a_notification_has_what_it_is_for() {
    let rule = |index: usize| {
        let rule = "a notification has a task, an extended task or an ISR of category 2";
        std::format!("Messages[{index}]: {rule}")
    };
    refuse(&[
        (|all| all.messages[0].object = 2, &rule(0)),
        (|all| all.messages[1].object = 0, &rule(1)),
        (|all| all.messages[1].object = 9, &rule(1)),
        (|all| all.messages[2].object = 2, &rule(2)),
        (|all| all.messages[2].object = 3, &rule(2)),
    ]);
}
