//! A late release as one bar: the parts of its latency, each in the colour of its cause.
//!
//! ```text
//!  ████████▒▒▒░░░░░░░░░░░░░░░░░░│          as long as the latency, beside the worst one
//! ```

use maud::PreEscaped;
use quietcore_record::ledger::{Cause, Share};

use crate::figures;
use crate::plot::svg::{Svg, X};

const HEIGHT: f64 = 22.0;
/// Top and height of the bar itself, within the height of the drawing.
const BAR: (f64, f64) = (3.0, 16.0);
/// Width of the thinnest part, in per cent; a thinner one could not be seen.
const THINNEST: f64 = 0.15;

/// Returns the class of the style sheet that colours a cause.
pub(crate) const fn class(cause: Cause) -> &'static str {
    match cause {
        Cause::TimerLate => "cause timer-late",
        Cause::TimerInterrupt => "cause timer-interrupt",
        Cause::Interrupt => "cause interrupt",
        Cause::Nmi => "cause nmi",
        Cause::Softirq => "cause softirq",
        Cause::Thread => "cause thread",
        Cause::RunDelay => "cause run-delay",
        Cause::PageFault => "cause page-fault",
        Cause::Exit => "cause exit",
        Cause::Own => "cause own",
        Cause::Steal => "cause steal",
        Cause::Unexplained => "cause unexplained",
    }
}

/// Draws a bar of parts; one of `longest_ns` takes the whole width.
pub(crate) fn ledger(title: &str, parts: &[Share], longest_ns: u64) -> PreEscaped<String> {
    let sum: u64 = parts.iter().map(|part| part.ns).sum();
    let about: Vec<String> = parts.iter().map(|part| tooltip(part, sum)).collect();
    let mut svg = Svg::stretched("ledger", HEIGHT, title, &about.join("; "));
    let mut left = 0.0;
    for (part, about) in parts.iter().zip(&about) {
        let width = part.ns as f64 / longest_ns.max(1) as f64 * 100.0;
        let shown = width.max(THINNEST).min(100.0 - left);
        let (corner, size) = ((X::Percent(left), BAR.0), (X::Percent(shown), BAR.1));
        svg.rect(class(part.cause), corner, size, Some(about));
        left = (left + width).min(100.0);
    }
    svg.finish()
}

/// Describes a part, with its share of the whole.
pub(crate) fn tooltip(part: &Share, sum_ns: u64) -> String {
    let share = part.ns as f64 / sum_ns.max(1) as f64 * 100.0;
    let what = if part.what.is_empty() { String::new() } else { format!(", {}", part.what) };
    format!("{}{what}: {}, {share:.1} %", part.cause.title(), figures::nanos(part.ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widths(parts: &[Share], longest: u64) -> Vec<f64> {
        let markup = ledger("t", parts, longest).into_string();
        let parsed = roxmltree::Document::parse(&markup).unwrap();
        let bars = parsed.descendants().filter(|node| node.has_tag_name("rect"));
        bars.map(|bar| bar.attribute("width").unwrap().trim_end_matches('%').parse().unwrap())
            .collect()
    }

    fn part(ns: u64) -> Share {
        Share { cause: Cause::Thread, what: "<x> & \"y\"".to_owned(), ns, times: 1 }
    }

    #[test]
    fn parts_are_as_wide_as_their_time_and_the_thinnest_is_seen() {
        assert_eq!(widths(&[part(600), part(400)], 1_000), [60.0, 40.0]);
        assert_eq!(widths(&[part(500)], 1_000), [50.0]);
        assert_eq!(widths(&[part(1)], 1_000_000), [THINNEST]);
        assert!(widths(&[part(u64::MAX / 2), part(7)], 1).iter().all(|width| *width <= 100.0));
        assert!(widths(&[], 0).is_empty());
    }
}
