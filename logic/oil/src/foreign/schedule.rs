//! Alarms and schedule tables as AUTOSAR, ERIKA and others write them.
//!
//! ```text
//! PERIODIC = TRUE; LENGTH = 100;                         REPEATING = TRUE; DURATION = 100;
//! AUTOSTART = ABSOLUTE { START = 3; };                   AUTOSTART = TRUE { START = 3; };
//! AUTOSTART = TRUE { TYPE = ABSOLUTE; START_VALUE = 3 }  AUTOSTART = TRUE { START = 3; };
//! EXPIRY_POINT five { OFFSET = 5; ACTION = … };          EXPIRYPOINT = five { OFFSET = 5; … };
//! EXPIRE_POINT = ACTION { EXPIRE_VALUE = 5; ACTION … };  EXPIRYPOINT = ACTION { OFFSET = 5; … };
//! ACTION = INCREMENT { COUNTER = c; };                   ACTION = INCREMENTCOUNTER { … };
//! ```

use crate::problem::Collector;
use crate::schema::Kind;
use crate::text::place::{TextPosition, Word};
use crate::text::tree::{Attribute, Block, Tree, Value};

/// Attributes of other names for the same.
const TABLE: [(&str, &str); 4] = [
    ("PERIODIC", "REPEATING"),
    ("LENGTH", "DURATION"),
    ("EXPIRY_POINT", "EXPIRYPOINT"),
    ("EXPIRE_POINT", "EXPIRYPOINT"),
];
const POINT: [(&str, &str); 1] = [("EXPIRE_VALUE", "OFFSET")];
const START: [(&str, &str); 2] = [("START_VALUE", "START"), ("OFFSET", "START")];

/// Gives attributes and actions the names that they have here.
pub(super) fn understand(tree: &mut Tree, collector: &mut Collector) {
    for object in &mut tree.objects {
        if object.kind.text == Kind::Alarm.word() {
            rename_actions(&mut object.block, collector);
        } else if object.kind.text == Kind::ScheduleTable.word() {
            table(&mut object.block, collector);
        }
    }
}

fn table(block: &mut Block, collector: &mut Collector) {
    rename(block, &TABLE, collector);
    for point in block.attributes.iter_mut().filter(|it| it.name.text == "EXPIRYPOINT") {
        if let Some(block) = &mut point.block {
            rename(block, &POINT, collector);
            rename_actions(block, collector);
        }
    }
    let Some(autostart) = block.first_mut("AUTOSTART") else { return };
    match autostart.token.as_str() {
        "NONE" => set(autostart, false, collector),
        "ABSOLUTE" | "RELATIVE" => set(autostart, true, collector),
        _ => {}
    }
    let Some(start) = &mut autostart.block else { return };
    rename(start, &START, collector);
    if autostart.value != Value::Truth(true) {
        return;
    }
    if let Some(tick) = start.first_mut("START")
        && tick.number() == Some(0)
    {
        collector.remark(tick.place, &tick.token, "read as 1: the first tick is number 1");
        let at = autostart.name.clone();
        start.set_number("START", 1, &at);
    }
}

fn set(attribute: &mut Attribute, value: bool, collector: &mut Collector) {
    attribute.value = Value::Truth(value);
    let own = if value { "TRUE" } else { "FALSE" };
    replace(&mut attribute.token, own, attribute.place, collector);
}

fn rename(block: &mut Block, names: &[(&str, &str)], collector: &mut Collector) {
    for attribute in &mut block.attributes {
        let Word { text, place } = &mut attribute.name;
        if let Some((_, own)) = names.iter().find(|(other, _)| other == text) {
            replace(text, own, *place, collector);
        }
    }
}

fn rename_actions(block: &mut Block, collector: &mut Collector) {
    for action in block.attributes.iter_mut().filter(|it| it.name.text == "ACTION") {
        if action.token == "INCREMENT" {
            replace(&mut action.token, "INCREMENTCOUNTER", action.place, collector);
        }
    }
}

fn replace(word: &mut String, own: &str, place: TextPosition, collector: &mut Collector) {
    collector.replace(place, std::mem::replace(word, own.to_owned()));
}
