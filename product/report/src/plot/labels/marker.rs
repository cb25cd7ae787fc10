//! The maximum of a plot: a triangle that points to it, with its text.

use super::super::svg::{Anchor, Short, Svg};
use super::{LINE, LabelPosition, Labels, width_of};

/// Number of lines above the marker in which its text may stand, where no place beside it is free.
const LINES_MAX: u32 = 9;

/// The tip of the triangle, in units of the drawing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marker {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

impl Marker {
    /// Draws the triangle and its text: beside or above it, or further up at the end of a stroke.
    /// `clear` returns the height from which on nothing is drawn between two places; `middle` is
    /// that of the plot.
    pub(crate) fn draw(
        self,
        svg: &mut Svg,
        text: &str,
        middle: f64,
        labels: &mut Labels,
        clear: impl Fn(f64, f64) -> f64,
    ) {
        let Self { x, y } = self;
        svg.path("maximum", &format!("M{} {}l-4 -7h8z", Short(x), Short(y)));
        labels.take([x - 4.0, y - 7.0, x + 4.0, y]);
        let width = width_of(text);
        let is_clear = |place: &LabelPosition| {
            let left = place.left_of(width);
            place.y + 3.0 < clear(left, left + width)
        };
        // The text grows towards the side with more room.
        let (inward, outward) =
            if x < middle { (Anchor::Start, Anchor::End) } else { (Anchor::End, Anchor::Start) };
        let at = |anchor, y| {
            let aside = match anchor {
                Anchor::Start => 7.0,
                Anchor::Middle => 0.0,
                Anchor::End => -7.0,
            };
            LabelPosition { x: x + aside, y, anchor }
        };
        let near: Vec<LabelPosition> = [
            at(inward, y),
            at(outward, y),
            at(Anchor::Middle, y - 11.0),
            LabelPosition { x: x + 4.0, ..at(Anchor::End, y - 11.0) },
            LabelPosition { x: x - 4.0, ..at(Anchor::Start, y - 11.0) },
        ]
        .into();
        let far: Vec<LabelPosition> = (2..LINES_MAX)
            .map(|line| y - f64::from(line) * LINE)
            .flat_map(|y| {
                [inward, Anchor::Middle, outward].map(|anchor| LabelPosition { x, y, anchor })
            })
            .collect();
        let first = near.iter().filter(|place| is_clear(place)).copied();
        if let Some(place) = labels.place(text, first) {
            svg.text("maximum-label", (place.x, place.y), place.anchor, text);
            return;
        }
        if let Some(place) = labels.place(text, far.into_iter().filter(is_clear)) {
            svg.line("leader", (x, y - 7.0), (x, place.y + 3.0));
            svg.text("maximum-label", (place.x, place.y), place.anchor, text);
            return;
        }
        if let Some(place) = labels.place(text, near) {
            svg.text("maximum-label", (place.x, place.y), place.anchor, text);
        }
    }
}
