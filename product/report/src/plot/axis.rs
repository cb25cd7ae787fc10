//! Axes: the places of values, and the marks beside them.

use crate::figures;

/// The spread of values over an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    /// From 0 to `end`, evenly.
    Linear {
        /// The largest value of the axis.
        end: f64,
    },
    /// From `begin` to `end`, both above 0. A value below `begin` is drawn at it.
    Logarithmic {
        /// The smallest value of the axis.
        begin: f64,
        /// The largest value of the axis.
        end: f64,
    },
}

/// A mark of an axis, with its label.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    /// Value that it stands for.
    pub(crate) value: f64,
    /// Text beside it; empty for a minor mark.
    pub(crate) label: String,
}

impl Scale {
    /// Makes a linear scale whose end is a round number beyond `max`.
    pub(crate) fn linear_beyond(max: f64) -> Self {
        let step = nice_step(max.max(1.0) * 1.02 / 10.0);
        Self::Linear { end: (max.max(1.0) * 1.02 / step).ceil() * step }
    }

    /// Makes a logarithmic scale from a round number below `min` to one beyond `max`.
    pub(crate) fn logarithmic_around(min: f64, max: f64) -> Self {
        let begin = round_down(min.max(f64::MIN_POSITIVE));
        let end = round_down(max.max(min) * 1.05);
        // The next round number: with 1, 2, 5 there is one within a factor of 2.5.
        let end = [1.0, 2.0, 2.5, 5.0, 10.0]
            .into_iter()
            .map(|factor| round_down(end * factor * 1.000_1))
            .find(|candidate| *candidate >= max * 1.05)
            .unwrap_or(end * 10.0);
        Self::Logarithmic { begin, end: end.max(begin * 10.0) }
    }

    /// Returns the place of `value`: 0 at the begin, 1 at the end, never outside.
    pub(crate) fn part(self, value: f64) -> f64 {
        let part = match self {
            Self::Linear { end } => value / end,
            Self::Logarithmic { begin, end } => {
                (value.max(begin) / begin).ln() / (end / begin).ln()
            }
        };
        part.clamp(0.0, 1.0)
    }

    /// Returns the largest value of the axis.
    pub(crate) const fn end(self) -> f64 {
        match self {
            Self::Linear { end } | Self::Logarithmic { end, .. } => end,
        }
    }

    /// Returns the smallest value of the axis.
    pub(crate) const fn begin(self) -> f64 {
        match self {
            Self::Linear { .. } => 0.0,
            Self::Logarithmic { begin, .. } => begin,
        }
    }

    pub(crate) const fn is_logarithmic(self) -> bool {
        matches!(self, Self::Logarithmic { .. })
    }

    /// Lists the marks: four to ten on a linear scale, the decades and their parts on a logarithmic
    /// one. `write` formats a value that gets a label.
    pub(crate) fn ticks(self, write: impl Fn(f64) -> String) -> Vec<Tick> {
        match self {
            Self::Linear { end } => {
                let step = nice_step(end / 7.0);
                let count = (end / step + 1e-6).floor() as u32;
                (0..=count)
                    .map(|index| f64::from(index) * step)
                    .map(|value| Tick { value, label: write(value) })
                    .collect()
            }
            Self::Logarithmic { begin, end } => {
                let decades = (end / begin).log10();
                let labelled: &[u32] = match decades {
                    decades if decades <= 1.6 => &[1, 2, 5],
                    decades if decades <= 2.2 => &[1, 3],
                    _ => &[1],
                };
                let mut ticks = Vec::new();
                let first = begin.log10().floor() as i32;
                let last = end.log10().ceil() as i32;
                for decade in first..=last {
                    for digit in 1..10_u32 {
                        let value = f64::from(digit) * 10_f64.powi(decade);
                        if value < begin * 0.999 || value > end * 1.001 {
                            continue;
                        }
                        let label =
                            if labelled.contains(&digit) { write(value) } else { String::new() };
                        ticks.push(Tick { value, label });
                    }
                }
                ticks
            }
        }
    }
}

/// Returns the smallest of 1, 2, 5 × 10ⁿ that is not below `value`.
pub(crate) fn nice_step(value: f64) -> f64 {
    let decade = 10_f64.powf(value.max(1e-9).log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * decade)
        .find(|step| *step >= value * 0.999_999)
        .unwrap_or(decade * 10.0)
}

/// Returns the largest of 1, 2, 5 × 10ⁿ that is not above `value`.
fn round_down(value: f64) -> f64 {
    let decade = 10_f64.powf(value.log10().floor());
    [10.0, 5.0, 2.0, 1.0]
        .into_iter()
        .map(|factor| factor * decade)
        .find(|mark| *mark <= value * 1.000_001)
        .unwrap_or(decade)
}

/// Formats the time of a mark, such as `20 µs`, without the digits of a measured value.
pub(crate) fn time_mark(value_ns: f64) -> String {
    figures::set_nanos(value_ns.round().max(0.0) as u64)
}

/// Returns the unit that fits a linear axis up to `end` ns, and its size in ns.
pub(crate) fn unit_for(end_ns: f64) -> (&'static str, f64) {
    match end_ns {
        end if end <= 2_000.0 => ("ns", 1.0),
        end if end <= 2_000_000.0 => ("µs", 1e3),
        end if end <= 2_000_000_000.0 => ("ms", 1e6),
        _ => ("s", 1e9),
    }
}

/// Formats a number of an axis without needless digits.
pub(crate) fn plain(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn marks_are_round_and_few() {
        let Scale::Linear { end } = Scale::linear_beyond(412_000.0) else { unreachable!() };
        assert!((end - 450_000.0).abs() < 1.0, "{end}");
        let labels: Vec<_> =
            Scale::Linear { end: 450.0 }.ticks(plain).into_iter().map(|tick| tick.label).collect();
        assert_eq!(labels, ["0", "100", "200", "300", "400"]);
        assert_eq!(time_mark(20_000.0), "20\u{a0}µs");
        assert_eq!(time_mark(2_500_000.0), "2.5\u{a0}ms");
        assert_eq!(time_mark(100.0), "100\u{a0}ns");
    }

    #[test]
    fn a_logarithmic_scale_holds_its_values() {
        let scale = Scale::logarithmic_around(22.0, 49_000_000.0);
        assert!((scale.begin() - 20.0).abs() < 1e-6);
        assert!(scale.end() >= 49_000_000.0 * 1.05);
        assert!(scale.end() <= 1e8 * 1.001);
    }

    proptest! {
        #[test]
        fn every_scale_ends_beyond_its_largest_value(min in 1.0_f64..1e9, factor in 1.0_f64..1e6) {
            let max = min * factor;
            for scale in [Scale::linear_beyond(max), Scale::logarithmic_around(min, max)] {
                prop_assert!(scale.end() > max);
                prop_assert!(scale.begin() <= min * 1.000_01);
                let ticks = scale.ticks(plain);
                let labelled = ticks.iter().filter(|tick| !tick.label.is_empty()).count();
                prop_assert!((2..=16).contains(&labelled), "{labelled} marks on {scale:?}");
                prop_assert!(ticks.len() < 200);
            }
        }
    }
}
