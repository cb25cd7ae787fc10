//! The attributes of `OS`, `TASK`, `ISR`, `RESOURCE` and `EVENT`.

use crate::schema::Presence::{Many, Optional, Required};
use crate::schema::Shape::{Number, NumberOrAuto, Reference, Refused, Truth};
use crate::schema::messages::ACCESS_REMEDY;
use crate::schema::{Attribute, Choice, Kind, Shape};

/// Least bytes of a stack: a page. What interrupts need comes on top of it.
pub(crate) const STACK_BYTES_MIN: u64 = 4 << 10;
/// Bytes of a stack where nothing else is said.
pub(crate) const STACK_BYTES_DEFAULT: u32 = 16 << 10;
/// Most bytes of a stack.
pub(crate) const STACK_BYTES_MAX: u64 = 64 << 20;
/// Longest budget: a minute, in ns.
pub(crate) const BUDGET_NS_MAX: u64 = 60_000_000_000;
/// Longest inter-arrival time: an hour, in ns.
pub(crate) const INTER_ARRIVAL_NS_MAX: u64 = 3_600_000_000_000;
/// The most urgent interrupt level.
pub(crate) const INTERRUPT_LEVEL_MAX: u64 =
    quietcore_osek::configuration::INTERRUPT_LEVEL_MAX as u64;
/// Sources of interrupts: an interrupt vector of x86-64, or a number of a program's own.
pub(crate) const SOURCE_MAX: u64 = 255;

const NOT: Shape = Truth(&[]);

const fn word(word: &'static str) -> Choice {
    Choice { word, attributes: &[] }
}

const fn hook(word: &'static str, about: &'static str) -> Attribute {
    Attribute { word, shape: NOT, presence: Optional("`FALSE`"), is_standard: true, about }
}

pub(crate) const OS: &[Attribute] = &[
    Attribute {
        word: "STATUS",
        shape: Shape::Choice(&[word("STANDARD"), word("EXTENDED")]),
        presence: Optional("`EXTENDED`"),
        is_standard: true,
        about: "how much services check: `EXTENDED` finds errors of the program, too",
    },
    hook("STARTUPHOOK", "whether the program has `StartupHook`"),
    hook("ERRORHOOK", "whether the program has `ErrorHook`"),
    hook("SHUTDOWNHOOK", "whether the program has `ShutdownHook`"),
    hook("PRETASKHOOK", "whether the program has `PreTaskHook`"),
    hook("POSTTASKHOOK", "whether the program has `PostTaskHook`"),
    hook("USEGETSERVICEID", "whether `OSErrorGetServiceId` can be used"),
    hook("USEPARAMETERACCESS", "whether `OSError_ActivateTask_TaskID` and the like can be used"),
    Attribute {
        word: "USERESSCHEDULER",
        shape: NOT,
        presence: Optional("`TRUE`"),
        is_standard: true,
        about: "whether there is the resource `RES_SCHEDULER`, with which a task is not preempted",
    },
    Attribute {
        word: "CLASS",
        shape: Shape::Choice(&[
            word("BCC1"),
            word("BCC2"),
            word("ECC1"),
            word("ECC2"),
            word("AUTO"),
        ]),
        presence: Optional("`AUTO`"),
        is_standard: false,
        about: "the conformance class; `AUTO` is the least that has all that is used",
    },
    Attribute {
        word: "ACCOUNTING",
        shape: NOT,
        presence: Optional("`FALSE`"),
        is_standard: false,
        about: "whether the times of each job are recorded; `BUDGET` and `INTERARRIVAL` need it",
    },
];

