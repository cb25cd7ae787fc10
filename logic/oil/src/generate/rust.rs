//! Tables as Rust source, for the build script of a Rust program.
//!
//! The program includes the file in a module in which its functions are in scope:
//!
//! ```text
//! extern "C" fn task_blink() { … }
//! include!(concat!(env!("OUT_DIR"), "/os_cfg.rs"));
//! // CONFIGURATION, tasks::blink, events::pressed, …
//! ```

use quietcore_osek::configuration::{Checking, Kind, Scale};

use crate::configuration::{Action, Configuration, Message, Notification, Task};
use crate::generate::header::push;

/// A Rust source file with the tables of a configuration. It wants the functions `task_NAME`,
/// `isr_NAME` and `callback_NAME`, and those of `startup_hook`, `shutdown_hook`, `error_hook`,
/// `pre_task_hook` and `post_task_hook` that are switched on, in scope, all `extern "C"`.
pub fn rust(configuration: &Configuration) -> String {
    let mut text = format!(
        "// The tables of the OSEK application `{}`. Generated from OIL; changes are lost.\n",
        configuration.cpu
    );
    let modes = configuration.modes.iter().map(|mode| mode.name.as_str());
    constants(&mut text, ("modes", "Application modes; the first one is the default", "u8"), modes);
    let tasks = configuration.tasks.iter().map(|task| task.name.as_str());
    constants(&mut text, ("tasks", "Tasks", "u8"), tasks);
    let isrs = configuration.isrs.iter().map(|isr| isr.name.as_str());
    constants(&mut text, ("isrs", "ISRs", "u8"), isrs);
    let resources = configuration.resources.iter().map(|resource| resource.name.as_str());
    constants(&mut text, ("resources", "Resources", "u8"), resources);
    let counters = configuration.counters.iter().map(|counter| counter.name.as_str());
    constants(&mut text, ("counters", "Counters", "u8"), counters);
    let alarms = configuration.alarms.iter().map(|alarm| alarm.name.as_str());
    constants(&mut text, ("alarms", "Alarms", "u8"), alarms);
    let tables = configuration.schedule_tables.iter().map(|table| table.name.as_str());
    constants(&mut text, ("schedule_tables", "Schedule tables", "u8"), tables);
    let masks = configuration.events.iter().map(|event| (event.name.as_str(), event.mask));
    module(&mut text, ("events", "Events, as masks", "u64"), masks);
    whole(&mut text, configuration);
    text
}

fn constants<'n>(
    text: &mut String,
    title: (&str, &str, &str),
    names: impl Iterator<Item = &'n str>,
) {
    module(text, title, names.enumerate().map(|(index, name)| (name, index as u64)));
}

/// A module with a constant for each object.
fn module<'n>(
    text: &mut String,
    (name, title, number): (&str, &str, &str),
    constants: impl Iterator<Item = (&'n str, u64)>,
) {
    let constants: Vec<_> = constants.collect();
    if constants.is_empty() {
        return;
    }
    push(
        text,
        format_args!(
            "\n/// {title}.\n\
             #[allow(dead_code, non_upper_case_globals, unreachable_pub)]\n\
             pub mod {name} {{\n"
        ),
    );
    for (name, value) in constants {
        let value = if number == "u64" { format!("{value:#x}") } else { value.to_string() };
        let identifier = identifier(name);
        push(
            text,
            format_args!("    /// `{name}`\n    pub const {identifier}: {number} = {value};\n"),
        );
    }
    text.push_str("}\n");
}

/// A name as Rust can have it.
fn identifier(name: &str) -> String {
    const NEVER: [&str; 4] = ["Self", "crate", "self", "super"];
    const RAW: [&str; 29] = [
        "abstract", "as", "async", "await", "become", "box", "dyn", "final", "fn", "gen", "impl",
        "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub",
        "ref", "trait", "type", "unsafe", "unsized", "use", "where",
    ];
    if NEVER.contains(&name) {
        format!("{name}_")
    } else if RAW.contains(&name) || matches!(name, "try" | "typeof" | "virtual" | "yield") {
        format!("r#{name}")
    } else {
        name.to_owned()
    }
}

fn whole(text: &mut String, configuration: &Configuration) {
    push(
        text,
        format_args!(
            "\n/// The tables that the kernel runs by.\n\
             #[allow(clippy::unreadable_literal, unreachable_pub)]\n\
             pub static CONFIGURATION: \
             ::quietcore_osek::configuration::Configuration<'static> = {{\n    \
             use ::quietcore_osek::configuration as table;\n    \
             table::Configuration {{\n        \
             class: table::Class::{:?},\n        \
             checking: table::Checking::{},\n        \
             accounting: {},\n        \
             mode_count: {},\n",
            configuration.class,
            match configuration.checking {
                Checking::Standard => "Standard",
                Checking::Extended => "Extended",
            },
            configuration.accounting,
            configuration.modes.len()
        ),
    );
    hooks(text, configuration);
    entries(text, "tasks", configuration.tasks.iter().map(task));
    let isrs = configuration.isrs.iter().map(|isr| {
        format!(
            "table::Isr {{ entry: isr_{}, source: {}, level: {}, category: {} }}",
            isr.name, isr.source, isr.level, isr.category
        )
    });
    entries(text, "isrs", isrs);
    let resources = configuration.resources.iter().map(|resource| {
        let scale = match resource.scale {
            Scale::Task => "Task",
            Scale::Interrupt => "Interrupt",
        };
        let ceiling = resource.ceiling;
        format!("table::Resource {{ scale: table::Scale::{scale}, ceiling: {ceiling} }}")
    });
    entries(text, "resources", resources);
    let counters = configuration.counters.iter().map(|counter| {
        format!(
            "table::Counter {{ max_allowed: {}, ticks_per_base: {}, min_cycle: {}, hardware: {}, \
             tick_ns: {} }}",
            counter.max_allowed,
            counter.ticks_per_base,
            counter.min_cycle,
            counter.tick_ns.is_some(),
            counter.tick_ns.unwrap_or(0)
        )
    });
    entries(text, "counters", counters);
    times(text, configuration);
    text.push_str("    }\n};\n");
}

