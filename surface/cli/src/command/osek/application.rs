//! The description of an application: `osek check --json` prints it, and its text is made from it.

mod text;

use quietcore_oil::{
    Action, Alarm, Configuration, Counter, Event, ExpiryPoint, Isr, Message, Notification,
    ScheduleTable, Task,
};
use quietcore_osek::configuration::{SCHEDULER_LEVEL, Scale};
use serde::ser::{Serialize, SerializeMap as _, Serializer};

/// An application. Objects are in the order of the kernel's identifiers.
#[derive(Debug)]
pub(super) struct Application<'a>(pub(super) &'a Configuration);

/// An object of an application, which is written with the names of others.
struct Named<'a, T>(&'a Application<'a>, &'a T);

/// A resource of either kind, with its users.
struct AnyResource<'a> {
    name: &'a str,
    /// `standard`, `linked` or `internal`.
    property: &'static str,
    linked_to: Option<&'a str>,
    ceiling: Ceiling,
    users: Vec<&'a str>,
}

/// The ceiling of a resource: while it is occupied, neither tasks up to a priority, as the file
/// writes it, nor interrupts up to a level run.
#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
enum Ceiling {
    Priority(u32),
    InterruptLevel(u8),
    AllTasks,
}

impl Application<'_> {
    fn class(&self) -> String {
        format!("{:?}", self.0.class()).to_uppercase()
    }

    fn status(&self) -> String {
        format!("{:?}", self.0.checking()).to_lowercase()
    }

    /// Returns the names of the modes, the default first.
    fn modes(&self) -> Vec<&str> {
        self.0.modes().iter().map(|mode| mode.name.as_str()).collect()
    }

    fn modes_of(&self, modes: u32) -> Vec<&str> {
        self.0.modes_of(modes).collect()
    }

    fn counter(&self, number: usize) -> &str {
        &self.0.counters()[number].name
    }

    /// Names of the tasks that are so.
    fn tasks_that(&self, are: impl Fn(&Task) -> bool) -> impl Iterator<Item = &str> {
        self.0.tasks().iter().filter(move |task| are(task)).map(|task| task.name.as_str())
    }

    fn receivers(&self, event: usize) -> Vec<&str> {
        self.tasks_that(|task| task.events.contains(&event)).collect()
    }

    fn resources(&self) -> Vec<AnyResource<'_>> {
        // The kernel's levels are the priorities without their gaps.
        let of_tasks = |level: u8| {
            let found = self.0.tasks().iter().find(|task| task.priority == level);
            found.map_or(Ceiling::AllTasks, |task| Ceiling::Priority(task.given_priority))
        };
        let ordinary = self.0.resources().iter().enumerate().map(|(number, resource)| {
            let of_task = self.tasks_that(move |task| task.resources.contains(&number));
            let isrs = self.0.isrs().iter().filter(|isr| isr.resources.contains(&number));
            let linked_to = resource.linked_to.map(|other| self.0.resources()[other].name.as_str());
            AnyResource {
                name: &resource.name,
                property: if linked_to.is_some() { "linked" } else { "standard" },
                linked_to,
                ceiling: match resource.scale {
                    Scale::Interrupt => Ceiling::InterruptLevel(resource.ceiling),
                    Scale::Task if resource.ceiling == SCHEDULER_LEVEL => Ceiling::AllTasks,
                    Scale::Task => of_tasks(resource.ceiling),
                },
                users: of_task.chain(isrs.map(|isr| isr.name.as_str())).collect(),
            }
        });
        let internal = self.0.internal_resources().iter().enumerate();
        let internal = internal.map(|(number, resource)| AnyResource {
            name: &resource.name,
            property: "internal",
            linked_to: None,
            ceiling: of_tasks(resource.ceiling),
            users: self.tasks_that(|task| task.internal_resource == Some(number)).collect(),
        });
        ordinary.chain(internal).collect()
    }

    fn action(&self, action: &Action) -> String {
        let task = |task: &usize| &self.0.tasks()[*task].name;
        match action {
            Action::ActivateTask(number) => format!("activates {}", task(number)),
            Action::SetEvent { task: number, event, .. } => {
                format!("sets {} of {}", self.0.events()[*event].name, task(number))
            }
            Action::Callback(name) => format!("calls {name}"),
            Action::IncrementCounter(number) => format!("increments {}", self.counter(*number)),
        }
    }

    fn notification(&self, notification: &Notification) -> String {
        match *notification {
            Notification::ActivateTask(task) => self.action(&Action::ActivateTask(task)),
            Notification::SetEvent { task, event, mask } => {
                self.action(&Action::SetEvent { task, event, mask })
            }
            Notification::RaiseIsr(isr) => format!("raises {}", self.0.isrs()[isr].name),
        }
    }

    fn actions(&self, point: &ExpiryPoint) -> Vec<String> {
        point.actions.iter().map(|action| self.action(action)).collect()
    }

    fn named<'a, T>(&'a self, objects: &'a [T]) -> Vec<Named<'a, T>> {
        objects.iter().map(|object| Named(self, object)).collect()
    }
}

