//! The kernel's tables in memory, for tests and for tools that run an application themselves.

use quietcore_osek::configuration::{self as kernel, ActionKind, Checking, Class, Entry, Hooks};

use crate::configuration::{
    Action, AlarmStart, Configuration, ExpiryPoint, Notification, ScheduleTable,
};

/// A function that tables call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function<'n> {
    /// The function of the task of this name.
    Task(&'n str),
    /// The function of the ISR of this name.
    Isr(&'n str),
    /// The function of this name that alarms or expiry points call.
    Callback(&'n str),
}

/// Tables that own their entries and lend them to a kernel.
#[derive(Clone, Debug)]
pub struct Tables {
    class: Class,
    checking: Checking,
    accounting: bool,
    mode_count: u8,
    hooks: Hooks,
    tasks: Vec<kernel::Task>,
    isrs: Vec<kernel::Isr>,
    resources: Vec<kernel::Resource>,
    counters: Vec<kernel::Counter>,
    alarms: Vec<kernel::Alarm>,
    schedule_tables: Vec<kernel::ScheduleTable>,
    expiry_points: Vec<kernel::ExpiryPoint>,
    actions: Vec<kernel::Action>,
    messages: Vec<kernel::Message>,
}

impl Tables {
    /// The tables of a configuration. `function` gives the functions; of `hooks` those are used
    /// that the configuration asks for. A message has its place in the text as its number.
    pub fn new(
        configuration: &Configuration,
        hooks: Hooks,
        function: &mut dyn FnMut(Function<'_>) -> Entry,
    ) -> Self {
        let asked = configuration.hooks;
        let schedule = configuration.schedule();
        Self {
            class: configuration.class,
            checking: configuration.checking,
            accounting: configuration.accounting,
            mode_count: small(configuration.modes.len()),
            hooks: Hooks {
                startup: hooks.startup.filter(|_| asked.startup),
                shutdown: hooks.shutdown.filter(|_| asked.shutdown),
                error: hooks.error.filter(|_| asked.error),
                pre_task: hooks.pre_task.filter(|_| asked.pre_task),
                post_task: hooks.post_task.filter(|_| asked.post_task),
            },
            tasks: tasks(configuration, function),
            isrs: isrs(configuration, function),
            resources: resources(configuration),
            counters: counters(configuration),
            alarms: alarms(configuration, function),
            schedule_tables: schedule.tables.iter().map(|(it, first)| row(it, *first)).collect(),
            expiry_points: schedule.points.iter().map(|(it, first)| point(it, *first)).collect(),
            actions: schedule.actions.iter().map(|it| action(it, function)).collect(),
            messages: messages(configuration),
        }
    }

    /// The tables as the kernel takes them.
    pub fn configuration(&self) -> kernel::Configuration<'_> {
        kernel::Configuration {
            class: self.class,
            checking: self.checking,
            accounting: self.accounting,
            mode_count: self.mode_count,
            hooks: self.hooks,
            tasks: &self.tasks,
            isrs: &self.isrs,
            resources: &self.resources,
            counters: &self.counters,
            alarms: &self.alarms,
            schedule_tables: &self.schedule_tables,
            expiry_points: &self.expiry_points,
            actions: &self.actions,
            messages: &self.messages,
        }
    }
}

fn row(table: &ScheduleTable, first_point: usize) -> kernel::ScheduleTable {
    kernel::ScheduleTable {
        counter: small(table.counter),
        first_point: small(first_point),
        point_count: small(table.points.len()),
        repeating: table.repeating,
        duration: table.duration,
        autostart: table.autostart,
        start: table.start,
    }
}

fn point(point: &ExpiryPoint, first_action: usize) -> kernel::ExpiryPoint {
    kernel::ExpiryPoint {
        offset: point.offset,
        first_action: small(first_action),
        action_count: small(point.actions.len()),
    }
}

fn tasks(
    configuration: &Configuration,
    function: &mut dyn FnMut(Function<'_>) -> Entry,
) -> Vec<kernel::Task> {
    let tasks = configuration.tasks.iter().map(|task| kernel::Task {
        entry: function(Function::Task(&task.name)),
        events: task.event_mask,
        budget_ns: task.budget_ns.unwrap_or(0),
        inter_arrival_ns: task.inter_arrival_ns.unwrap_or(0),
        autostart: task.autostart,
        stack_bytes: task.stack_bytes,
        priority: task.priority,
        running_level: task.running_level,
        activations: task.activations,
        kind: task.kind,
    });
    tasks.collect()
}

fn isrs(
    configuration: &Configuration,
    function: &mut dyn FnMut(Function<'_>) -> Entry,
) -> Vec<kernel::Isr> {
    let isrs = configuration.isrs.iter().map(|isr| kernel::Isr {
        entry: function(Function::Isr(&isr.name)),
        source: isr.source,
        level: isr.level,
        category: isr.category,
    });
    isrs.collect()
}

fn resources(configuration: &Configuration) -> Vec<kernel::Resource> {
    let resources = configuration.resources.iter();
    resources
        .map(|resource| kernel::Resource { scale: resource.scale, ceiling: resource.ceiling })
        .collect()
}

fn counters(configuration: &Configuration) -> Vec<kernel::Counter> {
    let counters = configuration.counters.iter().map(|counter| kernel::Counter {
        max_allowed: counter.max_allowed,
        ticks_per_base: counter.ticks_per_base,
        min_cycle: counter.min_cycle,
        hardware: counter.tick_ns.is_some(),
        tick_ns: counter.tick_ns.unwrap_or(0),
    });
    counters.collect()
}

fn alarms(
    configuration: &Configuration,
    function: &mut dyn FnMut(Function<'_>) -> Entry,
) -> Vec<kernel::Alarm> {
    let never = AlarmStart { modes: 0, first: 0, cycle: 0 };
    let alarms = configuration.alarms.iter().map(|alarm| {
        let start = alarm.start.unwrap_or(never);
        kernel::Alarm {
            action: action(&alarm.action, function),
            counter: small(alarm.counter),
            autostart: start.modes,
            first: start.first,
            cycle: start.cycle,
        }
    });
    alarms.collect()
}

fn action(action: &Action, function: &mut dyn FnMut(Function<'_>) -> Entry) -> kernel::Action {
    let (kind, object, events, callback) = match action {
        Action::ActivateTask(task) => (ActionKind::ActivateTask, *task, 0, None),
        Action::SetEvent { task, mask, .. } => (ActionKind::SetEvent, *task, *mask, None),
        Action::Callback(name) => {
            (ActionKind::Callback, 0, 0, Some(function(Function::Callback(name))))
        }
        Action::IncrementCounter(counter) => (ActionKind::IncrementCounter, *counter, 0, None),
    };
    kernel::Action { kind, object: small(object), events, callback }
}

fn messages(configuration: &Configuration) -> Vec<kernel::Message> {
    let messages = configuration.messages.iter().enumerate();
    messages
        .map(|(number, message)| {
            let (notification, object, events) = match message.notification {
                Notification::ActivateTask(task) => (kernel::Notification::ActivateTask, task, 0),
                Notification::SetEvent { task, mask, .. } => {
                    (kernel::Notification::SetEvent, task, mask)
                }
                Notification::RaiseIsr(isr) => (kernel::Notification::RaiseIsr, isr, 0),
            };
            kernel::Message {
                events,
                number: small(number),
                object: small(object),
                notification,
                is_group: false,
            }
        })
        .collect()
}

/// A number as the kernel's tables have it; their sizes are checked.
fn small<T: TryFrom<usize>>(number: usize) -> T {
    let Ok(number) = T::try_from(number) else {
        unreachable!("a checked configuration is within the kernel's limits");
    };
    number
}
