//! The rank of a partition, the lateness that it is watched for, and the reaction.

use std::fmt;

use quietcore_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The shortest period of a partition that sheds load: its exchange is looked at twice a period,
/// and once in 50 µs at most.
pub const SHED_PERIOD_MIN: Nanos = Nanos::from_micros(100);

/// Importance of a partition beside the others of its site. It is an order and no integrity level:
/// a SIL or DAL is the property of an assessed product.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Criticality {
    /// It may stand still when another one is in need, such as diagnosis or optimisation.
    Low,
    /// It is needed for production, such as a recipe or a set point.
    #[default]
    Medium,
    /// Machine or people depend on it being on time, such as a closed loop.
    High,
}

impl fmt::Display for Criticality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        })
    }
}

/// Reaction of the supervisor to a partition that is late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reaction {
    /// It reports the event.
    #[default]
    Report,
    /// It starts the program again, as after a fault and as often as `restart` of the program says.
    Restart,
    /// It sheds the less critical partitions, and gives them back after the calm.
    Shed,
}

/// Reaction of a partition when a more critical one sheds load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shedding {
    /// It stands still: a process at once, a guest and an OSEK program after the step that runs.
    #[default]
    Freeze,
    /// It runs a share of the time, in whole cycles.
    Throttle,
    /// It continues as before.
    Never,
}

/// The lateness that a partition is watched for, and the reaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Monitor {
    /// `true` if the site file asks for it.
    pub is_written: bool,
    /// When cycles are not done at their deadline.
    pub on_overrun: Reaction,
    /// When cycles begin later than `limit`.
    pub on_exceedance: Reaction,
    /// When releases come a whole period late or more.
    pub on_missed_cycle: Reaction,
    /// The longest release latency that is no exceedance; shorter than the period.
    pub limit: Nanos,
    /// Number of events of a kind within `window` that are needed, 1 to 100.
    pub after: u32,
    /// The time within which these events are counted.
    pub window: Nanos,
    /// Time without such an event after which what was shed is given back.
    pub calm: Nanos,
    /// Reaction of this partition when a more critical one sheds.
    pub when_shed: Shedding,
    /// The share of the time in percent in which it runs under `throttle`, 1 to 90.
    pub share_percent: u32,
}

impl Monitor {
    /// Returns `true` if it may shed others.
    pub fn sheds(&self) -> bool {
        [self.on_overrun, self.on_exceedance, self.on_missed_cycle].contains(&Reaction::Shed)
    }
}
