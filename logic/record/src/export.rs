//! Records as text for other programs.
//!
//! - [`cyclictest_text`], [`cyclictest_json`]: what `cyclictest` prints, so that scripts which read
//!   it (`grep "Max Latencies"`) work unchanged.
//! - [`records_csv`], [`histogram_csv`], [`scan_histogram_csv`], [`memory_csv`],
//!   [`isolation_csv`], [`verdicts_csv`]: tables with the unit in each heading.
//!
//! Exports to `cyclictest`'s formats have buckets of 1 µs up to a chosen end, so they know less
//! than the record; the release latency is exported. Our own importers read them back with the same
//! counts.

mod bucket;
mod csv;
mod cyclictest;
mod isolation;
mod memory;

pub use bucket::BUCKETS_MAX;
pub use csv::{histogram_csv, records_csv, scan_histogram_csv, verdicts_csv};
pub use cyclictest::{cyclictest_json, cyclictest_text};
pub use isolation::isolation_csv;
pub use memory::memory_csv;
