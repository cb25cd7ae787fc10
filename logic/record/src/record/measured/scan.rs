//! The times of a program's scan cycles: there if a task ran one, and not the probe alone.
//!
//! ```text
//! due          start                        end        deadline
//!  │◄─ release ─►│◄──── execution time ─────►│             │
//!  │   latency                               │             │
//!  │◄────────────── response time ──────────►│             │
//! ```
//!
//! A cycle that ends after its deadline is an overrun. One overrun is a FAIL: the program was not
//! done when it had to be, whatever the release latency looks like.

use std::fmt;

use quietcore_exchange::{TaskStatistics, TornRead, Worst as WorstInExchange};
use serde::{Deserialize, Serialize};

use crate::histogram::{Histogram, StoredError};
use crate::reason::{Inconsistency, RunProblem};
use crate::record::Record;
use crate::verdict::thousands;

/// The scan cycles of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scan {
    /// The limits to which the task was held.
    pub terms: ScanTerms,
    /// Execution time: start to end of the cycle.
    pub execution: Histogram,
    /// Response time: due instant to the end of the cycle.
    pub response: Histogram,
    /// Counters beside the histograms.
    pub counters: ScanCounters,
    /// The cycle that took longest; `None` where none ran.
    pub worst_execution: Option<Worst>,
    /// The cycle that ended latest after its release; `None` where none ran.
    pub worst_response: Option<Worst>,
    /// The reasons why the program stopped before its time; empty for one that ran to its end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<ProgramStop>,
    /// Errors that the program's own kernel found: with the task that drives it all of them, with
    /// each other task those that it was named for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernel_errors: Vec<KernelErrors>,
}

/// The cause of a program's stop before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    /// The program crashed in a step.
    Crash,
    /// A step did not return.
    Loop,
    /// It reported an error of its own.
    ModelError,
    /// The watchdog of a task expired.
    Watchdog,
    /// It was not done at its next release, and is to stop then.
    Overrun,
}

/// A stop of a program before its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum ProgramStop {
    /// One that the program or its runtime told.
    Told {
        /// The cause of the stop.
        cause: StopCause,
        /// The task; absent where none is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<String>,
        /// Time that the task had taken by then, in ns; absent where that is not the cause.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        elapsed_ns: Option<u64>,
        /// The sentence for people, with the place in the program's own words.
        told: String,
        /// Number of such stops.
        count: u64,
    },
    /// Further ones, of which no more is kept.
    Others {
        /// Number of the further stops.
        more: u64,
    },
    /// Words of an earlier version.
    Stated(String),
}

impl fmt::Display for ProgramStop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Told { told, count: 1, .. } => f.write_str(told),
            Self::Told { told, count, .. } => write!(f, "{told} ({count} times)"),
            Self::Others { more } => write!(f, "and {more} more"),
            Self::Stated(words) => f.write_str(words),
        }
    }
}

/// Errors of one kind that the kernel of a program found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct KernelErrors {
    /// The task that was named for them; `None` where there was none.
    pub task: Option<String>,
    /// The status by its name in the standard, such as `E_OS_LIMIT`.
    pub status: String,
    /// The service that found it; `None` where the kernel did so by itself.
    pub service: Option<String>,
    /// `true` if each of them is work that was not done: an activation that was refused, or a job
    /// that was cut off.
    pub is_lost_work: bool,
    /// Number of these errors.
    pub count: u64,
}

impl KernelErrors {
    /// Returns `true` if `other` has errors of the same kind.
    fn is_like(&self, other: &Self) -> bool {
        (&self.task, &self.status, &self.service) == (&other.task, &other.status, &other.service)
    }
}

impl fmt::Display for KernelErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.task {
            Some(task) => write!(f, "task `{task}`: {}", self.status)?,
            None => write!(f, "outside of any task: {}", self.status)?,
        }
        if let Some(service) = &self.service {
            write!(f, " in {service}")?;
        }
        let plural = if self.count == 1 { "" } else { "s" };
        write!(f, " ({} time{plural})", thousands(self.count))
    }
}

/// The limits to which a task of a program was held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ScanTerms {
    /// The period of the program's fastest task, in ns: the one that its class is about. A slower
    /// task is judged by its own period, which is the record's.
    pub program_period_ns: u64,
    /// The latest completion after the release, in ns; `None` where there is none, as for a
    /// freewheeling task.
    pub deadline_ns: Option<u64>,
    /// The longest execution time before the watchdog counts it, in ns.
    pub watchdog_ns: Option<u64>,
    /// `true` if the program's own kernel released the task, and by its own priorities: such a task
    /// is held to its deadline alone, and to nothing where it has none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_kernel: bool,
}

