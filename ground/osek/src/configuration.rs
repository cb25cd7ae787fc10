//! The static tables that a kernel runs by.
//!
//! Rust programs write them down as `static`s; for C programs they are generated from OIL. Either
//! way they are checked by [`check`](crate::check::check) before the kernel starts.
//!
//! ```text
//! level      0        1 … 254                255            interrupt levels 1 … 62
//!            idle     tasks, by PRIORITY     RES_SCHEDULER  ISRs, by PRIORITY
//!            └────────── task levels ──────────┘            └── above every task ──┘
//! ```
//!
//! A larger number is more urgent on both scales. All tables are indexed by the identifiers that
//! services take: the first task is task 0. Layouts are those of C (`quietcore_osek.h`).

/// The largest number of tasks.
pub const TASKS_MAX: usize = 255;
/// Most resources, `RES_SCHEDULER` among them.
pub const RESOURCES_MAX: usize = 255;
/// The largest number of alarms.
pub const ALARMS_MAX: usize = 255;
/// The largest number of counters.
pub const COUNTERS_MAX: usize = 32;
/// The largest number of schedule tables.
pub const SCHEDULE_TABLES_MAX: usize = 32;
/// The largest number of messages whose arrival something follows: a bit each.
pub const MESSAGES_MAX: usize = 64;
/// The largest number of ISRs.
pub const ISRS_MAX: usize = 62;
/// The largest number of application modes.
pub const MODES_MAX: usize = 32;
/// Most activation requests of all tasks together, which is what the ready queue has places for.
pub const ACTIVATIONS_MAX: usize = 1024;
/// Most steps of one tick, which is what the kernel holds interrupts back for at once. An alarm
/// that expires, a schedule table that goes on and an action of one are a step each; one that
/// increments a counter is as many more as a tick of that counter.
pub const TICK_STEPS_MAX: u32 = 4096;

/// The level of a task that holds `RES_SCHEDULER`, or is not preemptable.
pub const SCHEDULER_LEVEL: u8 = 255;
/// The most urgent interrupt level.
pub const INTERRUPT_LEVEL_MAX: u8 = 62;

/// Conformance class (OSEK OS 2.2.3, 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Class {
    /// Basic tasks; one activation, one task a priority.
    Bcc1 = 0,
    /// Basic tasks; several activations, several tasks a priority.
    Bcc2 = 1,
    /// Basic and extended tasks; one activation, one task a priority.
    Ecc1 = 2,
    /// Basic and extended tasks; several activations of basic tasks, several tasks a priority.
    Ecc2 = 3,
}

impl Class {
    /// Returns `true` if the class has extended tasks, and with them events.
    pub const fn has_events(self) -> bool {
        matches!(self, Self::Ecc1 | Self::Ecc2)
    }

    /// Returns `true` if the class has several activations of a basic task, and several tasks a
    /// priority.
    pub const fn has_several(self) -> bool {
        matches!(self, Self::Bcc2 | Self::Ecc2)
    }
}

/// Extent of the checks in services (OSEK OS 2.2.3, 11.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Checking {
    /// Standard status: what can go wrong in a program that is correct.
    Standard = 0,
    /// Extended status: programming errors, too.
    Extended = 1,
}

/// Which kind of task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Runs from activation to end; never waits.
    Basic = 0,
    /// May wait for events.
    Extended = 1,
}

/// A function of the program, as the kernel calls it.
pub type Entry = extern "C" fn();

/// A task as the application declares it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Task {
    /// Its function; it ends with `TerminateTask` or `ChainTask`.
    pub entry: Entry,
    /// Events that it may wait for, a bit each; zero for a basic task.
    pub events: u64,
    /// Longest execution time of a job, in ns; zero for no limit. Beyond OSEK.
    pub budget_ns: u64,
    /// Shortest time between two activations, in ns; zero for no limit. Beyond OSEK.
    pub inter_arrival_ns: u64,
    /// Application modes in which it is activated at the start, a bit each.
    pub autostart: u32,
    /// Bytes of its stack.
    pub stack_bytes: u32,
    /// Its level, 1 to 254.
    pub priority: u8,
    /// The level it runs at: its priority, the ceiling of its internal resource, or
    /// [`SCHEDULER_LEVEL`] where it is not preemptable.
    pub running_level: u8,
    /// Most activation requests at the same time, at least 1.
    pub activations: u8,
    /// Basic or extended; only extended ones wait for events.
    pub kind: Kind,
}

/// An interrupt service routine.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Isr {
    /// The function that is called for each interrupt.
    pub entry: Entry,
    /// The interrupt source, by a number of the port.
    pub source: u32,
    /// Its interrupt level, 1 to 62. ISRs of category 1 lie above all of category 2.
    pub level: u8,
    /// 1: uses no service but those that disable interrupts. 2: the kernel is told of it.
    pub category: u8,
}

/// On which scale a ceiling stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Scale {
    /// A level of tasks.
    Task = 0,
    /// An interrupt level: some ISR uses the resource. No task is preempted at it.
    Interrupt = 1,
}

/// A resource that tasks and ISRs get and release.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Resource {
    /// The scale of its ceiling.
    pub scale: Scale,
    /// Its ceiling: the highest level of those that use it.
    pub ceiling: u8,
}

/// A counter, which alarms and schedule tables run by.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Counter {
    /// Its largest value; the next one is 0.
    pub max_allowed: u32,
    /// Ticks of the source for one tick of the counter; told, not used.
    pub ticks_per_base: u32,
    /// Shortest cycle of a cyclic alarm.
    pub min_cycle: u32,
    /// `true` if the port's tick drives it; `false` if `IncrementCounter` does.
    pub hardware: bool,
    /// Time of one tick of a hardware counter, in ns; zero for a software counter.
    pub tick_ns: u64,
}