/// Writes an object whose fields stand in this order.
macro_rules! object {
    ($serializer:expr, $($name:literal: $value:expr),+ $(,)?) => {{
        let mut object = $serializer.serialize_map(None)?;
        $(object.serialize_entry($name, &$value)?;)+
        object.end()
    }};
}

impl Serialize for Application<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let events: Vec<(usize, &Event)> = self.0.events().iter().enumerate().collect();
        object!(
            serializer,
            "class": self.class(),
            "status": self.status(),
            "tick_ns": self.0.hardware_tick_ns(),
            "modes": self.modes(),
            "tasks": self.named(self.0.tasks()),
            "isrs": self.named(self.0.isrs()),
            "resources": self.resources(),
            "events": self.named(&events),
            "counters": self.named(self.0.counters()),
            "alarms": self.named(self.0.alarms()),
            "schedule_tables": self.named(self.0.schedule_tables()),
            "messages": self.named(self.0.messages()),
        )
    }
}

impl Serialize for Named<'_, Task> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(application, task) = self;
        object!(
            serializer,
            "name": task.name,
            "kind": kind(task),
            "priority": task.given_priority,
            "preemptable": task.preemptable,
            "activations": task.activations,
            "autostart": task.autostart != 0,
            "autostart_modes": application.modes_of(task.autostart),
            "stack_bytes": task.stack_bytes,
            "budget_ns": task.budget_ns,
            "inter_arrival_ns": task.inter_arrival_ns,
        )
    }
}

impl Serialize for Named<'_, Isr> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Isr { name, category, level, source, .. } = self.1;
        object!(serializer, "name": name, "category": category, "level": level, "source": source)
    }
}

impl Serialize for AnyResource<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        object!(
            serializer,
            "name": self.name,
            "property": self.property,
            "linked_to": self.linked_to,
            "ceiling": self.ceiling,
            "used_by": self.users,
        )
    }
}

impl Serialize for Named<'_, (usize, &Event)> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(application, (number, Event { name, mask })) = self;
        let receivers = application.receivers(*number);
        object!(serializer, "name": name, "mask": mask, "received_by": receivers)
    }
}

impl Serialize for Named<'_, Counter> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(_, counter) = self;
        object!(
            serializer,
            "name": counter.name,
            "hardware": counter.tick_ns.is_some(),
            "tick_ns": counter.tick_ns,
            "max_allowed_value": counter.max_allowed,
            "ticks_per_base": counter.ticks_per_base,
            "min_cycle": counter.min_cycle,
        )
    }
}

impl Serialize for Named<'_, Alarm> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(application, alarm) = self;
        object!(
            serializer,
            "name": alarm.name,
            "counter": application.counter(alarm.counter),
            "action": application.action(&alarm.action),
            "first": alarm.start.map(|start| start.first),
            "cycle": alarm.start.map(|start| start.cycle),
            "autostart_modes": application.modes_of(alarm.start.map_or(0, |start| start.modes)),
        )
    }
}

impl Serialize for Named<'_, ScheduleTable> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(application, table) = self;
        object!(
            serializer,
            "name": table.name,
            "counter": application.counter(table.counter),
            "duration": table.duration,
            "repeating": table.repeating,
            "start": start(table),
            "autostart_modes": application.modes_of(table.autostart),
            "expiry_points": application.named(&table.points),
        )
    }
}

impl Serialize for Named<'_, ExpiryPoint> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(application, point) = self;
        let actions = application.actions(point);
        object!(serializer, "name": point.name, "offset": point.offset, "actions": actions)
    }
}

impl Serialize for Named<'_, Message> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(application, message) = self;
        let notification = application.notification(&message.notification);
        object!(serializer, "name": message.name, "notification": notification)
    }
}

fn kind(task: &Task) -> String {
    format!("{:?}", task.kind).to_lowercase()
}

/// The tick at which a table starts by itself.
fn start(table: &ScheduleTable) -> Option<u32> {
    (table.autostart != 0).then_some(table.start)
}
