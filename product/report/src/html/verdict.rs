//! The verdict: what makes all numbers worthless first, then the answers.

use maud::{Markup, html};

use super::notices;
use crate::section::content::Content;
use crate::section::experiment::{disturbance, tuning};
use crate::section::verdict::{ANSWERS_MAX, nothing_compared, nothing_measured};
use crate::section::{NamedContent, page};
use crate::summary::Summary;

/// Renders the section. Where no partition has an answer, that of an experiment or of a probe
/// stands in its place.
pub(super) fn section(own: &Content, summary: &Summary<'_>, contents: &[NamedContent]) -> Markup {
    let grave = summary.notices.iter().filter(|notice| notice.is_grave());
    let mut answering = contents.iter().map(|named| &named.content);
    html! {
        @for notice in grave { (notices::alarm(notice)) }
        @if !summary.partitions.is_empty() {
            (page::answers(own, ANSWERS_MAX))
            (page::blocks(own))
        } @else if !summary.trials.is_empty() {
            (experiments(summary, contents))
        } @else if let Some(content) = answering.find(|content| !content.answers.is_empty()) {
            (page::answers(content, ANSWERS_MAX))
        } @else {
            (page::answer(&nothing_measured()))
        }
    }
}

fn experiments(summary: &Summary<'_>, contents: &[NamedContent]) -> Markup {
    let is_experiment =
        |named: &&NamedContent| [tuning::NAME.0, disturbance::NAME.0].contains(&named.anchor);
    let answers = contents.iter().filter(is_experiment);
    let invalid = summary.trials.iter().any(|trial| !trial.record.is_valid());
    html! {
        @for named in answers { (page::answers(&named.content, usize::MAX)) }
        @if summary.tunings.is_empty() && summary.disturbances.is_empty() {
            (page::answer(&nothing_compared()))
        }
        @if invalid {
            p.remark {
                "Some blocks may not be trusted, for the reasons below; they are no part of any "
                "ratio."
            }
        }
    }
}
