//! A configuration as OIL again: what was left out is written down, and `AUTO` is what it became.

use quietcore_osek::configuration::{Checking, SCHEDULER_LEVEL};

use crate::check::class_word;
use crate::configuration::{Action, Configuration, Notification, Resource, Task};
use crate::generate::header::push;

/// The OIL text of a configuration. [`read`](crate::read) makes the same configuration of it.
pub fn oil(configuration: &Configuration) -> String {
    let mut text = format!("OIL_VERSION = \"2.5\";\n\nCPU {} {{\n", configuration.cpu);
    os(&mut text, configuration);
    for mode in &configuration.modes {
        push(&mut text, format_args!("    APPMODE {};\n", mode.name));
    }
    for task in &configuration.tasks {
        self::task(&mut text, configuration, task);
    }
    for isr in &configuration.isrs {
        let mut lines = vec![
            format!("CATEGORY = {};", isr.category),
            format!("PRIORITY = {};", isr.level),
            format!("SOURCE = {};", isr.source),
        ];
        lines.extend(resources(configuration, &isr.resources));
        object(&mut text, "ISR", &isr.name, &lines);
    }
    let ordinary = configuration.resources.iter().filter(|resource| !is_scheduler(resource));
    for resource in ordinary {
        let property = match resource.linked_to {
            Some(other) => {
                let other = &configuration.resources[other].name;
                format!("RESOURCEPROPERTY = LINKED {{ LINKEDRESOURCE = {other}; }};")
            }
            None => "RESOURCEPROPERTY = STANDARD;".to_owned(),
        };
        object(&mut text, "RESOURCE", &resource.name, &[property]);
    }
    for resource in &configuration.internal_resources {
        let property = "RESOURCEPROPERTY = INTERNAL;".to_owned();
        object(&mut text, "RESOURCE", &resource.name, &[property]);
    }
    for event in &configuration.events {
        object(&mut text, "EVENT", &event.name, &[format!("MASK = {:#x};", event.mask)]);
    }
    clocks(&mut text, configuration);
    messages(&mut text, configuration);
    text.push_str("};\n");
    text
}

fn object(text: &mut String, kind: &str, name: &str, lines: &[String]) {
    push(text, format_args!("    {kind} {name} {{\n"));
    for line in lines {
        push(text, format_args!("        {line}\n"));
    }
    text.push_str("    };\n");
}

const fn truth(value: bool) -> &'static str {
    if value { "TRUE" } else { "FALSE" }
}

/// The kernel's own resource, which is written down as an attribute of OS. No other one reaches
/// beyond the tasks' own levels.
fn is_scheduler(resource: &Resource) -> bool {
    resource.name == crate::check::SCHEDULER_RESOURCE && resource.ceiling == SCHEDULER_LEVEL
}

fn os(text: &mut String, configuration: &Configuration) {
    let status = match configuration.checking {
        Checking::Standard => "STANDARD",
        Checking::Extended => "EXTENDED",
    };
    let hooks = configuration.hooks;
    let truths = [
        ("STARTUPHOOK", hooks.startup),
        ("ERRORHOOK", hooks.error),
        ("SHUTDOWNHOOK", hooks.shutdown),
        ("PRETASKHOOK", hooks.pre_task),
        ("POSTTASKHOOK", hooks.post_task),
        ("USEGETSERVICEID", configuration.service_id),
        ("USEPARAMETERACCESS", configuration.parameter_access),
        ("USERESSCHEDULER", configuration.resources.iter().any(is_scheduler)),
        ("ACCOUNTING", configuration.accounting),
    ];
    let mut lines = vec![format!("STATUS = {status};")];
    lines.extend(truths.map(|(word, value)| format!("{word} = {};", truth(value))));
    lines.push(format!("CLASS = {};", class_word(configuration.class)));
    object(text, "OS", "kernel", &lines);
}

/// The lines that name resources.
fn resources(configuration: &Configuration, numbers: &[usize]) -> Vec<String> {
    let names = numbers.iter().map(|number| &configuration.resources[*number].name);
    names.map(|name| format!("RESOURCE = {name};")).collect()
}

/// `AUTOSTART` with what else stands in its block.
fn autostart(configuration: &Configuration, modes: u32, others: &str) -> String {
    if modes == 0 {
        return "AUTOSTART = FALSE;".to_owned();
    }
    let modes = configuration.modes_of(modes).map(|mode| format!(" APPMODE = {mode};"));
    format!("AUTOSTART = TRUE {{{others}{} }};", modes.collect::<String>())
}

