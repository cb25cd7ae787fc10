//! The answer of a tuning: the smallest set that reaches the class.

use maud::{Markup, html};
use quietcore_record::experiment::{Confirmed, Effect, SetsFound, Tuning};

use crate::section::experiment::name_of;
use crate::summary::set_of;

/// Renders the smallest set that reaches the class, or tells that there is none.
pub(super) fn hero(tuning: &Tuning) -> Markup {
    let (tone, word) = match tuning.found() {
        SetsFound::Smallest([]) => ("pass", "It needs no control".to_owned()),
        SetsFound::Smallest(set) => ("pass", format!("It needs {}", set_of(set))),
        SetsFound::Untried => ("neutral", "No set was tried against the class".to_owned()),
        SetsFound::NoneReaches => ("fail", "No set of controls reaches the class".to_owned()),
        SetsFound::NotShown(rounds, needed) => (
            "unproven",
            format!("Not shown that a set reaches the class: {rounds} of {needed} rounds"),
        ),
    };
    let of = |wanted: Effect| {
        let effects = tuning.effects.iter().filter(|effect| effect.effect == wanted);
        let names: Vec<&str> = effects.map(name_of).collect();
        (names.len().to_string(), names.join(", "))
    };
    let tile = |label: &str, (value, note): (String, String)| {
        html! { div.tile { p.label { (label) } p.value { (value) } p.note { (note) } } }
    };
    let class = tuning.confirmed.first().map(|set| set.class.as_str());
    html! {
        div class=(format!("hero {tone}")) {
            div.answer {
                p.who {
                    (tuning.partition) " · " (tuning.task)
                    @if let Some(class) = class { ", class " (class) }
                }
                p.word { (word) }
                p.why {
                    @if let Some(last) = decisive(tuning) { (last.because) ". " }
                    @if tuning.smallest.is_some() {
                        "No control of the set can be left out; another set may be as small. "
                        code { "quietcore qualify" } " proves it with enough releases."
                    }
                }
            }
            div.tiles {
                (tile("helped", of(Effect::Helped)))
                (tile("hurt", of(Effect::Hurt)))
                (tile("no effect (within 5 %)", of(Effect::NoEffect)))
                (tile("no effect shown", of(Effect::NotShown)))
            }
        }
    }
}

/// Returns the set that the answer rests on: the smallest that reaches the class, or the largest
/// one.
fn decisive(tuning: &Tuning) -> Option<&Confirmed> {
    let reached = tuning.confirmed.iter().filter(|set| set.reached);
    let largest = tuning.confirmed.iter().max_by_key(|set| set.on.len());
    reached.min_by_key(|set| set.on.len()).or(largest)
}