pub(crate) const TASK: &[Attribute] = &[
    Attribute {
        word: "PRIORITY",
        shape: Number { min: 0, max: u32::MAX as u64 },
        presence: Required,
        is_standard: true,
        about: "the larger, the more urgent; only the order counts",
    },
    Attribute {
        word: "SCHEDULE",
        shape: Shape::Choice(&[word("FULL"), word("NON")]),
        presence: Optional("`FULL`"),
        is_standard: true,
        about: "whether other tasks preempt it: `NON` is not preemptable",
    },
    Attribute {
        word: "ACTIVATION",
        shape: Number { min: 1, max: 255 },
        presence: Optional("`1`"),
        is_standard: true,
        about: "most activation requests at the same time",
    },
    Attribute {
        word: "AUTOSTART",
        shape: Truth(&[APPMODE]),
        presence: Optional("`FALSE`"),
        is_standard: true,
        about: "whether it is activated when the kernel starts",
    },
    Attribute {
        word: "RESOURCE",
        shape: Reference(Kind::Resource),
        presence: Many,
        is_standard: true,
        about: "a resource that it uses",
    },
    Attribute {
        word: "EVENT",
        shape: Reference(Kind::Event),
        presence: Many,
        is_standard: true,
        about: "an event that it may wait for, which makes it an extended task",
    },
    Attribute {
        word: "MESSAGE",
        shape: Refused(ACCESS_REMEDY),
        presence: Many,
        is_standard: true,
        about: "refused",
    },
    Attribute {
        word: "STACK",
        shape: Number { min: STACK_BYTES_MIN, max: STACK_BYTES_MAX },
        presence: Optional("`16384`"),
        is_standard: false,
        about: "bytes of its stack, without what interrupts need; 1 GiB at most for all tasks",
    },
    Attribute {
        word: "BUDGET",
        shape: Number { min: 1, max: BUDGET_NS_MAX },
        presence: Optional("no limit"),
        is_standard: false,
        about: "longest execution time of a job, in ns",
    },
    Attribute {
        word: "INTERARRIVAL",
        shape: Number { min: 1, max: INTER_ARRIVAL_NS_MAX },
        presence: Optional("no limit"),
        is_standard: false,
        about: "shortest time between two activations, in ns",
    },
];

/// The modes in the block of `AUTOSTART = TRUE`.
pub(crate) const APPMODE: Attribute = Attribute {
    word: "APPMODE",
    shape: Reference(Kind::AppMode),
    presence: Many,
    is_standard: true,
    about: "a mode in which it does; may be left out where there is one mode only",
};

pub(crate) const ISR: &[Attribute] = &[
    Attribute {
        word: "CATEGORY",
        shape: Number { min: 1, max: 2 },
        presence: Required,
        is_standard: true,
        about: "1: uses no service but those that hold interrupts back. 2: may use services",
    },
    Attribute {
        word: "RESOURCE",
        shape: Reference(Kind::Resource),
        presence: Many,
        is_standard: true,
        about: "a resource that it uses; category 2 only",
    },
    Attribute {
        word: "MESSAGE",
        shape: Refused(ACCESS_REMEDY),
        presence: Many,
        is_standard: true,
        about: "refused",
    },
    Attribute {
        word: "PRIORITY",
        shape: Number { min: 1, max: INTERRUPT_LEVEL_MAX },
        presence: Required,
        is_standard: false,
        about: "its interrupt level, the larger the more urgent; those of category 1 lie above all \
                of category 2",
    },
    Attribute {
        word: "SOURCE",
        shape: Number { min: 0, max: SOURCE_MAX },
        presence: Required,
        is_standard: false,
        about: "the number of what raises it, and all ISRs that have it; see `In C` below",
    },
];

pub(crate) const RESOURCE: &[Attribute] = &[Attribute {
    word: "RESOURCEPROPERTY",
    shape: Shape::Choice(&[
        word("STANDARD"),
        Choice {
            word: "LINKED",
            attributes: &[Attribute {
                word: "LINKEDRESOURCE",
                shape: Reference(Kind::Resource),
                presence: Required,
                is_standard: true,
                about: "the resource that this is another name of",
            }],
        },
        word("INTERNAL"),
    ]),
    presence: Optional("`STANDARD`"),
    is_standard: true,
    about: "`LINKED`: another name of a resource, to occupy it once more. `INTERNAL`: occupied by \
            its tasks whenever they run",
}];

pub(crate) const EVENT: &[Attribute] = &[Attribute {
    word: "MASK",
    shape: NumberOrAuto { min: 1, max: u64::MAX },
    presence: Optional("`AUTO`"),
    is_standard: true,
    about: "its bits; `AUTO` is a bit that no other event of its tasks has",
}];
