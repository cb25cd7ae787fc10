//! Marks of the changes that were made to a variable while it was recorded.
//!
//! | mark | change |
//! |------|--------|
//! | hollow, pointing down | given a value once |
//! | filled, pointing down | held at a value from then on |
//! | hollow, pointing up | let go |
//!
//! Each mark has its words beside it where there is room; all of them have them as tooltips.

use quietcore_record::trace::{Deed, Mark};

use super::RIGHT;
use crate::plot::svg::{Anchor, Short, Svg};
use crate::table::cut;

/// Half the width of a mark's head, and its height.
const HEAD: (f64, f64) = (4.0, 6.0);
/// Approximate width of a character.
const CHARACTER: f64 = 5.7;
/// Distance between a mark and its words.
const GAP: f64 = 7.0;
/// The most characters of a value.
const VALUE_CHARS_MAX: usize = 14;

/// A panel on which marks are drawn.
pub(super) struct Board {
    /// Its upper and its lower edge.
    pub(super) edges: (f64, f64),
    /// Left edge of the panel.
    pub(super) left: f64,
    /// Range that is written already, from left to right; nothing is written over it.
    pub(super) taken: Option<(f64, f64)>,
}

/// Draws marks, given with their places from left to right.
pub(super) fn draw(svg: &mut Svg, board: &Board, marks: &[(f64, &Mark)]) {
    let (top, bottom) = board.edges;
    let mut written_to = board.left;
    for (index, (at, mark)) in marks.iter().enumerate() {
        let words = words(mark);
        svg.line("deed", (*at, top), (*at, bottom));
        let class =
            if mark.deed == Deed::Forced { "deed-head" } else { "deed-head deed-head-hollow" };
        svg.path(class, &head(*at, top, mark.deed));
        let tooltip = format!("{words} in cycle {}", mark.cycle);
        svg.rect("limit-hover", (at - HEAD.0, top), (2.0 * HEAD.0, bottom - top), Some(&tooltip));
        let length = words.chars().count() as f64 * CHARACTER;
        let is_free = |from: f64| {
            let to = from + length;
            let covers = |(other, it): (usize, &(f64, &Mark))| {
                other != index && (from - HEAD.0..=to + HEAD.0).contains(&it.0)
            };
            from >= written_to
                && to <= RIGHT
                && board.taken.is_none_or(|(left, right)| to < left || from > right)
                && !marks.iter().enumerate().any(covers)
        };
        let beside = [at + GAP, at - GAP - length].into_iter().find(|from| is_free(*from));
        if let Some(from) = beside {
            svg.rect("back", (from - 1.0, top), (length + 2.0, 12.0), None);
            svg.text("deed-label", (from, top + 9.5), Anchor::Start, &words);
            written_to = from + length + GAP;
        }
    }
}

fn words(mark: &Mark) -> String {
    let deed = match mark.deed {
        Deed::Set => "set",
        Deed::Forced => "forced",
        Deed::Released => "released",
    };
    match &mark.value {
        Some(value) => format!("{deed} {}", cut(value, VALUE_CHARS_MAX)),
        None => deed.to_owned(),
    }
}

/// Makes the outline of a head whose tip or base is at the top of the panel.
fn head(at: f64, top: f64, deed: Deed) -> String {
    let (half, height) = HEAD;
    let (base, tip) =
        if deed == Deed::Released { (top + height, top) } else { (top, top + height) };
    let [left, right, at, base, tip] = [at - half, at + half, at, base, tip].map(Short);
    format!("M{left} {base}H{right}L{at} {tip}Z")
}
