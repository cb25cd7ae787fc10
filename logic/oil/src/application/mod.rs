//! The objects as the user wrote them, with the position of everything that can be wrong.

mod build;
mod declared;
pub(crate) mod shaped;

pub(crate) use build::application;

use std::collections::HashSet;

use crate::schema::Kind;
use crate::text::place::{Given, TextPosition, Word};

/// An application as it was written; each value is of the right kind and within its own range.
#[derive(Debug)]
pub(crate) struct Application {
    pub(crate) cpu: Word,
    /// The names of all objects but OS, also of those that are left out of the lists below because
    /// something of them could not be read.
    pub(crate) names: Vec<(Kind, Word)>,
    /// Kinds of which a statement was refused. What may follow from its absence is not told.
    pub(crate) lost: HashSet<Kind>,
    /// Names of objects of a kind that does not exist, which may be meant as any.
    pub(crate) unknown: HashSet<String>,
    pub(crate) os: Os,
    /// The hooks that the program has, each with what says so.
    pub(crate) hooks: Vec<(&'static str, TextPosition)>,
    pub(crate) modes: Vec<Word>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) isrs: Vec<Isr>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) events: Vec<Event>,
    pub(crate) counters: Vec<Counter>,
    pub(crate) alarms: Vec<Alarm>,
    pub(crate) tables: Vec<Table>,
    pub(crate) messages: Vec<Message>,
}

/// `OS`
#[derive(Debug)]
pub(crate) struct Os {
    pub(crate) is_extended_status: bool,
    pub(crate) startup_hook: bool,
    pub(crate) error_hook: bool,
    pub(crate) shutdown_hook: bool,
    pub(crate) pre_task_hook: bool,
    pub(crate) post_task_hook: bool,
    pub(crate) service_id: bool,
    pub(crate) parameter_access: bool,
    pub(crate) scheduler_resource: bool,
    /// `None` for `AUTO`.
    pub(crate) class: Option<Given<&'static str>>,
    pub(crate) accounting: bool,
}

/// In which modes something starts by itself.
#[derive(Debug)]
pub(crate) struct Autostart {
    /// `TRUE`
    pub(crate) word: Word,
    pub(crate) modes: Vec<Word>,
}

/// `TASK`
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) name: Word,
    pub(crate) priority: Given<u32>,
    /// `SCHEDULE = NON`, with its token.
    pub(crate) not_preemptable: Option<Word>,
    pub(crate) activations: Given<u8>,
    pub(crate) autostart: Option<Autostart>,
    pub(crate) resources: Vec<Word>,
    pub(crate) events: Vec<Word>,
    pub(crate) stack_bytes: Given<u32>,
    pub(crate) budget_ns: Option<Given<u64>>,
    pub(crate) inter_arrival_ns: Option<Given<u64>>,
}

/// `ISR`
#[derive(Debug)]
pub(crate) struct Isr {
    pub(crate) name: Word,
    pub(crate) category: u8,
    pub(crate) level: Given<u8>,
    pub(crate) source: Given<u32>,
    pub(crate) resources: Vec<Word>,
}

/// The kind of a resource.
#[derive(Debug)]
pub(crate) enum Property {
    Standard,
    Linked(Word),
    Internal,
}

/// `RESOURCE`
#[derive(Debug)]
pub(crate) struct Resource {
    pub(crate) name: Word,
    pub(crate) property: Property,
}

/// `EVENT`
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) name: Word,
    /// `None` for `AUTO`.
    pub(crate) mask: Option<Given<u64>>,
}

/// `COUNTER`
#[derive(Debug)]
pub(crate) struct Counter {
    pub(crate) name: Word,
    pub(crate) max_allowed: u32,
    pub(crate) ticks_per_base: u32,
    pub(crate) min_cycle: Given<u32>,
    /// `TYPE`, whether it is `HARDWARE`.
    pub(crate) hardware: Option<Given<bool>>,
    pub(crate) tick_ns: Option<Given<u64>>,
}

/// The action of an alarm or an expiry point.
#[derive(Debug)]
pub(crate) enum Action {
    ActivateTask { task: Word },
    SetEvent { task: Word, event: Word },
    Callback { name: Word },
    IncrementCounter { counter: Word },
}

/// When an alarm that starts by itself expires.
#[derive(Debug)]
pub(crate) struct AlarmStart {
    pub(crate) autostart: Autostart,
    pub(crate) first: Given<u32>,
    pub(crate) cycle: Option<Given<u32>>,
}

/// `ALARM`
#[derive(Debug)]
pub(crate) struct Alarm {
    pub(crate) name: Word,
    pub(crate) counter: Word,
    pub(crate) action: Action,
    pub(crate) start: Option<AlarmStart>,
}

/// `EXPIRYPOINT` of a schedule table.
#[derive(Debug)]
pub(crate) struct Point {
    pub(crate) name: Word,
    pub(crate) offset: Given<u32>,
    pub(crate) actions: Vec<Action>,
}

/// `SCHEDULETABLE`
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: Word,
    pub(crate) counter: Word,
    pub(crate) duration: Given<u32>,
    pub(crate) repeating: bool,
    pub(crate) start: Option<(Autostart, u32)>,
    pub(crate) points: Vec<Point>,
}

/// The notification of a message that has come.
#[derive(Debug)]
pub(crate) enum Notification {
    ActivateTask { task: Word },
    SetEvent { task: Word, event: Word },
    RaiseIsr { isr: Word },
}

/// `MESSAGE`
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) name: Word,
    pub(crate) notification: Notification,
}
