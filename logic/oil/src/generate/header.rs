//! `os_cfg.h`: what a C or C++ program calls its objects by.
//!
//! Identifiers are enumerators and not macros, so that a task called `start` disturbs no structure
//! of another header that has a field of this name.

use std::fmt::Write as _;

use quietcore_osek::configuration::{Checking, Kind, Scale};

use crate::check::class_word;
use crate::configuration::{Configuration, Counter, Resource, Task};

/// The largest value of an enumerator in C99.
const ENUMERATOR_MAX: u64 = i32::MAX as u64;

/// The C header `os_cfg.h` of a configuration. It needs no other header of ours.
pub fn header(configuration: &Configuration) -> String {
    let mut text = String::new();
    write!(
        text,
        "/* The objects of the OSEK application `{cpu}`. Generated from OIL; changes are lost. */\n\
         #ifndef OS_CFG_H\n\
         #define OS_CFG_H\n\
         \n\
         #include <stdint.h>\n",
        cpu = configuration.cpu
    )
    .expect("writing to a string does not fail");
    switches(&mut text, configuration);
    let modes = configuration.modes.iter().enumerate().map(|(index, mode)| {
        let remark = if index == 0 { "the default" } else { "" };
        (mode.name.as_str(), index as u64, remark.to_owned())
    });
    let alias = configuration.modes.iter().all(|mode| mode.name != "OSDEFAULTAPPMODE");
    let alias = alias.then(|| ("OSDEFAULTAPPMODE", 0, String::new()));
    enumeration(&mut text, "Application modes", alias.into_iter().chain(modes));
    enumeration(&mut text, "Tasks", numbered(&configuration.tasks, |it| &it.name, task_remark));
    enumeration(
        &mut text,
        "ISRs",
        numbered(
            &configuration.isrs,
            |isr| &isr.name,
            |isr| format!("category {}, level {}, source {}", isr.category, isr.level, isr.source),
        ),
    );
    let resource_remark = |resource: &Resource| resource_remark(resource, configuration);
    enumeration(
        &mut text,
        "Resources",
        numbered(&configuration.resources, |resource| &resource.name, resource_remark),
    );
    events(&mut text, configuration);
    enumeration(
        &mut text,
        "Counters",
        numbered(&configuration.counters, |counter| &counter.name, counter_remark),
    );
    let on_counter = |counter: usize| format!("on {}", configuration.counters[counter].name);
    enumeration(
        &mut text,
        "Alarms",
        numbered(&configuration.alarms, |alarm| &alarm.name, |alarm| on_counter(alarm.counter)),
    );
    enumeration(
        &mut text,
        "Schedule tables",
        numbered(
            &configuration.schedule_tables,
            |table| &table.name,
            |table| on_counter(table.counter),
        ),
    );
    counter_constants(&mut text, configuration);
    text.push_str("\n#endif /* OS_CFG_H */\n");
    text
}

/// Writes the macros that select parts of the OSEK header.
fn switches(text: &mut String, configuration: &Configuration) {
    let extended = configuration.checking == Checking::Extended;
    let lines = [
        (format!("QUIETCORE_OSEK_CLASS_{}", class_word(configuration.class)), true),
        ("QUIETCORE_OSEK_EXTENDED_STATUS".to_owned(), extended),
        ("QUIETCORE_OSEK_USE_GET_SERVICE_ID".to_owned(), configuration.service_id),
        ("QUIETCORE_OSEK_USE_PARAMETER_ACCESS".to_owned(), configuration.parameter_access),
    ];
    text.push_str("\n/* Conformance class, and what is switched on. */\n");
    for (name, is_on) in lines {
        push(text, format_args!("#define {name} {}\n", u8::from(is_on)));
    }
}

/// An entry of an enumeration: name, value and remark.
type Entry<'e> = (&'e str, u64, String);

