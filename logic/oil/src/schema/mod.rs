//! Which objects and attributes there are, as tables.
//!
//! The same tables check a text, give what is left out its default, and are written down in
//! `docs/oil.md`.

pub(crate) mod attributes;
pub(crate) mod clocks;
mod messages;

/// The kinds of objects that an application consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    Os,
    AppMode,
    Task,
    Isr,
    Resource,
    Event,
    Counter,
    Alarm,
    ScheduleTable,
    Message,
}

impl Kind {
    /// All kinds, in the order of the reference.
    pub(crate) const ALL: [Self; 10] = [
        Self::Os,
        Self::AppMode,
        Self::Task,
        Self::Isr,
        Self::Resource,
        Self::Event,
        Self::Counter,
        Self::Alarm,
        Self::ScheduleTable,
        Self::Message,
    ];

    /// The word of the language.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Os => "OS",
            Self::AppMode => "APPMODE",
            Self::Task => "TASK",
            Self::Isr => "ISR",
            Self::Resource => "RESOURCE",
            Self::Event => "EVENT",
            Self::Counter => "COUNTER",
            Self::Alarm => "ALARM",
            Self::ScheduleTable => "SCHEDULETABLE",
            Self::Message => "MESSAGE",
        }
    }

    /// The kind that a word names.
    pub(crate) fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Returns the noun for it in a sentence.
    pub(crate) const fn noun(self) -> &'static str {
        match self {
            Self::Os => "OS object",
            Self::AppMode => "application mode",
            Self::Task => "task",
            Self::Isr => "ISR",
            Self::Resource => "resource",
            Self::Event => "event",
            Self::Counter => "counter",
            Self::Alarm => "alarm",
            Self::ScheduleTable => "schedule table",
            Self::Message => "message",
        }
    }

    /// Returns the attributes of this kind of object.
    pub(crate) const fn attributes(self) -> &'static [Attribute] {
        match self {
            Self::Os => attributes::OS,
            Self::AppMode => &[],
            Self::Task => attributes::TASK,
            Self::Isr => attributes::ISR,
            Self::Resource => attributes::RESOURCE,
            Self::Event => attributes::EVENT,
            Self::Counter => clocks::COUNTER,
            Self::Alarm => clocks::ALARM,
            Self::ScheduleTable => clocks::SCHEDULE_TABLE,
            Self::Message => messages::MESSAGE,
        }
    }
}

/// Kinds of objects that OIL has and this platform does otherwise, with what to do instead.
pub(crate) const REFUSED: [(&str, &str); 4] = [
    ("NETWORKMESSAGE", MESSAGE_REMEDY),
    ("COM", MESSAGE_REMEDY),
    ("IPDU", MESSAGE_REMEDY),
    ("NM", "there is no network management here; leave it out"),
];

/// Remedy for what describes communication.
const MESSAGE_REMEDY: &str =
    "communication is by the channels of the site file and `Com_SendSignal`; leave it out";

/// Returns `true` if a word names a kind of object, those that are refused included.
pub(crate) fn is_object_word(word: &str) -> bool {
    Kind::of(word).is_some() || REFUSED.iter().any(|(refused, _)| *refused == word)
}

/// An attribute that an object or a block may have.
#[derive(Debug)]
pub(crate) struct Attribute {
    /// The word in the text.
    pub(crate) word: &'static str,
    /// The form of its value.
    pub(crate) shape: Shape,
    /// The number of times that it is given.
    pub(crate) presence: Presence,
    /// `true` if OSEK OIL 2.5 has it.
    pub(crate) is_standard: bool,
    /// The meaning, as a sentence without its stop.
    pub(crate) about: &'static str,
}

/// The form of a value.
#[derive(Debug)]
pub(crate) enum Shape {
    /// A whole number from `min` to `max`.
    Number { min: u64, max: u64 },
    /// A whole number, or `AUTO`.
    NumberOrAuto { min: u64, max: u64 },
    /// `TRUE`, with these attributes in its block, or `FALSE`.
    Truth(&'static [Attribute]),
    /// One of these words.
    Choice(&'static [Choice]),
    /// The name of an object.
    Reference(Kind),
    /// The name of a function, as a string.
    Function,
    /// A name of its own with these attributes in its block.
    Named(&'static [Attribute]),
    /// Anything; the attribute is refused with this remedy.
    Refused(&'static str),
}

/// One of the words that a value may be.
#[derive(Debug)]
pub(crate) struct Choice {
    /// The word in the text.
    pub(crate) word: &'static str,
    /// The attributes in its block.
    pub(crate) attributes: &'static [Attribute],
}

/// The number of times that an attribute is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Once; leaving it out is a problem.
    Required,
    /// Once or not at all; what it means that it isn't there.
    Optional(&'static str),
    /// As often as one likes.
    Many,
    /// Once or more often.
    Several,
}

impl Presence {
    /// Returns `true` if it may be given several times.
    pub(crate) const fn is_many(self) -> bool {
        matches!(self, Self::Many | Self::Several)
    }

    /// Returns `true` if it has to be given.
    pub(crate) const fn is_required(self) -> bool {
        matches!(self, Self::Required | Self::Several)
    }
}
