//! Counters, alarms and what they do (OSEK OS 2.2.3, 9).

use crate::application::{self, Application};
use crate::check::events;
use crate::check::names::Names;
use crate::configuration::{Action, Alarm, AlarmStart, Counter};
use crate::problem::Collector;
use crate::schema::Kind;
use crate::text::place::{Given, Word};

/// The counters. All hardware counters have the same tick, because a machine has one.
pub(super) fn counters(
    application: &Application,
    names: &Names,
    collector: &mut Collector,
) -> Vec<Counter> {
    let mut tick: Option<(&Word, u64)> = None;
    for counter in &application.counters {
        if counter.min_cycle.value > counter.max_allowed {
            let message = format!(
                "the shortest cycle is beyond `MAXALLOWEDVALUE`; write {} at most",
                counter.max_allowed
            );
            collector.refuse_word(&counter.min_cycle.word, message);
        }
        if !names.have_lost(Kind::Counter) {
            check_type(counter, collector);
        }
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

/// Checks the alarms and makes their tables.
pub(super) fn alarms(
    application: &Application,
    names: &Names,
    masks: &[u64],
    collector: &mut Collector,
) -> Vec<Alarm> {
    let mut alarms = Vec::new();
    for alarm in &application.alarms {
        let counter = names.counter(&alarm.counter);
        if let (Some(start), Some(counter)) = (&alarm.start, counter) {
            check_start(start, &application.counters[counter], collector);
        }
        let start = alarm.start.as_ref().map(|start| AlarmStart {
            modes: names.modes_of(Some(&start.autostart)),
            first: start.first.value,
            cycle: start.cycle.as_ref().map_or(0, |cycle| cycle.value),
        });
        let action = action(&alarm.action, application, names, masks, collector);
        if let (Some(counter), Some(action)) = (counter, action) {
            alarms.push(Alarm { name: alarm.name.text.clone(), counter, action, start });
        }
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

/// Checks the action of an alarm or an expiry point; an event must be its task's. Returns `None` if
/// a name in it was refused.
pub(super) fn action(
    action: &application::Action,
    application: &Application,
    names: &Names,
    masks: &[u64],
    collector: &mut Collector,
) -> Option<Action> {
    Some(match action {
        application::Action::ActivateTask { task } => Action::ActivateTask(names.task(task)?),
        application::Action::SetEvent { task, event } => {
            let (task, event) =
                events::event_of_task([task, event], "ACTION", application, names, collector)?;
            Action::SetEvent { task, event, mask: masks[event] }
        }
        application::Action::Callback { name } => Action::Callback(name.text.clone()),
        application::Action::IncrementCounter { counter } => {
            Action::IncrementCounter(names.counter(counter)?)
        }
    })
}

/// An action that increments a counter: the counter on which it is done, the one that is
/// incremented, and the name of the latter as it was written.
struct Increment<'a> {
    from: usize,
    to: usize,
    word: &'a Word,
}

fn increments<'a>(application: &'a Application, names: &Names) -> Vec<Increment<'a>> {
    let alarms = application.alarms.iter().map(|alarm| (&alarm.counter, &alarm.action));
    let tables = application.tables.iter().flat_map(|table| {
        let actions = table.points.iter().flat_map(|point| &point.actions);
        actions.map(|action| (&table.counter, action))
    });
    let increments = alarms.chain(tables).filter_map(|(from, action)| match action {
        application::Action::IncrementCounter { counter } => Some(Increment {
            from: names.counter(from)?,
            to: names.counter(counter)?,
            word: counter,
        }),
        _ => None,
    });
    increments.collect()
}

/// Puts counters behind those that increment them, and leaves their order as it is otherwise. The
/// kernel advances them in this order, so that a tick ends. A circle, in which no counter can be
/// the first, is told.
pub(super) fn order(application: &mut Application, names: &mut Names, collector: &mut Collector) {
    let increments = increments(application, names);
    let mut open: Vec<usize> = (0..application.counters.len()).collect();
    let mut ordered = Vec::new();
    // Each round places one counter, or is the last one.
    while let Some(next) = open.iter().position(|counter| {
        !increments.iter().any(|it| it.to == *counter && open.contains(&it.from))
    }) {
        ordered.push(open.remove(next));
    }
    ordered.extend(&open);
    // What a circle leads to is open, too, and is no part of it.
    while let Some(end) = open.iter().position(|counter| {
        !increments.iter().any(|it| it.from == *counter && open.contains(&it.to))
    }) {
        open.remove(end);
    }
    for circle in increments.iter().filter(|it| open.contains(&it.from) && open.contains(&it.to)) {
        let message = format!(
            "counters increment each other in a circle with `{}`; let one of them stand on its own",
            application.counters[circle.from].name.text
        );
        collector.refuse_word(circle.word, message);
    }
    let mut numbers = vec![0; ordered.len()];
    for (number, counter) in ordered.iter().enumerate() {
        numbers[*counter] = number;
    }
    names.renumber_counters(&numbers);
    let mut counters: Vec<_> = numbers.iter().zip(application.counters.drain(..)).collect();
    counters.sort_by_key(|(number, _)| **number);
    application.counters = counters.into_iter().map(|(_, counter)| counter).collect();
}

/// Only software counters are incremented.
pub(super) fn check_increments(
    application: &Application,
    names: &Names,
    collector: &mut Collector,
) {
    for increment in increments(application, names) {
        if application.counters[increment.to].tick_ns.is_some() {
            let message = "a hardware counter, which the machine's tick drives; name a software \
                           counter";
            collector.refuse_word(increment.word, message);
        }
    }
}
