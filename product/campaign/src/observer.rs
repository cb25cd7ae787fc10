//! What a campaign tells while it runs.

use quietcore_record::record::Record;
use quietcore_units::Nanos;

use crate::run::Run;

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Releases measured so far, of all tasks.
    pub cycles: u64,
    /// Releases in all.
    pub planned_cycles: u64,
    /// The largest release latency so far.
    pub worst: Nanos,
    /// Missed cycles so far.
    pub missed_cycles: u64,
}

/// Somebody who watches a campaign.
pub trait Observer {
    /// Something is done before or after a run, such as starting loads.
    fn step(&mut self, text: &str);
    /// A run begins.
    fn begin(&mut self, run: &Run);
    /// A run has come so far; called about ten times a second.
    fn progress(&mut self, progress: Progress);
    /// The program of a partition is at fault; the partition is stopped and its records fail.
    fn fault(&mut self, run: &Run, partition: &str, because: &str);
    /// A run has ended with these records.
    fn end(&mut self, run: &Run, records: &[Record]);
    /// A run could not be measured.
    fn failed(&mut self, run: &Run, because: &str);
}
