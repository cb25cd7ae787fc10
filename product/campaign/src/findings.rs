//! What is found out during a run, beside the exchange.

use quietcore_backend::process::Printed;
use quietcore_host::controls::Found;
use quietcore_load::Achieved;
use quietcore_record::reason::NotInForce;
use quietcore_units::{Nanos, ThreadSettings};

use crate::explain::Explained;
use crate::measure::Machine;
use crate::run::Run;
use crate::troubles::Heard;

/// What was found out during a run.
#[derive(Debug)]
pub(crate) struct Findings {
    /// When it was started, RFC 3339.
    pub(crate) started_at: String,
    /// What was found of each partition, in the order of the run.
    pub(crate) partitions: Vec<PartitionFindings>,
    /// What the loads achieved.
    pub(crate) loads: LoadFindings,
    /// What became of the machine's settings.
    pub(crate) settings: Found,
    /// Controls that were asked for, and not applied or without anything to change.
    pub(crate) not_changed: Vec<NotInForce>,
    /// The longest time between two looks at the run.
    pub(crate) watch_gap: Nanos,
    /// What runs its containers; `None` where it has none.
    pub(crate) container_runtime: Option<String>,
}

/// What was found of one partition.
#[derive(Debug)]
pub(crate) struct PartitionFindings {
    /// What was in force for each task.
    pub(crate) states: Vec<StatesSeen>,
    /// What its process said.
    pub(crate) remarks: String,
    /// Number of lines and bytes that its program printed.
    pub(crate) printed: Printed,
    /// What its program told.
    pub(crate) heard: Heard,
    /// Whether it was stopped when its time was over, and not before.
    pub(crate) ended_in_time: bool,
    /// How often its processor left the guest, where it is one.
    pub(crate) exits: ExitsSeen,
    /// Where the time of late releases went.
    pub(crate) explained: Explained,
    /// What it had of the last-level cache and of the memory's bandwidth; `None` where it shared
    /// them with all others.
    pub(crate) share: Option<String>,
    /// Why it did not have that all the time.
    pub(crate) share_drift: Option<String>,
}

/// What was in force for one task: at first, and what it became if that changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct StatesSeen {
    pub(crate) first: Option<ThreadSettings>,
    pub(crate) drift: Option<ThreadSettings>,
}

/// Exits of a guest between two looks: the first one at its running leading task, and the last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ExitsSeen {
    first: Option<ExitsLook>,
    last: Option<ExitsLook>,
}

/// Exits and cycles at one look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExitsLook {
    /// Cycles of the leading task, those that were missed included.
    pub(crate) cycles: u64,
    /// Exits to the guest's process.
    pub(crate) to_process: u64,
    /// All exits, where KVM counts them.
    pub(crate) all: Option<u64>,
}

impl ExitsSeen {
    /// Notes one look.
    pub(crate) fn note(&mut self, look: ExitsLook) {
        self.first.get_or_insert(look);
        self.last = Some(look);
    }

    /// What was seen, in words; `None` where there was nothing to be seen.
    pub(crate) fn words(&self) -> Option<String> {
        let (first, last) = (self.first?, self.last?);
        let cycles = last.cycles.saturating_sub(first.cycles);
        if cycles == 0 {
            return None;
        }
        let per_cycle = |first: u64, last: u64| last.saturating_sub(first) as f64 / cycles as f64;
        let to_process = per_cycle(first.to_process, last.to_process);
        let all = match first.all.zip(last.all) {
            Some((first, last)) => format!("{:.3} a cycle", per_cycle(first, last)),
            None => "not counted by this kernel".to_owned(),
        };
        Some(format!("{all}, {to_process:.3} a cycle to its process; in {cycles} cycles"))
    }
}

impl Findings {
    /// Nothing found yet.
    pub(crate) fn begin(run: &Run, machine: &Machine<'_>) -> Self {
        let empty = |tasks: usize| PartitionFindings {
            states: vec![StatesSeen::default(); tasks],
            remarks: String::new(),
            printed: Printed::default(),
            heard: Heard::default(),
            ended_in_time: false,
            exits: ExitsSeen::default(),
            explained: Explained::default(),
            share: None,
            share_drift: None,
        };
        Self {
            started_at: (machine.time_of_day)(),
            watch_gap: Nanos::ZERO,
            container_runtime: None,
            partitions: run.partitions.iter().map(|part| empty(part.work.tasks().len())).collect(),
            loads: LoadFindings::default(),
            settings: Found::default(),
            not_changed: Vec::new(),
        }
    }
}

impl Findings {
    /// Takes over where the time of late releases went, partition by partition.
    pub(crate) fn explained(&mut self, explained: Vec<Explained>) {
        for (found, explained) in self.partitions.iter_mut().zip(explained) {
            found.explained = explained;
        }
    }
}

/// What the loads achieved over the whole run, from several measurements. A fault in one of them
/// stays: a load that paused did not disturb as it should.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoadFindings {
    /// The sum, one entry a request.
    pub(crate) achieved: Vec<Achieved>,
}

