//! The judgement on costs as they were seen, and the measurement's bounds.

use super::*;

/// Costs in additions, as measured on a Zen 4 in a virtual machine.
const NATIVE: [f64; 6] = [1.0, 2.1, 4.2, 2.1, 4.2, 54.1];
/// The same machine under QEMU 7.2's user emulation.
const TRANSLATED: [f64; 6] = [1.0, 50.1, 113.0, 47.0, 116.4, 63.7];
/// The same machine as a whole under QEMU 7.2, at its least conspicuous.
const TRANSLATED_MACHINE: [f64; 6] = [1.0, 21.4, 48.7, 20.0, 49.7, 26.8];
/// The same with time counted in instructions (`-icount`).
const COUNTED: [f64; 6] = [1.0, 1.1, 1.1, 1.1, 1.1, 2.2];

fn judged(addition_ns: f64, additions: [f64; 6]) -> TimeCalibration {
    let costs: Vec<_> =
        Sequence::ALL.into_iter().zip(additions.map(|cost| cost * addition_ns)).collect();
    TimeCalibration::judge(&costs)
}

fn reason(calibration: &TimeCalibration) -> &str {
    match &calibration.time {
        TimeReality::Emulated(because) => because,
        other => panic!("expected an emulation, found `{other}`"),
    }
}

#[test]
fn costs_of_a_processor_are_native_at_any_clock_rate() {
    for addition_ns in [0.065, 0.3, 1.0] {
        assert!(judged(addition_ns, NATIVE).is_native(), "{addition_ns}");
    }
}

#[test]
fn costs_of_a_translator_are_emulated_and_named() {
    let calibration = judged(0.09, TRANSLATED);
    let because = reason(&calibration);
    for name in ["scalar 50", "x87 113", "packed 47", "convert 116"] {
        assert!(because.contains(name), "{because}");
    }
}

#[test]
fn half_the_cost_of_a_translator_is_still_emulated() {
    let halved = TRANSLATED_MACHINE.map(|cost| if cost > 1.0 { cost / 2.0 } else { cost });
    assert!(!judged(0.09, halved).is_native());
}

#[test]
fn three_times_the_cost_of_a_processor_is_still_native() {
    let tripled = NATIVE.map(|cost| if cost > 1.0 { cost * 3.0 } else { cost });
    assert!(judged(0.065, tripled).is_native());
}

#[test]
fn one_dear_sequence_alone_is_no_emulation() {
    let mut costs = NATIVE;
    costs[2] = 300.0;
    assert!(judged(0.065, costs).is_native());
}

#[test]
fn a_million_instructions_a_second_are_an_interpreter() {
    let calibration = judged(1_000.0, NATIVE);
    assert!(reason(&calibration).contains("interpreter"));
}

#[test]
fn equal_costs_are_time_counted_in_instructions() {
    let calibration = judged(1.0, COUNTED);
    assert!(reason(&calibration).contains("counted"));
}

#[test]
fn nothing_measured_is_unknown_and_not_native() {
    let calibration = TimeCalibration::judge(&[]);
    assert!(matches!(calibration.time, TimeReality::Unknown(_)));
    assert!(!calibration.is_native());
}

#[test]
fn a_cost_of_zero_does_not_divide_by_zero() {
    let calibration = judged(0.0, NATIVE);
    assert!(calibration.costs.values().all(|cost| cost.is_finite()));
}

/// Goal: the measurement ends in time and covers every sequence, wherever this test runs.
/// Method: the bound is ten times the promise, for a neighbour may hold the CPU; and one of several
/// times within it is enough, for the machine may stand still in the others.
#[test]
#[cfg(target_arch = "x86_64")]
fn a_measurement_is_short_and_complete() {
    let is_short = (0..5).any(|_| {
        let started = Instant::now();
        let calibration = TimeCalibration::measure();
        let took = started.elapsed();
        let measured = |sequence: Sequence| calibration.costs.get(sequence.name());
        assert!(Sequence::ALL.into_iter().all(|it| measured(it).is_some_and(|cost| *cost > 0.0)));
        took < Duration::from_secs(1)
    });
    assert!(is_short, "each of five took a second");
}