fn numbered<'c, T>(
    objects: &'c [T],
    name: impl Fn(&'c T) -> &'c String,
    remark: impl Fn(&'c T) -> String,
) -> impl Iterator<Item = Entry<'c>> {
    let objects = objects.iter().enumerate();
    objects.map(move |(index, object)| (name(object).as_str(), index as u64, remark(object)))
}

fn enumeration<'e>(text: &mut String, title: &str, entries: impl Iterator<Item = Entry<'e>>) {
    let entries: Vec<_> = entries.collect();
    if entries.is_empty() {
        return;
    }
    push(text, format_args!("\n/* {title}. */\nenum {{\n"));
    for (index, (name, value, remark)) in entries.iter().enumerate() {
        let comma = if index + 1 == entries.len() { "" } else { "," };
        let remark = if remark.is_empty() { String::new() } else { format!(" /* {remark} */") };
        push(text, format_args!("    {name} = {value}{comma}{remark}\n"));
    }
    text.push_str("};\n");
}

fn task_remark(task: &Task) -> String {
    let kind = if task.kind == Kind::Extended { "extended" } else { "basic" };
    let schedule = if task.preemptable { "" } else { ", not preemptable" };
    format!("priority {}, {kind}{schedule}", task.given_priority)
}

fn resource_remark(resource: &Resource, configuration: &Configuration) -> String {
    if let Some(other) = resource.linked_to {
        return format!("another name of {}", configuration.resources[other].name);
    }
    match resource.scale {
        Scale::Task => format!("ceiling: level {} of tasks", resource.ceiling),
        Scale::Interrupt => format!("ceiling: interrupt level {}", resource.ceiling),
    }
}

fn counter_remark(counter: &Counter) -> String {
    match counter.tick_ns {
        Some(tick_ns) => format!("hardware, a tick of {tick_ns} ns"),
        None => "software".to_owned(),
    }
}

/// Masks that no enumerator can hold are constants.
fn events(text: &mut String, configuration: &Configuration) {
    let small = configuration.events.iter().filter(|event| event.mask <= ENUMERATOR_MAX);
    enumeration(
        text,
        "Events, as masks",
        small.map(|event| (event.name.as_str(), event.mask, String::new())),
    );
    let large: Vec<_> =
        configuration.events.iter().filter(|event| event.mask > ENUMERATOR_MAX).collect();
    if large.is_empty() {
        return;
    }
    text.push_str("\n/* Events whose masks no enumerator of C99 can hold. */\n");
    for event in large {
        push(
            text,
            format_args!(
                "static const uint64_t {} __attribute__((unused)) = UINT64_C({:#x});\n",
                event.name, event.mask
            ),
        );
    }
}

/// The constants of OSEK OS 2.2.3, 13.6.4: those of each counter, and those of the system counter.
fn counter_constants(text: &mut String, configuration: &Configuration) {
    for counter in &configuration.counters {
        push(text, format_args!("\n/* Counter {}. */\n", counter.name));
        constants(text, &format!("_{}", counter.name), counter);
    }
    if let Some(system) = configuration.system_counter() {
        let counter = &configuration.counters[system];
        push(text, format_args!("\n/* The system counter is {}. */\n", counter.name));
        constants(text, "", counter);
        let tick_ns = counter.tick_ns.unwrap_or_default();
        push(text, format_args!("#define OSTICKDURATION UINT64_C({tick_ns}) /* ns */\n"));
    }
}

fn constants(text: &mut String, suffix: &str, counter: &Counter) {
    push(text, format_args!("#define OSMAXALLOWEDVALUE{suffix} {}u\n", counter.max_allowed));
    push(text, format_args!("#define OSTICKSPERBASE{suffix} {}u\n", counter.ticks_per_base));
    push(text, format_args!("#define OSMINCYCLE{suffix} {}u\n", counter.min_cycle));
}

/// Adds to a string, which can't fail.
pub(super) fn push(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    text.write_fmt(arguments).expect("writing to a string does not fail");
}
