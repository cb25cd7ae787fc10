//! The answer of a disturbance matrix.

use maud::{Markup, html};
use quietcore_record::experiment::{Disturbance, Finding};

use crate::figures;
use crate::summary::{cause, worst_cell};

/// Renders the answer: the neighbour that disturbs most, with its figures.
pub(super) fn hero(matrix: &Disturbance) -> Markup {
    let worst = worst_cell(matrix);
    let word = match worst {
        Some(cell) => format!(
            "{} on the {} disturbs most: p99.9 {}",
            capital(&cell.aggressor.kind),
            cell.aggressor.placement.title(),
            figures::times(cell.p99_9.median())
        ),
        None => "No neighbour surely disturbs it".to_owned(),
    };
    let shown = |finding: Finding| {
        matrix.cells.iter().filter(|cell| cell.p99_9.finding == finding).count().to_string()
    };
    let tile = |label: &str, value: String, note: String| {
        html! { div.tile { p.label { (label) } p.value { (value) } p.note { (note) } } }
    };
    let largest = matrix.cells.iter().max_by_key(|cell| cell.max_ns);
    html! {
        div class="hero neutral" {
            div.answer {
                p.who { (matrix.partition) " · " (matrix.task) }
                p.word { (word) }
                p.why { @if let Some(cause) = worst.and_then(cause) { (capital(&cause)) "." } }
            }
            div.tiles {
                (tile("quiet p99.9", figures::nanos(matrix.quiet_p99_9_ns), format!(
                    "maximum {} of {} releases",
                    figures::nanos(matrix.quiet_max_ns),
                    figures::count(matrix.quiet_cycles)
                )))
                @if let Some(cell) = largest {
                    (tile("latest release", figures::nanos(cell.max_ns), format!(
                        "beside {}, {}", cell.aggressor.kind, cell.aggressor.placement.title()
                    )))
                }
                (tile("surely disturb", shown(Finding::More), "of all neighbours at all places"
                    .to_owned()))
                (tile("surely do not (within 5 %)", shown(Finding::NoDifference), String::new()))
            }
        }
    }
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + characters.as_str()
}
