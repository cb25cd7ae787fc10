//! The figures as CSV within the page, so that a page that was sent to somebody still has them.

use maud::{Markup, html};
use quietcore_evidence::Evidence;
use quietcore_record::export;

use super::elements::escaped;

/// The most bytes of a table that is put into the page.
const EMBEDDED_MAX: usize = 192 << 10;

/// Renders links that save the tables. Larger tables are named, with the command that writes all of
/// them.
pub(super) fn links(evidence: &Evidence) -> Markup {
    let tables = [
        ("records.csv", export::records_csv(&evidence.records)),
        ("verdicts.csv", export::verdicts_csv(&evidence.judgements)),
        ("histograms.csv", export::histogram_csv(&evidence.records)),
    ];
    let (within, beyond): (Vec<_>, Vec<_>) =
        tables.into_iter().partition(|(_, text)| text.len() <= EMBEDDED_MAX);
    html! {
        p.remark {
            "As CSV: "
            @for (index, (name, text)) in within.iter().enumerate() {
                @if index > 0 { ", " }
                a href=(format!("data:text/csv;charset=utf-8,{}", escaped(text))) download=(name) {
                    (name)
                }
            }
            ". "
            @if !beyond.is_empty() {
                "Too large for this page: "
                (beyond.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "))
                ". "
            }
            code { "quietcore report . --csv tables" }
            " in the evidence folder writes all there are."
        }
    }
}
