//! Events and their masks (OSEK OS 2.2.3, 7).
//!
//! Two events of one task need different bits; events of different tasks may share theirs.

use crate::application::Application;
use crate::check::names::Names;
use crate::configuration::Event;
use crate::problem::Collector;
use crate::schema::Kind;
use crate::text::place::Word;

/// Most events of a task: a bit each.
pub(crate) const TASK_EVENTS_MAX: usize = 64;

/// The mask of each event.
pub(super) fn masks(
    application: &Application,
    names: &Names,
    collector: &mut Collector,
) -> Vec<u64> {
    let events = &application.events;
    let mut tasks_of: Vec<Vec<usize>> = vec![Vec::new(); events.len()];
    for (index, task) in application.tasks.iter().enumerate() {
        if let Some(first) = task.events.get(TASK_EVENTS_MAX) {
            let message = format!(
                "`{}` has {} events; {TASK_EVENTS_MAX} are the most",
                task.name.text,
                task.events.len()
            );
            collector.refuse_word(first, message);
        }
        for event in &task.events {
            if let Some(event) = names.event(event) {
                tasks_of[event].push(index);
            }
        }
    }
    let mut masks: Vec<u64> =
        events.iter().map(|event| event.mask.as_ref().map_or(0, |mask| mask.value)).collect();
    let mut used = used_by_tasks(application, names, &masks, collector);
    for (index, event) in events.iter().enumerate() {
        if tasks_of[index].is_empty() {
            let message = "no task may wait for this event; write `EVENT = …;` into those that do";
            collector.remark(event.name.place, &event.name.text, message);
        }
        if event.mask.is_some() {
            continue;
        }
        let taken = tasks_of[index].iter().fold(0, |taken, task| taken | used[*task]);
        let free = u32::min(u64::trailing_ones(taken), 63);
        let is_over = |task: &usize| application.tasks[*task].events.len() > TASK_EVENTS_MAX;
        if taken == u64::MAX && !tasks_of[index].iter().any(is_over) {
            let message = "no bit is left for this event that no other one of its tasks has";
            collector.refuse_word(&event.name, message);
        }
        masks[index] = 1 << free;
        for task in &tasks_of[index] {
            used[*task] |= masks[index];
        }
    }
    masks
}

/// The bits that were given to events of each task; those given twice are refused.
fn used_by_tasks(
    application: &Application,
    names: &Names,
    masks: &[u64],
    collector: &mut Collector,
) -> Vec<u64> {
    let mut used = vec![0; application.tasks.len()];
    for (task, used) in application.tasks.iter().zip(&mut used) {
        for (index, event) in task.events.iter().enumerate() {
            let Some(number) = names.event(event) else {
                continue;
            };
            let mask = masks[number];
            let shares =
                |other: &&Word| names.event(other).is_some_and(|other| masks[other] & mask != 0);
            if *used & mask != 0
                && let Some(other) = task.events[..index].iter().find(shares)
                && let Some(given) = &application.events[number].mask
            {
                let message = format!(
                    "`{}` and `{}` of task `{}` share bits; give each its own, or write `MASK = \
                     AUTO;`",
                    other.text, event.text, task.name.text
                );
                collector.refuse_word(&given.word, message);
            }
            *used |= mask;
        }
    }
    used
}

/// The numbers of a task and of an event that is set for it, which must be one of the task's.
/// `None` if one of the names was refused. `attribute` is the one that could be `ACTIVATETASK`.
pub(super) fn event_of_task(
    [task, event]: [&Word; 2],
    attribute: &str,
    application: &Application,
    names: &Names,
    collector: &mut Collector,
) -> Option<(usize, usize)> {
    let (task_number, event_number) = (names.task(task)?, names.event(event)?);
    let given = &application.tasks[task_number];
    let events_are_known = !names.have_lost(Kind::Task) && !names.have_lost(Kind::Event);
    if !events_are_known {
        // The task may have an event of another name, which is refused.
    } else if given.events.is_empty() {
        let message = format!(
            "a basic task, which has no events; write `EVENT = {};` into it, or `{attribute} = \
             ACTIVATETASK`",
            event.text
        );
        collector.refuse_word(task, message);
    } else if !given.events.iter().any(|own| own.text == event.text) {
        let message =
            format!("no event of task `{}`; write `EVENT = {};` into it", task.text, event.text);
        collector.refuse_word(event, message);
    }
    Some((task_number, event_number))
}

/// The table of the events.
pub(super) fn events(application: &Application, masks: &[u64]) -> Vec<Event> {
    let events = application.events.iter().zip(masks);
    events.map(|(event, mask)| Event { name: event.name.text.clone(), mask: *mask }).collect()
}
