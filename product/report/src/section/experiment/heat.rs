//! The disturbance matrix as a heat map, which is a table: neighbours downwards, places to the
//! right.

use maud::{PreEscaped, html};
use quietcore_record::experiment::{Disturbance, DisturbanceCell, Finding, Ratio};
use quietcore_record::record::Placement;

use super::times;
use crate::figures::{self, NONE};
use crate::summary::cause;

/// Ratios at which the next shade begins.
const SHADES: [f64; 6] = [1.05, 1.5, 3.0, 10.0, 30.0, 100.0];

/// Draws the p99.9 and the maximum beside each neighbour over those of the quiet run.
pub(super) fn heat(matrix: &Disturbance) -> PreEscaped<String> {
    let places: Vec<Placement> = Placement::ALL
        .into_iter()
        .filter(|place| matrix.cells.iter().any(|cell| cell.aggressor.placement == *place))
        .collect();
    let mut kinds: Vec<String> = Vec::new();
    for cell in &matrix.cells {
        let title = cell.aggressor.title();
        if !kinds.contains(&title) {
            kinds.push(title);
        }
    }
    html! {
        table.heat {
            thead {
                tr {
                    th scope="col" { "Neighbour" }
                    @for place in &places { th scope="col" { (place.title()) } }
                }
            }
            tbody {
                @for kind in &kinds {
                    tr {
                        th scope="row" { (kind) }
                        @for place in &places { (shaded(find(matrix, kind, *place))) }
                    }
                }
            }
        }
    }
}

/// Returns the cell of the neighbours with this title at a place.
fn find<'m>(matrix: &'m Disturbance, title: &str, place: Placement) -> Option<&'m DisturbanceCell> {
    let of = |cell: &&DisturbanceCell| {
        cell.aggressor.title() == title && cell.aggressor.placement == place
    };
    matrix.cells.iter().find(of)
}

fn shaded(cell: Option<&DisturbanceCell>) -> PreEscaped<String> {
    let Some(cell) = cell else { return html! { td.heat-none { (NONE) } } };
    let is_shown = cell.p99_9.finding == Finding::More;
    let shades = SHADES.iter().filter(|begin| cell.p99_9.median() >= **begin);
    let shade = if is_shown { shades.count() } else { 0 };
    html! {
        td class=(format!("heat-{shade}")) title=(tooltip(cell)) {
            span.ratio { (times(&cell.p99_9)) }
            span.sub { "max " (times(&cell.max)) }
        }
    }
}

fn tooltip(cell: &DisturbanceCell) -> String {
    let of = |ratio: &Ratio| figures::or_dash(ratio.ratio.as_ref(), figures::ratio);
    let mut text = format!("p99.9 {}; maximum {}", of(&cell.p99_9), of(&cell.max));
    if let Some(cause) = cause(cell) {
        text.push_str("; ");
        text.push_str(&cause);
    }
    text
}
