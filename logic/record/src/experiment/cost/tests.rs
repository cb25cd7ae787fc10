//! Costs of backends with known times.

use super::*;
use crate::record::{BlockTimes, Measured, ProgramBlock, RoundTripRun, RoutineRun, Trigger};
use crate::test_record;

fn times(ns: u64) -> BlockTimes {
    BlockTimes { median_ns: ns, p99_ns: 2 * ns, p99_9_ns: 3 * ns, max_ns: 4 * ns, mean_ns: None }
}

/// The record of a backend whose release latency is `release_ns`, and that takes 5 µs. Rounds
/// differ, all backends alike.
fn record(backend: &str, release_ns: u64, rounds: u32) -> Record {
    let mut record = test_record(&[(release_ns, 1000)]);
    record.profile = backend.to_owned();
    record.name = format!("axis.{backend}.servo");
    let block = |round: u32| {
        let ns = release_ns * (10 + u64::from(round)) / 10;
        let release = times(ns);
        TrialBlock {
            round,
            valid: true,
            cycles: 1000,
            missed_cycles: 0,
            median_ns: release.median_ns,
            p99_ns: release.p99_ns,
            p99_9_ns: release.p99_9_ns,
            max_ns: release.max_ns,
            mean_ns: None,
            load_operations_per_second: 0.0,
            program: Some(ProgramBlock { execution: times(5_000), response: times(ns + 5_000) }),
        }
    };
    let variant = Variant::Realised {
        backend: backend.to_owned(),
        is_reference: backend == "process",
        seed: 7,
    };
    let blocks = (0..rounds).map(block).collect();
    record.measured = Measured::releases(None);
    record.trial = Some(Trial { variant, blocks });
    record
}

fn found(cost: &BackendCost, quantity: CostQuantity, figure: Figure) -> &CostFigure {
    let is_it = |it: &&CostFigure| it.quantity == quantity && it.ratio.figure == figure;
    cost.figures.iter().find(is_it).unwrap()
}

#[test]
fn a_backend_is_compared_round_by_round() {
    let records =
        [record("process", 1_000, 12), record("container", 1_000, 12), record("kvm", 1_500, 12)];
    let all = costs(&records);
    let [cost] = &all[..] else { panic!("{all:?}") };
    assert_eq!((&*cost.reference, &*cost.task, cost.rounds), ("process", "servo", 12));
    assert_eq!(cost.seed, 7);
    assert_eq!(cost.rounds_needed, 10, "18 are tested");
    let [container, kvm] = &cost.backends[..] else { panic!("{cost:?}") };
    let latency = found(kvm, CostQuantity::Release, Figure::P99Ns);
    assert_eq!((latency.ratio.finding, latency.ratio.median()), (Finding::More, 1.5));
    assert_eq!(latency.reference_ns, 3_100.0, "the median over the rounds");
    assert_eq!(latency.difference_ns.unwrap().median, 1_550.0);
    assert_eq!(latency.of_rounds[0], CostRound { reference_ns: 2_000.0, backend_ns: 3_000.0 });
    assert!(latency.of_rounds.iter().all(|round| round.ratio() == 1.5), "both drift alike");
    let execution = found(kvm, CostQuantity::Execution, Figure::MedianNs);
    assert_eq!(execution.ratio.finding, Finding::NoDifference);
    let same = found(container, CostQuantity::Release, Figure::MaxNs);
    assert_eq!(same.ratio.finding, Finding::NoDifference);
}

/// Goal: a release that is spun to comes some nanoseconds late in every backend, and twice
/// as many are nothing.
#[test]
fn a_large_ratio_of_nothing_is_no_difference() {
    let all = costs(&[record("process", 5, 12), record("container", 10, 12)]);
    let latency = found(&all[0].backends[0], CostQuantity::Release, Figure::MedianNs);
    assert!(latency.ratio.median() > 1.9 && latency.ratio.p_corrected.unwrap() < 0.05);
    assert_eq!(latency.ratio.finding, Finding::NoDifference);
}

/// Goal: times of an emulator are shown, and nothing follows from them.
#[test]
fn times_that_mean_nothing_are_judged_by_nothing() {
    let mut emulated = record("qemu", 90_000, 12);
    emulated.trial.as_mut().unwrap().blocks.iter_mut().for_each(|block| block.valid = false);
    let all = costs(&[record("process", 1_000, 12), emulated, record("kvm", 1_500, 12)]);
    let [qemu, kvm] = &all[0].backends[..] else { panic!("{all:?}") };
    assert!(!qemu.valid && kvm.valid);
    assert_eq!((qemu.invalid_blocks, qemu.figures.len()), (12, 9));
    assert!(qemu.figures.iter().all(|figure| figure.ratio.finding == Finding::NotKnown));
    assert!(qemu.figures.iter().all(|figure| figure.ratio.p_corrected.is_none()));
    assert_eq!(all[0].rounds_needed, 9, "its nine figures are not tested");
}

