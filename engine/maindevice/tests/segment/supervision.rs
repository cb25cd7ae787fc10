//! Tests of faults while the cycle runs: each is named, and put right without a restart.

use quietcore_maindevice::{AlState, Alarm, ErrorCounters, Fieldbus, Presence, Synchronisation};
use quietcore_segment::{Fault, FaultKind, When};
use quietcore_units::Nanos;
use quietcore_wire::Wire as _;

use crate::support::{ALL, Simulated, expectation, fault, heal, in_op, run, run_until, step, wire};

/// Cycles in which a fault must be named, and put right.
const SOON: usize = 200;
const LATER: usize = 5_000;

fn names_counter(alarms: &[Alarm], subdevice: u16) -> bool {
    alarms.iter().any(|alarm| {
        matches!(alarm, Alarm::WorkingCounter { subdevice: Some(other), .. } if *other == subdevice)
    })
}

/// Goal: a SubDevice that lost its power is named, and comes back to OP with all its settings.
#[test]
fn a_power_cycled_subdevice_comes_back() {
    let names = ["coupler", "digital-output-8", "servo-drive", "digital-output-8"];
    let mut expectation = expectation(&names);
    expectation.subdevices.as_mut().unwrap()[2].synchronisation = Synchronisation::Sync0;
    let mut fieldbus = Fieldbus::bring_up(wire(&names), &expectation).unwrap();
    run(&mut fieldbus, 50);

    fault(&mut fieldbus, FaultKind::PowerLoss { subdevice: 2 });
    let alarms = run_until(&mut fieldbus, SOON, |_, _, alarms| names_counter(alarms, 2));
    assert!(!names_counter(&alarms, 1) && !names_counter(&alarms, 3), "{alarms:#?}");
    assert!(alarms.contains(&Alarm::Absent { subdevice: 2 }), "{alarms:#?}");
    assert_eq!(fieldbus.presence(2), Presence::Absent);
    run(&mut fieldbus, 500);

    heal(&mut fieldbus);
    let back = Alarm::Recovered { subdevice: 2 };
    let alarms = run_until(&mut fieldbus, LATER, |_, outcome, alarms| {
        outcome.is_complete() && alarms.contains(&back)
    });
    assert!(fieldbus.all_in_op(), "{alarms:#?}");
    fieldbus.outputs_mut(2)[..2].copy_from_slice(&0x0006_u16.to_le_bytes());
    fieldbus.outputs_mut(3)[0] = 0x81;
    run(&mut fieldbus, 20);
    let status = u16::from_le_bytes([fieldbus.inputs(2)[0], fieldbus.inputs(2)[1]]);
    assert_eq!(status & 0x6F, 0x21, "statusword {status:#06x}");
    assert_eq!(fieldbus.wire().segment().subdevices()[3].outputs(), [0x81]);
}

#[test]
fn a_line_that_is_cut_and_closed_comes_back() {
    let mut fieldbus = in_op(&ALL);
    fault(&mut fieldbus, FaultKind::Disconnect { subdevice: 3 });
    let alarms = run_until(&mut fieldbus, LATER, |_, _, alarms| {
        (3..6).all(|subdevice| names_counter(alarms, subdevice))
    });
    assert!(!(0..3).any(|subdevice| names_counter(&alarms, subdevice)), "{alarms:#?}");
    run(&mut fieldbus, 500);
    heal(&mut fieldbus);
    run_until(&mut fieldbus, LATER, |fieldbus, outcome, _| {
        outcome.is_complete() && fieldbus.all_in_op()
    });
}

#[test]
fn the_first_subdevice_with_the_reference_clock_comes_back() {
    let mut fieldbus = in_op(&["servo-drive", "coupler", "servo-drive"]);
    // How far the reference clock is ahead of the machine's.
    let ahead = |fieldbus: &mut Fieldbus<Simulated>| {
        let dc_time = step(fieldbus).dc_time.unwrap();
        i128::from(dc_time.get()) - i128::from(fieldbus.wire().now().get())
    };
    let before = ahead(&mut fieldbus);
    fault(&mut fieldbus, FaultKind::PowerLoss { subdevice: 0 });
    run(&mut fieldbus, 300);
    heal(&mut fieldbus);
    run_until(&mut fieldbus, LATER, |fieldbus, outcome, _| {
        outcome.is_complete() && fieldbus.all_in_op()
    });
    run(&mut fieldbus, 5);
    let after = ahead(&mut fieldbus);
    assert!((before - after).abs() < 1_000_000, "from {before} ns to {after} ns ahead");
}

#[test]
fn a_subdevice_that_left_op_is_named_with_its_code_and_brought_back() {
    let mut fieldbus = in_op(&ALL);
    fault(&mut fieldbus, FaultKind::AlStateDrop { subdevice: 5, code: 0x001B });
    let back = Alarm::Recovered { subdevice: 5 };
    let alarms = run_until(&mut fieldbus, LATER, |_, outcome, alarms| {
        outcome.is_complete() && alarms.contains(&back)
    });
    let state = Alarm::State { subdevice: 5, found: AlState::SafeOp, code: 0x001B };
    assert!(alarms.contains(&state), "{alarms:#?}");
}

