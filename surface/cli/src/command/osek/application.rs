//! What an OIL file describes, for `--json` and, by way of the same values, as text.

mod text;

use quietcore_oil::{Action, Configuration, Counter};
use quietcore_osek::configuration::{SCHEDULER_LEVEL, Scale};
use serde::Serialize;

/// An application. Objects stand in the order of the kernel's identifiers.
#[derive(Debug, Serialize)]
pub(super) struct Application {
    class: String,
    status: String,
    tick_ns: Option<u64>,
    /// The default first.
    modes: Vec<String>,
    tasks: Vec<Task>,
    isrs: Vec<Isr>,
    resources: Vec<Resource>,
    events: Vec<Event>,
    counters: Vec<CounterRow>,
    alarms: Vec<Alarm>,
    schedule_tables: Vec<ScheduleTable>,
}

#[derive(Debug, Serialize)]
struct Task {
    name: String,
    kind: String,
    priority: u32,
    preemptable: bool,
    activations: u8,
    autostart: bool,
    autostart_modes: Vec<String>,
    stack_bytes: u32,
    budget_ns: Option<u64>,
    inter_arrival_ns: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Isr {
    name: String,
    category: u8,
    level: u8,
    source: u32,
}

#[derive(Debug, Serialize)]
struct Resource {
    name: String,
    property: Property,
    linked_to: Option<String>,
    /// What does not run while it is occupied: tasks up to a priority, as the file writes it, or
    /// interrupts up to a level.
    ceiling: Ceiling,
    used_by: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Property {
    Standard,
    Linked,
    Internal,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Ceiling {
    Priority(u32),
    InterruptLevel(u8),
    AllTasks,
}

#[derive(Debug, Serialize)]
struct Event {
    name: String,
    mask: u64,
    received_by: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename = "Counter")]
struct CounterRow {
    name: String,
    hardware: bool,
    tick_ns: Option<u64>,
    max_allowed_value: u32,
    ticks_per_base: u32,
    min_cycle: u32,
}

#[derive(Debug, Serialize)]
struct Alarm {
    name: String,
    counter: String,
    action: String,
    first: Option<u32>,
    cycle: Option<u32>,
    autostart_modes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ScheduleTable {
    name: String,
    counter: String,
    duration: u32,
    repeating: bool,
    /// The tick at which it starts by itself.
    start: Option<u32>,
    autostart_modes: Vec<String>,
    expiry_points: Vec<ExpiryPoint>,
}

#[derive(Debug, Serialize)]
struct ExpiryPoint {
    name: String,
    offset: u32,
    actions: Vec<String>,
}

impl Application {
    pub(super) fn of(configuration: &Configuration) -> Self {
        Self {
            class: format!("{:?}", configuration.class()).to_uppercase(),
            status: format!("{:?}", configuration.checking()).to_lowercase(),
            tick_ns: configuration.hardware_tick_ns(),
            modes: configuration.modes().iter().map(|mode| mode.name.clone()).collect(),
            tasks: tasks(configuration),
            isrs: isrs(configuration),
            resources: resources(configuration),
            events: events(configuration),
            counters: configuration.counters().iter().map(CounterRow::of).collect(),
            alarms: alarms(configuration),
            schedule_tables: schedule_tables(configuration),
        }
    }
}

fn modes(configuration: &Configuration, modes: u32) -> Vec<String> {
    configuration.modes_of(modes).map(str::to_owned).collect()
}

fn tasks(configuration: &Configuration) -> Vec<Task> {
    let tasks = configuration.tasks().iter().map(|task| Task {
        name: task.name.clone(),
        kind: format!("{:?}", task.kind).to_lowercase(),
        priority: task.given_priority,
        preemptable: task.preemptable,
        activations: task.activations,
        autostart: task.autostart != 0,
        autostart_modes: modes(configuration, task.autostart),
        stack_bytes: task.stack_bytes,
        budget_ns: task.budget_ns,
        inter_arrival_ns: task.inter_arrival_ns,
    });
    tasks.collect()
}

fn isrs(configuration: &Configuration) -> Vec<Isr> {
    let isrs = configuration.isrs().iter().map(|isr| Isr {
        name: isr.name.clone(),
        category: isr.category,
        level: isr.level,
        source: isr.source,
    });
    isrs.collect()
}

fn resources(configuration: &Configuration) -> Vec<Resource> {
    let tasks = configuration.tasks();
    // The kernel's levels are the priorities without their gaps.
    let of_tasks = |level: u8| {
        let found = tasks.iter().find(|task| task.priority == level);
        found.map_or(Ceiling::AllTasks, |task| Ceiling::Priority(task.given_priority))
    };
    let ordinary = configuration.resources().iter().enumerate().map(|(number, resource)| {
        let of_task = tasks.iter().filter(|task| task.resources.contains(&number));
        let of_isr = configuration.isrs().iter().filter(|isr| isr.resources.contains(&number));
        let linked_to =
            resource.linked_to.map(|other| configuration.resources()[other].name.clone());
        Resource {
            name: resource.name.clone(),
            property: if linked_to.is_some() { Property::Linked } else { Property::Standard },
            linked_to,
            ceiling: match resource.scale {
                Scale::Interrupt => Ceiling::InterruptLevel(resource.ceiling),
                Scale::Task if resource.ceiling == SCHEDULER_LEVEL => Ceiling::AllTasks,
                Scale::Task => of_tasks(resource.ceiling),
            },
            used_by: of_task
                .map(|task| task.name.clone())
                .chain(of_isr.map(|isr| isr.name.clone()))
                .collect(),
        }
    });
    let internal = configuration.internal_resources().iter().enumerate();
    let internal = internal.map(|(number, resource)| {
        let users = tasks.iter().filter(|task| task.internal_resource == Some(number));
        Resource {
            name: resource.name.clone(),
            property: Property::Internal,
            linked_to: None,
            ceiling: of_tasks(resource.ceiling),
            used_by: users.map(|task| task.name.clone()).collect(),
        }
    });
    ordinary.chain(internal).collect()
}

fn events(configuration: &Configuration) -> Vec<Event> {
    let events = configuration.events().iter().enumerate().map(|(number, event)| {
        let tasks = configuration.tasks().iter().filter(|task| task.events.contains(&number));
        Event {
            name: event.name.clone(),
            mask: event.mask,
            received_by: tasks.map(|task| task.name.clone()).collect(),
        }
    });
    events.collect()
}

impl CounterRow {
    fn of(counter: &Counter) -> Self {
        Self {
            name: counter.name.clone(),
            hardware: counter.tick_ns.is_some(),
            tick_ns: counter.tick_ns,
            max_allowed_value: counter.max_allowed,
            ticks_per_base: counter.ticks_per_base,
            min_cycle: counter.min_cycle,
        }
    }
}

fn alarms(configuration: &Configuration) -> Vec<Alarm> {
    let alarms = configuration.alarms().iter().map(|alarm| Alarm {
        name: alarm.name.clone(),
        counter: configuration.counters()[alarm.counter].name.clone(),
        action: action(configuration, &alarm.action),
        first: alarm.start.map(|start| start.first),
        cycle: alarm.start.map(|start| start.cycle),
        autostart_modes: modes(configuration, alarm.start.map_or(0, |start| start.modes)),
    });
    alarms.collect()
}

fn schedule_tables(configuration: &Configuration) -> Vec<ScheduleTable> {
    let tables = configuration.schedule_tables().iter().map(|table| ScheduleTable {
        name: table.name.clone(),
        counter: configuration.counters()[table.counter].name.clone(),
        duration: table.duration,
        repeating: table.repeating,
        start: (table.autostart != 0).then_some(table.start),
        autostart_modes: modes(configuration, table.autostart),
        expiry_points: table
            .points
            .iter()
            .map(|point| ExpiryPoint {
                name: point.name.clone(),
                offset: point.offset,
                actions: point.actions.iter().map(|it| action(configuration, it)).collect(),
            })
            .collect(),
    });
    tables.collect()
}

fn action(configuration: &Configuration, action: &Action) -> String {
    let task = |task: &usize| configuration.tasks()[*task].name.clone();
    match action {
        Action::ActivateTask(number) => format!("activates {}", task(number)),
        Action::SetEvent { task: number, event, .. } => {
            format!("sets {} of {}", configuration.events()[*event].name, task(number))
        }
        Action::Callback(name) => format!("calls {name}"),
        Action::IncrementCounter(number) => {
            format!("increments {}", configuration.counters()[*number].name)
        }
    }
}