fn hooks(text: &mut String, configuration: &Configuration) {
    let hooks = configuration.hooks;
    let all = [
        ("startup", hooks.startup),
        ("shutdown", hooks.shutdown),
        ("error", hooks.error),
        ("pre_task", hooks.pre_task),
        ("post_task", hooks.post_task),
    ];
    text.push_str("        hooks: table::Hooks {\n");
    for (name, is_there) in all {
        let value = if is_there { format!("Some({name}_hook)") } else { "None".to_owned() };
        push(text, format_args!("            {name}: {value},\n"));
    }
    text.push_str("        },\n");
}

/// A field that holds a table.
fn entries(text: &mut String, field: &str, entries: impl Iterator<Item = String>) {
    let entries: Vec<_> = entries.collect();
    if entries.is_empty() {
        push(text, format_args!("        {field}: &[],\n"));
        return;
    }
    push(text, format_args!("        {field}: &[\n"));
    for entry in entries {
        push(text, format_args!("            {entry},\n"));
    }
    text.push_str("        ],\n");
}

fn task(task: &Task) -> String {
    let kind = match task.kind {
        Kind::Basic => "Basic",
        Kind::Extended => "Extended",
    };
    format!(
        "table::Task {{ entry: task_{}, events: {:#x}, budget_ns: {}, inter_arrival_ns: {}, \
         autostart: {:#b}, stack_bytes: {}, priority: {}, running_level: {}, activations: {}, \
         kind: table::Kind::{kind} }}",
        task.name,
        task.event_mask,
        task.budget_ns.unwrap_or(0),
        task.inter_arrival_ns.unwrap_or(0),
        task.autostart,
        task.stack_bytes,
        task.priority,
        task.running_level,
        task.activations
    )
}

fn action(action: &Action) -> String {
    let (kind, object, events, callback) = match action {
        Action::ActivateTask(task) => ("ActivateTask", *task, 0, None),
        Action::SetEvent { task, mask, .. } => ("SetEvent", *task, *mask, None),
        Action::Callback(name) => ("Callback", 0, 0, Some(name)),
        Action::IncrementCounter(counter) => ("IncrementCounter", *counter, 0, None),
    };
    let callback = callback.map_or("None".to_owned(), |name| format!("Some(callback_{name})"));
    format!(
        "table::Action {{ kind: table::ActionKind::{kind}, object: {object}, events: {events:#x}, \
         callback: {callback} }}"
    )
}

/// Alarms, schedule tables and messages.
fn times(text: &mut String, configuration: &Configuration) {
    let alarms = configuration.alarms.iter().map(|alarm| {
        let (modes, first, cycle) =
            alarm.start.map_or((0, 0, 0), |start| (start.modes, start.first, start.cycle));
        format!(
            "table::Alarm {{ action: {}, counter: {}, autostart: {modes:#b}, first: {first}, \
             cycle: {cycle} }}",
            action(&alarm.action),
            alarm.counter
        )
    });
    entries(text, "alarms", alarms);
    let schedule = configuration.schedule();
    let tables = schedule.tables.iter().map(|(table, first_point)| {
        format!(
            "table::ScheduleTable {{ counter: {}, first_point: {first_point}, point_count: {}, \
             repeating: {}, duration: {}, autostart: {:#b}, start: {} }}",
            table.counter,
            table.points.len(),
            table.repeating,
            table.duration,
            table.autostart,
            table.start
        )
    });
    entries(text, "schedule_tables", tables);
    let points = schedule.points.iter().map(|(point, first_action)| {
        format!(
            "table::ExpiryPoint {{ offset: {}, first_action: {first_action}, action_count: {} }}",
            point.offset,
            point.actions.len()
        )
    });
    entries(text, "expiry_points", points);
    entries(text, "actions", schedule.actions.iter().map(|it| action(it)));
    entries(text, "messages", configuration.messages.iter().enumerate().map(message));
}

/// A message, whose number is its place in the text.
fn message((number, message): (usize, &Message)) -> String {
    let (kind, object, events) = match message.notification {
        Notification::ActivateTask(task) => ("ActivateTask", task, 0),
        Notification::SetEvent { task, mask, .. } => ("SetEvent", task, mask),
        Notification::RaiseIsr(isr) => ("RaiseIsr", isr, 0),
    };
    format!(
        "table::Message {{ events: {events:#x}, number: {number}, object: {object}, notification: \
         table::Notification::{kind}, is_group: false }}"
    )
}
