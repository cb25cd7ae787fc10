//! Costs of backends with known times.

use super::*;
use crate::record::{Measured, ProgramBlock, ReleaseRun};
use crate::test_record;

fn times(ns: u64) -> BlockTimes {
    BlockTimes { median_ns: ns, p99_ns: 2 * ns, p99_9_ns: 3 * ns, max_ns: 4 * ns }
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
    record.measured =
        Measured::Releases(ReleaseRun { scan: None, trial: Some(Trial { variant, blocks }) });
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
    assert_eq!(latency.of_rounds[0], CostRound { reference_ns: 2_000, backend_ns: 3_000 });
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
    emulated.trial_mut().unwrap().blocks.iter_mut().for_each(|block| block.valid = false);
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
    kvm.trial_mut().unwrap().blocks[2].valid = false;
    let all = costs(&[record("process", 1_000, 8), kvm]);
    let latency = found(&all[0].backends[0], CostQuantity::Release, Figure::MedianNs);
    assert_eq!(latency.ratio.ratio.unwrap().count, 7);
    assert_eq!(all[0].backends[0].invalid_blocks, 1);
    // A lone backend, and one without the reference, cost nothing.
    assert_eq!(costs(&[record("kvm", 1, 9)]), []);
    assert_eq!(costs(&[record("process", 1, 9)])[0].backends, []);
}
