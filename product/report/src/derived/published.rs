//! Published figures that are drawn beside a run.
//!
//! The report knows no table of its own: the caller passes those that fit, each with its source.

/// A published table of latencies.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// Title of the table, such as `Latency under a real-time operating system (queiroz2023, table
    /// 4)`.
    pub title: String,
    /// Authors, title, venue, year and table.
    pub source: String,
    /// The rows of the table, in its order.
    pub rows: Vec<PublishedBox>,
}

/// One row as a box plot; all times in ns.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedBox {
    /// The system and the conditions, as the source names them.
    pub label: String,
    /// Lower whisker by the source's definition.
    pub lower_whisker_ns: u64,
    /// Lower quartile of the latencies.
    pub q1_ns: u64,
    /// Median of the latencies.
    pub median_ns: u64,
    /// Mean; `None` where the source gives none.
    pub mean_ns: Option<u64>,
    /// Upper quartile of the latencies.
    pub q3_ns: u64,
    /// Upper whisker by the source's definition.
    pub upper_whisker_ns: u64,
    /// Largest value; `None` where the source gives none.
    pub max_ns: Option<u64>,
}
