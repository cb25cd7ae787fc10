//! A histogram that takes little room, in memory and in a file: one of many.

use quietcore_exchange::HistogramTotals;
use quietcore_exchange::bins::{self, RANGE_END};
use serde::{Deserialize, Serialize};

use super::{Histogram, Stored, StoredError};

/// A histogram that takes little room: only the bins that aren't empty, in one text
/// (`3000:12 3008:5`, the lowest value of each bin and its count).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Compact", into = "Compact")]
pub struct SparseHistogram {
    totals: HistogramTotals,
    bins: Vec<(u64, u64)>,
}

impl From<Histogram> for SparseHistogram {
    fn from(histogram: Histogram) -> Self {
        let bins = histogram.bins().map(|bin| (bin.low_ns, bin.count)).collect();
        Self { totals: histogram.totals, bins }
    }
}

impl SparseHistogram {
    /// Returns the same with all its bins.
    pub fn to_histogram(&self) -> Histogram {
        let mut histogram = Histogram { totals: self.totals, ..Histogram::new() };
        for (low, count) in &self.bins {
            if let Some(place) = bins::index_of(*low).and_then(|it| histogram.counts.get_mut(it)) {
                *place = *count;
            }
        }
        histogram
    }
}

/// A sparse histogram as it stands in a file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Compact {
    count: u64,
    sum_ns: u64,
    min_ns: u64,
    max_ns: u64,
    overflow: u64,
    bins: String,
}

impl From<SparseHistogram> for Compact {
    fn from(sparse: SparseHistogram) -> Self {
        let HistogramTotals { count, sum_ns, min_ns, max_ns, overflow } = sparse.totals;
        let bins: Vec<String> =
            sparse.bins.iter().map(|(low, count)| format!("{low}:{count}")).collect();
        Self { count, sum_ns, min_ns, max_ns, overflow, bins: bins.join(" ") }
    }
}

impl TryFrom<Compact> for SparseHistogram {
    type Error = StoredError;

    fn try_from(compact: Compact) -> Result<Self, StoredError> {
        let Compact { count, sum_ns, min_ns, max_ns, overflow, bins } = compact;
        let bin = |word: &str| {
            let (low, count) = word.split_once(':')?;
            Some((low.parse().ok()?, count.parse().ok()?))
        };
        let bins: Option<Vec<(u64, u64)>> = bins.split_whitespace().map(bin).collect();
        let stored = Stored {
            resolution_ns: 1,
            overflow_from_ns: RANGE_END,
            count,
            sum_ns,
            min_ns,
            max_ns,
            overflow,
            bins: bins.ok_or(StoredError::NoText)?,
        };
        Histogram::try_from(stored).map(Self::from)
    }
}
