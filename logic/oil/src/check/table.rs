//! Schedule tables: their times fit the counter (after AUTOSAR OS, 7.3).

use crate::application::{self, Application};
use crate::check::clocks::action;
use crate::check::names::Names;
use crate::configuration::{ExpiryPoint, ScheduleTable};
use crate::problem::Collector;
use crate::schema::Kind;

/// Most expiry points of all tables, and most of their actions: their numbers have 16 bits.
const POINTS_MAX: usize = u16::MAX as usize;

/// Checks the schedule tables and makes theirs.
pub(super) fn tables(
    application: &Application,
    names: &Names,
    masks: &[u64],
    collector: &mut Collector,
) -> Vec<ScheduleTable> {
    let mut tables = Vec::new();
    let (mut points, mut actions) = (0, 0);
    for table in &application.tables {
        let counter = names.counter(&table.counter);
        if let Some(counter) = counter.filter(|_| !names.have_lost(Kind::ScheduleTable)) {
            check_times(table, &application.counters[counter], collector);
        }
        points += table.points.len();
        actions += table.points.iter().map(|point| point.actions.len()).sum::<usize>();
        if points.max(actions) > POINTS_MAX {
            let message = format!("with this table there are more than {POINTS_MAX} actions");
            collector.refuse_word(&table.name, message);
        }
        let points = table.points.iter().map(|point| ExpiryPoint {
            name: point.name.text.clone(),
            offset: point.offset.value,
            actions: point
                .actions
                .iter()
                .filter_map(|it| action(it, application, names, masks, collector))
                .collect(),
        });
        tables.push(ScheduleTable {
            name: table.name.text.clone(),
            // Without a counter nothing is made of these tables.
            counter: counter.unwrap_or(0),
            duration: table.duration.value,
            repeating: table.repeating,
            points: points.collect(),
            autostart: names.modes_of(table.start.as_ref().map(|(autostart, _)| autostart)),
            start: table.start.as_ref().map_or(1, |(_, start)| *start),
        });
    }
    tables
}

/// Offsets rise and lie in the duration; every delay is one that the counter can count.
fn check_times(
    table: &application::Table,
    counter: &application::Counter,
    collector: &mut Collector,
) {
    let (min, max) = (counter.min_cycle.value, counter.max_allowed);
    let limits = format!("counter `{}` counts delays from {min} to {max}", counter.name.text);
    let duration = table.duration.value;
    if duration > max {
        let message =
            format!("a duration beyond counter `{}`; write {max} at most", counter.name.text);
        collector.refuse_word(&table.duration.word, message);
        return;
    }
    let mut before: Option<&application::Point> = None;
    for point in &table.points {
        let offset = point.offset.value;
        let delay = before.map(|before| offset.checked_sub(before.offset.value));
        let word = &point.offset.word;
        if offset > duration {
            let message = format!("`{}` lies beyond the duration of {duration}", point.name.text);
            collector.refuse_word(word, message);
        } else if let Some(before) = before
            && matches!(delay, Some(None | Some(0)))
        {
            let message = format!(
                "`{}` is not later than `{}`; write expiry points by rising offset, and actions of \
                 the same instant into one",
                point.name.text, before.name.text
            );
            collector.refuse_word(word, message);
        } else if let Some(delay) = delay.unwrap_or((offset > 0).then_some(offset))
            && !(min..=max).contains(&delay)
        {
            let message = format!("`{}` comes after a delay of {delay}; {limits}", point.name.text);
            collector.refuse_word(word, message);
        }
        before = Some(point);
    }
    let (Some(first), Some(last)) = (table.points.first(), table.points.last()) else {
        return;
    };
    // The last delay of a repeating table leads to the first point of the next run.
    let rest = duration.saturating_sub(last.offset.value);
    let delay = if table.repeating { rest.saturating_add(first.offset.value) } else { rest };
    let is_single_end = !table.repeating && delay == 0;
    if last.offset.value <= duration && !is_single_end && !(min..=max).contains(&delay) {
        let message = format!("after `{}` there is a delay of {delay}; {limits}", last.name.text);
        collector.refuse_word(&table.duration.word, message);
    }
    if let Some((autostart, start)) = &table.start
        && *start > max
    {
        let message = format!("it starts at tick {start}, beyond counter `{}`", counter.name.text);
        collector.refuse_word(&autostart.word, message);
    }
}
