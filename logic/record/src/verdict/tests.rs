//! Tests of the verdicts: each way to each of the three values.

use super::*;
use crate::class::catalogue;
use crate::histogram::Histogram;
use crate::reason::Stated;
use crate::record::{KernelErrors, Measured, ProgramStop};
use crate::test_record;

fn class(name: &str) -> Class {
    catalogue().into_iter().find(|class| class.name == name).unwrap()
}

const QUICK: f64 = 1e-4;

#[test]
fn a_quiet_machine_passes() {
    let record = test_record(&[(20_000, 40_000)]);
    let judgement = judge(&record, &class("fast-control-loop"), QUICK);
    assert_eq!(judgement.verdict, Verdict::Pass);
    assert_eq!(judgement.exceedances, Some(0));
    assert!(judgement.because.contains("largest latency 20.0 µs"), "{}", judgement.because);
    assert!((judgement.bound_95.unwrap() - 7.49e-5).abs() < 1e-7);
}

#[test]
fn one_late_release_fails() {
    let record = test_record(&[(20_000, 40_000), (100_001, 1)]);
    let judgement = judge(&record, &class("motion-control"), QUICK);
    assert_eq!(judgement.verdict, Verdict::Fail);
    assert!(judgement.because.starts_with("1 of 40\u{202f}001 releases were later than 100 µs"));
}

/// Goal: what only rounding or a histogram's end leaves open is neither a FAIL nor a PASS.
/// Method: whole microseconds, one of which is the limit, and an overflow from below the limit on.
#[test]
fn releases_that_may_have_been_late_are_not_proven() {
    let class = Class { jitter_ns: None, ..class("motion-control") };
    let mut record = test_record(&[]);
    let mut measured = |release: Histogram| {
        record.release = release;
        judge(&record, &class, QUICK)
    };
    let rounded = |largest: u64| {
        let mut release = Histogram::imported(1_000, 1_000_000);
        release.record_many(4_000, 40_000);
        release.record_many(largest, 10);
        release
    };
    assert_eq!(measured(rounded(99_000)).verdict, Verdict::Pass);
    let edge = measured(rounded(100_000));
    assert_eq!(edge.verdict, Verdict::NotProven, "{}", edge.because);
    assert_eq!((edge.exceedances, edge.exceedances_least), (Some(10), Some(0)));
    let said = "10 of 40\u{202f}010 releases may have been later than 100 µs: the largest latency \
                was 100 µs, rounded down to a multiple of 1.00 µs";
    assert_eq!(edge.because, said);
    let late = measured(rounded(101_000));
    assert_eq!((late.exceedances, late.exceedances_least), (Some(10), None));
    assert!(late.because.starts_with("10 of 40\u{202f}010 releases were later"));
    let mut beyond = Histogram::imported(1_000, 3_000);
    beyond.record_many(2_000, 40_000);
    beyond.record_overflow(400, 101_000, 2_000_000);
    let beyond = measured(beyond);
    assert_eq!(beyond.verdict, Verdict::Fail);
    assert_eq!((beyond.exceedances, beyond.exceedances_least), (Some(400), Some(1)));
    let said = "between 1 and 400 of 40\u{202f}400 releases were later than 100 µs";
    assert!(beyond.because.starts_with(said), "{}", beyond.because);
}

#[test]
fn jitter_above_the_published_limit_fails() {
    let record = test_record(&[(20_000, 20_000), (23_000, 20_000)]);
    let judgement = judge(&record, &class("motion-control"), QUICK);
    assert_eq!(judgement.verdict, Verdict::Fail);
    assert!(judgement.because.contains("p97.5 − p2.5) is 2.9"), "{}", judgement.because);
}

