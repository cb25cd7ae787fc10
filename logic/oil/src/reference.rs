//! The reference of the language: `docs/oil.md`.

use std::fmt::Write as _;

use crate::application::shaped::article;
use crate::schema::{Attribute, Kind, Presence, REFUSED, Shape};
use quietcore_wording::either;

/// Text before the tables.
const OPENING: &str = include_str!("reference/opening.md");
/// Text behind the tables.
const CLOSING: &str = include_str!("reference/closing.md");

/// The reference as Markdown; `docs/oil.md` is its output.
pub fn reference() -> String {
    let mut text = OPENING.to_owned();
    for kind in Kind::ALL {
        write!(text, "\n### {}\n\n{}\n", kind.word(), about(kind))
            .expect("writing to a string does not fail");
        if !kind.attributes().is_empty() {
            text.push_str("\n| attribute | value | left out | meaning |\n|---|---|---|---|\n");
            rows(&mut text, "", kind.attributes());
        }
    }
    text.push_str("\n### Refused objects\n\n");
    for (word, remedy) in REFUSED {
        writeln!(text, "- `{word}`: {remedy}.").expect("writing to a string does not fail");
    }
    text.push('\n');
    text.push_str(CLOSING);
    text
}

/// Describes a kind of object in a sentence.
const fn about(kind: Kind) -> &'static str {
    match kind {
        Kind::Os => "The kernel itself; exactly one. Its name means nothing.",
        Kind::AppMode => {
            "A mode in which the application can be started; 32 at most. `OSDEFAULTAPPMODE` is the \
             first one, unless one has this name itself. Without any there is `OSDEFAULTAPPMODE` \
             alone. No attributes."
        }
        Kind::Task => "A task, `TASK(name)` in C; at least one and at most 255.",
        Kind::Isr => "An interrupt service routine, `ISR(name)` in C; at most 62.",
        Kind::Resource => {
            "A resource; at most 254 beside `RES_SCHEDULER`. Its ceiling is the highest priority \
             of the tasks that use it, or the highest interrupt level where an ISR uses it. Users \
             of another name of it count, too."
        }
        Kind::Event => "An event of one or more tasks, of which each has 64 at most.",
        Kind::Counter => "A counter; at most 32. All hardware counters have the same tick.",
        Kind::Alarm => "An alarm on a counter; at most 255.",
        Kind::Message => {
            "A signal, a queue or a group that the partition receives, and what follows when it \
             has come; at most 64. Its name is that of the macro in C without \
             `ComConf_ComSignal_` or `ComConf_ComSignalGroup_`: `setpoint` is the group of \
             channel `setpoint`, `setpoint_code` its signal or queue `code`. See \
             [Notifications](#notifications)."
        }
        Kind::ScheduleTable => {
            "A schedule table on a counter, after AUTOSAR OS; at most 32. The delays between its \
             expiry points are those that the counter can count, from `MINCYCLE` to \
             `MAXALLOWEDVALUE`; in a repeating table so is that from the last one to the first one \
             of the next run."
        }
    }
}

/// The rows of attributes, each followed by those of its blocks.
fn rows(text: &mut String, before: &str, attributes: &[Attribute]) {
    for attribute in attributes {
        if matches!(attribute.shape, Shape::Refused(_)) {
            continue;
        }
        let path = format!("{before}{}", attribute.word);
        let added = if attribute.is_standard { "" } else { " ⁺" };
        let missing = match attribute.presence {
            Presence::Required => "required".to_owned(),
            Presence::Optional(meaning) => meaning.to_owned(),
            Presence::Many => "none; as many as wanted".to_owned(),
            Presence::Several => "required; as many as wanted".to_owned(),
        };
        let value = value(&attribute.shape);
        writeln!(text, "| `{path}`{added} | {value} | {missing} | {} |", attribute.about)
            .expect("writing to a string does not fail");
        match &attribute.shape {
            Shape::Truth(inner) => rows(text, &format!("{path} = TRUE: "), inner),
            Shape::Named(inner) => rows(text, &format!("{path} = name: "), inner),
            Shape::Choice(choices) => {
                for choice in *choices {
                    let path = format!("{path} = {}: ", choice.word);
                    rows(text, &path, choice.attributes);
                }
            }
            Shape::Number { .. }
            | Shape::NumberOrAuto { .. }
            | Shape::Reference(_)
            | Shape::Function
            | Shape::Refused(_) => {}
        }
    }
}

fn value(shape: &Shape) -> String {
    match shape {
        Shape::Number { min, max } => format!("{min} … {max}"),
        Shape::NumberOrAuto { min, max } => format!("{min} … {max}, or `AUTO`"),
        Shape::Truth(_) => "`TRUE` or `FALSE`".to_owned(),
        Shape::Choice(choices) => either(choices.iter().map(|choice| choice.word)),
        Shape::Reference(kind) => article(kind.word()),
        Shape::Function => "a string".to_owned(),
        Shape::Named(_) => "a name".to_owned(),
        Shape::Refused(_) => String::new(),
    }
}
