//! The attributes of `MESSAGE`, and why tasks and ISRs have none.

use crate::schema::Presence::{Many, Required};
use crate::schema::Shape::{Reference, Refused};
use crate::schema::clocks::{ACTIVATE_TASK, SET_EVENT};
use crate::schema::{Attribute, Choice, Kind, Shape};

/// Remedy for messages of tasks and ISRs, which OIL lists there.
pub(crate) const ACCESS_REMEDY: &str =
    "tasks and ISRs may use all channels of their partition, by `Com_SendSignal`; leave it out";

pub(crate) const MESSAGE: &[Attribute] = &[
    Attribute {
        word: "MESSAGEPROPERTY",
        shape: Refused(
            "the channels of the site file say what is sent and received; leave it out, and the \
             message with it unless something follows its arrival",
        ),
        presence: Many,
        is_standard: true,
        about: "refused",
    },
    Attribute {
        word: "NOTIFICATION",
        shape: Shape::Choice(&[
            ACTIVATE_TASK,
            SET_EVENT,
            Choice {
                word: "ISR",
                attributes: &[Attribute {
                    word: "ISR",
                    shape: Reference(Kind::Isr),
                    presence: Required,
                    is_standard: false,
                    about: "an ISR of category 2",
                }],
            },
        ]),
        presence: Required,
        is_standard: true,
        about: "what follows when it has come; `ISR` is beyond the standard",
    },
];
