//! Writes SVG elements into a string. Every text is escaped here; classes and path data come from
//! this crate only.

use std::fmt::{self, Write as _};

use maud::PreEscaped;

/// A horizontal place: in units of the drawing, or as a part of its width, which keeps text and
/// strokes the same size at any width.
#[derive(Clone, Copy, Debug)]
pub(crate) enum X {
    Units(f64),
    Percent(f64),
}

impl From<f64> for X {
    fn from(units: f64) -> Self {
        Self::Units(units)
    }
}

impl fmt::Display for X {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Units(units) => write!(f, "{}", Short(*units)),
            Self::Percent(percent) => write!(f, "{percent:.2}%"),
        }
    }
}

/// A coordinate with at most one decimal: a tenth of a unit can't be seen.
pub(crate) struct Short(pub(crate) f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0).round() as i64;
        if tenths % 10 == 0 {
            write!(f, "{}", tenths / 10)
        } else {
            write!(f, "{:.1}", tenths as f64 / 10.0)
        }
    }
}

/// The point of a text that lies at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    const fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// An SVG drawing that is being written.
pub(crate) struct Svg {
    text: String,
}

/// Message for a failure that can't be: a string takes all that is written.
const INFALLIBLE: &str = "a string takes whatever is written";

impl Svg {
    /// Begins a drawing with a coordinate system of its own, scaled to the available width.
    pub(crate) fn scaled(class: &str, width: f64, height: f64, title: &str, about: &str) -> Self {
        let frame = format!("viewBox=\"0 0 {} {}\"", Short(width), Short(height));
        Self::open(class, &frame, title, about)
    }

    /// Begins a drawing as wide as the available room, whose horizontal places are percentages.
    pub(crate) fn stretched(class: &str, height: f64, title: &str, about: &str) -> Self {
        let frame = format!("width=\"100%\" height=\"{}\"", Short(height));
        Self::open(class, &frame, title, about)
    }

    fn open(class: &str, frame: &str, title: &str, about: &str) -> Self {
        let mut svg = Self { text: format!("<svg class=\"{class}\" {frame} role=\"img\"") };
        svg.push(" aria-label=\"");
        svg.escaped(title);
        svg.push("\"><title>");
        svg.escaped(title);
        svg.push("</title><desc>");
        svg.escaped(about);
        svg.push("</desc>");
        svg
    }

    /// Begins a group with this class.
    pub(crate) fn begin(&mut self, class: &str) {
        write!(self.text, "<g class=\"{class}\">").expect(INFALLIBLE);
    }

    /// Ends the innermost group.
    pub(crate) fn end(&mut self) {
        self.push("</g>");
    }

    pub(crate) fn line(&mut self, class: &str, from: (impl Into<X>, f64), to: (impl Into<X>, f64)) {
        write!(
            self.text,
            "<line class=\"{class}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>",
            from.0.into(),
            Short(from.1),
            to.0.into(),
            Short(to.1)
        )
        .expect(INFALLIBLE);
    }

    /// Draws a rectangle with an optional tooltip.
    pub(crate) fn rect(
        &mut self,
        class: &str,
        corner: (impl Into<X>, f64),
        size: (impl Into<X>, f64),
        tooltip: Option<&str>,
    ) {
        write!(
            self.text,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
            corner.0.into(),
            Short(corner.1),
            size.0.into(),
            Short(size.1)
        )
        .expect(INFALLIBLE);
        self.close("rect", tooltip);
    }

    /// Draws a circle with an optional tooltip.
    pub(crate) fn circle(
        &mut self,
        class: &str,
        centre: (impl Into<X>, f64),
        radius: f64,
        tooltip: Option<&str>,
    ) {
        write!(
            self.text,
            "<circle class=\"{class}\" cx=\"{}\" cy=\"{}\" r=\"{}\"",
            centre.0.into(),
            Short(centre.1),
            Short(radius)
        )
        .expect(INFALLIBLE);
        self.close("circle", tooltip);
    }

    /// Draws a diamond around a place, with an optional tooltip. It is a square that the style
    /// sheet turns and moves to its middle, since a path can't stand at a percentage of the width.
    pub(crate) fn diamond(
        &mut self,
        class: &str,
        centre: (impl Into<X>, f64),
        size: f64,
        tooltip: Option<&str>,
    ) {
        self.rect(&format!("diamond {class}"), centre, (size, size), tooltip);
    }

    pub(crate) fn path(&mut self, class: &str, data: &str) {
        write!(self.text, "<path class=\"{class}\" d=\"{data}\"/>").expect(INFALLIBLE);
    }

    /// Writes a text on its base line.
    pub(crate) fn text(
        &mut self,
        class: &str,
        at: (impl Into<X>, f64),
        anchor: Anchor,
        text: &str,
    ) {
        let (x, y, anchor) = (at.0.into(), Short(at.1), anchor.word());
        write!(self.text, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">")
            .expect(INFALLIBLE);
        self.escaped(text);
        self.push("</text>");
    }

    /// Writes a text that runs upwards from its place, which is in the middle of its line.
    pub(crate) fn upright(
        &mut self,
        class: &str,
        at: (impl Into<X>, f64),
        anchor: Anchor,
        text: &str,
    ) {
        self.text(&format!("upright {class}"), at, anchor, text);
    }

    /// Ends the drawing and returns it as markup.
    pub(crate) fn finish(mut self) -> PreEscaped<String> {
        self.push("</svg>");
        PreEscaped(self.text)
    }

    fn close(&mut self, element: &str, tooltip: Option<&str>) {
        match tooltip {
            None => self.push("/>"),
            Some(tooltip) => {
                self.push("><title>");
                self.escaped(tooltip);
                write!(self.text, "</title></{element}>").expect(INFALLIBLE);
            }
        }
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn escaped(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.push("&amp;"),
                '<' => self.push("&lt;"),
                '>' => self.push("&gt;"),
                '"' => self.push("&quot;"),
                _ => self.text.push(c),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn coordinates_are_short() {
        for (value, text) in [(12.0, "12"), (12.34, "12.3"), (-0.04, "0"), (0.96, "1")] {
            assert_eq!(Short(value).to_string(), text);
        }
    }

    proptest! {
        #[test]
        fn hostile_text_stays_text(text in "[\\x20-\\x7eµ≥<>&\"']{0,40}") {
            let mut svg = Svg::scaled("plot", 10.0, 10.0, &text, &text);
            svg.text("label", (1.0, 2.0), Anchor::Start, &text);
            svg.circle("dot", (1.0, 2.0), 3.0, Some(&text));
            let markup = svg.finish().into_string();
            let parsed = roxmltree::Document::parse(&markup).unwrap();
            let label = parsed.descendants().find(|node| node.has_tag_name("text")).unwrap();
            prop_assert_eq!(label.text().unwrap_or_default(), text);
        }
    }
}
