//! Accesses to memory: the curves of scordino2020's figure 5, the slowdown below them, the
//! pressure, and the routines of its figure 6.

mod curves;
mod pressure;
mod routines;

pub(crate) use curves::curves;
pub(crate) use pressure::pressure;
pub(crate) use routines::slowed_routines;

use quietcore_record::record::AccessPattern;

/// Returns the class that colours a pattern.
pub(crate) const fn class_of(pattern: AccessPattern) -> &'static str {
    match pattern {
        AccessPattern::Sequential => "few",
        AccessPattern::Random => "many",
    }
}

/// Makes a path through points, as the data of an SVG path.
fn line_through(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut data = String::new();
    for (x, y) in points {
        let letter = if data.is_empty() { 'M' } else { 'L' };
        data.push_str(&format!("{letter}{x:.1} {y:.1}"));
    }
    data
}

/// Makes the area between two lines, given from left to right.
fn area_between(upper: &[(f64, f64)], lower: &[(f64, f64)]) -> String {
    let mut data = line_through(upper.iter().copied().chain(lower.iter().rev().copied()));
    if !data.is_empty() {
        data.push('Z');
    }
    data
}