/// Goal: a latency that no limit of a class allows is a FAIL, though nobody knows the period.
/// Method: just above and just below the limits, without a period and with too long a one.
#[test]
fn what_exceeds_every_limit_of_a_class_fails_whatever_the_period() {
    let motion = class("motion-control");
    let limit_ns = motion.latency_limit_ns().unwrap().max(motion.jitter_ns.unwrap_or(0));
    for period_ns in [None, Some(20_000_000)] {
        let mut late = test_record(&[(20_000, 40_000), (81_000_000, 2)]);
        late.period_ns = period_ns;
        let judgement = judge(&late, &motion, QUICK);
        assert_eq!(judgement.verdict, Verdict::Fail, "{}", judgement.because);
        assert!(
            judgement.because.starts_with("at least 2 of 40\u{202f}002 releases were later than")
        );
        assert!(judgement.because.contains("whatever the period"), "{}", judgement.because);
        let mut quiet = test_record(&[(20_000, 40_000), (limit_ns, 1)]);
        quiet.period_ns = period_ns;
        assert_eq!(judge(&quiet, &motion, QUICK).verdict, Verdict::NotProven);
    }
    let mut quiet = test_record(&[(20_000, 40_000)]);
    quiet.period_ns = None;
    let because = judge(&quiet, &motion, QUICK).because;
    assert!(because.contains("import them with `--interval`"), "{because}");
}

/// Goal: jitter that only rounding hides is no pass, and jitter that only rounding makes no fail.
/// Method: whole microseconds that are 0, 1 and 2 apart, against a limit of 1 µs.
#[test]
fn jitter_that_rounding_may_hide_is_not_proven() {
    let motion = class("motion-control");
    for (high, verdict) in
        [(4_000, Verdict::Pass), (5_000, Verdict::NotProven), (6_000, Verdict::Fail)]
    {
        let mut record = test_record(&[]);
        record.release = Histogram::imported(1_000, 1_000_000);
        record.release.record_many(4_000, 20_000);
        record.release.record_many(high, 20_000);
        let judgement = judge(&record, &motion, QUICK);
        assert_eq!(judgement.verdict, verdict, "{}", judgement.because);
    }
    // The bins at 90 µs are 64 ns wide.
    for (high, verdict) in [(91_112, Verdict::NotProven), (91_176, Verdict::Fail)] {
        let record = test_record(&[(90_111, 20_000), (high, 20_000)]);
        let judgement = judge(&record, &motion, QUICK);
        assert_eq!(judgement.verdict, verdict, "{}", judgement.because);
    }
    let record = test_record(&[(90_050, 20_000), (90_062, 20_000), (91_075, 20_000)]);
    assert_eq!(judge(&record, &motion, QUICK).verdict, Verdict::NotProven);
}

#[test]
fn jitter_that_was_not_measured_is_not_proven() {
    let mut successive = class("motion-control");
    successive.jitter_definition = JitterDefinition::Successive;
    let mut record = test_record(&[(20_000, 40_000)]);
    let judgement = judge(&record, &successive, QUICK);
    assert_eq!(judgement.verdict, Verdict::NotProven, "{}", judgement.because);
    record.counters.difference_sum_ns = Some(40_000_000);
    assert_eq!(judge(&record, &successive, QUICK).verdict, Verdict::Fail);
    record.counters.difference_sum_ns = Some(4_000_000);
    assert_eq!(judge(&record, &successive, QUICK).verdict, Verdict::Pass);
}

#[test]
fn too_few_cycles_prove_nothing_and_say_how_many_are_needed() {
    let record = test_record(&[(20_000, 1_000)]);
    let judgement = judge(&record, &class("fast-control-loop"), QUICK);
    assert_eq!(judgement.verdict, Verdict::NotProven);
    assert_eq!(judgement.cycles_needed, Some(29_956));
}

#[test]
fn missing_or_invalid_evidence_is_never_a_pass() {
    let good = || test_record(&[(20_000, 40_000)]);
    let fast = class("fast-control-loop");
    let mut records = Vec::new();
    let mut record = good();
    record.invalid_because.push(Stated::from("a delay was injected").into());
    records.push(record);
    let mut record = good();
    record.degraded.push(Stated::from("SCHED_FIFO was refused").into());
    records.push(record);
    let mut record = good();
    record.period_ns = None;
    records.push(record);
    let mut record = good();
    record.period_ns = Some(20_000_000);
    records.push(record);
    records.push(test_record(&[]));
    for record in records {
        let judgement = judge(&record, &fast, QUICK);
        assert_eq!(judgement.verdict, Verdict::NotProven, "{}", judgement.because);
        assert!(!judgement.because.is_empty());
    }
    assert_eq!(judge(&good(), &class("slow-control"), QUICK).verdict, Verdict::NotProven);
    assert_eq!(worst([]), Verdict::NotProven);
    assert_eq!(worst([Verdict::Pass, Verdict::NotProven]), Verdict::NotProven);
    assert_eq!(worst([Verdict::NotProven, Verdict::Fail]), Verdict::Fail);
}

