//! Reasons: why a record can't be trusted, and what was asked for and not in force.
//!
//! A reason is a value with its figures. Its sentence is written once, in `Display`; its code and
//! its figures are what programs read. Files hold the code and the figures:
//!
//! ```json
//! { "code": "load_incomplete", "kind": "sqrt", "problems": [] }
//! ```
//!
//! | kind | says |
//! |------|------|
//! | [`NotReal`] | that the times of a run are none |
//! | [`RunProblem`] | what went wrong while it was measured |
//! | [`NotInForce`] | what was asked for and not in force |
//! | [`Inconsistency`] | which of a record's numbers exclude each other |
//! | [`InjectionFinding`] | whether an injected delay was seen |
//! | [`FolderProblem`] | what the evidence folder says against all or one of its records |
//! | [`ForeignProblem`] | what the file of another program can't show |
//! | [`VerdictReason`] | why a verdict is what it is; apart from [`Reason`], which is about a record |
//! | [`Stated`] | a sentence of an earlier version, which kept no more |

mod earlier;
mod foreign;
mod in_force;
mod inconsistency;
mod injection;
mod run;
mod setting;
mod verdict;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use earlier::Stated;
pub use foreign::{FolderProblem, ForeignProblem};
pub use in_force::NotInForce;
pub use inconsistency::{HistogramName, Inconsistency};
pub use injection::InjectionFinding;
pub use quietcore_units::ThreadSetting;
pub use run::{NotReal, RunProblem, TaskEnd};
pub use setting::{MachineDrift, MachineSetting, Refusal, SettingFailure, ShareDrift};
pub use verdict::{Missing, VerdictReason};

/// A reason against a record, or a limit of what it shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Reason {
    /// The times are none.
    NotReal(NotReal),
    /// Something went wrong during the run.
    Run(RunProblem),
    /// A setting was asked for and not in force.
    NotInForce(NotInForce),
    /// Numbers of the record exclude each other.
    Inconsistent(Inconsistency),
    /// A delay was injected.
    Injection(InjectionFinding),
    /// The evidence folder says so.
    Folder(FolderProblem),
    /// Data of another program don't show it.
    Foreign(ForeignProblem),
    /// An earlier version said so.
    Stated(Stated),
}

impl Reason {
    /// Returns the cause where the reason is that the times are none.
    pub fn time_not_real(&self) -> Option<String> {
        match self {
            Self::NotReal(reason) => Some(reason.cause()),
            Self::Stated(sentence) => sentence.time_not_real().map(str::to_owned),
            _ => None,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotReal(reason) => reason.fmt(f),
            Self::Run(reason) => reason.fmt(f),
            Self::NotInForce(reason) => reason.fmt(f),
            Self::Inconsistent(reason) => reason.fmt(f),
            Self::Injection(reason) => reason.fmt(f),
            Self::Folder(reason) => reason.fmt(f),
            Self::Foreign(reason) => reason.fmt(f),
            Self::Stated(reason) => reason.fmt(f),
        }
    }
}

macro_rules! reason_from {
    ($($kind:ident: $variant:ident),*) => {$(
        impl From<$kind> for Reason {
            fn from(reason: $kind) -> Self {
                Self::$variant(reason)
            }
        }
    )*};
}
reason_from!(
    NotReal: NotReal, RunProblem: Run, NotInForce: NotInForce, Inconsistency: Inconsistent,
    InjectionFinding: Injection, FolderProblem: Folder, ForeignProblem: Foreign, Stated: Stated
);

/// Writes the sentences of several reasons, joined by `; `.
pub fn sentences<'a>(reasons: impl IntoIterator<Item = &'a Reason>) -> String {
    let sentences: Vec<String> = reasons.into_iter().map(ToString::to_string).collect();
    sentences.join("; ")
}

#[cfg(test)]
mod tests;
