//! Conformance classes (OSEK OS 2.2.3, 3.2): the least that has all that is used, or whether the
//! one that was asked for has it.

use std::collections::HashMap;

use quietcore_osek::configuration::Class;

use crate::application::Application;
use crate::check::names::Names;
use crate::problem::Collector;
use crate::schema::Kind;
use crate::text::place::Word;

/// The class of the application.
pub(super) fn class(application: &Application, names: &Names, collector: &mut Collector) -> Class {
    let events: Vec<_> = application.tasks.iter().filter_map(|task| task.events.first()).collect();
    let several = several(application);
    for task in application.tasks.iter().filter(|task| !task.events.is_empty()) {
        if task.activations.value > 1 {
            let message = format!(
                "`{}` has events, and an extended task has one activation; write `ACTIVATION = 1;`",
                task.name.text
            );
            collector.refuse_word(&task.activations.word, message);
        }
    }
    let least = match (events.is_empty(), several.is_empty()) {
        (true, true) => Class::Bcc1,
        (true, false) => Class::Bcc2,
        (false, true) => Class::Ecc1,
        (false, false) => Class::Ecc2,
    };
    // A remedy that names the least class needs to know all tasks.
    let Some(given) = application.os.class.as_ref().filter(|_| !names.have_lost(Kind::Task)) else {
        return least;
    };
    let class = match given.value {
        "BCC1" => Class::Bcc1,
        "BCC2" => Class::Bcc2,
        "ECC1" => Class::Ecc1,
        _ => Class::Ecc2,
    };
    let remedy = format!("write `CLASS = {};` or `AUTO`", word(least));
    if !class.has_events() {
        for event in &events {
            let message = format!("class {} has no events; {remedy}", given.value);
            collector.refuse_word(event, message);
        }
    }
    if !class.has_several() {
        for (place, what) in &several {
            let message = format!("class {} {what}; {remedy}", given.value);
            collector.refuse_word(place, message);
        }
    }
    class
}

/// Lists what only a class with several activations, or several tasks a priority, has.
fn several(application: &Application) -> Vec<(Word, String)> {
    let mut found = Vec::new();
    let mut first_of: HashMap<u32, &str> = HashMap::new();
    for task in &application.tasks {
        if task.activations.value > 1 && task.events.is_empty() {
            found.push((
                task.activations.word.clone(),
                "allows one activation of a task".to_owned(),
            ));
        }
        if let Some(first) = first_of.get(&task.priority.value) {
            let what = format!("allows one task of a priority, and `{first}` has this one");
            found.push((task.priority.word.clone(), what));
        } else {
            first_of.insert(task.priority.value, &task.name.text);
        }
    }
    found
}

/// A class as OIL writes it.
pub(crate) const fn word(class: Class) -> &'static str {
    match class {
        Class::Bcc1 => "BCC1",
        Class::Bcc2 => "BCC2",
        Class::Ecc1 => "ECC1",
        Class::Ecc2 => "ECC2",
    }
}
