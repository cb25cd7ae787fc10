//! A checked application: what the kernel's tables are made of. Only [`read`](crate::read) makes
//! one.

use quietcore_osek::configuration::{Checking, Class, Kind, Scale};
use quietcore_wording::FilePosition;

use crate::problem::Remark;

/// A checked application. Objects are numbered as the kernel's identifiers are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    pub(crate) cpu: String,
    pub(crate) class: Class,
    pub(crate) checking: Checking,
    pub(crate) accounting: bool,
    pub(crate) service_id: bool,
    pub(crate) parameter_access: bool,
    pub(crate) hooks: Hooks,
    pub(crate) modes: Vec<Mode>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) isrs: Vec<Isr>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) internal_resources: Vec<InternalResource>,
    pub(crate) events: Vec<Event>,
    pub(crate) counters: Vec<Counter>,
    pub(crate) alarms: Vec<Alarm>,
    pub(crate) schedule_tables: Vec<ScheduleTable>,
    pub(crate) messages: Vec<Message>,
    pub(crate) message_places: Definitions,
    pub(crate) definitions: Definitions,
    pub(crate) remarks: Vec<Remark>,
}

/// The position in the text that asks for something the program or its partition has to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The name of a task, of an ISR, of a callback, of a hook or of a message.
    pub name: String,
    /// The position of that name.
    pub position: FilePosition,
}

/// All of them. They are no part of what a configuration means: two are the same wherever their
/// objects stand.
#[derive(Clone, Debug)]
pub(crate) struct Definitions(pub(crate) Vec<Definition>);

impl PartialEq for Definitions {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Definitions {}

/// Which hooks the program has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hooks {
    /// `StartupHook`
    pub startup: bool,
    /// `ShutdownHook`
    pub shutdown: bool,
    /// `ErrorHook`
    pub error: bool,
    /// `PreTaskHook`
    pub pre_task: bool,
    /// `PostTaskHook`
    pub post_task: bool,
}

/// An application mode, numbered by its position in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mode {
    /// Its name; the first one is also called `OSDEFAULTAPPMODE`.
    pub name: String,
}

/// A task with everything that the kernel needs of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The name in the text; its C function is `TASK(name)`.
    pub name: String,
    /// Its priority as it was written.
    pub given_priority: u32,
    /// Its level, 1 to 254, in the order of the priorities.
    pub priority: u8,
    /// The level it runs at.
    pub running_level: u8,
    /// `true` if other tasks may preempt it.
    pub preemptable: bool,
    /// Most activation requests at the same time.
    pub activations: u8,
    /// Extended if it has events.
    pub kind: Kind,
    /// The numbers of its events.
    pub events: Vec<usize>,
    /// The bits of its events.
    pub event_mask: u64,
    /// The numbers of the resources that it gets and releases.
    pub resources: Vec<usize>,
    /// The number of its internal resource.
    pub internal_resource: Option<usize>,
    /// The modes in which it starts by itself, a bit each.
    pub autostart: u32,
    /// Bytes of its stack.
    pub stack_bytes: u32,
    /// Longest execution time of a job, in ns.
    pub budget_ns: Option<u64>,
    /// Shortest time between two activations, in ns.
    pub inter_arrival_ns: Option<u64>,
}

/// An interrupt service routine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Isr {
    /// The name in the text; its C function is `ISR(name)`.
    pub name: String,
    /// 1 or 2.
    pub category: u8,
    /// Its interrupt level, 1 to 62.
    pub level: u8,
    /// The interrupt source, by a number of the port.
    pub source: u32,
    /// The numbers of the resources that it gets and releases.
    pub resources: Vec<usize>,
}

/// A resource that is got and released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The name in the text.
    pub name: String,
    /// The scale of its ceiling.
    pub scale: Scale,
    /// The highest priority or interrupt level of its users.
    pub ceiling: u8,
    /// The number of the resource that it is another name of.
    pub linked_to: Option<usize>,
}

