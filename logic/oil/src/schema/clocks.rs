//! The attributes of `COUNTER`, `ALARM` and `SCHEDULETABLE`.

use crate::schema::Presence::{Optional, Required, Several};
use crate::schema::Shape::{Function, Named, Number, Reference, Truth};
use crate::schema::attributes::APPMODE;
use crate::schema::{Attribute, Choice, Kind, Shape};

/// Largest value of a counter.
pub(crate) const COUNTER_MAX: u64 = u32::MAX as u64;
/// Shortest tick of a hardware counter, in ns.
pub(crate) const TICK_NS_MIN: u64 = 1_000;
/// Longest tick of a hardware counter: a minute, in ns.
pub(crate) const TICK_NS_MAX: u64 = 60_000_000_000;

pub(crate) const COUNTER: &[Attribute] = &[
    Attribute {
        word: "MAXALLOWEDVALUE",
        shape: Number { min: 1, max: COUNTER_MAX },
        presence: Required,
        is_standard: true,
        about: "its largest value; the next one is 0",
    },
    Attribute {
        word: "TICKSPERBASE",
        shape: Number { min: 1, max: COUNTER_MAX },
        presence: Optional("`1`"),
        is_standard: true,
        about: "ticks of its source for one of its own; told to the program, not used",
    },
    Attribute {
        word: "MINCYCLE",
        shape: Number { min: 1, max: COUNTER_MAX },
        presence: Optional("`1`"),
        is_standard: true,
        about: "shortest cycle of a cyclic alarm, in ticks",
    },
    Attribute {
        word: "TYPE",
        shape: Shape::Choice(&[
            Choice { word: "HARDWARE", attributes: &[] },
            Choice { word: "SOFTWARE", attributes: &[] },
        ]),
        presence: Optional("`HARDWARE` where `NANOSECONDSPERTICK` is given, else `SOFTWARE`"),
        is_standard: false,
        about: "whether the tick of the machine drives it, or `IncrementCounter`",
    },
    Attribute {
        word: "NANOSECONDSPERTICK",
        shape: Number { min: TICK_NS_MIN, max: TICK_NS_MAX },
        presence: Optional("a software counter"),
        is_standard: false,
        about: "time of one tick of a hardware counter, in ns; the same for all of them",
    },
];

/// The activation of a task.
pub(super) const ACTIVATE_TASK: Choice = Choice { word: "ACTIVATETASK", attributes: &[TASK] };

/// The setting of an event of a task.
pub(super) const SET_EVENT: Choice = Choice {
    word: "SETEVENT",
    attributes: &[
        TASK,
        Attribute {
            word: "EVENT",
            shape: Reference(Kind::Event),
            presence: Required,
            is_standard: true,
            about: "an event of that task",
        },
    ],
};

/// Kinds of action of an alarm or an expiry point.
const ACTIONS: Shape = Shape::Choice(&[
    ACTIVATE_TASK,
    SET_EVENT,
    Choice {
        word: "ALARMCALLBACK",
        attributes: &[Attribute {
            word: "ALARMCALLBACKNAME",
            shape: Function,
            presence: Required,
            is_standard: true,
            about: "the `x` of the function `ALARMCALLBACK(x)`, as a string",
        }],
    },
    Choice {
        word: "INCREMENTCOUNTER",
        attributes: &[Attribute {
            word: "COUNTER",
            shape: Reference(Kind::Counter),
            presence: Required,
            is_standard: false,
            about: "a software counter",
        }],
    },
]);

const TASK: Attribute = Attribute {
    word: "TASK",
    shape: Reference(Kind::Task),
    presence: Required,
    is_standard: true,
    about: "the task",
};

pub(crate) const ALARM: &[Attribute] = &[
    Attribute {
        word: "COUNTER",
        shape: Reference(Kind::Counter),
        presence: Required,
        is_standard: true,
        about: "the counter that it belongs to",
    },
    Attribute {
        word: "ACTION",
        shape: ACTIONS,
        presence: Required,
        is_standard: true,
        about: "what it does when it expires; `INCREMENTCOUNTER` is beyond the standard",
    },
    Attribute {
        word: "AUTOSTART",
        shape: Truth(&[
            Attribute {
                word: "ALARMTIME",
                shape: Number { min: 0, max: COUNTER_MAX },
                presence: Required,
                is_standard: true,
                about: "ticks from the start of the kernel to its expiry; 0 is the first tick",
            },
            Attribute {
                word: "CYCLETIME",
                shape: Number { min: 0, max: COUNTER_MAX },
                presence: Optional("`0`"),
                is_standard: true,
                about: "ticks from then on; 0 for once only",
            },
            APPMODE,
        ]),
        presence: Optional("`FALSE`"),
        is_standard: true,
        about: "whether it is set when the kernel starts",
    },
];

pub(crate) const SCHEDULE_TABLE: &[Attribute] = &[
    Attribute {
        word: "COUNTER",
        shape: Reference(Kind::Counter),
        presence: Required,
        is_standard: false,
        about: "the counter that drives it",
    },
    Attribute {
        word: "DURATION",
        shape: Number { min: 1, max: COUNTER_MAX },
        presence: Required,
        is_standard: false,
        about: "ticks of one run",
    },
    Attribute {
        word: "REPEATING",
        shape: Truth(&[]),
        presence: Optional("`FALSE`"),
        is_standard: false,
        about: "whether it begins again when it is over",
    },
    Attribute {
        word: "AUTOSTART",
        shape: Truth(&[
            Attribute {
                word: "START",
                shape: Number { min: 1, max: COUNTER_MAX },
                presence: Optional("`1`"),
                is_standard: false,
                about: "ticks from the start of the kernel to its own",
            },
            APPMODE,
        ]),
        presence: Optional("`FALSE`"),
        is_standard: false,
        about: "whether it is started when the kernel starts",
    },
    Attribute {
        word: "EXPIRYPOINT",
        shape: Named(&[
            Attribute {
                word: "OFFSET",
                shape: Number { min: 0, max: COUNTER_MAX },
                presence: Required,
                is_standard: false,
                about: "ticks from the start of the table",
            },
            Attribute {
                word: "ACTION",
                shape: ACTIONS,
                presence: Several,
                is_standard: false,
                about: "what it does, in this order",
            },
        ]),
        presence: Several,
        is_standard: false,
        about: "an instant of the table under a name of its own, by rising offset",
    },
];
