//! What is found out during a run, beside the exchange.

use quietcore_load::Achieved;
use quietcore_process::readback::ThreadState;

use crate::measure::Machine;
use crate::run::Run;

/// What was found out during a run.
#[derive(Debug)]
pub(crate) struct Findings {
    /// When it was started, RFC 3339.
    pub(crate) started_at: String,
    /// What was found of each partition, in the order of the run.
    pub(crate) partitions: Vec<PartitionFindings>,
    /// What the loads achieved.
    pub(crate) loads: Vec<Achieved>,
}

/// What was found of one partition.
#[derive(Clone, Debug)]
pub(crate) struct PartitionFindings {
    /// What was in force for each task.
    pub(crate) states: Vec<StatesSeen>,
    /// What its process said.
    pub(crate) remarks: String,
}

/// What was in force for one task: at first, and what it became if that changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct StatesSeen {
    pub(crate) first: Option<ThreadState>,
    pub(crate) drift: Option<ThreadState>,
}

impl Findings {
    /// Nothing found yet.
    pub(crate) fn begin(run: &Run, machine: &Machine<'_>) -> Self {
        let empty = |tasks: usize| PartitionFindings {
            states: vec![StatesSeen::default(); tasks],
            remarks: String::new(),
        };
        Self {
            started_at: (machine.time_of_day)(),
            partitions: run.partitions.iter().map(|part| empty(part.job.cpus.len())).collect(),
            loads: Vec::new(),
        }
    }
}

impl StatesSeen {
    /// Notes what is in force now. More locked memory is no drift.
    pub(crate) fn note(&mut self, state: ThreadState) {
        match &self.first {
            None => self.first = Some(state),
            Some(first) => {
                let same =
                    first.policy_text() == state.policy_text() && first.affinity == state.affinity;
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
    use quietcore_units::ByteSize;

    fn state(policy: u32, affinity: &str, locked: u64) -> ThreadState {
        ThreadState {
            policy,
            priority: 90,
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
    }
}
