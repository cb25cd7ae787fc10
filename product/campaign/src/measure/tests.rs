//! Tests of runs, on simulated time.

use quietcore_backend::neighbour::NeighbourLoad;
use quietcore_backend::setting::BackendSetting;
use quietcore_record::reason::RunProblem;
use quietcore_site::{LoadKind, NeighbourForm};

use super::*;
use crate::run::NeighbourRun;
use crate::world::nanos;
use crate::world::simulated::{Fate, Simulated, Told, runs};

/// Measures one run of a minute in this world.
fn measured(world: &Simulated) -> Result<Measured, MeasureError> {
    let run = runs().remove(0);
    world.with_machine(|machine| {
        measure(&run, machine, &mut Told::default(), &AtomicBool::new(false))
    })
}

#[test]
fn a_run_in_order_has_all_its_cycles_and_no_reason_against_it() {
    let world = Simulated::on_time();
    let measured = measured(&world).unwrap();
    let [record] = &measured.records[..] else { panic!("{:?}", measured.records) };
    assert!(!measured.interrupted);
    assert_eq!(record.release.count(), 60_000);
    assert_eq!((&record.invalid_because[..], &record.degraded[..]), (&[][..], &[][..]));
    let passed = world.passed();
    assert!(passed >= Nanos::from_secs(60) && passed <= runs()[0].duration() + nanos(POLL));
    assert_eq!(world.counts(), (1, 1));
}

/// Goal: a partition that hangs is given half a minute beyond its time, and is stopped then.
#[test]
fn a_run_that_is_overdue_is_given_up_and_its_partition_stopped() {
    let world = Simulated::hanging();
    let error = measured(&world).unwrap_err();
    assert!(matches!(error, MeasureError::Hung { overtime: OVERTIME_MAX }), "{error}");
    let late = world.passed().saturating_sub(runs()[0].duration());
    assert!(late > OVERTIME_MAX && late <= OVERTIME_MAX + nanos(POLL), "{late}");
    assert_eq!(world.counts(), (1, 1));
}

/// Goal: a watch that is itself held up says that nobody has seen the run meanwhile.
#[test]
fn a_run_whose_watch_was_held_up_is_no_evidence() {
    let world = Simulated::oversleeping([Nanos::ZERO, Nanos::from_secs(5)]);
    let measured = measured(&world).unwrap();
    let gap = Nanos::from_secs(5) + nanos(POLL);
    let unwatched = RunProblem::Unwatched { gap_ns: gap.get() };
    assert_eq!(measured.records[0].invalid_because, [unwatched.into()]);
}

#[test]
fn a_row_of_the_matrix_does_not_hide_that_a_control_changed_nothing() {
    let asked = [Control::LoadBalance, Control::Governor];
    let absent = NotInForce::ControlAbsent { control: "load-balance".to_owned() };
    assert_eq!(not_changed(&asked, true, true, &asked[..1]), [absent]);
    assert_eq!(not_changed(&asked, true, true, &[]), []);
    assert_eq!(not_changed(&asked, true, false, &[]).len(), 2, "without root neither is");
    assert_eq!(not_changed(&asked, false, true, &asked[1..]), []);
    assert_eq!(not_changed(&asked, false, false, &[]).len(), 2);
}

/// Measures a minute beside two neighbours with this fate.
fn measured_beside(fate: Fate) -> (Result<Measured, MeasureError>, Simulated) {
    let world = Simulated::beside(fate);
    let neighbour = |name: &str| NeighbourRun {
        name: name.to_owned(),
        form: NeighbourForm::Process,
        loads: vec![NeighbourLoad { kind: LoadKind::Sqrt, workers: 10, size: None }],
        cpus: "0".parse().unwrap(),
        processors: None,
        setting: BackendSetting::default(),
        is_paced: false,
    };
    let neighbours = vec![neighbour("neighbour-1"), neighbour("neighbour-2")];
    let run = Run { neighbours, ..runs().remove(0) };
    let measured = world.with_machine(|machine| {
        measure(&run, machine, &mut Told::default(), &AtomicBool::new(false))
    });
    (measured, world)
}

/// Goal: a record says who its neighbours were, where they ran and what they achieved, and all of
/// them are gone after the run.
#[test]
fn a_record_tells_of_neighbours_that_worked() {
    let (measured, world) = measured_beside(Fate::Works);
    let measured = measured.unwrap();
    let record = &measured.records[0];
    assert_eq!(record.invalid_because, [], "{:?}", record.conditions.neighbours);
    let [first, second] = &record.conditions.neighbours[..] else { panic!("{record:?}") };
    assert_eq!((first.name.as_str(), second.name.as_str()), ("neighbour-1", "neighbour-2"));
    assert_eq!((first.kind.as_str(), first.cpus.to_string()), ("process", "0".to_owned()));
    let load = &first.loads[0];
    assert_eq!((load.working, load.operations_per_second), (10, 100.0));
    assert_eq!(world.counts(), (3, 3));
    assert_eq!(record.release.count(), 60_000);
}

/// Goal: a neighbour that boots for longer than one may be silent is not taken for a silent one.
#[test]
fn a_neighbour_that_is_slow_to_begin_is_evidence() {
    let (measured, _) = measured_beside(Fate::WorksLate);
    assert_eq!(measured.unwrap().records[0].invalid_because, []);
}

/// Goal: a run is no evidence where a neighbour died, did nothing or could not be heard; it is
/// none at all where a neighbour never worked.
#[test]
fn a_neighbour_that_does_not_load_the_machine_makes_the_run_no_evidence() {
    for (fate, why) in [
        (
            Fate::Dies,
            "neighbour-1 did not load the machine as asked: the partition's process ended",
        ),
        (Fate::IsIdle, "10 of 10 workers `sqrt` worked to the end and did nothing"),
        (Fate::IsSilent, "it said nothing for 15.0 s"),
    ] {
        let (measured, world) = measured_beside(fate);
        let record = measured.unwrap().records.remove(0);
        let reasons: Vec<String> = record.invalid_because.iter().map(ToString::to_string).collect();
        assert!(reasons.iter().any(|reason| reason.contains(why)), "{fate:?}: {reasons:?}");
        assert_eq!(world.counts(), (3, 3), "{fate:?}");
    }
    let (never, world) = measured_beside(Fate::NeverWorks);
    let error = never.unwrap_err().to_string();
    assert_eq!(error, "neighbour-1 did not start: its loads did not work within 2 min");
    assert_eq!(world.counts().0, 2, "no partition was started");
}

/// Goal: a partition that boots longer than a run may be late is measured for all of its time, and
/// one that does not begin is given up with a reason of its own.
#[test]
fn the_time_of_a_run_counts_from_its_first_cycle() {
    let measured = measured(&Simulated::booting(Nanos::from_secs(100))).unwrap();
    assert_eq!(measured.records[0].release.count(), 60_000);
    assert_eq!(measured.records[0].invalid_because, []);
    let world = Simulated::booting(Nanos::from_secs(3_600));
    let error = self::measured(&world).unwrap_err();
    let MeasureError::NotBegun { partition, waited } = &error else { panic!("{error}") };
    assert_eq!(partition, "axis");
    let longest = BEGIN_MAX + Nanos::from_secs(1) + nanos(POLL);
    assert!(*waited > BEGIN_MAX && *waited <= longest, "{waited}");
    assert_eq!(world.counts(), (1, 1), "it was stopped");
}