#[test]
fn the_fastest_cycle_follows_from_the_latest_release() {
    let record = test_record(&[(20_000, 40_000), (187_000, 1)]);
    assert_eq!(
        fastest_cycle(&record, QUICK),
        Ok(FastestCycle { cycle_ns: 2_000_000, limited_by_period: false })
    );
    let quiet = test_record(&[(20_000, 40_000)]);
    assert_eq!(
        fastest_cycle(&quiet, QUICK),
        Ok(FastestCycle { cycle_ns: 1_000_000, limited_by_period: true })
    );
    let few = fastest_cycle(&test_record(&[(20_000, 10)]), QUICK).unwrap_err();
    assert!(matches!(few, VerdictReason::TooFewCycles { count: 10, .. }), "{few}");
}

#[test]
fn counts_are_written_in_groups() {
    assert_eq!(thousands(1_234_567), "1\u{202f}234\u{202f}567");
    assert_eq!(thousands(999), "999");
}

/// Goal: a program that isn't done in time never passes, however early it is released.
#[test]
fn a_program_that_overruns_fails_and_one_in_time_passes() {
    let motion = class("motion-control");
    let good = crate::test_scan_record();
    assert_eq!(judge(&good, &motion, QUICK).verdict, Verdict::Pass);
    let mut late = good.clone();
    late.scan_mut().unwrap().counters.overruns = 3;
    let judgement = judge(&late, &motion, QUICK);
    assert_eq!(judgement.verdict, Verdict::Fail);
    let words = "3 of 30\u{202f}000 cycles of the program ended after their deadline of 800 µs";
    assert!(judgement.because.starts_with(words), "{}", judgement.because);
    let mut stopped = good.clone();
    stopped.scan_mut().unwrap().counters.watchdog_hits = 1;
    let judgement = judge(&stopped, &motion, QUICK);
    assert_eq!(judgement.verdict, Verdict::Fail);
    assert!(judgement.because.contains("the watchdog stopped the program"));
    let mut skipping = good;
    skipping.scan_mut().unwrap().counters.skipped_releases = 2;
    assert!(judge(&skipping, &motion, QUICK).because.contains("2 releases were left out"));
}

#[test]
fn the_fastest_cycle_of_a_program_leaves_room_for_its_response_time() {
    let mut record = crate::test_scan_record();
    record.period_ns = Some(50_000);
    record.scan_mut().unwrap().terms.program_period_ns = 50_000;
    assert_eq!(fastest_cycle(&record, QUICK).unwrap().cycle_ns, 200_000, "124 µs of response");
    record.measured = Measured::default();
    assert_eq!(fastest_cycle(&record, QUICK).unwrap().cycle_ns, 50_000);
    // A task each 10 µs beside one each 1 µs: 124 µs of response have ten cycles.
    let mut slow = crate::test_scan_record();
    slow.period_ns = Some(10_000);
    slow.scan_mut().unwrap().terms.program_period_ns = 1_000;
    assert_eq!(fastest_cycle(&slow, QUICK).unwrap().cycle_ns, 20_000);
}

/// Goal: a program with a slow task beside the fast one can pass the class of the fast one.
#[test]
fn a_slower_task_of_a_program_is_judged_by_its_own_period() {
    let motion = class("motion-control");
    let mut slow = test_record(&[(20_000, 20_000), (900_000, 20_000)]);
    slow.measured = crate::test_scan_record().measured;
    slow.period_ns = Some(10_000_000);
    let judgement = judge(&slow, &motion, QUICK);
    assert_eq!(judgement.verdict, Verdict::Pass, "{}", judgement.because);
    assert_eq!(judgement.latency_limit_ns, Some(1_000_000));
    slow.release.record(1_000_001);
    assert_eq!(judge(&slow, &motion, QUICK).verdict, Verdict::Fail);
    // The program as a whole must cycle as fast as the class does.
    slow.release = test_record(&[(20_000, 20_000), (900_000, 20_000)]).release;
    slow.scan_mut().unwrap().terms.program_period_ns = 2_000_000;
    let judgement = judge(&slow, &motion, QUICK);
    assert!(judgement.because.starts_with("measured every 2.00 ms"), "{}", judgement.because);
    // What the probe measured has no faster task beside it: it fails by what it saw, and what it
    // saw in time proves nothing about a faster cycle.
    slow.measured = Measured::default();
    assert_eq!(judge(&slow, &motion, QUICK).verdict, Verdict::Fail);
    slow.release = test_record(&[(20_000, 40_000)]).release;
    assert!(judge(&slow, &motion, QUICK).because.starts_with("measured every 10"));
}

