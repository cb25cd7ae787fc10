//! The begin of a recording, and the samples that are kept from before it.
//!
//! | written | begins with the first sample |
//! | `servo_Y.torque > 0.5` | where this holds (level) |
//! | `servo_U.enable` | where it is not zero (level) |
//! | `rising servo_U.enable` | where it holds and didn't in the sample before (edge) |
//! | `falling servo_Y.torque > 0.5` | where it doesn't hold and did in the sample before (edge) |
//! | `changing servo_Y.torque > 0.5` | where one of both is so (edge) |
//! | `changing servo_Y.mode` | where the value is another than in the sample before |
//!
//! ```text
//! samples   · · · · ┌ pre ┐ T · · · · ┐ ·
//!                   └──── kept ───────┘        kept: as many as asked for, `pre` from before T
//! ```
//!
//! An edge lies between two samples that were seen; the first sample alone makes none. Where
//! samples were lost, the edge between those beside the gap counts, since it did happen. A
//! comparison with NaN never holds.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;

/// The comparisons of a value with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `==`
    Equal,
    /// `!=`
    Unequal,
}

/// The signs, longer ones first, since one begins like another.
const SIGNS: [(&str, Comparison); 6] = [
    (">=", Comparison::AtLeast),
    ("<=", Comparison::AtMost),
    ("==", Comparison::Equal),
    ("!=", Comparison::Unequal),
    (">", Comparison::Above),
    ("<", Comparison::Below),
];

impl Comparison {
    fn sign(self) -> &'static str {
        let found = SIGNS.iter().find(|(_, comparison)| *comparison == self);
        found.expect("every comparison has a sign").0
    }

    fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Above => value > limit,
            Self::AtLeast => value >= limit,
            Self::Below => value < limit,
            Self::AtMost => value <= limit,
            Self::Equal => value == limit,
            // NaN is unequal to everything, which must not begin a recording.
            Self::Unequal => value != limit && !value.is_nan() && !limit.is_nan(),
        }
    }
}

/// The moments of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Every sample for which it holds.
    Level,
    /// The sample with which it begins to hold.
    Rising,
    /// The sample with which it ceases to hold.
    Falling,
    /// The sample with which it begins or ceases to hold; without a limit, each other value.
    Changing,
}

/// A condition on one variable, as a person writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// Path of the variable.
    pub variable: String,
    /// Moment of the condition that counts.
    pub moment: Moment,
    /// Comparison and limit, as written: a number, `true`, `false` or the name of an enumeration's
    /// value. `None` compares with zero.
    pub limit: Option<(Comparison, String)>,
}

