//! The verdict: what makes all numbers worthless first, then the answers.

use maud::{Markup, html};

use super::notices;
use crate::section::content::Content;
use crate::section::experiment::{cost, disturbance, tuning};
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
    let anchors = [tuning::NAME.0, disturbance::NAME.0, cost::NAME.0];
    let is_experiment = |named: &&NamedContent| anchors.contains(&named.anchor);
    let answers = contents.iter().filter(is_experiment);
    let Summary { tunings, disturbances, costs, .. } = summary;
    let is_nothing = tunings.is_empty() && disturbances.is_empty() && costs.is_empty();
    let invalid = summary.trials.iter().any(|trial| !trial.record.is_valid());
    html! {
        @for named in answers { (page::answers(&named.content, usize::MAX)) }
        @if is_nothing {
            (page::answer(&nothing_compared()))
        }
        @if invalid && !costs.is_empty() {
            p.remark {
                "Some times may not be trusted, for the reasons below. Those of a backend without "
                "others show that it works, and nothing is judged by them."
            }
        } @else if invalid {
            p.remark {
                "Some blocks may not be trusted, for the reasons below; they are no part of any "
                "ratio."
            }
        }
    }
}
