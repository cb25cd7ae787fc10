//! The disturbance matrix: neighbours × places as a heat map, with what each achieved and why
//! releases were late beside it.

use maud::{Markup, html};
use quietcore_record::experiment::{Disturbance, DisturbanceCell, Finding, Ratio};
use quietcore_record::record::Placement;

use super::super::elements::quantity;
use super::releases;
use crate::figures::{self, NONE};
use crate::summary::{achieved, cause, worst_cell};

/// Ratios at which the next shade begins.
const SHADES: [f64; 6] = [1.05, 1.5, 3.0, 10.0, 30.0, 100.0];

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

pub(in crate::html) fn section(matrices: &[Disturbance]) -> Markup {
    html! {
        @for matrix in matrices {
            h3 {
                (matrix.partition) " · " (matrix.task)
                span.sub { (matrix.rounds) " rounds for each neighbour" }
            }
            (super::too_few(matrix.rounds, matrix.rounds_needed))
            (super::method())
            (heat_map(matrix))
            (details(matrix))
        }
    }
}

/// Renders the heat map: neighbours downwards, places to the right.
fn heat_map(matrix: &Disturbance) -> Markup {
    let places: Vec<Placement> = Placement::ALL
        .into_iter()
        .filter(|place| matrix.cells.iter().any(|cell| cell.aggressor.placement == *place))
        .collect();
    let mut kinds: Vec<&str> = Vec::new();
    for cell in &matrix.cells {
        if !kinds.contains(&cell.aggressor.kind.as_str()) {
            kinds.push(&cell.aggressor.kind);
        }
    }
    html! {
        figure.wide {
            figcaption {
                span.name { "Release latency beside a neighbour over that of the quiet run" }
                span.sub {
                    "p99.9 large, maximum below; shaded where the p99.9 was shown to differ"
                }
            }
            div.scroll tabindex="0" role="region" aria-label="Disturbance matrix" { table.heat {
                thead {
                    tr {
                        th scope="col" { "Neighbour" }
                        @for place in &places { th scope="col" { (place.title()) } }
                    }
                }
                tbody {
                    @for kind in kinds {
                        tr {
                            th scope="row" { (kind) }
                            @for place in &places { (heat(find(matrix, kind, *place))) }
                        }
                    }
                }
            } }
        }
    }
}

fn find<'m>(matrix: &'m Disturbance, kind: &str, place: Placement) -> Option<&'m DisturbanceCell> {
    let of =
        |cell: &&DisturbanceCell| cell.aggressor.kind == kind && cell.aggressor.placement == place;
    matrix.cells.iter().find(of)
}

fn heat(cell: Option<&DisturbanceCell>) -> Markup {
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

fn times(ratio: &Ratio) -> String {
    ratio.ratio.map_or_else(|| NONE.to_owned(), |estimate| figures::times(estimate.median))
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

fn details(matrix: &Disturbance) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Neighbours" {
            table.statistics {
                thead {
                    tr {
                        th scope="col" { "Neighbour" }
                        th.n scope="col" { "p99.9" span.sub { "over quiet" } }
                        th.n scope="col" { "maximum" span.sub { "over quiet" } }
                        th.n scope="col" {
                            "releases" span.sub {
                                "above " (figures::nanos(matrix.quiet_p99_9_ns))
                            }
                        }
                        th.n scope="col" { "latest" }
                        th.n scope="col" { "missed" }
                        th scope="col" { "achieved" }
                        th scope="col" { "cause of late releases" }
                    }
                }
                tbody {
                    tr {
                        th scope="row" {
                            "quiet"
                            span.sub { "p99.9 " (figures::nanos(matrix.quiet_p99_9_ns)) }
                        }
                        td.n { (NONE) } td.n { (NONE) }
                        td.n { (releases(&matrix.quiet_above)) }
                        td.n { (quantity(&figures::nanos(matrix.quiet_max_ns))) }
                        td.n { (NONE) } td { (NONE) } td.because { (NONE) }
                    }
                    @for cell in &matrix.cells { (detail(cell)) }
                }
            }
        }
    }
}

fn detail(cell: &DisturbanceCell) -> Markup {
    let aggressor = &cell.aggressor;
    let ratio = |ratio: &Ratio| {
        let Some(estimate) = ratio.ratio else { return html! { (NONE) } };
        let interval = figures::interval(&estimate).unwrap_or_default();
        html! { (times(ratio)) span.sub { (interval) } }
    };
    html! {
        tr {
            th scope="row" {
                (aggressor.kind) ", " (aggressor.placement.title())
                span.sub { (aggressor.workers) " on CPU " (aggressor.cpus) }
            }
            td.n { (ratio(&cell.p99_9)) }
            td.n { (ratio(&cell.max)) }
            td.n { (releases(&cell.above_quiet)) }
            td.n { (quantity(&figures::nanos(cell.max_ns))) }
            td.n { (figures::count(cell.missed_cycles)) }
            td { (achieved(cell)) @if cell.invalid_blocks > 0 {
                span.sub { (cell.invalid_blocks) " blocks are invalid" }
            } }
            td.because { (cause(cell).unwrap_or_else(|| NONE.to_owned())) }
        }
    }
}