#[test]
fn a_program_that_stopped_fails_whatever_else_is_wrong() {
    let mut record = crate::test_scan_record();
    record.degraded.push(Stated::from("no priority").into());
    let class = &crate::class::catalogue()[0];
    assert_eq!(judge(&record, class, 1e-2).verdict, Verdict::NotProven);
    record.scan_mut().unwrap().faults.push(ProgramStop::Stated("it crashed at line 7".to_owned()));
    let judgement = judge(&record, class, 1e-2);
    assert_eq!(judgement.verdict, Verdict::Fail);
    assert_eq!(judgement.because, "the program failed: it crashed at line 7");
    assert_eq!(fastest_cycle(&record, 1e-2).err(), judgement.reason);
}

/// Goal: a task that a kernel releases by its own priorities is held to its deadline, not to the
/// jitter and latency of the cycle around it.
#[test]
fn a_task_of_a_kernel_is_judged_by_its_deadline_alone() {
    let motion = class("motion-control");
    let mut record = crate::test_scan_record();
    record.period_ns = None;
    record.release = test_record(&[(4_000, 15_000), (900_000, 15_000)]).release;
    assert_eq!(judge(&record, &motion, QUICK).verdict, Verdict::Fail, "held to the class");
    record.scan_mut().unwrap().terms.by_kernel = true;
    let judgement = judge(&record, &motion, QUICK);
    assert_eq!(judgement.verdict, Verdict::Pass, "{}", judgement.because);
    assert_eq!(judgement.latency_limit_ns, None);
    assert!(judgement.because.contains("jobs ended after its deadline of 800 µs"));
    let few = judge(&record, &motion, 1e-6);
    assert_eq!((few.verdict, few.cycles_needed), (Verdict::NotProven, Some(2_995_731)));
    let mut late = record.clone();
    late.scan_mut().unwrap().counters.overruns = 1;
    assert_eq!(judge(&late, &motion, QUICK).verdict, Verdict::Fail);
    let mut errors = KernelErrors {
        task: Some("fast".to_owned()),
        status: "E_OS_ID".to_owned(),
        service: Some("ActivateTask".to_owned()),
        is_lost_work: false,
        count: 1,
    };
    let mut lost = record.clone();
    lost.scan_mut().unwrap().kernel_errors.push(errors.clone());
    assert_eq!(judge(&lost, &motion, QUICK).verdict, Verdict::Pass, "it costs no job");
    (errors.is_lost_work, errors.status) = (true, "E_OS_LIMIT".to_owned());
    lost.scan_mut().unwrap().kernel_errors.push(errors);
    for by_kernel in [true, false] {
        lost.release = test_record(&[(4_000, 30_000)]).release;
        lost.scan_mut().unwrap().terms.by_kernel = by_kernel;
        let judgement = judge(&lost, &motion, QUICK);
        assert_eq!(judgement.verdict, Verdict::Fail);
        assert_eq!(
            judgement.because,
            "work of the program was lost: task `fast`: E_OS_LIMIT in ActivateTask (1 time)"
        );
    }
    assert!(is_judged(&record) && !is_held_to_class(&record));
    record.scan_mut().unwrap().terms.deadline_ns = None;
    assert!(!is_judged(&record), "it is held to nothing");
    assert_eq!(judge(&record, &motion, QUICK).verdict, Verdict::NotProven);
    assert!(is_judged(&crate::test_scan_record()) && is_judged(&test_record(&[])));
}
