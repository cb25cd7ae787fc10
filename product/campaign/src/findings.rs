//! Findings of a run that are not in the exchange.

use quietcore_backend::process::Printed;
use quietcore_record::reason::{NotInForce, ShareDrift};
use quietcore_record::record::{InterruptPlacement, ReservationInForce};
use quietcore_settings::SettingsReport;
use quietcore_units::{Nanos, ThreadSettings};

use crate::beside::loads::LoadsAchieved;
use crate::beside::neighbours::NeighbourFound;
use crate::explain::Explained;
use crate::measure::Machine;
use crate::measure::course::Course;
use crate::measure::others::Others;
use crate::run::{PartitionRun, Run};
use crate::troubles::Heard;

/// The findings of a run, from which its records are made.
#[derive(Debug)]
pub(crate) struct Findings {
    /// Time of the start, in RFC 3339.
    pub(crate) started_at: String,
    /// Findings of each partition, in the order of the run.
    pub(crate) partitions: Vec<PartitionFindings>,
    /// Work of the loads over the whole run.
    pub(crate) loads: LoadsAchieved,
    /// Work of the neighbours, in the order of the run.
    pub(crate) neighbours: Vec<NeighbourFound>,
    /// Partitions of others that ran meanwhile.
    pub(crate) others: Others,
    /// Changes of the machine's settings, and the troubles with them.
    pub(crate) settings: SettingsReport,
    /// Controls that were asked for, and were not applied or had nothing to change.
    pub(crate) not_changed: Vec<NotInForce>,
    /// The longest time between two looks at the run.
    pub(crate) watch_gap: Nanos,
    /// Runtime of its containers; `None` where it has none.
    pub(crate) container_runtime: Option<String>,
}

/// The findings of one partition.
#[derive(Debug)]
pub(crate) struct PartitionFindings {
    /// Settings in force for each task, in the order of the exchange.
    pub(crate) states: Vec<StatesSeen>,
    /// The stretches of each task, in the order of the exchange.
    pub(crate) courses: Vec<Course>,
    /// The last part of what its process wrote about itself; empty where it wrote nothing.
    pub(crate) remarks: String,
    /// Number of lines and bytes that its program printed.
    pub(crate) printed: Printed,
    /// Events that its program reported.
    pub(crate) heard: Heard,
    /// `true` if it was stopped when its time was over, and not before.
    pub(crate) ended_in_time: bool,
    /// Exits of its guest's processor; empty where it is no guest.
    pub(crate) exits: ExitsSeen,
    /// Ledgers of its late releases.
    pub(crate) explained: Explained,
    /// Its share of the last-level cache and of the memory bandwidth; `None` where it shared them
    /// with all others.
    pub(crate) share: Option<String>,
    /// The first change of that share while it ran; `None` if it held.
    pub(crate) share_drift: Option<ShareDrift>,
    /// SHA-256 of the module of its program; `None` without one.
    pub(crate) module_sha256: Option<String>,
    /// Its part of the machine; `None` where its leading task was never seen running.
    pub(crate) platform: Option<PlatformSeen>,
}

/// The part of the machine that a partition got.
#[derive(Clone, Debug)]
pub(crate) struct PlatformSeen {
    /// The interrupts that may arrive on its CPUs; `None` where its tasks are free to move.
    pub(crate) interrupts: Option<Vec<InterruptPlacement>>,
    /// Its reservation; `None` where it could not be read back.
    pub(crate) reservation: Option<ReservationInForce>,
}

/// The settings in force for one task: the first ones, and what they became if they changed.
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
    /// Cycles of the leading task, missed ones included.
    pub(crate) cycles: u64,
    /// Exits to the guest's process.
    pub(crate) to_process: u64,
    /// All exits; `None` where KVM does not count them.
    pub(crate) all: Option<u64>,
}

impl ExitsSeen {
    /// Notes one look; the first one stays the base.
    pub(crate) fn note(&mut self, look: ExitsLook) {
        self.first.get_or_insert(look);
        self.last = Some(look);
    }

    /// Describes the exits per cycle; `None` unless there are cycles between two looks.
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
    /// Begins with no findings but the build of each program.
    pub(crate) fn begin(run: &Run, machine: &Machine<'_>) -> Self {
        let empty = |partition: &PartitionRun| PartitionFindings {
            states: vec![StatesSeen::default(); partition.work.tasks().len()],
            courses: vec![Course::planned(partition.work.measured()); partition.work.tasks().len()],
            remarks: String::new(),
            printed: Printed::default(),
            heard: Heard::default(),
            ended_in_time: false,
            exits: ExitsSeen::default(),
            explained: Explained::default(),
            share: None,
            module_sha256: partition.work.module_sha256(),
            platform: None,
            share_drift: None,
        };
        Self {
            started_at: (machine.time_of_day)(),
            watch_gap: Nanos::ZERO,
            container_runtime: None,
            partitions: run.partitions.iter().map(empty).collect(),
            loads: LoadsAchieved::default(),
            neighbours: Vec::new(),
            others: Others::default(),
            settings: SettingsReport::default(),
            not_changed: Vec::new(),
        }
    }
}

impl Findings {
    /// Takes over the explanations of late releases, partition by partition.
    pub(crate) fn explained(&mut self, explained: Vec<Explained>) {
        for (found, explained) in self.partitions.iter_mut().zip(explained) {
            found.explained = explained;
        }
    }
}

impl StatesSeen {
    /// Notes the settings in force now. Locked memory may grow and shrink; only losing all of it is
    /// drift.
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
    use quietcore_units::{ByteSize, SchedulingPolicy};

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
