//! The world of a case: a few objects of each kind, in each class and with each kind of checking.

use std::sync::LazyLock;

use quietcore_osek::configuration::{
    Action, ActionKind, Alarm, Checking, Class, Configuration, Counter, Entry, ExpiryPoint, Hooks,
    Isr, Kind, Resource, SCHEDULER_LEVEL, Scale, ScheduleTable, Task,
};

use crate::stage;

/// Runs the case. Autostarted.
pub(crate) const ACTOR: u8 = 0;
/// Below the actor; never runs before it ends.
pub(crate) const LOWER: u8 = 1;
/// A task of higher priority than the actor.
pub(crate) const HIGHER: u8 = 2;
/// Has three activations where the class allows it, and is below the actor.
pub(crate) const SEVERAL: u8 = 3;
/// Waits for its first event; extended, above the actor. Only in ECC1 and ECC2.
pub(crate) const WAITER: u8 = 4;
/// The actor where the case needs an extended one. Only in ECC1 and ECC2.
pub(crate) const EXTENDED_ACTOR: u8 = 5;
/// Extended, and never activated. Only in ECC1 and ECC2.
pub(crate) const SUSPENDED_EXTENDED: u8 = 6;

/// Ceiling above all tasks.
pub(crate) const RESOURCE: u8 = 0;
/// Ceiling above all tasks, too.
pub(crate) const OTHER_RESOURCE: u8 = 1;
/// Ceiling below the actor.
pub(crate) const LOW_RESOURCE: u8 = 2;
/// An ISR is among its users.
pub(crate) const ISR_RESOURCE: u8 = 3;
/// Its ceiling is below the ISR of the cases.
pub(crate) const LOW_ISR_RESOURCE: u8 = 4;

/// Raises the ISR that makes a case's call.
pub(crate) const ISR_SOURCE: u32 = 1;
/// Raises an ISR of category 2 above that one.
pub(crate) const CATEGORY_2_SOURCE: u32 = 2;
/// Raises an ISR of category 1.
pub(crate) const CATEGORY_1_SOURCE: u32 = 3;

/// Of 16 values; a cycle has 2 ticks at least.
pub(crate) const COUNTER: u8 = 0;
/// Driven by the machine.
pub(crate) const HARDWARE_COUNTER: u8 = 1;

/// Activates [`LOWER`].
pub(crate) const ALARM: u8 = 0;
/// An alarm with a callback.
pub(crate) const CALLING_ALARM: u8 = 1;

/// Activates [`LOWER`] after 2 of 8 ticks.
pub(crate) const TABLE: u8 = 0;
/// A schedule table like [`TABLE`].
pub(crate) const OTHER_TABLE: u8 = 1;
/// On the other counter.
pub(crate) const FOREIGN_TABLE: u8 = 2;

/// No object has this number.
pub(crate) const NOTHING: u8 = 200;

/// Counters count to this.
pub(crate) const MAX_ALLOWED: u32 = 15;
/// The shortest cycle of an alarm.
pub(crate) const MIN_CYCLE: u32 = 2;

/// All four conformance classes.
pub(crate) const CLASSES: [Class; 4] = [Class::Bcc1, Class::Bcc2, Class::Ecc1, Class::Ecc2];

/// The configuration of a class and a kind of checking.
pub(crate) fn configuration(class: Class, checking: Checking) -> &'static Configuration<'static> {
    static ALL: LazyLock<Vec<Configuration<'static>>> = LazyLock::new(|| {
        let kinds = [Checking::Standard, Checking::Extended];
        let pairs = CLASSES.into_iter().flat_map(|class| kinds.map(|checking| (class, checking)));
        pairs.map(|(class, checking)| build(class, checking)).collect()
    });
    &ALL[class as usize * 2 + checking as usize]
}

fn build(class: Class, checking: Checking) -> Configuration<'static> {
    Configuration {
        class,
        checking,
        accounting: false,
        mode_count: 2,
        hooks: Hooks {
            startup: Some(stage::startup_hook),
            shutdown: Some(stage::shutdown_hook),
            error: Some(stage::error_hook),
            pre_task: Some(stage::pre_task_hook),
            post_task: Some(stage::post_task_hook),
        },
        tasks: Vec::leak(tasks(class)),
        isrs: &[
            Isr { entry: stage::isr, source: ISR_SOURCE, level: 2, category: 2 },
            Isr { entry: stage::category_2, source: CATEGORY_2_SOURCE, level: 3, category: 2 },
            Isr { entry: stage::category_1, source: CATEGORY_1_SOURCE, level: 4, category: 1 },
        ],
        resources: &[
            Resource { scale: Scale::Task, ceiling: SCHEDULER_LEVEL },
            Resource { scale: Scale::Task, ceiling: SCHEDULER_LEVEL },
            Resource { scale: Scale::Task, ceiling: 1 },
            Resource { scale: Scale::Interrupt, ceiling: 2 },
            Resource { scale: Scale::Interrupt, ceiling: 1 },
        ],
        counters: &[
            Counter {
                max_allowed: MAX_ALLOWED,
                ticks_per_base: 7,
                min_cycle: MIN_CYCLE,
                hardware: false,
                tick_ns: 0,
            },
            Counter {
                max_allowed: MAX_ALLOWED,
                ticks_per_base: 1,
                min_cycle: 1,
                hardware: true,
                // As good as never: the cases bring no ticks.
                tick_ns: 3_600_000_000_000,
            },
        ],
        alarms: &ALARMS,
        schedule_tables: &TABLES,
        expiry_points: &[ExpiryPoint { offset: 2, first_action: 0, action_count: 1 }],
        actions: &ACTIONS,
        messages: &[],
    }
}

static ALARMS: [Alarm; 2] = [
    Alarm { action: activate(LOWER), counter: 0, autostart: 0, first: 0, cycle: 0 },
    Alarm { action: call(stage::callback), counter: 0, autostart: 0, first: 0, cycle: 0 },
];

static TABLES: [ScheduleTable; 3] = [table(0), table(0), table(1)];

static ACTIONS: [Action; 1] = [activate(LOWER)];

fn tasks(class: Class) -> Vec<Task> {
    let basic = |entry, priority| Task {
        entry,
        events: 0,
        budget_ns: 0,
        inter_arrival_ns: 0,
        autostart: 0,
        stack_bytes: 64 << 10,
        priority,
        running_level: priority,
        activations: 1,
        kind: Kind::Basic,
    };
    let extended =
        |entry, priority| Task { kind: Kind::Extended, events: 0b11, ..basic(entry, priority) };
    let activations = if class.has_several() { 3 } else { 1 };
    let mut tasks = vec![
        Task { autostart: 0b11, ..basic(stage::actor as Entry, 4) },
        basic(stage::bystander, 1),
        basic(stage::higher, 6),
        Task { activations, ..basic(stage::bystander, 2) },
    ];
    if class.has_events() {
        tasks.push(extended(stage::waiter, 7));
        tasks.push(extended(stage::extended_actor, 5));
        tasks.push(extended(stage::bystander, 3));
    }
    tasks
}

const fn activate(task: u8) -> Action {
    Action { kind: ActionKind::ActivateTask, object: task as u16, events: 0, callback: None }
}

const fn call(callback: Entry) -> Action {
    Action { kind: ActionKind::Callback, object: 0, events: 0, callback: Some(callback) }
}

const fn table(counter: u16) -> ScheduleTable {
    ScheduleTable {
        counter,
        first_point: 0,
        point_count: 1,
        repeating: false,
        duration: 8,
        autostart: 0,
        start: 0,
    }
}
