//! The number of releases above a limit, which shows whether a high quantile rests on few of them.

use serde::{Deserialize, Serialize};

use crate::histogram::{Histogram, Quantile};
use crate::record::Record;

/// Releases above a limit. A 99.9 % quantile of 3 000 releases rests on three of them; this count
/// says so, and how many there were elsewhere. All zero in documents from before it was counted.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct Exceedances {
    /// The release latency that they exceed, in ns.
    pub limit_ns: u64,
    /// Releases surely above it, wherever in their bins they lie.
    pub above: u64,
    /// Number of all releases.
    pub cycles: u64,
}

impl Exceedances {
    pub(super) fn of(release: &Histogram, limit_ns: u64) -> Self {
        Self { limit_ns, above: release.count_surely_above(limit_ns), cycles: release.count() }
    }
}

/// Returns the 99.9 % quantile of a record's release latency, in ns; 0 without a release.
pub(super) fn p99_9_ns(record: &Record) -> u64 {
    record.release.quantile(0.999).map_or(0, Quantile::lower_bound)
}
