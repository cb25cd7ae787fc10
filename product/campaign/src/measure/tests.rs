//! Tests of runs, on simulated time.

use quietcore_record::reason::RunProblem;

use super::*;
use crate::world::nanos;
use crate::world::simulated::{Simulated, Told, runs};

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