/// A resource that its tasks occupy whenever they run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InternalResource {
    /// The name in the text.
    pub name: String,
    /// The highest level of its tasks.
    pub ceiling: u8,
}

/// An event, which a task of kind extended waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The name in the text.
    pub name: String,
    /// The bits of the event; one bit, unless the text gives others.
    pub mask: u64,
}

/// A counter, which alarms and schedule tables run by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The name in the text.
    pub name: String,
    /// The largest value, after which it begins at zero.
    pub max_allowed: u32,
    /// Ticks of its source for one of its own.
    pub ticks_per_base: u32,
    /// Shortest cycle of a cyclic alarm.
    pub min_cycle: u32,
    /// The time of a tick, in ns, if the machine's tick drives it.
    pub tick_ns: Option<u64>,
}

/// The action of an alarm or an expiry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Activates the task of this number.
    ActivateTask(usize),
    /// Sets an event of a task.
    SetEvent {
        /// The number of the task.
        task: usize,
        /// The number of the event.
        event: usize,
        /// The bits of the event.
        mask: u64,
    },
    /// Calls the function of this name.
    Callback(String),
    /// Increments the counter of this number.
    IncrementCounter(usize),
}

/// When an alarm starts by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlarmStart {
    /// The modes in which it does, a bit each.
    pub modes: u32,
    /// Ticks to its first expiry; zero is one.
    pub first: u32,
    /// Ticks from then on; zero for once only.
    pub cycle: u32,
}

/// An alarm, which does one action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alarm {
    /// The name in the text.
    pub name: String,
    /// The number of its counter.
    pub counter: usize,
    /// The action at each expiry.
    pub action: Action,
    /// When it starts by itself, if it does.
    pub start: Option<AlarmStart>,
}

/// An instant of a schedule table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpiryPoint {
    /// Its name; a remark for people.
    pub name: String,
    /// Ticks from the start of the table.
    pub offset: u32,
    /// The actions in the order in which they are done.
    pub actions: Vec<Action>,
}

/// A schedule table with its expiry points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleTable {
    /// The name in the text.
    pub name: String,
    /// The number of its counter.
    pub counter: usize,
    /// Ticks of one run.
    pub duration: u32,
    /// `true` if it begins again when it is over.
    pub repeating: bool,
    /// Its expiry points, by rising offset.
    pub points: Vec<ExpiryPoint>,
    /// The modes in which it starts by itself, a bit each.
    pub autostart: u32,
    /// Ticks from the start of the kernel to its own.
    pub start: u32,
}

/// The notification of a message that has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notification {
    /// Activates the task of this number.
    ActivateTask(usize),
    /// Sets an event of a task.
    SetEvent {
        /// The number of the task.
        task: usize,
        /// The number of the event.
        event: usize,
        /// The bits of the event.
        mask: u64,
    },
    /// Raises the ISR of this number.
    RaiseIsr(usize),
}

/// A signal, queue or group that the partition receives, and what follows when it has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The name in the text: that of the signal, queue or group in C, without what stands before
    /// all of them.
    pub name: String,
    /// The notification when it has come.
    pub notification: Notification,
}

