//! Numbers that were changed by hand, and what gives them away.

use quietcore_units::{Nanos, WakeKind};

use super::self_check;
use crate::histogram::Histogram;
use crate::reason::sentences;
use crate::record::{
    Injection, LoadAchieved, NeighbourAchieved, PolicyInForce, Record, ReleaseMode, Stretches,
};
use crate::{test_record, test_scan_record};

type Forgery = (&'static str, fn(&mut Record));

/// Goal: a record that was changed contradicts itself.
/// Method: one change each, and the words that name it.
#[test]
fn a_number_that_was_changed_is_contradicted_by_the_others() {
    let forgeries: [Forgery; 21] = [
        ("cycles were missed, and", |record| record.counters.missed_cycles = Some(3)),
        ("cycles were missed, and", |record| record.counters.missed_cycles = Some(0)),
        ("the longest run of misses", |record| record.counters.longest_miss_run = Some(0)),
        ("differences of successive", |record| record.counters.difference_sum_ns = Some(7)),
        ("differences of successive", |record| record.counters.difference_sum_ns = Some(u64::MAX)),
        ("and 2\u{202f}000 were asked for", |record| record.counters.planned_cycles = 2_000),
        ("not ended early", |record| record.counters.planned_cycles = 20_000),
        ("do not take 3.00 s", |record| record.conditions.duration_ns = 3_000_000_000),
        ("spun longer", |record| record.counters.spin_ns = u64::MAX),
        ("more than any run has", |record| record.release.record_many(9, u64::MAX - 20_000)),
        ("not in their order", |record| record.spikes.swap(0, 5)),
        ("not the largest latency", |record| record.spikes[0].latency_ns = 5_000_000),
        ("worst cycles are missing", |record| record.spikes.clear()),
        ("is none of the run's", |record| record.spikes[1].release = 1 << 40),
        ("time line is not that", |record| record.timeline.slots[0].0 -= 1),
        ("stretches of the run do not add up", |record| {
            let mut stretches = Stretches::planned(Nanos::from_secs(20)).unwrap();
            stretches.end_with_run(&record.release);
            record.release.record(5_000);
            record.stretches = Some(stretches);
        }),
        ("was injected, and", |record| {
            record.conditions.injection = Some(Injection::Stated("1 ms".to_owned()));
        }),
        ("did not run as asked", |record| {
            record.conditions.loads = vec![LoadAchieved { workers: 2, ..LoadAchieved::default() }];
        }),
        ("neighbour-1 did not load the machine as asked", |record| {
            let idle = LoadAchieved { workers: 2, working: 2, ..LoadAchieved::default() };
            record.conditions.neighbours = vec![NeighbourAchieved {
                name: "neighbour-1".to_owned(),
                loads: vec![idle],
                ..NeighbourAchieved::default()
            }];
        }),
        ("in words and in figures", |record| {
            let (words, fifo_priority) = ("SCHED_OTHER".to_owned(), Some(90));
            record.conditions.policy = PolicyInForce::Stated { words, fifo_priority };
        }),
        ("in words and in figures", |record| {
            let (words, wake) = ("sleep".to_owned(), Some(WakeKind::Early));
            record.conditions.mode = ReleaseMode::Stated { words, wake };
        }),
    ];
    let mut sound = test_record(&[(5_000, 9_990), (70_000, 8), (1_200_000, 2)]);
    sound.counters.planned_cycles = 10_000;
    sound.counters.missed_cycles = Some(2);
    sound.counters.longest_miss_run = Some(1);
    sound.counters.difference_sum_ns = Some(3_000_000);
    let (words, fifo_priority) = ("SCHED_FIFO 90".to_owned(), Some(90));
    sound.conditions.policy = PolicyInForce::Stated { words, fifo_priority };
    let (words, wake) = ("sleep".to_owned(), Some(WakeKind::Sleep));
    sound.conditions.mode = ReleaseMode::Stated { words, wake };
    assert_eq!(self_check(&sound, None), []);
    for (expected, forge) in forgeries {
        let mut record = sound.clone();
        forge(&mut record);
        let wrong = sentences(&self_check(&record, None));
        assert!(wrong.contains(expected), "{expected}: {wrong}");
    }
}

#[test]
fn cycles_of_a_program_that_were_changed_are_contradicted_by_the_others() {
    let forgeries: [Forgery; 4] = [
        ("overruns were counted", |record| scan(record).counters.overruns = 7),
        ("more overruns came in a row", |record| scan(record).counters.longest_overrun_run = 7),
        ("is not that of its cycle", |record| scan(record).worst_execution = None),
        ("do not add up", |record| {
            let count = record.release.count();
            record.release = Histogram::new();
            record.release.record_many(10, count);
        }),
    ];
    for (expected, forge) in forgeries {
        let mut record = test_scan_record();
        forge(&mut record);
        let wrong = sentences(&self_check(&record, None));
        assert!(wrong.contains(expected), "{expected}: {wrong}");
    }
}

fn scan(record: &mut Record) -> &mut crate::record::Scan {
    record.scan_mut().expect("it is of a program")
}

/// A sum that no values of these bins have, as a file could hold it.
#[test]
fn a_sum_that_does_not_fit_the_bins_is_found() {
    let record = test_record(&[(5_000, 100), (70_000, 2)]);
    let text = serde_json::to_string(&record).expect("it can be written");
    let sum = record.release.sum_ns();
    let forged = text.replace(&format!("\"sum_ns\":{sum}"), &format!("\"sum_ns\":{}", sum / 2));
    let forged: Record = serde_json::from_str(&forged).expect("it can be read");
    assert!(self_check(&forged, None)[0].to_string().contains("the sum of the latencies"));
}
