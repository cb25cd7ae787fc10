//! Tests of the misses that firm and soft classes bear.

use crate::class::{Class, Strictness, catalogue};
use crate::reason::VerdictReason;
use crate::record::{EarlierPart, Record};
use crate::test_record;
use crate::verdict::{Judgement, Verdict, judge};

/// The confidence that 40 000 cycles suffice for.
const QUICK: f64 = 1e-4;

/// Above the limit of 100 µs of a cycle of 1 ms.
const LATE_NS: u64 = 150_000;

fn class(strictness: Strictness) -> Class {
    let mut class = catalogue().into_iter().find(|class| class.name == "motion-control").unwrap();
    class.jitter_ns = None;
    Class { strictness, ..class }
}

fn firm(survival_cycles: u32) -> Class {
    class(Strictness::Firm { survival_cycles })
}

/// A record of 40 000 releases in time and one late one at each of these numbers.
fn late_at(numbers: &[u64]) -> Record {
    let mut record = test_record(&[(20_000, 40_000), (LATE_NS, numbers.len() as u64)]);
    for (spike, number) in record.spikes.iter_mut().zip(numbers) {
        spike.release = *number;
    }
    record
}

fn run_of(judgement: &Judgement) -> (u64, u64) {
    match judgement.reason {
        Some(VerdictReason::MissesInARow { run_least, run_most, .. }) => (run_least, run_most),
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn a_firm_class_bears_misses_that_do_not_come_in_a_row() {
    let apart = judge(&late_at(&[7, 9, 5_000]), &firm(1), QUICK);
    assert_eq!(apart.verdict, Verdict::Pass, "{}", apart.because);
    assert_eq!((run_of(&apart), apart.exceedances), ((1, 1), Some(3)));
    assert!(
        apart.because.ends_with("deadline), no two of them in a row; the class bears 1 in a row")
    );
    let together = judge(&late_at(&[8, 7, 9, 5_000]), &firm(2), QUICK);
    assert_eq!(together.verdict, Verdict::Fail, "{}", together.because);
    assert_eq!(run_of(&together), (3, 3));
    assert!(together.because.contains(", 3 of them in a row; the class bears 2 in a row"));
    let one = judge(&late_at(&[7]), &firm(1), QUICK).because;
    assert!(one.starts_with("1 of 40\u{202f}001 cycles was missed (released later than 100 µs"));
    assert!(one.ends_with("deadline); the class bears 1 in a row"), "{one}");
    let none = judge(&late_at(&[]), &firm(1), QUICK).because;
    assert!(none.starts_with("none of 40\u{202f}000 cycles was missed"), "{none}");
    let hard = judge(&late_at(&[7]), &class(Strictness::Hard), QUICK);
    assert_eq!(hard.verdict, Verdict::Fail, "{}", hard.because);
}

/// Goal: a run that the record cannot show is held against it.
/// Method: more late releases than worst ones are kept; the same as a run of two parts.
#[test]
fn misses_of_which_nobody_knows_whether_they_came_together_are_not_proven() {
    let numbers: Vec<u64> = (0..20).map(|index| index * 100).collect();
    let many = judge(&late_at(&numbers), &firm(5), QUICK);
    assert_eq!(many.verdict, Verdict::NotProven, "{}", many.because);
    assert_eq!(run_of(&many), (1, 20));
    assert!(many.because.contains("between 1 and 20 of them in a row"), "{}", many.because);
    assert_eq!(many.cycles_needed, None, "more cycles would not help");
    assert_eq!(judge(&late_at(&numbers), &firm(20), QUICK).verdict, Verdict::Pass);
    let mut in_parts = late_at(&[7, 8, 9]);
    in_parts.conditions.earlier_part =
        Some(EarlierPart { cycles: 20_000, started_at: String::new() });
    assert_eq!(run_of(&judge(&in_parts, &firm(2), QUICK)), (1, 3));
}

#[test]
fn a_run_of_missed_periods_that_was_counted_fails() {
    let mut record = test_record(&[(20_000, 40_000), (30_000_000, 20)]);
    record.spikes.clear();
    record.counters.longest_miss_run = Some(20);
    let judgement = judge(&record, &firm(19), QUICK);
    assert_eq!((judgement.verdict, run_of(&judgement)), (Verdict::Fail, (20, 20)));
}

#[test]
fn cycles_after_their_deadline_are_misses_too() {
    let mut record = crate::test_scan_record();
    let counters = &mut record.scan_mut().unwrap().counters;
    (counters.overruns, counters.longest_overrun_run) = (6, 2);
    assert_eq!(judge(&record, &firm(2), QUICK).verdict, Verdict::Pass);
    assert_eq!(judge(&record, &firm(1), QUICK).verdict, Verdict::Fail);
    record.scan_mut().unwrap().counters.watchdog_hits = 1;
    assert_eq!(run_of(&judge(&record, &firm(6), QUICK)), (2, 7), "runs of these are not counted");
}

/// Goal: a cycle that begins and ends late is not told as two, nor is a release that was left out.
/// Method: 40 late releases and 40 late ends, which may be the same cycles, against a share that 40
/// misses are surely within and 80 are not.
#[test]
fn a_share_fails_only_for_misses_that_are_surely_different_ones() {
    let mut record = crate::test_scan_record();
    record.release = test_record(&[(20_000, 40_000), (LATE_NS, 40)]).release;
    let counters = &mut record.scan_mut().unwrap().counters;
    (counters.overruns, counters.skipped_releases) = (40, 40);
    let share = |misses_ppm| judge(&record, &class(Strictness::Soft { misses_ppm }), QUICK);
    let open = share(1_500);
    assert_eq!(open.verdict, Verdict::NotProven, "{}", open.because);
    assert!(open.because.starts_with("between 40 and 80 of 40\u{202f}040 cycles"));
    assert_eq!(share(2_500).verdict, Verdict::Pass);
    assert_eq!(share(700).verdict, Verdict::Fail);
}

/// Goal: no class fails on misses that nobody saw.
/// Method: values that are known to a whole microsecond, of which the limit is one.
#[test]
fn releases_that_may_have_been_late_are_no_misses_for_a_fail() {
    let mut record = test_record(&[]);
    record.release = crate::histogram::Histogram::imported(1_000, 1_000_000);
    record.release.record_many(20_000, 40_000);
    record.release.record_many(100_000, 400);
    let soft = judge(&record, &class(Strictness::Soft { misses_ppm: 1_000 }), QUICK);
    assert_eq!(soft.verdict, Verdict::NotProven, "{}", soft.because);
    assert!(soft.because.starts_with("between 0 and 400 of"), "{}", soft.because);
    let firm_class = judge(&record, &firm(3), QUICK);
    assert_eq!((firm_class.verdict, run_of(&firm_class)), (Verdict::NotProven, (0, 400)));
}

#[test]
fn a_firm_class_needs_as_many_cycles_as_a_hard_one() {
    let record = test_record(&[(20_000, 1_000)]);
    let judgement = judge(&record, &firm(3), QUICK);
    assert_eq!(judgement.verdict, Verdict::NotProven);
    assert_eq!(judgement.cycles_needed, Some(29_956));
    assert!(judgement.because.contains("which takes 29\u{202f}956 cycles"));
}

/// Goal: a share passes, fails or stays open by its interval of 95 %, not by its estimate.
#[test]
fn a_soft_class_is_judged_by_the_interval_of_the_share() {
    let soft = class(Strictness::Soft { misses_ppm: 1_000 });
    for (late, verdict) in [
        (0, Verdict::Pass),
        (20, Verdict::Pass),
        (38, Verdict::NotProven),
        (45, Verdict::NotProven),
        (60, Verdict::Fail),
    ] {
        let record = test_record(&[(20_000, 40_000), (LATE_NS, late)]);
        let judgement = judge(&record, &soft, QUICK);
        assert_eq!(judgement.verdict, verdict, "{}", judgement.because);
        assert_eq!(judgement.cycles_needed, None);
        let says_more =
            judgement.because.ends_with("1 in 1\u{202f}000, and with 95 % confidence more are");
        assert_eq!(says_more, verdict == Verdict::Fail, "{}", judgement.because);
    }
    let few = judge(&test_record(&[(20_000, 100)]), &soft, QUICK);
    assert_eq!((few.verdict, few.cycles_needed), (Verdict::NotProven, Some(2_995)));
}

/// Goal: a limit that the source states is the limit, whatever the period.
#[test]
fn a_class_with_a_latency_and_no_cycle_is_judged_by_that_latency() {
    let find = |name: &str| catalogue().into_iter().find(|class| class.name == name).unwrap();
    let record = test_record(&[(20_000, 40_000), (60_000, 1)]);
    assert_eq!(judge(&record, &find("rhel-real-time-150us"), QUICK).verdict, Verdict::Pass);
    let judgement = judge(&record, &find("rhel-real-time-50us"), QUICK);
    assert_eq!(judgement.verdict, Verdict::Fail);
    let said = "1 of 40\u{202f}001 releases were later than 50.0 µs (the limit of the class)";
    assert!(judgement.because.starts_with(said), "{}", judgement.because);
}