/// The schedule tables as the kernel has them: points and actions of all tables in a row, each
/// table with the number of its first point, each point with that of its first action.
#[derive(Debug)]
pub(crate) struct Schedule<'c> {
    pub(crate) tables: Vec<(&'c ScheduleTable, usize)>,
    pub(crate) points: Vec<(&'c ExpiryPoint, usize)>,
    pub(crate) actions: Vec<&'c Action>,
}

impl Configuration {
    /// The schedule tables in rows.
    pub(crate) fn schedule(&self) -> Schedule<'_> {
        let mut rows = Schedule { tables: Vec::new(), points: Vec::new(), actions: Vec::new() };
        for table in &self.schedule_tables {
            rows.tables.push((table, rows.points.len()));
            for point in &table.points {
                rows.points.push((point, rows.actions.len()));
                rows.actions.extend(&point.actions);
            }
        }
        rows
    }

    /// The name of the CPU.
    pub fn cpu(&self) -> &str {
        &self.cpu
    }

    /// Returns the conformance class, as given or as needed.
    pub const fn class(&self) -> Class {
        self.class
    }

    /// Standard or extended status.
    pub const fn checking(&self) -> Checking {
        self.checking
    }

    /// Returns `true` if the port is told the times of each job.
    pub const fn accounting(&self) -> bool {
        self.accounting
    }

    /// Which hooks the program has.
    pub const fn hooks(&self) -> Hooks {
        self.hooks
    }

    /// The application modes, at least one; the first one is the default.
    pub fn modes(&self) -> &[Mode] {
        &self.modes
    }

    /// The tasks, at least one.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Returns the ISRs, in the order of their numbers.
    pub fn isrs(&self) -> &[Isr] {
        &self.isrs
    }

    /// The resources that are got and released; `RES_SCHEDULER`, where it is used, is the last.
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// Returns the internal resources, in the order of their numbers.
    pub fn internal_resources(&self) -> &[InternalResource] {
        &self.internal_resources
    }

    /// Returns the events, in the order of the text.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Returns the counters, in the order of their numbers.
    pub fn counters(&self) -> &[Counter] {
        &self.counters
    }

    /// Returns the alarms, in the order of their numbers.
    pub fn alarms(&self) -> &[Alarm] {
        &self.alarms
    }

    /// Returns the schedule tables, in the order of their numbers.
    pub fn schedule_tables(&self) -> &[ScheduleTable] {
        &self.schedule_tables
    }

    /// Returns the messages that something follows, in the order of the text.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns the position of a message in the text, by its name.
    pub fn message_place(&self, name: &str) -> Option<&Definition> {
        self.message_places.0.iter().find(|place| place.name == name)
    }

    /// The time of a tick of the hardware counters, in ns; they all have the same. `None` where
    /// there is no hardware counter.
    pub fn hardware_tick_ns(&self) -> Option<u64> {
        self.counters.iter().find_map(|counter| counter.tick_ns)
    }

    /// The number of the system counter: the hardware counter called `SystemCounter` in whatever
    /// spelling, else the first hardware counter.
    pub fn system_counter(&self) -> Option<usize> {
        let is_hardware = |index: &usize| self.counters[*index].tick_ns.is_some();
        let hardware: Vec<_> = (0..self.counters.len()).filter(is_hardware).collect();
        let named = hardware.iter().find(|index| {
            let name = self.counters[**index].name.to_ascii_lowercase();
            name.replace('_', "") == "systemcounter"
        });
        named.or(hardware.first()).copied()
    }

    /// The names of a set of modes, a bit each.
    pub fn modes_of(&self, modes: u32) -> impl Iterator<Item = &str> {
        let modes = (0..self.modes.len()).filter(move |index| modes >> index & 1 == 1);
        modes.map(|index| self.modes[index].name.as_str())
    }

    /// The functions that alarms and expiry points call, each once, in the order of their first
    /// use.
    pub fn callbacks(&self) -> Vec<&str> {
        let tables = self.schedule_tables.iter().flat_map(|table| &table.points);
        let actions = tables.flat_map(|point| &point.actions);
        let mut callbacks: Vec<&str> = Vec::new();
        for action in self.alarms.iter().map(|alarm| &alarm.action).chain(actions) {
            if let Action::Callback(name) = action
                && !callbacks.contains(&name.as_str())
            {
                callbacks.push(name);
            }
        }
        callbacks
    }

    /// Returns the position that asks for the function of a task, of an ISR, of a callback or of a
    /// hook, by its name in the text or, of a hook, in C.
    pub fn definition(&self, name: &str) -> Option<&Definition> {
        self.definitions.0.iter().find(|definition| definition.name == name)
    }

    /// Returns remarks on what is allowed and may still surprise, in the order of the text.
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }
}
