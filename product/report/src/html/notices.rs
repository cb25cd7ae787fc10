//! Notices: each limits the worth of the verdicts, and tells by how much and what helps.

use maud::{Markup, html};

use super::elements::{sentence, with_code};
use crate::summary::{Notice, Summary};

/// The most records that a notice names one by one; more can be opened.
const NAMED_MAX: usize = 6;

/// Renders the section of the notices that leave the numbers their worth.
pub(super) fn section(summary: &Summary<'_>) -> Markup {
    html! {
        div.notices {
            @for notice in summary.notices.iter().filter(|notice| !notice.is_grave()) {
                (remark(notice))
            }
        }
    }
}

/// Renders a notice that makes all numbers worthless, as large as a verdict.
pub(super) fn alarm(notice: &Notice) -> Markup {
    html! {
        div.alarm role="alert" {
            p.word { (notice.title) }
            p {
                (with_code(&sentence(&notice.what))) " " (with_code(notice.cost)) " "
                (with_code(notice.remedy))
            }
            (concerns(notice))
        }
    }
}

fn remark(notice: &Notice) -> Markup {
    html! {
        div.notice {
            h3 { (notice.title) }
            p { (with_code(&sentence(&notice.what))) }
            (concerns(notice))
            p.cost { b { "Cost: " } (with_code(notice.cost)) }
            p.cost { b { "Remedy: " } (with_code(notice.remedy)) }
        }
    }
}

fn concerns(notice: &Notice) -> Markup {
    html! {
        @match notice.concerns.as_slice() {
            [] => {},
            few if few.len() <= NAMED_MAX => p.concerns { "Concerns " (few.join(", ")) "." },
            many => details.concerns {
                summary { "Concerns " (many.len()) " records" }
                p { (many.join(", ")) }
            },
        }
    }
}
