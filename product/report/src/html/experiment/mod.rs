//! Experiments: what each control of the machine does, and what each neighbour.

pub(super) mod disturbance;
pub(super) mod tuning;

use maud::{Markup, html};

use crate::summary::Summary;

/// The answer, where the evidence is about experiments.
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

/// What is said where so few rounds were measured that nothing can be sure.
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

/// How the figures come about, for those who want to know.
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