/// The action of an alarm or an expiry point.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Action {
    /// The kind of action, which says how to read the other fields.
    pub kind: ActionKind,
    /// The task, or the counter.
    pub object: u16,
    /// The events to set.
    pub events: u64,
    /// The function to call.
    pub callback: Option<Entry>,
}

/// The kinds of actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ActionKind {
    /// Activates the task `task`.
    ActivateTask = 0,
    /// Set events of a task.
    SetEvent = 1,
    /// Call a function, with interrupts of category 2 disabled.
    Callback = 2,
    /// Advance a software counter by one. Beyond OSEK.
    IncrementCounter = 3,
}

/// An alarm as the application declares it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Alarm {
    /// The action at each expiry.
    pub action: Action,
    /// The counter it belongs to.
    pub counter: u16,
    /// Application modes in which it is set at the start, a bit each.
    pub autostart: u32,
    /// Ticks from the start to its first expiry, where it starts by itself; zero is one, too.
    pub first: u32,
    /// Its cycle where it starts by itself; zero for a single alarm.
    pub cycle: u32,
}

/// An expiry point of a schedule table.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ExpiryPoint {
    /// Ticks from the start of the table.
    pub offset: u32,
    /// Its first action, in [`Configuration::actions`].
    pub first_action: u16,
    /// Number of its actions, which are done in their order.
    pub action_count: u16,
}

/// A schedule table; beyond OSEK, after AUTOSAR OS.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ScheduleTable {
    /// The counter that drives it.
    pub counter: u16,
    /// Its first expiry point, in [`Configuration::expiry_points`].
    pub first_point: u16,
    /// Number of its points, by rising offset; at least one.
    pub point_count: u16,
    /// `true` if the table begins again when it is over.
    pub repeating: bool,
    /// Ticks of one run.
    pub duration: u32,
    /// Application modes in which it starts by itself, a bit each.
    pub autostart: u32,
    /// Ticks from the start of the kernel to its start, where it starts by itself; at least 1.
    pub start: u32,
}

/// The kinds of notifications: a message that has come leads to one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Notification {
    /// Activates the task `object`.
    ActivateTask = 0,
    /// Sets `events` of the task `object`.
    SetEvent = 1,
    /// Raises the ISR `object`, which is of category 2. Beyond OSEK COM.
    RaiseIsr = 2,
}

/// A message that comes from outside of the machine, with its notification (OSEK COM 3.0.3, 2.5).
/// The port knows whether it has come.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Message {
    /// The events that are set.
    pub events: u64,
    /// The number of the signal or group, as the port knows it.
    pub number: u16,
    /// The task, or the ISR.
    pub object: u8,
    /// The kind of notification.
    pub notification: Notification,
    /// `true` if `number` is that of a group.
    pub is_group: bool,
}

/// The hooks of the program, where it has them.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Hooks {
    /// `StartupHook`
    pub startup: Option<Entry>,
    /// `ShutdownHook`
    pub shutdown: Option<extern "C" fn(u8)>,
    /// `ErrorHook`
    pub error: Option<extern "C" fn(u8)>,
    /// `PreTaskHook`
    pub pre_task: Option<Entry>,
    /// `PostTaskHook`
    pub post_task: Option<Entry>,
}

/// All tables of a program.
#[derive(Clone, Copy, Debug)]
pub struct Configuration<'a> {
    /// Conformance class of the application.
    pub class: Class,
    /// Standard or extended status.
    pub checking: Checking,
    /// `true` if the port is told the start, the end and the execution time of each job; costs two
    /// readings of the clock a switch. Needed for budgets.
    pub accounting: bool,
    /// Number of application modes, 1 to 32.
    pub mode_count: u8,
    /// The hooks; `None` for those that the program doesn't have.
    pub hooks: Hooks,
    /// The tasks, in any order.
    pub tasks: &'a [Task],
    /// The ISRs, by their numbers.
    pub isrs: &'a [Isr],
    /// The resources; `RES_SCHEDULER`, where it is used, is one of them.
    pub resources: &'a [Resource],
    /// The counters, hardware and software.
    pub counters: &'a [Counter],
    /// The alarms, by their numbers.
    pub alarms: &'a [Alarm],
    /// The schedule tables, by their numbers.
    pub schedule_tables: &'a [ScheduleTable],
    /// The expiry points of all schedule tables.
    pub expiry_points: &'a [ExpiryPoint],
    /// The actions of all expiry points.
    pub actions: &'a [Action],
    /// The messages whose arrival something follows.
    pub messages: &'a [Message],
}

impl Configuration<'_> {
    /// No task, no object, one application mode.
    pub const EMPTY: Configuration<'static> = Configuration {
        class: Class::Bcc1,
        checking: Checking::Extended,
        accounting: false,
        mode_count: 1,
        hooks: Hooks {
            startup: None,
            shutdown: None,
            error: None,
            pre_task: None,
            post_task: None,
        },
        tasks: &[],
        isrs: &[],
        resources: &[],
        counters: &[],
        alarms: &[],
        schedule_tables: &[],
        expiry_points: &[],
        actions: &[],
        messages: &[],
    };

    /// The interrupt level while the kernel's state is in use: that of the most urgent ISR of
    /// category 2, and at least 1, where the kernel's own tick is.
    pub fn kernel_level(&self) -> u8 {
        let of_kernel = self.isrs.iter().filter(|isr| isr.category == 2);
        of_kernel.map(|isr| isr.level).max().unwrap_or(0).max(1)
    }
}
