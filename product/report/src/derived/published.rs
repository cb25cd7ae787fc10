//! Published figures that are drawn beside a run.
//!
//! The report knows no table of its own: the caller passes those that fit, each with its source.

/// A published table of latencies.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// What the table shows, such as `Latency under a real-time operating system (000, table 4)`.
    pub title: String,
    /// Authors, title, venue, year and table.
    pub source: String,
    /// Its rows.
    pub rows: Vec<PublishedBox>,
}

/// One row as a box plot. All times in ns.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedBox {
    /// The system and the conditions, as the source names them.
    pub label: String,
    /// Lower whisker by the source's definition.
    pub lower_whisker_ns: u64,
    /// Lower quartile.
    pub q1_ns: u64,
    /// Median.
    pub median_ns: u64,
    /// Mean; `None` where the source gives none.
    pub mean_ns: Option<u64>,
    /// Upper quartile.
    pub q3_ns: u64,
    /// Upper whisker by the source's definition.
    pub upper_whisker_ns: u64,
    /// Largest value; `None` where the source gives none.
    pub max_ns: Option<u64>,
}
