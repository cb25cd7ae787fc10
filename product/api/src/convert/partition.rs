//! The states of partitions.

use std::path::PathBuf;

use quietcore_control::{Activity, FieldbusState, PartitionState, Partitions, Reactions};

use crate::v1;

impl From<Partitions> for v1::ListPartitionsResponse {
    fn from(Partitions { partitions, drift }: Partitions) -> Self {
        Self { partitions: partitions.into_iter().map(Into::into).collect(), drift }
    }
}

impl From<PartitionState> for v1::Partition {
    fn from(state: PartitionState) -> Self {
        let activity = match state.state {
            Activity::Starting => v1::Activity::Starting,
            Activity::Running => v1::Activity::Running,
            Activity::Paused => v1::Activity::Paused,
            Activity::Shed { .. } => v1::Activity::Shed,
            Activity::Fault { .. } => v1::Activity::Fault,
            Activity::Waiting { .. } => v1::Activity::Waiting,
            Activity::Stopped { .. } => v1::Activity::Stopped,
        };
        let restart_in_ns = match &state.state {
            Activity::Waiting { restart_in, .. } => restart_in.get(),
            _ => 0,
        };
        let shed_by = match &state.state {
            Activity::Shed { by } => by.clone(),
            _ => String::new(),
        };
        let why = state.state.why().unwrap_or_default().to_owned();
        let has_program = state.has_program();
        let path = |path: PathBuf| path.display().to_string();
        let (last_fault, last_fault_cycle) =
            state.faults.last.map(|fault| (fault.why, fault.cycle)).unwrap_or_default();
        Self {
            name: state.name,
            backend: state.backend,
            activity: activity.into(),
            why,
            restart_in_ns,
            shed_by,
            class: state.class,
            period_ns: state.period.get(),
            cycles: state.cycles,
            missed_cycles: state.missed_cycles,
            overruns: state.overruns,
            release_max_ns: state.release_max.get(),
            forces: state.forces,
            generation: state.generation,
            restarts: state.restarts,
            faults: state.faults.count,
            last_fault,
            cpu: state.cpu,
            pid: state.pid,
            fieldbus: state.fieldbus.map(Into::into),
            model_hash: state.model_hash,
            drift: state.drift,
            has_program,
            criticality: state.criticality.to_string(),
            times_shed: state.times_shed,
            reactions: state.reactions.map(Into::into),
            absent_cycles: state.absent_cycles,
            last_fault_cycle,
            console: state.console.map(path),
            vnc: state.vnc.map(path),
        }
    }
}

impl From<Reactions> for v1::Reactions {
    fn from(reactions: Reactions) -> Self {
        Self {
            count: reactions.count,
            ns_last: reactions.last.get(),
            ns_min: reactions.min.get(),
            ns_median: reactions.median.get(),
            ns_max: reactions.max.get(),
        }
    }
}

impl From<FieldbusState> for v1::Fieldbus {
    fn from(fieldbus: FieldbusState) -> Self {
        Self {
            state: fieldbus.state,
            subdevices: fieldbus.subdevices,
            working_counter: fieldbus.working_counter.into(),
            working_counter_expected: fieldbus.working_counter_expected.into(),
            lost_frames: fieldbus.lost_frames,
        }
    }
}

#[cfg(test)]
mod tests {
    use quietcore_control::samples::partitions;
    use quietcore_units::Nanos;

    use super::*;

    #[test]
    fn a_partition_keeps_its_figures_and_the_reason_for_its_state() {
        let sample = partitions().remove(0);
        let why = "the step did not return".to_owned();
        let waiting = Activity::Waiting { restart_in: Nanos::from_millis(1500), why: why.clone() };
        let state = PartitionState { state: waiting, ..sample.clone() };
        let told = v1::Partition::from(state);
        assert_eq!(told.activity(), v1::Activity::Waiting);
        assert_eq!((told.why, told.restart_in_ns), (why, 1_500_000_000));
        assert_eq!((told.name, told.cycles), (sample.name, sample.cycles));
        assert_eq!(told.period_ns, sample.period.get());
        assert_eq!(told.fieldbus.is_some(), sample.fieldbus.is_some());
        let shed = Activity::Shed { by: "axis".to_owned() };
        let told = v1::Partition::from(PartitionState { state: shed, ..partitions().remove(0) });
        assert_eq!((told.activity(), told.shed_by.as_str()), (v1::Activity::Shed, "axis"));
        assert_eq!(told.restart_in_ns, 0);
    }
}
