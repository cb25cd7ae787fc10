//! The observer of a campaign, told of progress, troubles and results.

use quietcore_record::record::Record;
use quietcore_units::Nanos;

use crate::run::Run;

/// The progress of a run, summed over its tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Releases measured so far, of all tasks.
    pub cycles: u64,
    /// Releases that the run shall measure in all.
    pub planned_cycles: u64,
    /// The largest release latency so far.
    pub worst: Nanos,
    /// Missed cycles so far.
    pub missed_cycles: u64,
}

/// The progress of a probe in one of its parts.
#[derive(Clone, Copy, Debug)]
pub struct Advance<'a> {
    /// Name of the part, such as `curves`.
    pub part: &'a str,
    /// Amount that is done, in `unit`s.
    pub done: u64,
    /// The whole of the part, in `unit`s.
    pub all: u64,
    /// Name of the unit, such as `loops`.
    pub unit: &'a str,
    /// The step under way; empty where there is nothing to say.
    pub what: &'a str,
    /// The largest value so far; `None` where the part has none.
    pub worst: Option<Nanos>,
}

/// An observer of a campaign, or of a probe started by hand.
pub trait Observer {
    /// Tells of something done before or after a run, such as starting loads.
    fn step(&mut self, text: &str);
    /// Tells something that a person should know of a probe: it begins, or can't measure.
    fn tell(&mut self, text: &str);
    /// Tells that a run begins.
    fn begin(&mut self, run: &Run);
    /// Tells how far a run has come; called about ten times a second.
    fn progress(&mut self, progress: Progress);
    /// Tells that the program of a partition is in fault; the partition is stopped and its records
    /// fail.
    fn fault(&mut self, run: &Run, partition: &str, because: &str);
    /// Tells how far a probe has come; called some hundred times a second at most.
    fn advance(&mut self, advance: &Advance<'_>);
    /// Tells that a run has ended with these records.
    fn end(&mut self, run: &Run, records: &[Record]);
    /// Tells that a run could not be measured, and why.
    fn failed(&mut self, run: &Run, because: &str);
}