fn task(text: &mut String, configuration: &Configuration, task: &Task) {
    let mut lines = vec![
        format!("PRIORITY = {};", task.given_priority),
        format!("SCHEDULE = {};", if task.preemptable { "FULL" } else { "NON" }),
        format!("ACTIVATION = {};", task.activations),
        autostart(configuration, task.autostart, ""),
        format!("STACK = {};", task.stack_bytes),
    ];
    lines.extend(task.budget_ns.map(|budget_ns| format!("BUDGET = {budget_ns};")));
    lines.extend(task.inter_arrival_ns.map(|time_ns| format!("INTERARRIVAL = {time_ns};")));
    lines.extend(resources(configuration, &task.resources));
    if let Some(internal) = task.internal_resource {
        let name = &configuration.internal_resources[internal].name;
        lines.push(format!("RESOURCE = {name};"));
    }
    let events = task.events.iter().map(|event| &configuration.events[*event].name);
    lines.extend(events.map(|name| format!("EVENT = {name};")));
    object(text, "TASK", &task.name, &lines);
}

fn action(configuration: &Configuration, action: &Action) -> String {
    match action {
        Action::ActivateTask(task) => {
            let task = &configuration.tasks[*task].name;
            format!("ACTION = ACTIVATETASK {{ TASK = {task}; }};")
        }
        Action::SetEvent { task, event, .. } => {
            let task = &configuration.tasks[*task].name;
            let event = &configuration.events[*event].name;
            format!("ACTION = SETEVENT {{ TASK = {task}; EVENT = {event}; }};")
        }
        Action::Callback(name) => {
            format!("ACTION = ALARMCALLBACK {{ ALARMCALLBACKNAME = \"{name}\"; }};")
        }
        Action::IncrementCounter(counter) => {
            let counter = &configuration.counters[*counter].name;
            format!("ACTION = INCREMENTCOUNTER {{ COUNTER = {counter}; }};")
        }
    }
}

/// Counters, alarms and schedule tables.
fn clocks(text: &mut String, configuration: &Configuration) {
    for counter in &configuration.counters {
        let mut lines = vec![
            format!("MAXALLOWEDVALUE = {};", counter.max_allowed),
            format!("TICKSPERBASE = {};", counter.ticks_per_base),
            format!("MINCYCLE = {};", counter.min_cycle),
        ];
        match counter.tick_ns {
            Some(tick_ns) => {
                lines.push("TYPE = HARDWARE;".to_owned());
                lines.push(format!("NANOSECONDSPERTICK = {tick_ns};"));
            }
            None => lines.push("TYPE = SOFTWARE;".to_owned()),
        }
        object(text, "COUNTER", &counter.name, &lines);
    }
    for alarm in &configuration.alarms {
        let start = alarm.start.map_or_else(
            || "AUTOSTART = FALSE;".to_owned(),
            |start| {
                let times = format!(" ALARMTIME = {}; CYCLETIME = {};", start.first, start.cycle);
                autostart(configuration, start.modes, &times)
            },
        );
        let counter = format!("COUNTER = {};", configuration.counters[alarm.counter].name);
        let lines = [counter, action(configuration, &alarm.action), start];
        object(text, "ALARM", &alarm.name, &lines);
    }
    for table in &configuration.schedule_tables {
        let mut lines = vec![
            format!("COUNTER = {};", configuration.counters[table.counter].name),
            format!("DURATION = {};", table.duration),
            format!("REPEATING = {};", truth(table.repeating)),
            autostart(configuration, table.autostart, &format!(" START = {};", table.start)),
        ];
        for point in &table.points {
            lines.push(format!("EXPIRYPOINT = {} {{", point.name));
            lines.push(format!("    OFFSET = {};", point.offset));
            let actions = point.actions.iter();
            lines.extend(actions.map(|it| format!("    {}", action(configuration, it))));
            lines.push("};".to_owned());
        }
        object(text, "SCHEDULETABLE", &table.name, &lines);
    }
}

fn messages(text: &mut String, configuration: &Configuration) {
    for message in &configuration.messages {
        let follows = match message.notification {
            Notification::ActivateTask(task) => {
                format!("ACTIVATETASK {{ TASK = {}; }}", configuration.tasks[task].name)
            }
            Notification::SetEvent { task, event, .. } => {
                let task = &configuration.tasks[task].name;
                let event = &configuration.events[event].name;
                format!("SETEVENT {{ TASK = {task}; EVENT = {event}; }}")
            }
            Notification::RaiseIsr(isr) => {
                format!("ISR {{ ISR = {}; }}", configuration.isrs[isr].name)
            }
        };
        object(text, "MESSAGE", &message.name, &[format!("NOTIFICATION = {follows};")]);
    }
}