/// The error of a text that is no condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is no trigger: {problem}; write it like `servo_Y.torque > 0.5` or `rising \
    servo_U.enable`"
)]
pub struct TriggerError {
    text: String,
    problem: &'static str,
}

impl FromStr for Trigger {
    type Err = TriggerError;

    fn from_str(text: &str) -> Result<Self, TriggerError> {
        let error = |problem| TriggerError { text: text.to_owned(), problem };
        let trimmed = text.trim();
        let (moment, rest) = match trimmed.split_once(char::is_whitespace) {
            Some(("rising", rest)) => (Moment::Rising, rest),
            Some(("falling", rest)) => (Moment::Falling, rest),
            Some(("changing", rest)) => (Moment::Changing, rest),
            _ => (Moment::Level, trimmed),
        };
        let begin = rest.find(['>', '<', '=', '!']).unwrap_or(rest.len());
        let (variable, comparison) = rest.split_at(begin);
        let variable = variable.trim();
        if variable.is_empty() {
            return Err(error("it names no variable"));
        }
        if variable.contains(char::is_whitespace) {
            return Err(error("between variable and value belongs one of > >= < <= == !="));
        }
        let limit = if comparison.is_empty() {
            None
        } else {
            let signed = SIGNS.iter().find_map(|(sign, comparison_of)| {
                Some((*comparison_of, comparison.strip_prefix(sign)?.trim()))
            });
            let (comparison, value) =
                signed.ok_or_else(|| error("it compares with none of > >= < <= == !="))?;
            if value.is_empty() {
                return Err(error("nothing to compare with is given"));
            }
            Some((comparison, value.to_owned()))
        };
        Ok(Self { variable: variable.to_owned(), moment, limit })
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.moment {
            Moment::Level => {}
            Moment::Rising => f.write_str("rising ")?,
            Moment::Falling => f.write_str("falling ")?,
            Moment::Changing => f.write_str("changing ")?,
        }
        f.write_str(&self.variable)?;
        match &self.limit {
            Some((comparison, value)) => write!(f, " {} {value}", comparison.sign()),
            None => Ok(()),
        }
    }
}

/// A trigger with its limit as a number, and the result for the sample before.
#[derive(Clone, Debug)]
pub struct Detector {
    moment: Moment,
    comparison: Comparison,
    limit: f64,
    before: Option<bool>,
    /// The value before, where each other value counts.
    value_before: Option<f64>,
    is_of_values: bool,
}

impl Detector {
    /// Watches for a trigger whose limit, as a number, is `limit`; for a trigger without one,
    /// watches for a value that is not zero.
    pub fn new(trigger: &Trigger, limit: f64) -> Self {
        let (comparison, limit) = match &trigger.limit {
            Some((comparison, _)) => (*comparison, limit),
            None => (Comparison::Unequal, 0.0),
        };
        let moment = trigger.moment;
        let is_of_values = moment == Moment::Changing && trigger.limit.is_none();
        Self { moment, comparison, limit, before: None, value_before: None, is_of_values }
    }

    /// Takes the next value of the variable; returns `true` if the recording begins with it.
    pub fn sees(&mut self, value: f64) -> bool {
        if self.is_of_values {
            let before = self.value_before.replace(value);
            return before.is_some_and(|before| Comparison::Unequal.holds(value, before));
        }
        let holds = self.comparison.holds(value, self.limit);
        let before = self.before.replace(holds);
        match self.moment {
            Moment::Level => holds,
            Moment::Rising => holds && before == Some(false),
            Moment::Falling => !holds && before == Some(true),
            Moment::Changing => before == Some(!holds),
        }
    }
}

/// The stages of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The trigger has not come yet.
    Waiting,
    /// The trigger has come, and samples are kept.
    Keeping,
    /// All samples that were asked for have been kept.
    Full,
}

/// Keeps `total` samples, at most `pre` of them from before the trigger.
///
/// It holds no more than the `pre` samples; samples that are kept are handed on at once.
#[derive(Clone, Debug)]
pub struct Window<T> {
    pre: usize,
    before: VecDeque<T>,
    /// Number of samples that are still to be kept.
    left: u64,
    stage: Stage,
}

impl<T> Window<T> {
    /// Makes a window of `total` samples. At least one of them is the trigger's, so `pre` is
    /// limited to one less.
    pub fn new(pre: usize, total: u64) -> Self {
        let pre = pre.min(usize::try_from(total.saturating_sub(1)).unwrap_or(usize::MAX));
        Self {
            pre,
            // It grows as samples come: a trigger may come long before there are as many.
            before: VecDeque::new(),
            left: total,
            stage: if total == 0 { Stage::Full } else { Stage::Waiting },
        }
    }

    /// Returns the stage that the next sample meets.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Returns the number of samples from before the trigger that it holds.
    pub fn held(&self) -> usize {
        self.before.len()
    }

    /// Takes a sample, and hands on those that are to be kept now, in order. With the trigger's
    /// sample, which is the last of them, come those from before it.
    pub fn take(&mut self, sample: T, triggered: bool) -> impl Iterator<Item = T> + use<T> {
        let mut kept = VecDeque::new();
        match self.stage {
            Stage::Waiting if triggered => {
                kept = std::mem::take(&mut self.before);
                kept.push_back(sample);
                self.stage = Stage::Keeping;
            }
            Stage::Waiting => {
                if self.pre > 0 {
                    if self.before.len() == self.pre {
                        self.before.pop_front();
                    }
                    self.before.push_back(sample);
                }
            }
            Stage::Keeping => kept.push_back(sample),
            Stage::Full => {}
        }
        self.left -= kept.len() as u64;
        if self.left == 0 {
            self.stage = Stage::Full;
        }
        kept.into_iter()
    }
}

#[cfg(test)]
mod tests;