impl LoadFindings {
    /// Adds what was achieved since the last measurement.
    pub(crate) fn add(&mut self, part: Vec<Achieved>) {
        if self.achieved.is_empty() {
            self.achieved = part;
            return;
        }
        for (whole, part) in self.achieved.iter_mut().zip(part) {
            let (before, now) = (whole.interval.as_secs_f64(), part.interval.as_secs_f64());
            let mean = |a: f64, b: f64| {
                if before + now > 0.0 { (a * before + b * now) / (before + now) } else { b }
            };
            whole.operations_per_second =
                mean(whole.operations_per_second, part.operations_per_second);
            whole.bytes_per_second =
                whole.bytes_per_second.zip(part.bytes_per_second).map(|(a, b)| mean(a, b));
            whole.cpu_share = mean(whole.cpu_share, part.cpu_share);
            whole.interval += part.interval;
            whole.workers_alive = whole.workers_alive.min(part.workers_alive);
            whole.workers_stalled = whole.workers_stalled.max(part.workers_stalled);
            for fault in part.faults {
                if !whole.faults.contains(&fault) {
                    whole.faults.push(fault);
                }
            }
        }
    }
}

impl StatesSeen {
    /// Notes the settings in force now. Locked memory may grow and shrink; a drift is that none is
    /// left.
    pub(crate) fn note(&mut self, state: ThreadSettings) {
        match &self.first {
            None => self.first = Some(state),
            Some(first) => {
                let is_unlocked = first.locked.get() > 0 && state.locked.get() == 0;
                let same = first.policy == state.policy
                    && first.affinity == state.affinity
                    && !is_unlocked;
                if !same {
                    self.drift = Some(state);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quietcore_load::{LoadKind, WorkerFault, WorkerProblem};
    use quietcore_units::{ByteSize, CpuSet, SchedulingPolicy};

    fn achieved(millis: u64, rate: f64, faults: Vec<WorkerFault>) -> Achieved {
        Achieved {
            kind: LoadKind::Sqrt,
            workers: 2,
            workers_alive: 2,
            workers_stalled: u32::from(!faults.is_empty()),
            size: None,
            cpus: CpuSet::EMPTY,
            interval: Nanos::from_millis(millis),
            operations_per_second: rate,
            unit: "sqrt/s".into(),
            bytes_per_second: None,
            cpu_share: 1.0,
            faults,
        }
    }

    #[test]
    fn exits_are_told_by_the_cycle() {
        let mut seen = ExitsSeen::default();
        assert_eq!(seen.words(), None, "no guest");
        seen.note(ExitsLook { cycles: 1000, to_process: 7, all: Some(5000) });
        assert_eq!(seen.words(), None, "no cycle between two looks");
        seen.note(ExitsLook { cycles: 3000, to_process: 9, all: Some(9000) });
        let words = "2.000 a cycle, 0.001 a cycle to its process; in 2000 cycles";
        assert_eq!(seen.words().as_deref(), Some(words));
        seen.note(ExitsLook { cycles: 3000, to_process: 9, all: None });
        assert!(seen.words().unwrap().starts_with("not counted by this kernel, "));
    }

    #[test]
    fn a_load_that_paused_is_remembered_and_rates_are_means_over_time() {
        let pause = WorkerFault { worker: 1, process_id: 7, problem: WorkerProblem::Stopped };
        let mut loads = LoadFindings::default();
        loads.add(vec![achieved(1_000, 100.0, Vec::new())]);
        loads.add(vec![achieved(1_000, 0.0, vec![pause])]);
        loads.add(vec![achieved(2_000, 150.0, Vec::new())]);
        assert_eq!(loads.achieved[0].operations_per_second, 100.0);
        assert_eq!(loads.achieved[0].interval, Nanos::from_secs(4));
        assert!(!loads.achieved[0].is_complete());
    }

    fn state(policy: u32, affinity: &str, locked: u64) -> ThreadSettings {
        ThreadSettings {
            policy: SchedulingPolicy::from_kernel(policy, 90),
            affinity: affinity.parse().unwrap(),
            locked: ByteSize::new(locked),
        }
    }

    #[test]
    fn another_policy_or_cpu_is_drift_and_more_locked_memory_is_not() {
        let mut seen = StatesSeen::default();
        seen.note(state(1, "1", 100));
        seen.note(state(1, "1", 200));
        assert!(seen.drift.is_none());
        seen.note(state(1, "0-1", 200));
        assert!(seen.drift.is_some());
        let mut seen = StatesSeen::default();
        seen.note(state(1, "1", 100));
        seen.note(state(0, "1", 100));
        assert!(seen.drift.is_some());
        let mut seen = StatesSeen::default();
        seen.note(state(1, "1", 100));
        seen.note(state(1, "1", 50));
        assert!(seen.drift.is_none(), "it may have given some back");
        seen.note(state(1, "1", 0));
        assert!(seen.drift.is_some(), "the program has unlocked it");
    }
}
