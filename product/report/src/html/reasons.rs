//! Every verdict with its reason.

use maud::{Markup, html};

use super::elements::{badge, sentence, with_code};
use crate::summary::Summary;

/// Renders every verdict in words, for readers who can't hover and for print.
pub(super) fn section(summary: &Summary<'_>) -> Markup {
    html! {
        details.reasons #reasons {
            summary { "Every verdict with its reason" }
            @for partition in &summary.partitions {
                @for (index, column) in partition.columns.iter().enumerate() {
                    h4 { (partition.name) " · " (column.profile) }
                    div.scroll tabindex="0" {
                        table {
                            tbody {
                                @for row in &partition.rows {
                                    @let cell = &row.cells[index];
                                    tr {
                                        th scope="row" { (row.class.title) }
                                        td { (badge(cell.verdict)) }
                                        td { (with_code(&sentence(&cell.because))) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
