//! The measures that backends are compared by, and the quantities of each.
//!
//! | measure | quantities | figures |
//! |---|---|---|
//! | releases | release latency, execution and response time | median, p99, maximum |
//! | routines | a time for each routine of the OSEK kernel | mean, p99 |
//! | round trips | the time of a frame on its way and back | median, p99, maximum |
//!
//! A routine takes some tens of nanoseconds, which a clock counts in steps of some: the mean of its
//! loops shows it finer than their median. Its maximum is that of the loop into which an interrupt
//! of the host came, of which a block has few, so that it is not compared.

use serde::{Deserialize, Serialize};

use crate::experiment::Figure;
use crate::record::{BlockTimes, Measured, Record, TrialBlock};

/// Differences of times of cycles that are of no consequence, whatever the ratio: a clock is read
/// in about as much, and the times of a task that spins to its release are shorter. In ns.
const NEGLIGIBLE_NS: f64 = 100.0;
/// The same for routines, from whose means the readings of the clock are taken off.
const NEGLIGIBLE_OF_ROUTINES_NS: f64 = 1.0;

/// The kind of measurement that backends are compared by.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum CostMeasure {
    /// Releases of the partition's tasks, with the times of its program.
    #[default]
    Releases,
    /// Routines of the OSEK kernel.
    Routines,
    /// Round trips of frames on the partition's fieldbus.
    RoundTrips,
}

impl CostMeasure {
    /// All of them, in the order of help and reports.
    pub const ALL: [Self; 3] = [Self::Releases, Self::Routines, Self::RoundTrips];

    /// Returns the word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Releases => "releases",
            Self::Routines => "routines",
            Self::RoundTrips => "round-trips",
        }
    }

    /// Returns the name that people read.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Releases => "releases",
            Self::Routines => "routines of the OSEK kernel",
            Self::RoundTrips => "round trips of frames",
        }
    }

    /// Returns the noun of the values in a block.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Releases => "releases",
            Self::Routines => "loops of each routine",
            Self::RoundTrips => "round trips",
        }
    }

    /// Returns the figures that are compared of each of its quantities. All are tested.
    pub const fn figures(self) -> &'static [Figure] {
        match self {
            Self::Routines => &[Figure::MeanNs, Figure::P99Ns],
            Self::Releases | Self::RoundTrips => &[Figure::MedianNs, Figure::P99Ns, Figure::MaxNs],
        }
    }

    /// Returns the figure that tells most of a quantity in few words.
    pub const fn headline(self) -> Figure {
        match self {
            Self::Routines => Figure::MeanNs,
            Self::Releases | Self::RoundTrips => Figure::P99Ns,
        }
    }

    /// Returns its quantities, in the order of a cycle.
    pub(super) const fn quantities(self) -> &'static [CostQuantity] {
        match self {
            Self::Releases => {
                &[CostQuantity::Release, CostQuantity::Execution, CostQuantity::Response]
            }
            Self::Routines => &[CostQuantity::Routine],
            Self::RoundTrips => &[CostQuantity::RoundTrip],
        }
    }

    /// Returns the measure of a record; `None` where backends are not compared by such records.
    pub(super) const fn of(record: &Record) -> Option<Self> {
        match &record.measured {
            Measured::Releases(_) => Some(Self::Releases),
            Measured::Routine(_) => Some(Self::Routines),
            Measured::RoundTrip(_) => Some(Self::RoundTrips),
            Measured::Interrupt(_) | Measured::Memory(_) => None,
        }
    }

    /// Returns the difference of two times below which it is of no consequence, in ns.
    pub(super) const fn negligible_ns(self) -> f64 {
        match self {
            Self::Routines => NEGLIGIBLE_OF_ROUTINES_NS,
            Self::Releases | Self::RoundTrips => NEGLIGIBLE_NS,
        }
    }
}

/// A time by which backends are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CostQuantity {
    /// Release latency: due instant to start of the cycle.
    Release,
    /// Execution time: start to end of the cycle.
    Execution,
    /// Response time: due instant to the end of the cycle.
    Response,
    /// Time of a routine of the OSEK kernel, without the readings of the clock.
    Routine,
    /// Round trip of a cycle's frames.
    RoundTrip,
}

impl CostQuantity {
    /// Returns the name that people read.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Release => "release latency",
            Self::Execution => "execution time",
            Self::Response => "response time",
            Self::Routine => "routine",
            Self::RoundTrip => "round trip",
        }
    }

    /// Returns the times of a block; `None` where it has none of this quantity.
    pub(super) fn of(self, block: &TrialBlock) -> Option<BlockTimes> {
        match self {
            Self::Release | Self::Routine | Self::RoundTrip => Some(block.release()),
            Self::Execution => Some(block.program?.execution),
            Self::Response => Some(block.program?.response),
        }
    }
}
