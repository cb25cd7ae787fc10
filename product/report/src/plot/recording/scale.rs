//! The axis of a panel: numbers, the levels of a truth value, or the names of an enumeration.

use quietcore_record::trace::Meaning;

use super::{Span, rounded, written};
use crate::table::cut;

/// Height of a panel of numbers.
const NUMBERS: f64 = 84.0;
/// Height of a panel of two levels.
const LEVELS: f64 = 34.0;
/// Height that a name takes.
const NAME: f64 = 17.0;
/// The most names beside an axis.
const NAMES_MAX: usize = 8;
/// The most characters of a name beside an axis.
const NAME_CHARS_MAX: usize = 20;

/// The axis of a panel.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    span: Span,
    /// Values with the texts beside them.
    pub(super) labels: Vec<(f64, String)>,
    /// Height of the panel.
    pub(super) height: f64,
    /// Unit of the numbers; `None` where it is not known.
    pub(super) unit: Option<String>,
    /// The smallest and the largest value, in words; `None` where the labels tell them.
    pub(super) extremes: Option<String>,
    /// Value at which the area below the line begins; `None` for a line alone.
    pub(super) ground: Option<f64>,
}

impl Scale {
    /// Makes the axis for numbers from `low` to `high` that mean `meaning`.
    pub(super) fn of(meaning: &Meaning, low: f64, high: f64) -> Self {
        match meaning {
            Meaning::Plain => Self::numbers(None, low, high),
            Meaning::In(unit) => Self::numbers(Some(unit.clone()), low, high),
            Meaning::Level => Self {
                span: Span { low: -0.15, high: 1.15 },
                labels: vec![(0.0, "false".to_owned()), (1.0, "true".to_owned())],
                height: LEVELS,
                unit: None,
                extremes: None,
                ground: Some(0.0),
            },
            Meaning::Names(names) => Self::names(names, low, high),
        }
    }

    fn numbers(unit: Option<String>, low: f64, high: f64) -> Self {
        let span = Span::around(low, high);
        let labels = span.ticks(5.0).into_iter().map(|tick| (tick, written(tick))).collect();
        let behind = unit.as_ref().map_or_else(String::new, |unit| format!(" {unit}"));
        let extremes = format!("min {}{behind}, max {}{behind}", rounded(low), rounded(high));
        let extremes = Some(extremes);
        Self { span, labels, height: NUMBERS, unit, extremes, ground: None }
    }

    /// Makes an axis of the names between the smallest and the largest number; with many, some are
    /// left out.
    fn names(names: &[(i64, String)], low: f64, high: f64) -> Self {
        let is_shown = |value: i64| (low..=high).contains(&(value as f64));
        let shown: Vec<_> = names.iter().filter(|(value, _)| is_shown(*value)).collect();
        if shown.is_empty() {
            // None of the recorded numbers has a name.
            return Self::numbers(None, low, high);
        }
        let every = shown.len().div_ceil(NAMES_MAX);
        let begin = shared_begin(names);
        let label = |(value, name): &&(i64, String)| {
            (*value as f64, cut(name.get(begin..).unwrap_or(name), NAME_CHARS_MAX))
        };
        let labels: Vec<_> = shown.iter().step_by(every).map(label).collect();
        Self {
            span: Span { low: low - 0.3, high: high + 0.3 },
            height: (NAME * labels.len() as f64).clamp(LEVELS, NUMBERS.max(NAME * 6.0)),
            labels,
            unit: None,
            extremes: None,
            ground: None,
        }
    }

    /// Makes an axis for a variable that never was a number.
    pub(super) fn empty() -> Self {
        Self { labels: Vec::new(), extremes: None, height: LEVELS, ..Self::numbers(None, 0.0, 1.0) }
    }

    /// Returns the place of a value below the top of the panel.
    pub(super) fn y(&self, value: f64) -> f64 {
        self.height - self.span.part(value) * self.height
    }
}

/// Returns the length of the beginning that all names share, such as the name of their type: up to
/// a `_` after which each of them goes on with a letter.
fn shared_begin(names: &[(i64, String)]) -> usize {
    let Some(((_, first), others)) = names.split_first().filter(|(_, rest)| !rest.is_empty())
    else {
        return 0;
    };
    let ends = first.match_indices('_').map(|(at, _)| at + 1);
    let goes_on = |name: &str, end: usize| {
        let rest = name.strip_prefix(&first[..end]);
        rest.is_some_and(|rest| rest.starts_with(char::is_alphabetic))
    };
    let is_shared =
        |end: &usize| goes_on(first, *end) && others.iter().all(|(_, name)| goes_on(name, *end));
    ends.take_while(is_shared).last().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_names_begin_with_is_left_out() {
        let begin = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(|name| (0, (*name).to_owned())).collect();
            shared_begin(&names)
        };
        assert_eq!(begin(&["servo_State_Idle", "servo_State_Run"]), 12);
        assert_eq!(begin(&["servo_State_", "servo_State_Run"]), 6, "something is left");
        assert_eq!(begin(&["STATE_1", "STATE_2"]), 0, "a name is no number");
        assert_eq!(begin(&["IDLE", "RUN"]), 0);
        assert_eq!(begin(&["servo_State_Idle"]), 0);
        assert_eq!(begin(&[]), 0);
    }

    #[test]
    fn truth_and_names_stand_beside_their_axis() {
        let level = Scale::of(&Meaning::Level, 0.0, 0.0);
        assert_eq!(level.labels, [(0.0, "false".to_owned()), (1.0, "true".to_owned())]);
        assert!(level.y(1.0) > 0.0 && level.y(0.0) < level.height, "both lie in the panel");
        let names = Meaning::Names((0..40).map(|it| (it, format!("STATE_{it}"))).collect());
        let some = Scale::of(&names, 2.0, 3.0);
        assert_eq!(some.labels, [(2.0, "STATE_2".to_owned()), (3.0, "STATE_3".to_owned())]);
        assert!(Scale::of(&names, 0.0, 39.0).labels.len() <= NAMES_MAX);
        let none = Scale::of(&names, 77.0, 80.0);
        assert_eq!(none.extremes.as_deref(), Some("min 77, max 80"));
        let long = Meaning::Names(vec![(0, "x".repeat(50))]);
        assert_eq!(Scale::of(&long, 0.0, 0.0).labels[0].1.chars().count(), NAME_CHARS_MAX);
    }

    #[test]
    fn numbers_have_their_unit() {
        let speed = Scale::of(&Meaning::In("rad/s".to_owned()), -1.5, 3.0);
        assert_eq!(speed.extremes.as_deref(), Some("min -1.5 rad/s, max 3 rad/s"));
        assert_eq!(speed.unit.as_deref(), Some("rad/s"));
    }
}
