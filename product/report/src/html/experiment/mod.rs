//! The answers of experiments, where the evidence is about them.

mod disturbance;
mod tuning;

use maud::{Markup, html};

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
