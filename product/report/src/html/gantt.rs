//! The course of a late release: what ran when between the instant it was due and its start.

use maud::{Markup, html};
use quietcore_record::ledger::{Ledger, Piece};

use crate::plot;

/// The most rows of a chart, those that have the most time.
const ROWS_MAX: usize = 12;

/// Renders the course of a release as a Gantt chart; empty where it was not traced.
pub(super) fn chart(ledger: &Ledger) -> Markup {
    if ledger.course.is_empty() {
        return html! {};
    }
    let (rows, left_out) = rows(&ledger.course);
    html! {
        div.boxes.gantt role="group" aria-label=(format!("Course of release {}", ledger.release)) {
            @for pieces in &rows {
                @let first = pieces[0];
                div.row {
                    div.label title=(first.cause.meaning()) {
                        @if first.what.is_empty() { (first.cause.title()) } @else {
                            (first.what) span.sub { (first.cause.title()) }
                        }
                    }
                    (plot::course_row(first.cause.title(), pieces, ledger.latency_ns))
                }
            }
            div.row {
                div.label { span.sub { "since it was due" } }
                (plot::course_axis(ledger.latency_ns))
            }
        }
        @if left_out > 0 {
            p.remark { (ROWS_MAX) " rows are drawn; " (left_out) " with less time are left out." }
        }
    }
}

/// Returns the pieces of each cause, in the order in which the causes begin, and the number of
/// causes that are left out. Not by the shares, from which steal was taken that no piece tells of.
fn rows(course: &[Piece]) -> (Vec<Vec<&Piece>>, usize) {
    let mut rows: Vec<Vec<&Piece>> = Vec::new();
    for piece in course {
        let is_same =
            |row: &&mut Vec<&Piece>| row[0].cause == piece.cause && row[0].what == piece.what;
        match rows.iter_mut().find(is_same) {
            Some(row) => row.push(piece),
            None => rows.push(vec![piece]),
        }
    }
    let time = |row: &Vec<&Piece>| row.iter().map(|piece| piece.ns).sum::<u64>();
    rows.sort_by_key(|row| std::cmp::Reverse(time(row)));
    let left_out = rows.len().saturating_sub(ROWS_MAX);
    rows.truncate(ROWS_MAX);
    rows.sort_by_key(|row| row[0].at_ns);
    (rows, left_out)
}
