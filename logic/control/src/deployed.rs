//! Another build of a partition's program: a deploy with its probation, and a restart.

use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

use crate::nanos;

/// The most variables that a deploy names as beginning anew; all are counted.
pub const NOT_CARRIED_MAX: usize = 1000;

/// The point until which a deploy is waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeployPatience {
    /// Until the changed program runs.
    #[default]
    UntilItRuns,
    /// Until it has passed its probation, or was taken back.
    UntilProven,
}

/// Outcome of the probation of a program that was deployed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Probation {
    /// It ran through its probation.
    Passed,
    /// It is on probation.
    Running {
        /// Number of cycles that are left.
        cycles: u64,
        /// Time that they take.
        #[serde(rename = "left_ns", with = "nanos")]
        left: Nanos,
    },
    /// It failed, and the build before runs again.
    TakenBack {
        /// The build that runs.
        generation: u32,
        /// The event that ended the build, as a sentence.
        why: String,
    },
    /// It failed, and there was no sound build to go back to.
    Failed {
        /// The event that ended the build, as a sentence.
        why: String,
    },
}

impl Default for Probation {
    /// Stands for the answer of a site of an earlier version, which does not tell.
    fn default() -> Self {
        Self::Running { cycles: 0, left: Nanos::ZERO }
    }
}

/// A changed program ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deployed {
    /// Number of its build.
    pub generation: u32,
    /// The first cycle it ran.
    pub cycle: u64,
    /// Cycles that were lost by the swap.
    pub gap_cycles: u64,
    /// Time from its due instant until the first cycle with it began.
    #[serde(rename = "release_ns", with = "nanos")]
    pub release: Nanos,
    /// Variables whose values were taken over.
    pub carried: u64,
    /// Parameters that keep a value set by hand, whatever the changed program gives them; at most
    /// [`NOT_CARRIED_MAX`].
    #[serde(default)]
    pub tuned: Vec<String>,
    /// Variables that begin anew.
    pub not_carried_count: u64,
    /// The first of them, at most [`NOT_CARRIED_MAX`], and why.
    pub not_carried: Vec<NotCarried>,
    /// Variables that were forced and are not any more, and why.
    #[serde(default)]
    pub not_forced: Vec<NotForced>,
    /// Outcome of its probation, as far as it was waited for.
    #[serde(default)]
    pub probation: Probation,
}

/// A variable that was forced, and can't be in a changed program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotForced {
    /// Path of the variable.
    pub variable: String,
    /// The reason, as a sentence.
    pub why: String,
}

/// A variable that begins anew in a changed program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotCarried {
    /// Path of the variable.
    pub variable: String,
    /// Why its value was not taken over.
    pub why: String,
}

/// The part of its past that a program keeps when it starts anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restart {
    /// Retained variables keep their values.
    Warm,
    /// Retained variables begin anew, too.
    Cold,
    /// As after the first start: forced variables are let go as well.
    Origin,
}
