//! Changes of variables: how one is asked for, and what came of it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::asker::Asker;

/// The most changes in one group: they are applied within one cycle.
pub const CHANGE_COUNT_MAX: usize = 64;

/// The longest text of a value, in bytes; no number needs nearly as many.
pub const VALUE_BYTES_MAX: usize = 256;

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// Give it the value once.
    Set,
    /// Hold it at the value.
    Force,
    /// Let a forced variable go.
    Unforce,
}

/// A change of one variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// The kind of change.
    pub kind: ChangeKind,
    /// Its path, such as `servo_P.Kp`.
    pub variable: String,
    /// The value as a person writes it; none to let a forced variable go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Allows NaN and infinite values. A controller carries such a value into its state,
    /// and a retained one survives restarts, so it is taken only where it was asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_nan: bool,
}

/// The reason why a change has no effect on its variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhyNoEffect {
    /// The variable that was set is held by a force.
    HeldByForce,
    /// The fieldbus writes it before each step.
    WrittenByFieldbus,
    /// The program writes it in each cycle, by itself or from a channel: it was as before when each
    /// task had run once more, and when each had run again.
    WrittenByProgram,
    /// The variable that was let go was not forced.
    NotForced,
}

impl WhyNoEffect {
    /// Decides from what is known of a variable around a change of this kind.
    pub fn decide(kind: ChangeKind, seen: &Seen) -> Option<Self> {
        match kind {
            ChangeKind::Set if seen.was_forced == Some(true) => Some(Self::HeldByForce),
            ChangeKind::Set if seen.is_input => Some(Self::WrittenByFieldbus),
            ChangeKind::Set if seen.is_as_before => Some(Self::WrittenByProgram),
            ChangeKind::Unforce if seen.was_forced == Some(false) => Some(Self::NotForced),
            _ => None,
        }
    }
}

impl fmt::Display for WhyNoEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HeldByForce => "is held by a force",
            Self::WrittenByFieldbus => {
                "is written by the fieldbus before each step, so that a value that is set does not \
                 stay"
            }
            Self::WrittenByProgram => {
                "is as it was before: the program writes it in each cycle, from a channel or by \
                 itself, so that a value that is set does not stay"
            }
            Self::NotForced => "was not forced",
        })
    }
}

/// The knowledge of a variable around a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// `true` if it was forced before the change, be it in part; `None` where the forces could not
    /// be read.
    pub was_forced: Option<bool>,
    /// `true` if the fieldbus writes it before each step.
    pub is_input: bool,
    /// `true` if it was again as before, and not as it was set, when each task had run once more,
    /// and when each had run again.
    pub is_as_before: bool,
}

/// The outcome of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// The change, as it was asked for.
    pub change: Change,
    /// The value of the variable right before; `None` where it could not be read.
    pub old: Option<String>,
    /// The value that the change gives it; `None` where that is not known. Where the change has no
    /// effect, the variable does not have it.
    pub new: Option<String>,
    /// Why the change has no effect; `None` where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_effect: Option<WhyNoEffect>,
}

impl Effect {
    /// Says why the change has no effect and what would help, with the variable and the partition
    /// as they are called on the command line; `None` where it has one.
    pub fn told(&self, partition: impl fmt::Display) -> Option<String> {
        let Change { variable, value, .. } = &self.change;
        let why = self.without_effect?;
        let value = value.as_deref().unwrap_or("VALUE");
        let remedy = match why {
            WhyNoEffect::HeldByForce => {
                format!("; release it with `quietcore unforce {partition} {variable}`")
            }
            WhyNoEffect::WrittenByFieldbus | WhyNoEffect::WrittenByProgram => {
                format!("; hold it with `quietcore force {partition} {variable}={value}`")
            }
            WhyNoEffect::NotForced => String::new(),
        };
        Some(format!("{variable} {why}{remedy}"))
    }
}

/// A group of changes was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// The first cycle that saw it.
    pub cycle: u64,
    /// The outcome of each change, in the order of the request; of each variable that was forced
    /// where all were let go.
    pub effects: Vec<Effect>,
}

/// A change that a client has made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedChange {
    /// Its number in the life of the site, from 0.
    pub sequence: u64,
    /// The partition whose variable it is.
    pub partition: String,
    /// The cycle from which it acts.
    pub cycle: u64,
    /// The client that has made it.
    pub by: Asker,
    /// The change, and what came of it.
    pub effect: Effect,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_force_outweighs_the_fieldbus_and_that_the_program() {
        use ChangeKind::{Force, Set, Unforce};
        let seen = |was_forced, is_input, is_as_before| Seen { was_forced, is_input, is_as_before };
        let decide = WhyNoEffect::decide;
        assert_eq!(decide(Set, &seen(Some(true), true, true)), Some(WhyNoEffect::HeldByForce));
        assert_eq!(
            decide(Set, &seen(Some(false), true, true)),
            Some(WhyNoEffect::WrittenByFieldbus)
        );
        assert_eq!(
            decide(Set, &seen(Some(false), false, true)),
            Some(WhyNoEffect::WrittenByProgram)
        );
        assert_eq!(decide(Set, &seen(Some(false), false, false)), None);
        assert_eq!(decide(Force, &seen(Some(true), true, true)), None, "a force holds against all");
        assert_eq!(decide(Unforce, &seen(Some(false), false, false)), Some(WhyNoEffect::NotForced));
        assert_eq!(decide(Unforce, &seen(Some(true), true, true)), None);
        // Forces that could not be read are neither there nor not there.
        assert_eq!(decide(Unforce, &seen(None, false, false)), None);
        assert_eq!(decide(Set, &seen(None, false, false)), None);
    }

    #[test]
    fn what_has_no_effect_is_told_with_what_has() {
        let told = |why| {
            let change = Change {
                kind: ChangeKind::Set,
                variable: "P.Kp".to_owned(),
                value: Some("3".to_owned()),
                allow_nan: false,
            };
            Effect { change, old: None, new: None, without_effect: why }.told("line/axis")
        };
        assert_eq!(told(None), None);
        let held = "P.Kp is held by a force; release it with `quietcore unforce line/axis P.Kp`";
        assert_eq!(told(Some(WhyNoEffect::HeldByForce)).as_deref(), Some(held));
        for why in [WhyNoEffect::WrittenByFieldbus, WhyNoEffect::WrittenByProgram] {
            let told = told(Some(why)).unwrap();
            assert!(told.ends_with("`quietcore force line/axis P.Kp=3`"), "{told}");
        }
        assert_eq!(told(Some(WhyNoEffect::NotForced)).as_deref(), Some("P.Kp was not forced"));
    }
}
