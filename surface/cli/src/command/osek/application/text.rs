//! An application as text: a line for the whole, and a table for each kind of object.

use quietcore_oil::{Alarm, Counter, ScheduleTable, Task};
use quietcore_units::{ByteSize, Nanos};

use super::{AnyResource, Application, Ceiling, kind, start};
use crate::table::Table;
use crate::terminal::width;

impl Application<'_> {
    /// Returns the text, its tables as wide as the terminal.
    pub(in crate::command::osek) fn text(&self) -> String {
        let tables = [
            self.tasks(),
            self.isrs(),
            self.resource_table(),
            self.events(),
            self.counters(),
            self.alarms(),
            self.schedule_tables(),
            self.messages(),
        ];
        let mut lines = self.head();
        for table in tables.into_iter().filter(|table| !table.is_empty()) {
            lines.push(String::new());
            lines.extend(table.lines_within(width()));
        }
        lines.join("\n") + "\n"
    }

    fn head(&self) -> Vec<String> {
        let tick = self.0.hardware_tick_ns().map(|tick_ns| {
            let period = Nanos::new(tick_ns);
            format!(", a tick every {period} (`period` in a site file)")
        });
        let tick = tick.unwrap_or_default();
        let modes = match &self.modes()[..] {
            [only] => format!("application mode: {only}"),
            all => format!("application modes: {}; {} is the default", all.join(", "), all[0]),
        };
        vec![format!("{}, {} status{tick}", self.class(), self.status()), modes]
    }

    fn tasks(&self) -> Table {
        let mut table = Table::new(&["task", "kind", ">priority", ">activations", ">stack", ""]);
        for task in self.0.tasks() {
            table.row([
                task.name.clone(),
                kind(task),
                task.given_priority.to_string(),
                task.activations.to_string(),
                ByteSize::new(u64::from(task.stack_bytes)).to_string(),
                self.notes_on(task),
            ]);
        }
        table
    }

    /// Returns the notes of a task, such as its budget, for the last column.
    fn notes_on(&self, task: &Task) -> String {
        let budget = task.budget_ns.map(|budget| format!("budget {}", Nanos::new(budget)));
        let arrival =
            task.inter_arrival_ns.map(|time| format!("at most every {}", Nanos::new(time)));
        let notes = [
            (task.autostart != 0)
                .then(|| format!("starts by itself{}", self.only_in(task.autostart))),
            (!task.preemptable).then(|| "not preemptable".to_owned()),
            budget,
            arrival,
        ];
        notes.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Returns the modes in which something starts by itself; empty if it does so in every mode.
    fn only_in(&self, modes: u32) -> String {
        let modes = self.modes_of(modes);
        if modes.len() == self.modes().len() || modes.is_empty() {
            String::new()
        } else {
            format!(" in {}", modes.join(", "))
        }
    }

    fn isrs(&self) -> Table {
        let mut table = Table::new(&["ISR", ">category", ">level", ">source"]);
        for isr in self.0.isrs() {
            table.row([
                isr.name.clone(),
                isr.category.to_string(),
                isr.level.to_string(),
                isr.source.to_string(),
            ]);
        }
        table
    }

    fn resource_table(&self) -> Table {
        let mut table = Table::new(&["resource", "kind", "ceiling", "used by"]);
        for resource in self.resources() {
            table.row([
                resource.name.to_owned(),
                resource.kind(),
                resource.ceiling.text(),
                or_dash(resource.users.join(", ")),
            ]);
        }
        table
    }

    fn events(&self) -> Table {
        let mut table = Table::new(&["event", ">mask", "received by"]);
        for (number, event) in self.0.events().iter().enumerate() {
            table.row([
                event.name.clone(),
                format!("{:#x}", event.mask),
                or_dash(self.receivers(number).join(", ")),
            ]);
        }
        table
    }

    fn counters(&self) -> Table {
        let heading = ["counter", "kind", ">largest value", ">ticks per base", ">least cycle"];
        let mut table = Table::new(&heading);
        for counter in self.0.counters() {
            table.row([
                counter.name.clone(),
                driven_by(counter),
                counter.max_allowed.to_string(),
                counter.ticks_per_base.to_string(),
                counter.min_cycle.to_string(),
            ]);
        }
        table
    }

    fn alarms(&self) -> Table {
        let mut table = Table::new(&["alarm", "counter", ">first", ">cycle", "does"]);
        for alarm in self.0.alarms() {
            table.row([
                alarm.name.clone(),
                self.counter(alarm.counter).to_owned(),
                ticks(alarm.start.map(|start| start.first)),
                ticks(alarm.start.map(|start| start.cycle)),
                self.done_by(alarm),
            ]);
        }
        table
    }

    fn done_by(&self, alarm: &Alarm) -> String {
        let action = self.action(&alarm.action);
        match self.only_in(alarm.start.map_or(0, |start| start.modes)) {
            modes if modes.is_empty() => action,
            modes => format!("{action}; starts{modes}"),
        }
    }

    /// Returns a row for each table, and one for each of its expiry points.
    fn schedule_tables(&self) -> Table {
        let mut table = Table::new(&["schedule table", "counter", ">at", "does"]);
        for one in self.0.schedule_tables() {
            let counter = self.counter(one.counter).to_owned();
            let cells = [one.name.clone(), counter, String::new(), self.runs(one)];
            table.row(cells);
            for point in &one.points {
                let (offset, actions) = (point.offset.to_string(), self.actions(point).join(", "));
                table.row([format!("  {}", point.name), String::new(), offset, actions]);
            }
        }
        table
    }

    fn messages(&self) -> Table {
        let mut table = Table::new(&["message", "does"]);
        for message in self.0.messages() {
            table.row([message.name.clone(), self.notification(&message.notification)]);
        }
        table
    }

    fn runs(&self, table: &ScheduleTable) -> String {
        let repeats = if table.repeating { "again and again" } else { "once" };
        let modes = self.only_in(table.autostart);
        let starts = start(table).map(|tick| format!(", starts at tick {tick}{modes}"));
        format!("{} ticks, {repeats}{}", table.duration, starts.unwrap_or_default())
    }
}

impl AnyResource<'_> {
    fn kind(&self) -> String {
        match self.linked_to {
            Some(other) => format!("another name of {other}"),
            None => self.property.to_owned(),
        }
    }
}

impl Ceiling {
    fn text(&self) -> String {
        match self {
            Self::Priority(priority) => format!("priority {priority}"),
            Self::InterruptLevel(level) => format!("interrupt level {level}"),
            Self::AllTasks => "above all tasks".to_owned(),
        }
    }
}

fn driven_by(counter: &Counter) -> String {
    match counter.tick_ns {
        Some(tick_ns) => format!("tick of {}", Nanos::new(tick_ns)),
        None => "software".to_owned(),
    }
}

fn ticks(ticks: Option<u32>) -> String {
    ticks.map_or("–".to_owned(), |ticks| ticks.to_string())
}

fn or_dash(text: String) -> String {
    if text.is_empty() { "–".to_owned() } else { text }
}
