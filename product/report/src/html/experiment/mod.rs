//! Experiments: the effect of each control of the machine, and that of each neighbour.

pub(super) mod disturbance;
pub(super) mod tuning;

use maud::{Markup, html};
use quietcore_record::experiment::Exceedances;

use crate::figures;
use crate::summary::Summary;

/// Renders the answer, where the evidence is about experiments.
pub(super) fn hero(summary: &Summary<'_>) -> Markup {
    let invalid = summary.trials.iter().any(|trial| !trial.record.is_valid());
    html! {
        @for tuning in &summary.tunings { (tuning::hero(tuning)) }
        @for matrix in &summary.disturbances { (disturbance::hero(matrix)) }
        @if summary.tunings.is_empty() && summary.disturbances.is_empty() {
            div class="hero unproven" {
                p.word { span.sign aria-hidden="true" { "?" } " NOT KNOWN" }
                p.why { "The experiment was ended before anything could be compared." }
            }
        }
        @if invalid {
            p.remark {
                "Some blocks may not be trusted, for the reasons below; they are no part of any "
                "ratio."
            }
        }
    }
}

/// Renders the remark that so few rounds were measured that nothing can be sure; empty with enough.
fn too_few(rounds: u32, needed: u32) -> Markup {
    html! {
        @if rounds < needed {
            p.remark {
                b { (rounds) " rounds show nothing. " }
                "So much is tested at once that it takes at least " (needed)
                " until anything can be sure; measure again with "
                code { "--rounds " (needed) } " or more."
            }
        }
    }
}

/// Renders a cell of a table: releases above the limit that its head names.
fn releases(found: &Exceedances) -> Markup {
    html! { (figures::count(found.above)) span.sub { "of " (figures::count(found.cycles)) } }
}

/// Renders how the figures come about, for interested readers.
fn method() -> Markup {
    html! {
        p.remark {
            "Each ratio is that of two blocks of the same round, measured right after each other "
            "in chance order. Shown is the median of the rounds with its 95 % interval. Something "
            "counts as shown where a sign test says so after the correction for all that was "
            "tested (Holm): in 19 of 20 experiments nothing is shown that is not so."
        }
    }
}
