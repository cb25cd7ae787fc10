//! The verdict: what makes all numbers worthless first, then the answers.

use maud::{Markup, html};

use super::{Contents, notices};
use crate::section::content::Content;
use crate::section::experiment::{disturbance, tuning};
use crate::section::verdict::{self, ANSWERS_MAX};
use crate::section::{Reader, page};
use crate::summary::Summary;

pub(super) fn section(summary: &Summary<'_>, contents: &Contents) -> Markup {
    let grave = summary.notices.iter().filter(|notice| notice.is_grave());
    let content = verdict::content(summary);
    html! {
        @for notice in grave { (notices::alarm(notice)) }
        @if !summary.partitions.is_empty() {
            (page::answers(&content, ANSWERS_MAX))
            (page::blocks(&content))
        } @else if !summary.trials.is_empty() {
            (experiments(summary))
        } @else if let Some(content) = answering(contents) {
            (page::answers(content, ANSWERS_MAX))
        } @else {
            (page::answer(&verdict::nothing_measured()))
        }
    }
}

/// Renders the answers of experiments.
fn experiments(summary: &Summary<'_>) -> Markup {
    let controls = tuning::content(&summary.tunings, Reader::Page);
    let neighbours = disturbance::content(&summary.disturbances, Reader::Page);
    let invalid = summary.trials.iter().any(|trial| !trial.record.is_valid());
    html! {
        @for content in [&controls, &neighbours] { (page::answers(content, usize::MAX)) }
        @if summary.tunings.is_empty() && summary.disturbances.is_empty() {
            (page::answer(&verdict::nothing_compared()))
        }
        @if invalid {
            p.remark {
                "Some blocks may not be trusted, for the reasons below; they are no part of any "
                "ratio."
            }
        }
    }
}

/// Returns the content of the first section with an answer.
fn answering(contents: &Contents) -> Option<&Content> {
    contents.iter().map(|(_, content)| content).find(|content| !content.answers.is_empty())
}
