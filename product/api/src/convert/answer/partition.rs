//! The states of partitions.

use std::path::PathBuf;

use quietcore_control::{
    Activity, Criticality, Faults, FieldbusState, LastFault, PartitionState, Partitions, Reactions,
};
use quietcore_units::Nanos;

use super::{UnknownValue, all_harmless, harmless};
use crate::v1;

/// Reads the states of a site's partitions.
///
/// # Errors
/// [`UnknownValue`] for a state that this version does not know.
pub fn partitions(told: v1::ListPartitionsResponse) -> Result<Partitions, UnknownValue> {
    let partitions = told.partitions.into_iter().map(partition).collect::<Result<_, _>>()?;
    Ok(Partitions { partitions, drift: all_harmless(told.drift) })
}

fn partition(told: v1::Partition) -> Result<PartitionState, UnknownValue> {
    let state = activity(&told)?;
    let last = LastFault { why: harmless(told.last_fault), cycle: told.last_fault_cycle };
    let faults = Faults { count: told.faults, last: Some(last).filter(|it| !it.why.is_empty()) };
    let path = |path: Option<String>| path.map(harmless).map(PathBuf::from);
    Ok(PartitionState {
        name: harmless(told.name),
        backend: harmless(told.backend),
        state,
        class: harmless(told.class),
        period: Nanos::new(told.period_ns),
        cycles: told.cycles,
        missed_cycles: told.missed_cycles,
        overruns: told.overruns,
        release_max: Nanos::new(told.release_max_ns),
        forces: told.forces,
        generation: told.generation,
        restarts: told.restarts,
        criticality: criticality(&told.criticality)?,
        times_shed: told.times_shed,
        reactions: told.reactions.map(reactions),
        cpu: told.cpu,
        pid: told.pid,
        fieldbus: told.fieldbus.map(fieldbus).transpose()?,
        model_hash: harmless(told.model_hash),
        absent_cycles: told.absent_cycles,
        faults,
        drift: all_harmless(told.drift),
        console: path(told.console),
        vnc: path(told.vnc),
    })
}

fn activity(told: &v1::Partition) -> Result<Activity, UnknownValue> {
    let why = || harmless(told.why.clone());
    Ok(match told.activity() {
        v1::Activity::Starting => Activity::Starting,
        v1::Activity::Running => Activity::Running,
        v1::Activity::Paused => Activity::Paused,
        v1::Activity::Shed => Activity::Shed { by: harmless(told.shed_by.clone()) },
        v1::Activity::Fault => Activity::Fault { why: why() },
        v1::Activity::Waiting => {
            Activity::Waiting { restart_in: Nanos::new(told.restart_in_ns), why: why() }
        }
        v1::Activity::Stopped => Activity::Stopped { why: why() },
        v1::Activity::Unspecified => return Err(UnknownValue::of("an activity of a partition")),
    })
}

fn criticality(word: &str) -> Result<Criticality, UnknownValue> {
    let known = [Criticality::Low, Criticality::Medium, Criticality::High];
    match word {
        "" => Ok(Criticality::default()),
        word => known
            .into_iter()
            .find(|it| it.to_string() == word)
            .ok_or(UnknownValue::of("a criticality")),
    }
}

fn reactions(told: v1::Reactions) -> Reactions {
    Reactions {
        count: told.count,
        last: Nanos::new(told.ns_last),
        min: Nanos::new(told.ns_min),
        median: Nanos::new(told.ns_median),
        max: Nanos::new(told.ns_max),
    }
}

fn fieldbus(told: v1::Fieldbus) -> Result<FieldbusState, UnknownValue> {
    let counter =
        |told: u32| u16::try_from(told).map_err(|_| UnknownValue::of("a working counter"));
    Ok(FieldbusState {
        state: harmless(told.state),
        subdevices: told.subdevices,
        working_counter: counter(told.working_counter)?,
        working_counter_expected: counter(told.working_counter_expected)?,
        lost_frames: told.lost_frames,
    })
}

#[cfg(test)]
mod tests {
    use quietcore_control::samples;

    use super::*;

    #[test]
    fn each_state_of_a_partition_is_the_same_after_a_way_there_and_back() {
        let why = || "the step did not return".to_owned();
        let states = [
            Activity::Starting,
            Activity::Running,
            Activity::Paused,
            Activity::Shed { by: "axis".to_owned() },
            Activity::Fault { why: why() },
            Activity::Waiting { restart_in: Nanos::from_millis(1500), why: why() },
            Activity::Stopped { why: why() },
        ];
        let sample = samples::partitions().remove(0);
        let of = |state| PartitionState { state, ..sample.clone() };
        let mut all: Vec<PartitionState> = states.into_iter().map(of).collect();
        all[1].reactions = Some(reactions(v1::Reactions { count: 2, ..Default::default() }));
        all[2].console = Some(PathBuf::from("/var/log/desk"));
        all[3].faults.add("it crashed", Some(7));
        all[4].drift = vec!["its CPU".to_owned()];
        all[5].criticality = Criticality::Low;
        let own = Partitions { partitions: all, drift: vec!["CPU 1 is offline".to_owned()] };
        assert_eq!(partitions(own.clone().into()), Ok(own));
    }

    #[test]
    fn states_that_are_not_known_are_refused() {
        let of = |partition: v1::Partition| {
            let list = v1::ListPartitionsResponse { partitions: vec![partition], drift: vec![] };
            partitions(list)
        };
        let known = v1::Partition { activity: 2, ..v1::Partition::default() };
        assert!(of(known.clone()).is_ok());
        assert!(of(v1::Partition { activity: 99, ..known.clone() }).is_err());
        assert!(of(v1::Partition { criticality: "none".to_owned(), ..known.clone() }).is_err());
        let fieldbus = v1::Fieldbus { working_counter: 70_000, ..v1::Fieldbus::default() };
        assert!(of(v1::Partition { fieldbus: Some(fieldbus), ..known }).is_err());
    }
}
