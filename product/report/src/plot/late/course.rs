//! The course of a late release as a Gantt chart: a row for each cause, over the time from the
//! instant it was due to its start.
//!
//! ```text
//!  timer late            ████
//!  timer interrupt           ██
//!  spinner (99)                █████   ██████
//!  41 virtio3-rx                    ███
//!  own way to the start                      ██
//!                        ┼───────┼───────┼────
//!                        0     10 µs   20 µs
//! ```
//!
//! Places are percentages, so that text keeps its size on a telephone.

use maud::PreEscaped;
use quietcore_record::ledger::Piece;

use super::shares::class;
use crate::figures;
use crate::plot::axis::{Scale, time_mark};
use crate::plot::svg::{Anchor, Svg, X};

const HEIGHT: f64 = 20.0;
const AXIS_HEIGHT: f64 = 24.0;
/// Top and height of a piece, within the height of its row.
const PIECE: (f64, f64) = (3.0, 14.0);
/// Height by which the grid reaches beyond a row, so that it goes through from row to row.
const SPILL: f64 = 14.0;
/// Width of the thinnest piece, in per cent; a thinner one could not be seen.
const THINNEST: f64 = 0.25;
/// Marks nearer to an end than this, in per cent, have their text inwards.
const MARGIN: f64 = 6.0;

/// Draws the pieces of one cause of a release that was late by `latency_ns`.
pub(crate) fn course_row(title: &str, pieces: &[&Piece], latency_ns: u64) -> PreEscaped<String> {
    let scale = Scale::Linear { end: latency_ns.max(1) as f64 };
    let pieces: Vec<(&Piece, String)> = pieces.iter().map(|piece| (*piece, about(piece))).collect();
    let all: Vec<&str> = pieces.iter().map(|(_, about)| about.as_str()).collect();
    let mut svg = Svg::stretched("course", HEIGHT, title, &all.join("; "));
    for percent in marks(scale).map(|(percent, _)| percent) {
        let x = X::Percent(percent);
        svg.line("grid", (x, -SPILL), (x, HEIGHT + SPILL));
    }
    for (piece, about) in &pieces {
        let left = scale.part(piece.at_ns as f64) * 100.0;
        let right = scale.part(piece.at_ns.saturating_add(piece.ns) as f64) * 100.0;
        let left = left.min(100.0 - THINNEST);
        let corner = (X::Percent(left), PIECE.0);
        let size = (X::Percent((right - left).max(THINNEST)), PIECE.1);
        svg.rect(class(piece.cause), corner, size, Some(about));
    }
    svg.finish()
}

/// Draws the axis below the rows: the time since the release was due.
pub(crate) fn course_axis(latency_ns: u64) -> PreEscaped<String> {
    let scale = Scale::Linear { end: latency_ns.max(1) as f64 };
    let about = "Time since the release was due, the same for all rows";
    let mut svg = Svg::stretched("course axis", AXIS_HEIGHT, "Axis", about);
    for (percent, label) in marks(scale) {
        let anchor = match percent {
            at if at < MARGIN => Anchor::Start,
            at if at > 100.0 - MARGIN => Anchor::End,
            _ => Anchor::Middle,
        };
        svg.line("grid", (X::Percent(percent), 0.0), (X::Percent(percent), 4.0));
        svg.text("tick", (X::Percent(percent), 17.0), anchor, &label);
    }
    svg.finish()
}

/// Returns the places of the marks, in per cent, and their texts.
fn marks(scale: Scale) -> impl Iterator<Item = (f64, String)> {
    scale.ticks(time_mark).into_iter().map(move |tick| (scale.part(tick.value) * 100.0, tick.label))
}

fn about(piece: &Piece) -> String {
    let (from, ns) = (figures::nanos(piece.at_ns), figures::nanos(piece.ns));
    let what = if piece.what.is_empty() { String::new() } else { format!(", {}", piece.what) };
    format!("{}{what}: {ns}, from {from} on", piece.cause.title())
}

#[cfg(test)]
mod tests {
    use quietcore_record::ledger::Cause;

    use super::*;

    fn places(pieces: &[Piece], latency_ns: u64) -> Vec<(f64, f64)> {
        let markup = course_row("t", &pieces.iter().collect::<Vec<_>>(), latency_ns).into_string();
        let parsed = roxmltree::Document::parse(&markup).unwrap();
        let bars = parsed.descendants().filter(|node| node.has_tag_name("rect"));
        let percent = |text: Option<&str>| text.unwrap().trim_end_matches('%').parse().unwrap();
        bars.map(|bar| (percent(bar.attribute("x")), percent(bar.attribute("width")))).collect()
    }

    fn piece(at_ns: u64, ns: u64) -> Piece {
        Piece { cause: Cause::Thread, what: "<x> & \"y\"".to_owned(), at_ns, ns }
    }

    #[test]
    fn a_piece_has_its_place_and_its_length_and_the_shortest_is_seen() {
        assert_eq!(places(&[piece(0, 500), piece(750, 250)], 1_000), [(0.0, 50.0), (75.0, 25.0)]);
        assert_eq!(places(&[piece(999_999, 1)], 1_000_000), [(100.0 - THINNEST, THINNEST)]);
        for (left, width) in places(&[piece(u64::MAX, u64::MAX), piece(7, u64::MAX)], 10) {
            assert!((0.0..=100.0).contains(&left) && left + width <= 100.01, "{left} {width}");
        }
        assert!(places(&[], 0).is_empty());
    }

    #[test]
    fn the_axis_says_when_from_the_instant_it_was_due() {
        let axis = course_axis(40_000).into_string();
        for mark in [0.0, 10_000.0, 40_000.0].map(time_mark) {
            assert!(axis.contains(&format!(">{mark}</text>")), "{mark}: {axis}");
        }
    }
}
