//! The way in which a task waits for its release.
//!
//! One type from the site file's plan, over the job that a process or a guest is told, to the
//! thread that waits and to the conditions of its record.

use core::fmt;

use crate::Nanos;

/// The way in which a task waits for a timer, with the figures of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Wake {
    /// It sleeps until the release; the latency is what `cyclictest` measures.
    Sleep,
    /// It sleeps until a fixed time before the release, and spins from there on.
    Early {
        /// That time in ns, before the release.
        #[cfg_attr(feature = "serde", serde(rename = "margin_ns", with = "margin_ns"))]
        #[cfg_attr(feature = "schema", schemars(with = "u64"))]
        margin: Nanos,
    },
    /// It sleeps until a time before the release that it learns.
    Adaptive {
        /// The share of the core that it may spin at most, in per cent.
        share_percent: u32,
    },
    /// It never sleeps, and spins.
    Spin,
}

/// A [`Wake`] without its figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum WakeKind {
    /// It sleeps until the release.
    Sleep,
    /// It sleeps until shortly before it.
    Early,
    /// It never sleeps, and spins.
    Spin,
}

impl Wake {
    /// Returns its kind, without the figures.
    pub const fn kind(self) -> WakeKind {
        match self {
            Self::Sleep => WakeKind::Sleep,
            Self::Early { .. } | Self::Adaptive { .. } => WakeKind::Early,
            Self::Spin => WakeKind::Spin,
        }
    }
}

impl fmt::Display for Wake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sleep => f.write_str("sleep"),
            Self::Early { margin } => write!(f, "early wake, {margin} before the release"),
            Self::Adaptive { share_percent } => {
                write!(f, "early wake, learned margin, at most {share_percent} % of the core")
            }
            Self::Spin => f.write_str("spin: it never sleeps"),
        }
    }
}

/// A duration as a number of nanoseconds, as evidence has it.
#[cfg(feature = "serde")]
mod margin_ns {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::Nanos;

    pub(super) fn serialize<S: Serializer>(margin: &Nanos, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(margin.get())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Nanos, D::Error> {
        u64::deserialize(from).map(Nanos::new)
    }
}
