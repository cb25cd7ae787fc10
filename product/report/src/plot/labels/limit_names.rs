//! The limits that a plot draws. Each has its name, and a limit without room for a name has no
//! line.

use super::super::frame::Limit;
use super::spread::{LabelSpan, spread};
use super::width_of;

/// The least distance between two names, in pixels.
const GAP: f64 = 7.0;

/// The largest distance of a name from its line, in pixels; flatter leaders are hard to follow.
const AWAY_MAX: f64 = 40.0;

/// Size of the names in relation to the text that [`width_of`] measures.
const SMALLER: f64 = 0.93;

/// A limit with its line and its name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NamedLimit<'a> {
    pub(crate) limit: &'a Limit,
    /// Place of its line; `None` where it lies beyond the axis.
    pub(crate) line: Option<f64>,
    /// Place of the middle of its name.
    pub(crate) name: f64,
    pub(crate) text: String,
}

impl Limit {
    /// Returns the text at its line.
    fn name(&self) -> &str {
        if self.declared { &self.label } else { &self.short }
    }

    /// Returns its weight: where there is no room for all limits, those with the least are left
    /// out.
    const fn rank(&self) -> u8 {
        match (self.declared, self.usual) {
            (true, _) => 2,
            (false, true) => 1,
            (false, false) => 0,
        }
    }
}

/// Places the names of `limits`, ascending, between `left` and `right`. `line` returns the place of
/// a limit; `scale` is the number of units of the drawing in a pixel.
pub(crate) fn named<'a>(
    limits: &[&'a Limit],
    line: impl Fn(&Limit) -> Option<f64>,
    scale: f64,
    (left, right): (f64, f64),
) -> Vec<NamedLimit<'a>> {
    let mut all: Vec<NamedLimit<'a>> = limits
        .iter()
        .map(|limit| {
            let line = line(limit);
            let beyond = if line.is_none() { " →" } else { "" };
            let text = format!("{}{beyond}", limit.name());
            NamedLimit { limit, line, name: line.unwrap_or(right), text }
        })
        .collect();
    loop {
        let wanted: Vec<LabelSpan> = all
            .iter()
            .map(|one| {
                let width = width_of(&one.text) * SMALLER * scale;
                LabelSpan { middle: one.line.unwrap_or(right - width / 2.0), width }
            })
            .collect();
        let placed = spread(&wanted, GAP * scale, left, right);
        let near = |middles: &Vec<f64>| {
            let away =
                middles.iter().zip(&wanted).map(|(middle, name)| (middle - name.middle).abs());
            all.len() == 1 || away.fold(0.0, f64::max) <= AWAY_MAX * scale
        };
        if let Some(middles) = placed.filter(near) {
            for (one, middle) in all.iter_mut().zip(middles) {
                one.name = middle;
            }
            return all;
        }
        // Among the limits of least weight, the most crowded one tells the least.
        let Some(dropped) = most_crowded(&all) else { return Vec::new() };
        all.remove(dropped);
    }
}

fn most_crowded(all: &[NamedLimit<'_>]) -> Option<usize> {
    // The distance between its two neighbours; at an end, twice that to its only one.
    let span = |index: usize| {
        let to = |other: Option<&NamedLimit<'_>>| {
            other.map(|other| (other.name - all[index].name).abs())
        };
        let before = to(index.checked_sub(1).and_then(|before| all.get(before)));
        match (before, to(all.get(index + 1))) {
            (Some(before), Some(after)) => before + after,
            (Some(one), None) | (None, Some(one)) => one * 2.0,
            (None, None) => f64::INFINITY,
        }
    };
    let order = |one: &usize, other: &usize| {
        let rank = |index: &usize| all[*index].limit.rank();
        rank(one).cmp(&rank(other)).then(span(*one).total_cmp(&span(*other)))
    };
    (0..all.len()).min_by(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(limit_ns: u64, declared: bool) -> Limit {
        Limit::tenth_of(limit_ns * 10, limit_ns, "a class", declared)
    }

    #[test]
    fn every_line_has_a_name_and_the_declared_one_stays() {
        let limits: Vec<Limit> = (1..40).map(|index| limit(index * 1_000, index == 20)).collect();
        let all: Vec<&Limit> = limits.iter().collect();
        let line = |limit: &Limit| Some(limit.limit_ns as f64 / 100.0);
        let named = named(&all, line, 1.0, (0.0, 440.0));
        assert!(named.len() > 3 && named.len() < limits.len(), "{}", named.len());
        assert!(named.iter().any(|one| one.limit.declared && one.text.starts_with("tenth of")));
        let ends = |one: &NamedLimit<'_>| {
            let half = width_of(&one.text) / 2.0;
            (one.name - half, one.name + half)
        };
        assert!(named.windows(2).all(|pair| ends(&pair[0]).1 < ends(&pair[1]).0));
    }

    #[test]
    fn a_limit_beyond_the_axis_is_named_at_its_end() {
        let far = limit(1_000_000, true);
        let named = named(&[&far], |_| None, 1.0, (0.0, 440.0));
        assert_eq!(named[0].text, "tenth of 10\u{a0}ms →");
        assert_eq!(named[0].line, None);
    }
}
