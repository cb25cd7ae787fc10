//! The effect of each control, and the smallest set that reaches the class.

use maud::{Markup, html};
use quietcore_record::experiment::{
    Confirmed, ControlEffect, Effect, Figure, Ratio, SetsFound, Tuning,
};

use super::releases;
use crate::figures::{self, NONE};
use crate::plot;
use crate::summary::{exceedances, set_of};
use crate::text::experiment::name_of;

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

pub(in crate::html) fn section(tunings: &[Tuning]) -> Markup {
    html! {
        @for tuning in tunings {
            h3 {
                (tuning.partition) " · " (tuning.task)
                span.sub {
                    (tuning.rounds) " rounds of " (figures::count(tuning.cycles_in_block))
                    " releases for each variant"
                }
            }
            (super::too_few(tuning.rounds, tuning.rounds_needed))
            (super::method())
            figure.wide {
                figcaption {
                    span.name { "Release latency without a control over that with it" }
                    span.sub {
                        "p99 above, maximum below; median of the rounds with its 95 % interval"
                    }
                }
                (plot::effects(&all(tuning)))
            }
            (effects(tuning))
            p.remark {
                "Releases above the p99.9 of all controls together: with them "
                (exceedances(&tuning.with_all)) ", without a control as its row says."
            }
            (sets(tuning))
        }
    }
}

/// Lists the effect of each control, followed by that of all together.
fn all(tuning: &Tuning) -> Vec<&ControlEffect> {
    tuning.effects.iter().chain(&tuning.together).collect()
}

fn effects(tuning: &Tuning) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="What each control does" {
            table.statistics {
                thead {
                    tr {
                        th scope="col" { "Control" }
                        th scope="col" { "what it did" }
                        @for figure in Figure::ALL {
                            th.n scope="col" { (figure.title()) span.sub { "without / with" } }
                        }
                        th.n scope="col" {
                            "releases"
                            span.sub { "above " (figures::nanos(tuning.with_all.limit_ns)) }
                        }
                        th scope="col" { "how sure" }
                    }
                }
                tbody {
                    @for effect in all(tuning) {
                        tr {
                            th scope="row" { (name_of(effect)) }
                            td { span class=(format!("mini {}", tone(effect.effect))) {
                                (effect.effect.title())
                            } }
                            @for ratio in &effect.ratios { td.n { (short(ratio)) } }
                            td.n { (releases(&effect.without)) }
                            td.because { (effect.sentence) }
                        }
                    }
                }
            }
        }
    }
}

const fn tone(effect: Effect) -> &'static str {
    match effect {
        Effect::Helped => "pass",
        Effect::Hurt => "fail",
        Effect::NoEffect | Effect::NotShown => "neutral",
    }
}

fn short(ratio: &Ratio) -> Markup {
    let Some(estimate) = ratio.ratio else { return html! { (NONE) } };
    let interval = figures::interval(&estimate).unwrap_or_default();
    html! { (figures::times(estimate.median)) span.sub { (interval) } }
}

fn sets(tuning: &Tuning) -> Markup {
    html! {
        @if !tuning.confirmed.is_empty() {
            h4 { "Sets of controls against the class" }
            div.scroll tabindex="0" role="region" aria-label="Sets of controls" {
                table.statistics {
                    thead {
                        tr {
                            th scope="col" { "Set" }
                            th scope="col" { "class reached" }
                            th.n scope="col" { "releases" }
                            th scope="col" { "why" }
                        }
                    }
                    tbody { @for set in &tuning.confirmed { (tried(set)) } }
                }
            }
        }
    }
}

fn tried(set: &Confirmed) -> Markup {
    let (tone, word) = if set.reached { ("pass", "reached") } else { ("fail", "not reached") };
    html! {
        tr {
            th scope="row" { (set_of(&set.on)) }
            td { span class=(format!("mini {tone}")) { (word) } }
            td.n { (figures::count(set.cycles)) }
            td.because { (set.because) }
        }
    }
}