#[test]
fn a_block_that_is_missing_or_invalid_takes_its_pair_with_it() {
    let mut kvm = record("kvm", 1_500, 9);
    kvm.trial.as_mut().unwrap().blocks[2].valid = false;
    let all = costs(&[record("process", 1_000, 8), kvm]);
    let latency = found(&all[0].backends[0], CostQuantity::Release, Figure::MedianNs);
    assert_eq!(latency.ratio.ratio.unwrap().count, 7);
    assert_eq!(all[0].backends[0].invalid_blocks, 1);
    // A lone backend, and one without the reference, cost nothing.
    assert_eq!(costs(&[record("kvm", 1, 9)]), []);
    assert_eq!(costs(&[record("process", 1, 9)])[0].backends, []);
}

/// Makes the record of a routine in a backend, whose mean is `mean_ns` and more in each round.
fn of_routine(backend: &str, routine: Routine, trigger: Option<Trigger>, mean_ns: f64) -> Record {
    let mut record = record(backend, 40, 12);
    let way = trigger.map_or_else(String::new, |trigger| format!("-{}", trigger.name()));
    record.probe = "osek".to_owned();
    record.name = format!("axis.{backend}.{}{way}", routine.name());
    record.measured = Measured::Routine(RoutineRun {
        routine,
        trigger,
        kernel: "test".to_owned(),
        hertz: 1_000_000_000,
        offset: 20,
        offset_mean: 20.0,
        clamped: 0,
        raw: record.release.clone(),
        block_means_ns: Vec::new(),
    });
    for block in &mut record.trial.as_mut().unwrap().blocks {
        let drift = 1.0 + f64::from(block.round) / 100.0;
        (block.program, block.mean_ns) = (None, Some(mean_ns * drift));
    }
    record
}

/// Goal: all routines that both backends have are one comparison, by means finer than a clock's
/// steps; a way of interrupting that one of them lacks, and the empty measurement, are none.
#[test]
fn routines_are_compared_by_their_means_in_one_comparison() {
    let of = |backend, times: f64| {
        let plain = |routine, ns: f64| of_routine(backend, routine, None, ns * times);
        [plain(Routine::Empty, 20.0), plain(Routine::Act, 40.0), plain(Routine::Actl, 10.0)]
    };
    let lapic = of_routine("kvm", Routine::Isrentry, Some(Trigger::Lapic), 900.0);
    let records: Vec<Record> =
        of("process", 1.0).into_iter().chain(of("kvm", 1.06)).chain([lapic]).collect();
    let all = costs(&records);
    let [cost] = &all[..] else { panic!("{all:?}") };
    assert_eq!((cost.measure, &*cost.task), (CostMeasure::Routines, "routines of the OSEK kernel"));
    let [kvm] = &cost.backends[..] else { panic!("{cost:?}") };
    let names: Vec<_> = kvm.figures.iter().map(|it| (it.title(), it.ratio.figure)).collect();
    let both = |routine| [(routine, Figure::MeanNs), (routine, Figure::P99Ns)];
    assert_eq!(names, [both("act"), both("actl")].concat());
    let act = &kvm.figures[0];
    assert!((act.ratio.median() - 1.06).abs() < 1e-9, "{act:?}");
    assert_eq!(act.ratio.finding, Finding::More, "2.4 ns more are some");
    let actl = &kvm.figures[2];
    assert_eq!(actl.ratio.finding, Finding::NoDifference, "0.6 ns are nothing");
    assert_eq!(cost.rounds_needed, 8, "4 are tested");
}

/// Goal: what one partition was measured by is kept apart, whatever its name.
#[test]
fn each_measure_of_a_partition_is_a_comparison_of_its_own() {
    let frames = |backend: &str| {
        let mut record = record(backend, 9_000, 12);
        record.name = format!("axis.{backend}.sim");
        let run = RoundTripRun {
            interface: "sim".to_owned(),
            subdevices: 3,
            cycles: 1000,
            lost: 0,
            incomplete: 0,
            mean_cycles_per_second: 1e3,
            sustained_cycles_per_second: None,
            first_alarm: None,
        };
        record.measured = Measured::RoundTrip(run);
        record
    };
    let records = ["process", "container"].map(|it| [record(it, 1_000, 12), frames(it)]).concat();
    let all = costs(&records);
    let told: Vec<_> = all.iter().map(|it| (it.measure, it.backends[0].figures.len())).collect();
    assert_eq!(told, [(CostMeasure::Releases, 9), (CostMeasure::RoundTrips, 3)]);
    assert!(all[1].backends[0].figures.iter().all(|it| it.title() == "round trip"));
}
