//! An application as people read it: a line for the whole, and a table for each kind of object.

use quietcore_units::{ByteSize, Nanos};

use super::{Alarm, Application, Ceiling, CounterRow, Property, Resource, ScheduleTable, Task};
use crate::table::Table;
use crate::terminal::width;

impl Application {
    /// The text, in as many columns as text may have.
    pub(in crate::command::osek) fn text(&self) -> String {
        let tables = [
            self.tasks(),
            self.isrs(),
            self.resources(),
            self.events(),
            self.counters(),
            self.alarms(),
            self.schedule_tables(),
        ];
        let mut lines = self.head();
        for table in tables.into_iter().filter(|table| !table.is_empty()) {
            lines.push(String::new());
            lines.extend(table.lines_within(width()));
        }
        lines.join("\n") + "\n"
    }

    fn head(&self) -> Vec<String> {
        let tick = self.tick_ns.map(|tick_ns| {
            let period = Nanos::new(tick_ns);
            format!(", a tick every {period} (`period` in a site file)")
        });
        let tick = tick.unwrap_or_default();
        let modes = match &self.modes[..] {
            [only] => format!("application mode: {only}"),
            all => format!("application modes: {}; {} is the default", all.join(", "), all[0]),
        };
        vec![format!("{}, {} status{tick}", self.class, self.status), modes]
    }

    fn tasks(&self) -> Table {
        let mut table = Table::new(&["task", "kind", ">priority", ">activations", ">stack", ""]);
        for task in &self.tasks {
            table.row([
                task.name.clone(),
                task.kind.clone(),
                task.priority.to_string(),
                task.activations.to_string(),
                ByteSize::new(u64::from(task.stack_bytes)).to_string(),
                self.notes_on(task),
            ]);
        }
        table
    }

    /// What is special about a task.
    fn notes_on(&self, task: &Task) -> String {
        let budget = task.budget_ns.map(|budget| format!("budget {}", Nanos::new(budget)));
        let arrival =
            task.inter_arrival_ns.map(|time| format!("at most every {}", Nanos::new(time)));
        let notes = [
            task.autostart
                .then(|| format!("starts by itself{}", self.only_in(&task.autostart_modes))),
            (!task.preemptable).then(|| "not preemptable".to_owned()),
            budget,
            arrival,
        ];
        notes.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// The modes in which something starts, where it does not in all.
    fn only_in(&self, modes: &[String]) -> String {
        if modes.len() == self.modes.len() || modes.is_empty() {
            String::new()
        } else {
            format!(" in {}", modes.join(", "))
        }
    }

    fn isrs(&self) -> Table {
        let mut table = Table::new(&["ISR", ">category", ">level", ">source"]);
        for isr in &self.isrs {
            table.row([
                isr.name.clone(),
                isr.category.to_string(),
                isr.level.to_string(),
                isr.source.to_string(),
            ]);
        }
        table
    }

    fn resources(&self) -> Table {
        let mut table = Table::new(&["resource", "kind", "ceiling", "used by"]);
        for resource in &self.resources {
            table.row([
                resource.name.clone(),
                resource.kind(),
                resource.ceiling.text(),
                or_dash(resource.used_by.join(", ")),
            ]);
        }
        table
    }

    fn events(&self) -> Table {
        let mut table = Table::new(&["event", ">mask", "received by"]);
        for event in &self.events {
            table.row([
                event.name.clone(),
                format!("{:#x}", event.mask),
                or_dash(event.received_by.join(", ")),
            ]);
        }
        table
    }

    fn counters(&self) -> Table {
        let heading = ["counter", "kind", ">largest value", ">ticks per base", ">least cycle"];
        let mut table = Table::new(&heading);
        for counter in &self.counters {
            table.row([
                counter.name.clone(),
                counter.kind(),
                counter.max_allowed_value.to_string(),
                counter.ticks_per_base.to_string(),
                counter.min_cycle.to_string(),
            ]);
        }
        table
    }

    fn alarms(&self) -> Table {
        let mut table = Table::new(&["alarm", "counter", ">first", ">cycle", "does"]);
        for alarm in &self.alarms {
            table.row([
                alarm.name.clone(),
                alarm.counter.clone(),
                ticks(alarm.first),
                ticks(alarm.cycle),
                self.done_by(alarm),
            ]);
        }
        table
    }

    fn done_by(&self, alarm: &Alarm) -> String {
        match self.only_in(&alarm.autostart_modes) {
            modes if modes.is_empty() => alarm.action.clone(),
            modes => format!("{}; starts{modes}", alarm.action),
        }
    }

    /// A row for each table, and one for each of its expiry points.
    fn schedule_tables(&self) -> Table {
        let mut table = Table::new(&["schedule table", "counter", ">at", "does"]);
        for one in &self.schedule_tables {
            let cells = [one.name.clone(), one.counter.clone(), String::new(), self.runs(one)];
            table.row(cells);
            for point in &one.expiry_points {
                let (offset, actions) = (point.offset.to_string(), point.actions.join(", "));
                table.row([format!("  {}", point.name), String::new(), offset, actions]);
            }
        }
        table
    }

    fn runs(&self, table: &ScheduleTable) -> String {
        let repeats = if table.repeating { "again and again" } else { "once" };
        let modes = self.only_in(&table.autostart_modes);
        let starts = table.start.map(|tick| format!(", starts at tick {tick}{modes}"));
        format!("{} ticks, {repeats}{}", table.duration, starts.unwrap_or_default())
    }
}

impl Resource {
    fn kind(&self) -> String {
        match (&self.property, &self.linked_to) {
            (Property::Linked, Some(other)) => format!("another name of {other}"),
            (Property::Internal, _) => "internal".to_owned(),
            _ => "standard".to_owned(),
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

impl CounterRow {
    fn kind(&self) -> String {
        match self.tick_ns {
            Some(tick_ns) => format!("tick of {}", Nanos::new(tick_ns)),
            None => "software".to_owned(),
        }
    }
}

fn ticks(ticks: Option<u32>) -> String {
    ticks.map_or("–".to_owned(), |ticks| ticks.to_string())
}

fn or_dash(text: String) -> String {
    if text.is_empty() { "–".to_owned() } else { text }
}
