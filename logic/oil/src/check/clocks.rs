//! Counters, alarms and what they do (OSEK OS 2.2.3, 9).

use crate::application::{self, Application};
use crate::check::names::Names;
use crate::configuration::{Action, Alarm, AlarmStart, Counter};
use crate::problem::Collector;
use crate::text::place::{Given, Word};

/// The counters. All hardware counters have the same tick, because a machine has one.
pub(super) fn counters(application: &Application, collector: &mut Collector) -> Vec<Counter> {
    let mut tick: Option<(&Word, u64)> = None;
    for counter in &application.counters {
        if counter.min_cycle.value > counter.max_allowed {
            let message = format!(
                "the shortest cycle is beyond `MAXALLOWEDVALUE`; write {} at most",
                counter.max_allowed
            );
            collector.refuse_word(&counter.min_cycle.word, message);
        }
        check_type(counter, collector);
        let Some(own) = &counter.tick_ns else {
            continue;
        };
        match tick {
            Some((first, ns)) if ns != own.value => {
                let message = format!(
                    "the tick of `{}` is {ns} ns, and all hardware counters have the same; let \
                     alarms increment a software counter",
                    first.text
                );
                collector.refuse_word(&own.word, message);
            }
            Some(_) => {}
            None => tick = Some((&counter.name, own.value)),
        }
    }
    let counters = application.counters.iter().map(|counter| Counter {
        name: counter.name.text.clone(),
        max_allowed: counter.max_allowed,
        ticks_per_base: counter.ticks_per_base,
        min_cycle: counter.min_cycle.value,
        tick_ns: counter.tick_ns.as_ref().map(|tick| tick.value),
    });
    counters.collect()
}

fn check_type(counter: &application::Counter, collector: &mut Collector) {
    match (&counter.hardware, &counter.tick_ns) {
        (Some(Given { value: true, word }), None) => {
            let message = "a hardware counter needs the time of its tick; write \
                           `NANOSECONDSPERTICK = 1000000;` for 1 ms";
            collector.refuse_word(word, message);
        }
        (Some(Given { value: false, .. }), Some(tick)) => {
            let message = "a software counter has no time of its own; leave it out, or write `TYPE \
                           = HARDWARE;`";
            collector.refuse_word(&tick.word, message);
        }
        _ => {}
    }
}

/// The alarms.
pub(super) fn alarms(
    application: &Application,
    names: &Names<'_>,
    masks: &[u64],
    collector: &mut Collector,
) -> Vec<Alarm> {
    let mut alarms = Vec::new();
    for alarm in &application.alarms {
        let counter = names.counter(&alarm.counter);
        if let Some(start) = &alarm.start {
            check_start(start, &application.counters[counter], collector);
        }
        let start = alarm.start.as_ref().map(|start| AlarmStart {
            modes: names.modes_of(Some(&start.autostart)),
            first: start.first.value,
            cycle: start.cycle.as_ref().map_or(0, |cycle| cycle.value),
        });
        alarms.push(Alarm {
            name: alarm.name.text.clone(),
            counter,
            action: action(&alarm.action, application, names, masks, collector),
            start,
        });
    }
    alarms
}

fn check_start(
    start: &application::AlarmStart,
    counter: &application::Counter,
    collector: &mut Collector,
) {
    let (name, max) = (&counter.name.text, counter.max_allowed);
    if start.first.value > max {
        let message = format!("`ALARMTIME` is beyond counter `{name}`; write {max} at most");
        collector.refuse_word(&start.first.word, message);
    }
    let min = counter.min_cycle.value;
    if let Some(cycle) = &start.cycle
        && cycle.value != 0
        && !(min..=max).contains(&cycle.value)
    {
        let message =
            format!("`CYCLETIME` on counter `{name}` is from {min} to {max}, or 0 for once only");
        collector.refuse_word(&cycle.word, message);
    }
}

/// What an alarm or an expiry point does. Names are checked; an event must be its task's.
pub(super) fn action(
    action: &application::Action,
    application: &Application,
    names: &Names<'_>,
    masks: &[u64],
    collector: &mut Collector,
) -> Action {
    match action {
        application::Action::ActivateTask { task } => Action::ActivateTask(names.task(task)),
        application::Action::SetEvent { task, event } => {
            let given = &application.tasks[names.task(task)];
            if given.events.is_empty() {
                let message = format!(
                    "a basic task, which has no events; write `EVENT = {};` into it, or `ACTION = \
                     ACTIVATETASK`",
                    event.text
                );
                collector.refuse_word(task, message);
            } else if !given.events.iter().any(|own| own.text == event.text) {
                let message = format!(
                    "no event of task `{}`; write `EVENT = {};` into it",
                    task.text, event.text
                );
                collector.refuse_word(event, message);
            }
            let event = names.event(event);
            Action::SetEvent { task: names.task(task), event, mask: masks[event] }
        }
        application::Action::Callback { name } => Action::Callback(name.text.clone()),
        application::Action::IncrementCounter { counter } => {
            Action::IncrementCounter(names.counter(counter))
        }
    }
}

/// Only software counters are incremented, and none by itself, not even through others.
pub(super) fn check_increments(
    application: &Application,
    names: &Names<'_>,
    collector: &mut Collector,
) {
    let alarms = application.alarms.iter().map(|alarm| (&alarm.counter, &alarm.action));
    let tables = application.tables.iter().flat_map(|table| {
        let actions = table.points.iter().flat_map(|point| &point.actions);
        actions.map(|action| (&table.counter, action))
    });
    let mut edges = Vec::new();
    for (from, action) in alarms.chain(tables) {
        let application::Action::IncrementCounter { counter } = action else {
            continue;
        };
        let to = names.counter(counter);
        if application.counters[to].tick_ns.is_some() {
            let message = "a hardware counter, which the machine's tick drives; name a software \
                           counter";
            collector.refuse_word(counter, message);
        }
        edges.push((names.counter(from), to, counter));
    }
    for (from, to, counter) in &edges {
        if reaches(*to, *from, &edges, application.counters.len()) {
            let message = format!(
                "counter `{}` would increment itself; counters that increment each other end \
                 nowhere",
                application.counters[*from].name.text
            );
            collector.refuse_word(counter, message);
        }
    }
}

/// Whether one counter leads to another along the edges, of which there are at most as many as
/// alarms and actions; each counter is visited once.
fn reaches(start: usize, end: usize, edges: &[(usize, usize, &Word)], count: usize) -> bool {
    let mut seen = vec![false; count];
    let mut open = vec![start];
    while let Some(counter) = open.pop() {
        if counter == end {
            return true;
        }
        if std::mem::replace(&mut seen[counter], true) {
            continue;
        }
        open.extend(edges.iter().filter(|(from, ..)| *from == counter).map(|(_, to, _)| *to));
    }
    false
}
