//! Checks the objects together: if the kernel can work with them; and makes its tables.
//!
//! First the names, which all else leans on, then each subject by itself, so that one run tells
//! all. What refers to nothing is passed over from then on, and so is each rule that may be broken
//! only because something else could not be read.

mod class;
mod clocks;
mod events;
mod levels;
mod messages;
mod names;
mod resources;
mod table;
mod words;

pub(crate) use class::word as class_word;
pub(crate) use names::SCHEDULER_RESOURCE;

use crate::application::{Action, Application};
use crate::check::names::Names;
use crate::configuration::{
    Configuration, Definition, Definitions, Hooks, InternalResource, Isr, Mode, Task,
};
use crate::problem::Collector;
use crate::schema::Kind as ObjectKind;
use crate::tables::Tables;
use quietcore_osek::check::Table;
use quietcore_osek::configuration::{self as kernel, Checking, Kind};
use quietcore_osek::stacks::{self, Machine, OWN_BYTES, OWN_STACKS, STACKS_BYTES_MAX};

/// The configuration that an application means; `None` where something is told to be wrong with it.
pub(crate) fn check(
    mut application: Application,
    collector: &mut Collector,
) -> Option<Configuration> {
    let mut names = Names::of(&application, collector);
    names.check_references(&application, collector);
    clocks::order(&mut application, &mut names, collector);
    let application = &application;
    let levels = levels::levels(application, &names, collector);
    let class = class::class(application, &names, collector);
    let resources = resources::resources(application, &names, &levels, collector);
    let masks = events::masks(application, &names, collector);
    let counters = clocks::counters(application, &names, collector);
    let alarms = clocks::alarms(application, &names, &masks, collector);
    let tables = table::tables(application, &names, &masks, collector);
    let messages = messages::messages(application, &names, &masks, collector);
    clocks::check_increments(application, &names, collector);
    isrs_are_ordered(application, collector);
    stacks_fit(application, collector);
    if !names.have_lost(ObjectKind::Os) {
        budgets_are_accounted(application, collector);
    }
    if !collector.is_clean() {
        return None;
    }
    let os = &application.os;
    let configuration = Configuration {
        cpu: application.cpu.text.clone(),
        class,
        checking: if os.is_extended_status { Checking::Extended } else { Checking::Standard },
        accounting: os.accounting,
        service_id: os.service_id,
        parameter_access: os.parameter_access,
        hooks: Hooks {
            startup: os.startup_hook,
            shutdown: os.shutdown_hook,
            error: os.error_hook,
            pre_task: os.pre_task_hook,
            post_task: os.post_task_hook,
        },
        modes: names.modes.iter().map(|name| Mode { name: name.clone() }).collect(),
        tasks: tasks(application, &names, &levels, &resources, &masks),
        isrs: isrs(application, &resources),
        resources: resources.ordinary,
        internal_resources: resources.internal,
        events: events::events(application, &masks),
        counters,
        alarms,
        schedule_tables: tables,
        messages,
        message_places: Definitions(messages::places(application, collector)),
        definitions: Definitions(definitions(application, collector)),
        remarks: Vec::new(),
    };
    the_kernel_takes_it(&configuration, application, collector);
    Some(configuration)
}

/// Refuses what the kernel itself would refuse at its start.
fn the_kernel_takes_it(
    configuration: &Configuration,
    application: &Application,
    collector: &mut Collector,
) {
    extern "C" fn nothing() {}
    let tables = Tables::new(configuration, kernel::Hooks::default(), &mut |_| nothing);
    let Err(refusal) = quietcore_osek::check::check(&tables.configuration()) else { return };
    let counter = application.counters.get(refusal.index);
    match counter.filter(|_| refusal.table == Table::Counters) {
        Some(counter) => collector.refuse_word(&counter.name, refusal.rule),
        None => collector.refuse_word(&application.cpu, refusal.to_string()),
    }
}

/// Lists the functions that the program has to define, with the positions that ask for them.
fn definitions(application: &Application, collector: &Collector) -> Vec<Definition> {
    let tasks = application.tasks.iter().map(|task| &task.name);
    let names = tasks.chain(application.isrs.iter().map(|isr| &isr.name));
    let alarms = application.alarms.iter().map(|alarm| &alarm.action);
    let points = application.tables.iter().flat_map(|table| &table.points);
    let actions = alarms.chain(points.flat_map(|point| &point.actions));
    let callbacks = actions.filter_map(|action| match action {
        Action::Callback { name } => Some(name),
        _ => None,
    });
    let words = names.chain(callbacks).map(|word| (word.text.as_str(), word.place));
    let all = words.chain(application.hooks.iter().copied());
    all.map(|(name, place)| collector.definition(name, place)).collect()
}