#[test]
fn a_subdevice_that_is_stuck_is_named_and_tried_again() {
    let mut fieldbus = in_op(&["coupler", "servo-drive"]);
    fault(&mut fieldbus, FaultKind::AlStateDrop { subdevice: 1, code: 0x001B });
    run(&mut fieldbus, 1);
    fault(&mut fieldbus, FaultKind::AlStateStuck { subdevice: 1 });
    let failed = |alarm: &Alarm| matches!(alarm, Alarm::NotRecovered { subdevice: 1, .. });
    run_until(&mut fieldbus, 30_000, |_, _, alarms| alarms.iter().any(failed));
    heal(&mut fieldbus);
    run_until(&mut fieldbus, 30_000, |fieldbus, outcome, _| {
        outcome.is_complete() && fieldbus.all_in_op()
    });
}

#[test]
fn a_wrong_working_counter_is_named_once_and_a_second_time_after_it_was_right() {
    let mut fieldbus = in_op(&ALL);
    for _ in 0..2 {
        fault(&mut fieldbus, FaultKind::WorkingCounter { subdevice: 1, command: None, offset: -1 });
        let alarms = run(&mut fieldbus, 2_000);
        let told = alarms
            .iter()
            .filter(|alarm| matches!(alarm, Alarm::WorkingCounter { subdevice: Some(1), .. }))
            .count();
        assert_eq!(told, 1, "{alarms:#?}");
        assert!(!(2..6).any(|other| names_counter(&alarms, other)), "{alarms:#?}");
        heal(&mut fieldbus);
        run(&mut fieldbus, 200);
    }
}

/// Goal: the search for a wrong working counter never takes a healthy SubDevice's outputs back to
/// those of an earlier cycle.
/// Method: the outputs count the cycles, and what the SubDevice has after each is compared.
#[test]
fn outputs_stay_those_of_their_cycle_during_a_search() {
    let mut fieldbus = in_op(&ALL);
    fault(&mut fieldbus, FaultKind::WorkingCounter { subdevice: 1, command: None, offset: -1 });
    for cycle in 0..=u8::MAX {
        fieldbus.outputs_mut(2)[0] = cycle;
        assert!(!step(&mut fieldbus).is_complete());
        assert_eq!(fieldbus.wire().segment().subdevices()[2].outputs(), [cycle]);
    }
    let alarms: Vec<_> = std::iter::from_fn(|| fieldbus.take_alarm()).collect();
    assert!(names_counter(&alarms, 1), "{alarms:#?}");
}

#[test]
fn lost_frames_are_told_once_with_their_number() {
    let mut fieldbus = in_op(&ALL);
    let from = fieldbus.wire().segment().counters().frames;
    let faults = fieldbus.wire_mut().segment_mut().faults_mut();
    faults.add(Fault {
        kind: FaultKind::LoseFrame,
        when: When::Frames { from: from + 10, count: 5 },
    });
    let alarms = run(&mut fieldbus, 100);
    assert_eq!(alarms, [Alarm::Lost { frames: 1 }, Alarm::Returned { cycles: 5 }]);
    assert!(fieldbus.all_in_op());
}

#[test]
fn late_frames_are_lost_and_never_taken_for_those_of_a_later_cycle() {
    let mut fieldbus = in_op(&ALL);
    fault(&mut fieldbus, FaultKind::DelayFrame(Nanos::from_micros(900)));
    let outcome = step(&mut fieldbus);
    assert!(outcome.lost());
    heal(&mut fieldbus);
    let outcome = step(&mut fieldbus);
    assert!(outcome.is_complete() && outcome.stray_frames == 1, "{outcome:?}");
}

#[test]
fn an_emergency_in_operation_is_told() {
    let mut fieldbus = in_op(&ALL);
    fault(&mut fieldbus, FaultKind::Emergency { subdevice: 5, code: 0x4210, count: 2 });
    let told =
        |alarm: &&Alarm| matches!(alarm, Alarm::Emergency { subdevice: 5, code: 0x4210, .. });
    run_until(&mut fieldbus, LATER, |_, _, alarms| alarms.iter().filter(told).count() == 2);
    assert!(fieldbus.all_in_op());
}

#[test]
fn error_counters_are_read() {
    let mut fieldbus = in_op(&ALL);
    run_until(&mut fieldbus, LATER, |fieldbus, _, _| fieldbus.error_counters(5).is_some());
    assert_eq!(fieldbus.error_counters(0), Some(ErrorCounters::default()));
    assert_eq!(fieldbus.error_counters(6), None);
}

/// Goal: neither the cycle nor the supervision allocates, in good times or bad ones.
#[test]
fn nothing_is_allocated() {
    let mut fieldbus = in_op(&ALL);
    let allocated = |fieldbus: &mut Fieldbus<Simulated>, cycles: usize| {
        let info = allocation_counter::measure(|| {
            for _ in 0..cycles {
                step(fieldbus);
                while fieldbus.take_alarm().is_some() {}
            }
        });
        info.count_total
    };
    assert_eq!(allocated(&mut fieldbus, 1_000), 0, "in good times");
    fault(&mut fieldbus, FaultKind::PowerLoss { subdevice: 5 });
    assert_eq!(allocated(&mut fieldbus, 1_000), 0, "while one is gone");
    heal(&mut fieldbus);
    // The simulated power supply allocates as it comes back.
    step(&mut fieldbus);
    assert_eq!(allocated(&mut fieldbus, 5_000), 0, "while it is brought back");
    assert!(fieldbus.all_in_op());
}
