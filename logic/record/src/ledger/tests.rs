//! Tests of what ledgers are together, and of those from counters.

use super::*;

fn window(latency_ns: u64) -> Window {
    Window {
        release: 3,
        due_ns: 5_000,
        started_ns: 5_000 + latency_ns,
        first_release_ns: 1_000,
        cpu: 1,
        thread: 9,
        traced_from_ns: None,
    }
}

fn seen(run_delay_ns: u64, steal_ns: u64) -> Differences {
    Differences {
        within_ns: 20_000_000,
        run_delay_ns: Some(run_delay_ns),
        steal_ns: Some(steal_ns),
        counts: vec![("SMIs".to_owned(), 1), ("major page faults".to_owned(), 0)],
    }
}

#[test]
fn counters_bound_and_the_rest_is_unexplained() {
    let ledger = from_counters(&window(100_000), &seen(30_000, 0));
    assert!(ledger.adds_up());
    assert_eq!(ledger.of(Cause::RunDelay), 30_000);
    assert_eq!(ledger.of(Cause::Unexplained), 70_000);
    assert_eq!(ledger.counted.len(), 1, "what did not happen is not listed");
    assert_eq!(ledger.at_ns, 4_000);
    let all = from_counters(&window(100_000), &seen(90_000, 10_000_000));
    assert_eq!(all.of(Cause::Steal), 100_000, "no more than there is");
    assert!(all.adds_up());
    let none = from_counters(&window(100_000), &Differences::default());
    assert_eq!(none.of(Cause::Unexplained), 100_000);
}

#[test]
fn steal_takes_from_what_no_event_accounts_for() {
    let mut ledger = attribute(&window(100_000), &[]);
    put_down_to_steal(&mut ledger, &seen(0, 0));
    assert_eq!(ledger.of(Cause::Unexplained), 100_000);
    put_down_to_steal(&mut ledger, &seen(0, 40_000));
    assert_eq!((ledger.of(Cause::Steal), ledger.of(Cause::Unexplained)), (40_000, 60_000));
    put_down_to_steal(&mut ledger, &seen(0, 10_000_000));
    assert_eq!(ledger.of(Cause::Steal), 100_000);
    assert!(ledger.adds_up());
}

#[test]
fn the_worst_are_kept_and_the_sums_are_over_all() {
    let mut ledgers = Ledgers::new(50, Means::Trace);
    ledgers.above = 200;
    for latency in 1..=100 {
        ledgers.add(attribute(&window(latency), &[]));
    }
    assert_eq!(ledgers.kept.len(), KEPT_MAX);
    assert_eq!((ledgers.kept[0].latency_ns, ledgers.kept[KEPT_MAX - 1].latency_ns), (100, 37));
    assert_eq!(ledgers.sums[&Cause::Unexplained], 5_050);
    assert_eq!((ledgers.ledgered, ledgers.not_ledgered()), (100, 100));
    let mut later = Ledgers::new(50, Means::Trace);
    later.above = 1;
    later.add(attribute(&window(70), &[]));
    later.absorb(ledgers);
    assert_eq!((later.above, later.ledgered), (201, 101));
    assert_eq!(later.sums[&Cause::Unexplained], 5_120);
    assert_eq!(later.kept.len(), KEPT_MAX);
    assert!(later.kept[0].remarks.iter().any(|remark| remark.contains("earlier")));
}

#[test]
fn what_was_interrupted_stands_below_the_interrupt() {
    let mut ledger = attribute(&window(10), &[]);
    assert!(ledger.interrupted().is_empty());
    ledger.stack = ["hrtimer_wakeup", "asm_sysvec_apic_timer_interrupt"].map(str::to_owned).into();
    assert!(ledger.interrupted().is_empty(), "it ran outside of the kernel");
    ledger.stack.push("vmstat_update".to_owned());
    assert_eq!(ledger.interrupted(), ["vmstat_update"]);
}

#[test]
fn a_ledger_survives_the_way_to_its_file() {
    let mut ledgers = Ledgers::new(50_000, Means::Counters);
    ledgers.miss("steal", "it is not counted");
    ledgers.add(from_counters(&window(100_000), &seen(30_000, 0)));
    let text = serde_json::to_string(&ledgers).unwrap();
    assert!(text.contains("\"run-delay\":30000"), "{text}");
    assert_eq!(serde_json::from_str::<Ledgers>(&text).unwrap(), ledgers);
}
