//! The tables of accesses to memory.

use maud::{Markup, html};
use quietcore_record::record::AccessPattern;
use quietcore_record::slowdown::{Estimate, RoutineSlowdown};

use super::super::elements::quantity;
use crate::figures::{self, NONE};
use crate::summary::{MemorySummary, Plateau};

/// What an access takes in each cache and beyond.
pub(super) fn plateaus(memory: &MemorySummary<'_>, ways: Option<u32>) -> Markup {
    let all = AccessPattern::ALL.map(|pattern| (pattern, memory.plateaus(ways, pattern)));
    html! {
        @if all.iter().any(|(_, plateaus)| !plateaus.is_empty()) {
            div.scroll tabindex="0" role="region" aria-label="Access time in each cache" {
                table.statistics {
                    thead {
                        tr {
                            th scope="col" { "Access" }
                            th.n scope="col" title="The working set that stands for it: the \
                                largest one of at most three quarters of the cache" {
                                "working set"
                            }
                            th.n scope="col" { "alone" }
                            th.n scope="col" { "beside neighbours" }
                            th.n scope="col" title="Median of the ratios of pairs, with its 95 % \
                                interval" { "slowdown" }
                        }
                    }
                    tbody {
                        @for (pattern, plateaus) in &all {
                            @for plateau in plateaus { (line(*pattern, plateau)) }
                        }
                    }
                }
            }
        }
    }
}

fn line(pattern: AccessPattern, plateau: &Plateau) -> Markup {
    let time = |it: Option<Estimate>| {
        quantity(&it.map_or_else(|| NONE.to_owned(), |it| figures::nanos_f64(it.median)))
    };
    let place = match plateau.cache_bytes {
        Some(bytes) => format!("in {} of {}", plateau.place, figures::bytes(bytes)),
        None => format!("in {}", plateau.place),
    };
    html! {
        tr {
            th scope="row" { (pattern.name()) span.sub { (place) } }
            td.n { (figures::bytes(plateau.working_set_bytes)) }
            td.n { (time(plateau.alone)) }
            td.n { (time(plateau.beside)) }
            td.n { (ratio(plateau.slowdown)) }
        }
    }
}

/// What neighbours cost each routine.
pub(super) fn routines(rows: &[RoutineSlowdown]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Routines beside neighbours" {
            table.statistics {
                thead {
                    tr {
                        th scope="col" { "Routine" }
                        th.n scope="col" { "mean alone" }
                        th.n scope="col" title="Median of the ratios of blocks, with its 95 % \
                            interval" { "slowdown" }
                        th.n scope="col" title="Largest value over the mean alone" {
                            "max alone"
                        }
                        th.n scope="col" title="Largest value over the mean alone" {
                            "max beside"
                        }
                        th.n scope="col" title="Bounds that the text on figure 6 gives" {
                            "scordino2020"
                        }
                    }
                }
                tbody {
                    @for row in rows {
                        tr {
                            th scope="row" title=(row.routine.meaning()) {
                                (figures::routine(row.routine, row.trigger))
                            }
                            td.n { (quantity(&figures::nanos_f64(row.alone_mean_ns))) }
                            td.n { (ratio(row.ratio)) }
                            td.n { (format!("{:.1}×", row.relative_alone[2])) }
                            td.n { (format!("{:.1}×", row.relative_beside[2])) }
                            td.n { (published(row)) }
                        }
                    }
                }
            }
        }
    }
}

fn ratio(estimate: Option<Estimate>) -> String {
    figures::or_dash(estimate.as_ref(), figures::ratio)
}

fn published(row: &RoutineSlowdown) -> String {
    row.published.map_or_else(
        || NONE.to_owned(),
        |bounds| match bounds.least {
            Some(least) => format!("{least} to {}×", bounds.most),
            None => format!("≤ {}×", bounds.most),
        },
    )
}
