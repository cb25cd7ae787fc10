//! The file that is read, and the records made of it.

use std::path::Path;

use quietcore_units::Nanos;

use super::column::Finished;
use crate::reason::{ForeignProblem, Reason};
use crate::record::{Conditions, Record, ReleaseMode};

/// The longest part of a file's name that becomes part of a record's name, in characters.
const STEM_CHARS: usize = 40;

/// The profile of imported records.
const PROFILE: &str = "imported";

/// The file and what was said about it.
#[derive(Debug)]
pub(crate) struct Source {
    stem: String,
    interval: Option<Nanos>,
}

/// Facts about a task beside its values.
#[derive(Debug)]
pub(crate) struct Task {
    /// The last part of the record's name, such as `thread0`.
    pub(crate) name: String,
    /// The program, and its mode.
    pub(crate) probe: &'static str,
    /// The way in which its releases were made.
    pub(crate) mode: ReleaseMode,
    pub(crate) cpu: Option<u32>,
    /// Time between two releases, in ns, as the file says.
    pub(crate) period_ns: Option<u64>,
}

impl Source {
    pub(crate) fn new(file_name: &str, interval: Option<Nanos>) -> Self {
        let stem = Path::new(file_name).file_stem().map(|stem| stem.to_string_lossy());
        let safe: String = stem
            .unwrap_or_default()
            .chars()
            .take(STEM_CHARS)
            .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' })
            .collect();
        let stem = if safe.trim_matches('.').is_empty() { "unnamed".to_owned() } else { safe };
        Self { stem, interval }
    }

    /// Makes a record of this file. The interval that the user gave counts before the file's.
    pub(crate) fn record(&self, task: &Task, finished: Finished, conditions: Conditions) -> Record {
        let mut conditions = conditions;
        conditions.mode = task.mode.clone();
        conditions.quietcore_version = env!("CARGO_PKG_VERSION").to_owned();
        if finished.histogram.resolution_ns() > 1 {
            let resolution = Nanos::new(finished.histogram.resolution_ns());
            conditions.activity.insert(
                "resolution".to_owned(),
                format!("values are rounded down to {resolution}"),
            );
        }
        if finished.histogram.overflow() > 0 {
            conditions.activity.insert(
                "overflow".to_owned(),
                format!(
                    "{} values have no bucket; each is at least {}",
                    finished.histogram.overflow(),
                    Nanos::new(finished.histogram.overflow_from_ns())
                ),
            );
        }
        conditions
            .activity
            .extend(finished.remarks.into_iter().map(|(subject, text)| (subject.to_owned(), text)));
        let name = format!("{}.{}", self.stem, task.name);
        Record {
            reserved: true,
            cpu: task.cpu,
            // A period of zero is how a format says that it doesn't know.
            period_ns: self
                .interval
                .map(Nanos::get)
                .or(task.period_ns)
                .filter(|period_ns| *period_ns > 0),
            release: finished.histogram,
            conditions,
            invalid_because: finished.invalid_because.into_iter().map(Reason::from).collect(),
            ..Record::empty(name, task.probe, &self.stem, PROFILE)
        }
    }

    /// Makes a record that is for comparison only: of what the problem names, and no release of a
    /// thread.
    pub(crate) fn compared(
        &self,
        task: &Task,
        finished: Finished,
        conditions: Conditions,
        problem: ForeignProblem,
    ) -> Record {
        let mut record = self.record(task, finished, conditions);
        record.reserved = false;
        record.period_ns = None;
        record.degraded.push(problem.into());
        record
    }
}

/// Says in a record that the program counts a stall as one value.
pub(crate) fn remark_stalls(conditions: &mut Conditions) {
    conditions.activity.insert(
        "stalls".to_owned(),
        "this program moves its next release behind a stall, which then is one value however many \
         cycles it cost"
            .to_owned(),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_the_file_and_fit_any_file_system() {
        assert_eq!(Source::new("runs/BM-Std.txt", None).stem, "BM-Std");
        assert_eq!(Source::new("a b/ü/x.json", None).stem, "x");
        assert_eq!(Source::new("rt test.json", None).stem, "rt-test");
        assert_eq!(Source::new("..", None).stem, "unnamed");
        assert_eq!(Source::new(&"x".repeat(500), None).stem.len(), STEM_CHARS);
    }
}
