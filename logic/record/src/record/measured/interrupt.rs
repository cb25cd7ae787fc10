//! The times of an interrupt: there in records of the probe `irq` only.
//!
//! ```text
//!  raised ──────────► first statement of the ISR ─► ActivateTask ─► first statement of the task
//!  │ response          │                             │ switch        │
//!  ├ register, read by the ISR ─┤                    └───────────────┘
//!  └ until the task ─────────────────────────────────────────────────┘
//! ```
//!
//! The response is the record's own histogram. It is no release of a periodic task, so that no
//! application class judges it; published figures of the same kind stand beside it.

use serde::{Deserialize, Serialize};

use crate::histogram::Histogram;
use crate::reason::{HistogramName, Inconsistency};
use crate::record::Record;
use crate::statistics::Statistics;

/// The times of an interrupt, beside its response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InterruptRun {
    /// The way of the interrupt from its source to its handler, in words.
    pub path: String,
    /// The kernel, its port and where it runs, in words.
    pub kernel: String,
    /// The clock board's register, which counts 10 ns from the interrupt on, as its ISR read it.
    pub register: Histogram,
    /// Before `ActivateTask` in the ISR to the first statement of the task.
    pub switch: Histogram,
    /// The interrupt to the first statement of the task.
    pub until_task: Histogram,
    /// Interrupts that came before the task of the one before was through, or were never raised.
    pub left_out: u64,
}

/// The figures of an interrupt beside its response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct InterruptEntry {
    /// The way of the interrupt from its source to its handler, in words.
    pub path: String,
    /// The kernel, its port and where it runs.
    pub kernel: String,
    /// The clock board's register, as its ISR read it.
    pub register_statistics: Statistics,
    /// The context switch from the ISR to the task that it activates.
    pub switch_statistics: Statistics,
    /// The interrupt to the first statement of the task.
    pub until_task_statistics: Statistics,
    /// Interrupts that were left out.
    pub left_out: u64,
}

impl InterruptRun {
    /// Returns the figures for the evidence document.
    pub fn entry(&self) -> InterruptEntry {
        InterruptEntry {
            path: self.path.clone(),
            kernel: self.kernel.clone(),
            register_statistics: Statistics::of_histogram(&self.register),
            switch_statistics: Statistics::of_histogram(&self.switch),
            until_task_statistics: Statistics::of_histogram(&self.until_task),
            left_out: self.left_out,
        }
    }

    /// Lists the numbers that exclude each other.
    pub(in crate::record) fn self_check(&self, record: &Record) -> Vec<Inconsistency> {
        let mut wrong = Vec::new();
        for (of, histogram) in [
            (HistogramName::Register, &self.register),
            (HistogramName::Switch, &self.switch),
            (HistogramName::UntilTask, &self.until_task),
        ] {
            if !histogram.is_consistent() {
                wrong.push(Inconsistency::InterruptBins { of });
            }
            if histogram.count() != record.release.count() {
                wrong.push(Inconsistency::InterruptCount { of });
            }
        }
        if self.until_task.count() > 0 && self.until_task.max_ns() < record.release.max_ns() {
            wrong.push(Inconsistency::TaskBeforeInterrupt);
        }
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Measured;
    use crate::record::check::self_check;
    use crate::test_record;

    fn of(values: &[(u64, u64)]) -> Histogram {
        let mut histogram = Histogram::new();
        for (value, times) in values {
            histogram.record_many(*value, *times);
        }
        histogram
    }

    #[test]
    fn a_run_that_contradicts_its_record_is_found() {
        let run = InterruptRun {
            path: "test".to_owned(),
            kernel: "test".to_owned(),
            register: of(&[(4_010, 9), (5_000, 1)]),
            switch: of(&[(700, 10)]),
            until_task: of(&[(4_800, 9), (5_800, 1)]),
            left_out: 0,
        };
        let mut record = test_record(&[(4_000, 9), (4_990, 1)]);
        record.measured = Measured::Interrupt(run.clone());
        assert_eq!(self_check(&record, None), []);
        record.measured = Measured::Interrupt(InterruptRun {
            switch: of(&[(700, 9)]),
            until_task: of(&[(10, 10)]),
            ..run
        });
        assert_eq!(self_check(&record, None).len(), 2);
    }
}