/// Counters of scan cycles.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct ScanCounters {
    /// Cycles that ended after their deadline.
    pub overruns: u64,
    /// The longest run of consecutive overruns.
    pub longest_overrun_run: u64,
    /// Number of times the watchdog stopped the program.
    pub watchdog_hits: u64,
    /// Releases that were left out, because the cycle before took until after them.
    pub skipped_releases: u64,
    /// Frames of the fieldbus that did not come back in time, those of the warm-up included: in the
    /// cycle after it the program saw old inputs. `None` where the task drives no fieldbus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_frames: Option<u64>,
}

/// A cycle that was worse than all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Worst {
    /// The time it took, in ns.
    pub value_ns: u64,
    /// Number of the release, from 0.
    pub release: u64,
    /// Time since the first release, in ns.
    pub at_ns: u64,
}

/// Scan cycles that can't be taken from an exchange.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// A histogram contradicts itself.
    #[error("the {what} time in the exchange: {why}")]
    Histogram {
        /// `execution` or `response`.
        what: &'static str,
        /// The contradiction in it.
        why: StoredError,
    },
    /// The task was ended while it wrote its counters.
    #[error("the task was ended in the middle of a cycle")]
    Torn,
}

impl From<ScanError> for RunProblem {
    fn from(error: ScanError) -> Self {
        match error {
            ScanError::Histogram { what, why } => {
                Self::ExchangeDamaged { quantity: format!("{what} time"), damage: why.to_string() }
            }
            ScanError::Torn => Self::TaskCutOff,
        }
    }
}

impl Scan {
    /// Takes the scan cycles of a task from an exchange whose writer has ended.
    ///
    /// # Errors
    /// [`ScanError`] when what stands there contradicts itself.
    pub fn from_exchange(task: &TaskStatistics, terms: ScanTerms) -> Result<Self, ScanError> {
        let copy = |what, shared| {
            Histogram::from_exchange(shared).map_err(|why| ScanError::Histogram { what, why })
        };
        let counted = task.scan_counters().map_err(|TornRead| ScanError::Torn)?;
        let first_ns = task.first_release_ns();
        let worst = |worst: WorstInExchange| {
            (worst.value_ns > 0).then(|| Worst {
                value_ns: worst.value_ns,
                release: worst.release,
                at_ns: worst.due_ns.saturating_sub(first_ns),
            })
        };
        Ok(Self {
            terms,
            execution: copy("execution", task.execution())?,
            response: copy("response", task.response())?,
            counters: ScanCounters {
                overruns: counted.overruns,
                longest_overrun_run: counted.longest_overrun_run,
                watchdog_hits: counted.watchdog_hits,
                skipped_releases: counted.skipped_releases,
                lost_frames: None,
            },
            worst_execution: worst(counted.worst_execution),
            worst_response: worst(counted.worst_response),
            faults: Vec::new(),
            kernel_errors: Vec::new(),
        })
    }

    /// Adds an earlier part of the same run. Its worst cycles have no place in the later part's
    /// time, so their instant is that of its own.
    pub(in crate::record) fn absorb(&mut self, earlier: &Self) {
        self.execution.merge(&earlier.execution);
        self.response.merge(&earlier.response);
        let (own, before) = (&mut self.counters, &earlier.counters);
        own.overruns = own.overruns.saturating_add(before.overruns);
        own.longest_overrun_run = own.longest_overrun_run.max(before.longest_overrun_run);
        own.watchdog_hits = own.watchdog_hits.saturating_add(before.watchdog_hits);
        own.skipped_releases = own.skipped_releases.saturating_add(before.skipped_releases);
        if let Some(before) = before.lost_frames {
            own.lost_frames = Some(own.lost_frames.unwrap_or(0).saturating_add(before));
        }
        let worse = |one: Option<Worst>, other: Option<Worst>| {
            one.into_iter().chain(other).max_by_key(|worst| worst.value_ns)
        };
        self.worst_execution = worse(self.worst_execution, earlier.worst_execution);
        self.worst_response = worse(self.worst_response, earlier.worst_response);
        let new = earlier.faults.iter().filter(|fault| !self.faults.contains(fault));
        let new: Vec<ProgramStop> = new.cloned().collect();
        self.faults.extend(new);
        for errors in &earlier.kernel_errors {
            let alike = |own: &&mut KernelErrors| own.is_like(errors);
            match self.kernel_errors.iter_mut().find(alike) {
                Some(own) => own.count = own.count.saturating_add(errors.count),
                None => self.kernel_errors.push(errors.clone()),
            }
        }
    }

