//! Keeps labels apart: each takes a rectangle, and the next one looks for a free place.

mod limit_names;
mod marker;
mod spread;

pub(super) use limit_names::{NamedLimit, named};
pub(super) use marker::Marker;

use super::svg::Anchor;

/// The height of a line of text, in units of the drawing.
pub(crate) const LINE: f64 = 13.0;

/// Widths of narrow, common and wide characters. Rather too wide: the reader's font isn't known.
const CHARACTER: [f64; 3] = [4.0, 6.8, 10.0];

/// The position of a text: a point of its base line, and the end of the text that lies there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LabelPosition {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) anchor: Anchor,
}

impl LabelPosition {
    /// Returns the left end of a text that is `width` wide.
    pub(crate) fn left_of(&self, width: f64) -> f64 {
        match self.anchor {
            Anchor::Start => self.x,
            Anchor::Middle => self.x - width / 2.0,
            Anchor::End => self.x - width,
        }
    }
}

/// The rectangles that are taken in a drawing.
pub(crate) struct Labels {
    taken: Vec<[f64; 4]>,
    bounds: [f64; 4],
}

impl Labels {
    /// Starts with nothing taken within these bounds, given as left, top, right, bottom.
    pub(crate) const fn within(bounds: [f64; 4]) -> Self {
        Self { taken: Vec::new(), bounds }
    }

    /// Takes the first of `places` where `text` neither leaves the bounds nor meets another label;
    /// `None` where there is no such place.
    pub(crate) fn place(
        &mut self,
        text: &str,
        places: impl IntoIterator<Item = LabelPosition>,
    ) -> Option<LabelPosition> {
        let width = width_of(text);
        for place in places {
            let left = place.left_of(width);
            let wanted = [left, place.y - LINE * 0.8, left + width, place.y + LINE * 0.25];
            if self.is_inside(wanted) && self.is_free(wanted) {
                self.taken.push(wanted);
                return Some(place);
            }
        }
        None
    }

    /// Takes a rectangle that no label may cover, as left, top, right, bottom.
    pub(crate) fn take(&mut self, rectangle: [f64; 4]) {
        self.taken.push(rectangle);
    }

    fn is_inside(&self, [left, top, right, bottom]: [f64; 4]) -> bool {
        let [l, t, r, b] = self.bounds;
        left >= l && top >= t && right <= r && bottom <= b
    }

    /// Returns `true` if no label meets this rectangle.
    pub(crate) fn is_free(&self, [left, top, right, bottom]: [f64; 4]) -> bool {
        self.taken.iter().all(|[l, t, r, b]| right <= *l || *r <= left || bottom <= *t || *b <= top)
    }
}

/// Estimates the width of a text, in units of the drawing.
pub(crate) fn width_of(text: &str) -> f64 {
    let width = |c: char| match c {
        'i' | 'j' | 'l' | 'f' | 't' | 'r' | '.' | ',' | ':' | ' ' => CHARACTER[0],
        'm' | 'w' | 'M' | 'W' | '%' | '→' => CHARACTER[2],
        _ => CHARACTER[1],
    };
    text.chars().map(width).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_label_moves_aside() {
        let mut labels = Labels::within([0.0, 0.0, 200.0, 100.0]);
        let at = |x, y| LabelPosition { x, y, anchor: Anchor::Start };
        assert!(labels.place("release", [at(10.0, 20.0)]).is_some());
        let second = labels.place("wake-up", [at(20.0, 22.0), at(10.0, 40.0)]).unwrap();
        assert!((second.y - 40.0).abs() < 1e-9);
        assert!(labels.place("too far to the right", [at(150.0, 80.0)]).is_none());
    }
}
