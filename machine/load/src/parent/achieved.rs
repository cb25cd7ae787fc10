//! The achievement of a load: rates, CPU time and problems, computed from two observations.

use std::borrow::Cow;
use std::fmt;

use quietcore_site::LoadKind;
use quietcore_units::{ByteSize, CpuSet, Nanos};
use serde::{Deserialize, Serialize};

use crate::board::Counters;

/// The intensity that the workers of one request reached between two measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Achieved {
    /// The work of the workers.
    pub kind: LoadKind,
    /// Workers that were asked for.
    pub workers: u32,
    /// Workers whose process lives.
    pub workers_alive: u32,
    /// Workers that live and make no progress.
    pub workers_stalled: u32,
    /// Bytes that each worker works on, for kinds that have a size.
    pub size: Option<ByteSize>,
    /// The CPUs on which at least one worker may run, read back from the kernel.
    #[serde(with = "cpus_as_text")]
    pub cpus: CpuSet,
    /// The time over which the rates are computed.
    pub interval: Nanos,
    /// Operations of all workers, in `unit`.
    pub operations_per_second: f64,
    /// The unit of what is counted, such as `sqrt/s`.
    pub unit: Cow<'static, str>,
    /// Bytes of all workers per second, for kinds that move bytes. A byte that is
    /// allocated, copied or sent counts once; one that is written to a disk and read back counts
    /// twice.
    pub bytes_per_second: Option<f64>,
    /// CPU time of all workers and their children as a share of one CPU: 10 workers that share one
    /// CPU reach 1.0. The kernel counts in steps of 10 ms.
    pub cpu_share: f64,
    /// Faults of the workers; one worker may have several.
    pub faults: Vec<WorkerFault>,
}

impl Achieved {
    /// Returns `true` if every worker lives, progresses and runs under the conditions asked for. If
    /// not, the measurement that it disturbs is invalid.
    pub fn is_complete(&self) -> bool {
        self.faults.is_empty() && self.workers_alive == self.workers
    }
}

/// Something wrong with a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerFault {
    /// The number of the worker within its request, from 0.
    pub worker: u32,
    /// The number of its process.
    pub process_id: u32,
    /// The problem of the worker.
    pub problem: WorkerProblem,
}

/// A problem of a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkerProblem {
    /// It ended although nobody asked it to.
    Ended {
        /// Exit status or signal.
        status: String,
        /// The beginning of what it wrote on standard error.
        stderr: String,
    },
    /// It lives, but gives no sign of progress.
    Stalled {
        /// Time without a sign of progress.
        silent_for: Nanos,
    },
    /// A signal or a debugger stopped it.
    Stopped,
    /// It is scheduled in another way than at its start.
    Conditions {
        /// The conditions that were found.
        found: String,
        /// The conditions at the start.
        expected: String,
    },
}

impl WorkerProblem {
    /// Returns `true` if a worker with this problem lives and does no work.
    pub(crate) fn is_stall(&self) -> bool {
        matches!(self, Self::Stalled { .. } | Self::Stopped)
    }
}

impl fmt::Display for WorkerProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended { status, stderr } if stderr.is_empty() => {
                write!(f, "a worker ended ({status})")
            }
            Self::Ended { status, stderr } => write!(f, "a worker ended ({status}): {stderr}"),
            Self::Stalled { silent_for } => {
                write!(f, "a worker gave no sign of progress for {silent_for}")
            }
            Self::Stopped => f.write_str("a worker was stopped by a signal or a debugger"),
            Self::Conditions { found, expected } => {
                write!(
                    f,
                    "a worker is scheduled otherwise than at its start: {found}; it was {expected}"
                )
            }
        }
    }
}

/// The sums over the workers of one request, at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) operations: u64,
    pub(crate) bytes: u64,
    pub(crate) cpu_ticks: u64,
}

impl Totals {
    /// Adds what one worker did between two observations. A count that runs backwards is not one
    /// of ours and counts as nothing.
    pub(crate) fn add(&mut self, before: (Counters, u64), after: (Counters, u64)) {
        let (old, old_ticks) = before;
        let (new, new_ticks) = after;
        let operations = new.operations.saturating_sub(old.operations);
        let bytes = new.bytes.saturating_sub(old.bytes);
        self.operations = self.operations.saturating_add(operations);
        self.bytes = self.bytes.saturating_add(bytes);
        let ticks = new_ticks.saturating_sub(old_ticks);
        self.cpu_ticks = self.cpu_ticks.saturating_add(ticks);
    }

    /// The share of one CPU.
    pub(crate) fn cpu_share(&self, interval: Nanos, ticks_per_second: u64) -> f64 {
        rate(self.cpu_ticks, interval) / ticks_per_second.max(1) as f64
    }
}

/// Counts per second; 0 over no time at all.
pub(crate) fn rate(count: u64, interval: Nanos) -> f64 {
    if interval == Nanos::ZERO { 0.0 } else { count as f64 / interval.as_secs_f64() }
}

mod cpus_as_text {
    use quietcore_units::CpuSet;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(cpus: &CpuSet, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(cpus)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<CpuSet, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(operations: u64, bytes: u64) -> Counters {
        Counters { operations, bytes, last_beat: Nanos::ZERO }
    }

    #[test]
    fn ten_workers_that_share_a_cpu_take_one_cpu() {
        let mut totals = Totals::default();
        for _ in 0..10 {
            totals.add((counters(100, 0), 5), (counters(300, 64), 25));
        }
        let interval = Nanos::from_secs(2);
        assert_eq!(totals.cpu_share(interval, 100), 1.0);
        assert_eq!(rate(totals.operations, interval), 1000.0);
        assert_eq!(rate(totals.bytes, interval), 320.0);
        assert_eq!(rate(totals.bytes, Nanos::ZERO), 0.0);
    }

    #[test]
    fn counters_that_run_backwards_count_as_nothing() {
        let mut totals = Totals::default();
        totals.add((counters(9, 9), 9), (counters(0, u64::MAX), 3));
        totals.add((counters(0, 0), 0), (counters(1, u64::MAX), 1));
        let expected = Totals { operations: 1, bytes: u64::MAX, cpu_ticks: 1 };
        assert_eq!(totals, expected);
    }

    #[test]
    fn an_achievement_survives_writing_and_reading() {
        let achieved = Achieved {
            kind: LoadKind::MemoryBandwidth,
            workers: 2,
            workers_alive: 1,
            workers_stalled: 1,
            size: Some(ByteSize::new(128 << 20)),
            cpus: "0,2-3".parse().unwrap(),
            interval: Nanos::from_millis(1500),
            operations_per_second: 12.5,
            unit: LoadKind::MemoryBandwidth.unit().into(),
            bytes_per_second: Some(1e9),
            cpu_share: 0.5,
            faults: vec![WorkerFault {
                worker: 1,
                process_id: 42,
                problem: WorkerProblem::Stalled { silent_for: Nanos::from_secs(3) },
            }],
        };
        assert!(!achieved.is_complete());
        let text = serde_json::to_string(&achieved).unwrap();
        assert!(text.contains(r#""cpus":"0,2,3""#), "{text}");
        assert_eq!(serde_json::from_str::<Achieved>(&text).unwrap(), achieved);
    }
}