    /// Lists the numbers that exclude each other.
    pub(in crate::record) fn self_check(&self, record: &Record) -> Vec<Inconsistency> {
        let mut wrong = Vec::new();
        if !self.execution.is_consistent() || !self.response.is_consistent() {
            wrong.push(Inconsistency::ProgramBins);
        }
        let count = self.execution.count();
        if count != self.response.count() {
            wrong.push(Inconsistency::ProgramCounts);
        }
        if count > record.release.count() {
            wrong.push(Inconsistency::ProgramBeyondReleases);
        }
        if self.execution.max_ns() > self.response.max_ns() {
            wrong.push(Inconsistency::ExecutionBeyondResponse);
        }
        if self.counters.overruns > count {
            wrong.push(Inconsistency::OverrunsBeyondCycles);
        }
        let late = self.terms.deadline_ns.is_some_and(|latest| self.response.max_ns() > latest);
        if late && self.counters.overruns == 0 {
            wrong.push(Inconsistency::OverrunUncounted);
        }
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reason::sentences;
    use crate::record::check::self_check;
    use crate::test_scan_record;

    #[test]
    fn sound_scan_cycles_have_no_findings() {
        assert_eq!(self_check(&test_scan_record(), None), []);
    }

    #[test]
    fn numbers_that_contradict_each_other_are_found() {
        let found = |change: fn(&mut Scan)| {
            let mut record = test_scan_record();
            change(record.scan_mut().unwrap());
            sentences(&self_check(&record, None))
        };
        assert!(found(|scan| scan.execution.record(1)).contains("different counts"));
        let many = found(|scan| {
            scan.execution.record_many(10, 10_000);
            scan.response.record_many(10, 10_000);
        });
        assert!(many.contains("than were released"), "{many}");
        let long = found(|scan| {
            scan.execution = Histogram::new();
            scan.execution.record_many(900_000, scan.response.count());
        });
        assert!(long.contains("longer than from its release"), "{long}");
        assert!(found(|scan| scan.counters.overruns = 1 << 40).contains("than ran"));
        assert!(found(|scan| scan.terms.deadline_ns = Some(1)).contains("not counted"));
        assert_eq!(found(|scan| scan.terms.deadline_ns = None), "");
    }

    #[test]
    fn an_earlier_part_is_added_and_its_worst_cycle_stays() {
        let mut later = test_scan_record();
        let mut earlier = test_scan_record();
        let scan = earlier.scan_mut().unwrap();
        scan.counters = ScanCounters {
            overruns: 2,
            longest_overrun_run: 2,
            watchdog_hits: 1,
            skipped_releases: 3,
            lost_frames: Some(4),
        };
        scan.worst_execution = Some(Worst { value_ns: 800_000, release: 7, at_ns: 7_000_000 });
        let crash = ProgramStop::Told {
            cause: StopCause::Crash,
            task: Some("fast".to_owned()),
            elapsed_ns: None,
            told: "it crashed".to_owned(),
            count: 2,
        };
        scan.faults = vec![crash.clone(), ProgramStop::Stated("it broke".to_owned())];
        let errors = |status: &str, count| KernelErrors {
            task: Some("fast".to_owned()),
            status: status.to_owned(),
            service: None,
            is_lost_work: true,
            count,
        };
        scan.kernel_errors = vec![errors("E_OS_LIMIT", 2), errors("E_OS_ID", 1)];
        later.scan_mut().unwrap().kernel_errors = vec![errors("E_OS_LIMIT", 3)];
        let count = scan.execution.count();
        later.absorb(earlier);
        let scan = later.scan().unwrap();
        assert_eq!(scan.execution.count(), 2 * count);
        assert_eq!((scan.counters.overruns, scan.counters.watchdog_hits), (2, 1));
        assert_eq!(scan.counters.lost_frames, Some(4));
        assert_eq!(scan.worst_execution.unwrap().release, 7);
        let words: Vec<String> = scan.faults.iter().map(ToString::to_string).collect();
        assert_eq!(words, ["it crashed (2 times)", "it broke"]);
        let more = ProgramStop::Others { more: 3 };
        for stop in scan.faults.iter().chain([&more]) {
            let text = serde_json::to_string(stop).unwrap();
            assert_eq!(serde_json::from_str::<ProgramStop>(&text).unwrap(), *stop, "{text}");
        }
        assert_eq!(scan.kernel_errors, [errors("E_OS_LIMIT", 5), errors("E_OS_ID", 1)]);
        assert_eq!(scan.kernel_errors[0].to_string(), "task `fast`: E_OS_LIMIT (5 times)");
    }

    #[test]
    fn a_record_of_the_probe_alone_is_written_and_read_as_before() {
        let record = crate::test_record(&[(4_000, 970)]);
        let text = serde_json::to_string(&record).unwrap();
        assert!(!text.contains("scan"), "{text}");
        assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record);
        let program = test_scan_record();
        let text = serde_json::to_string(&program).unwrap();
        assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), program);
    }
}