fn tasks(
    application: &Application,
    names: &Names,
    levels: &[u8],
    resources: &resources::Resources,
    masks: &[u64],
) -> Vec<Task> {
    let tasks = application.tasks.iter().enumerate();
    tasks
        .map(|(index, task)| {
            let events: Vec<_> =
                task.events.iter().filter_map(|event| names.event(event)).collect();
            let internal = resources.internal_of(index);
            Task {
                name: task.name.text.clone(),
                given_priority: task.priority.value,
                priority: levels[index],
                running_level: running_level(
                    task.not_preemptable.is_some(),
                    levels[index],
                    internal,
                ),
                preemptable: task.not_preemptable.is_none(),
                activations: task.activations.value,
                kind: if events.is_empty() { Kind::Basic } else { Kind::Extended },
                event_mask: events.iter().fold(0, |mask, event| mask | masks[*event]),
                events,
                resources: resources.of_task(index),
                internal_resource: internal.map(|(index, _)| index),
                autostart: names.modes_of(task.autostart.as_ref()),
                stack_bytes: task.stack_bytes.value,
                budget_ns: task.budget_ns.as_ref().map(|budget| budget.value),
                inter_arrival_ns: task.inter_arrival_ns.as_ref().map(|time| time.value),
            }
        })
        .collect()
}

/// The level that a task runs at (OSEK OS 2.2.3, 4.6 and 8.7).
fn running_level(
    is_not_preemptable: bool,
    priority: u8,
    internal: Option<(usize, &InternalResource)>,
) -> u8 {
    match internal {
        _ if is_not_preemptable => quietcore_osek::configuration::SCHEDULER_LEVEL,
        Some((_, resource)) => resource.ceiling,
        None => priority,
    }
}

fn isrs(application: &Application, resources: &resources::Resources) -> Vec<Isr> {
    let isrs = application.isrs.iter().enumerate();
    isrs.map(|(index, isr)| Isr {
        name: isr.name.text.clone(),
        category: isr.category,
        level: isr.level.value,
        source: isr.source.value,
        resources: resources.of_isr(index),
    })
    .collect()
}

/// All stacks together are memory that a machine may have. The rule is that of the hosted port, for
/// a machine as most are.
fn stacks_fit(application: &Application, collector: &mut Collector) {
    let machine = Machine::USUAL;
    let levels = stacks::levels(application.isrs.iter().map(|isr| isr.level.value));
    let mut bytes = OWN_STACKS * machine.stack_bytes(OWN_BYTES, levels);
    for task in &application.tasks {
        let before = bytes;
        let own = usize::try_from(task.stack_bytes.value).unwrap_or(STACKS_BYTES_MAX);
        bytes += machine.stack_bytes(own, levels);
        if before <= STACKS_BYTES_MAX && bytes > STACKS_BYTES_MAX {
            let message = format!(
                "with the stack of `{}` there are {bytes} bytes of stacks, {} in each for \
                 interrupts included; {STACKS_BYTES_MAX} are the most",
                task.name.text,
                machine.reserve_bytes(levels)
            );
            collector.refuse_word(&task.stack_bytes.word, message);
        }
    }
}

/// ISRs of category 1 lie above those of category 2: a service would hold them back otherwise, and
/// they would interrupt it without the kernel's knowledge.
fn isrs_are_ordered(application: &Application, collector: &mut Collector) {
    let second = application.isrs.iter().filter(|isr| isr.category == 2);
    // The kernel's own tick is of category 2, at level 1.
    let most_urgent = second
        .map(|isr| (isr.level.value, format!("`{}`", isr.name.text)))
        .max_by_key(|(level, _)| *level)
        .unwrap_or((1, "the kernel's tick".to_owned()));
    for (index, isr) in application.isrs.iter().enumerate() {
        if isr.category == 1 && isr.level.value <= most_urgent.0 {
            let (level, name) = &most_urgent;
            let message = format!(
                "`{}` is of category 1 and must lie above all of category 2; {name} has {level}",
                isr.name.text
            );
            collector.refuse_word(&isr.level.word, message);
        }
        let same = |other: &&crate::application::Isr| other.source.value == isr.source.value;
        if let Some(other) = application.isrs[..index].iter().find(same) {
            let message = format!("the source of ISR `{}`, too; it raises both", other.name.text);
            collector.remark(isr.source.word.place, &isr.source.word.text, message);
        }
    }
}

fn budgets_are_accounted(application: &Application, collector: &mut Collector) {
    let limits =
        application.tasks.iter().flat_map(|task| [&task.budget_ns, &task.inter_arrival_ns]);
    for limit in limits.flatten().filter(|_| !application.os.accounting) {
        let message = "a limit on times needs them measured; write `ACCOUNTING = TRUE;` into OS";
        collector.refuse_word(&limit.word, message);
    }
}
