//! Tests that counts are read by any process that maps the ledger, and by none as something else.

use std::sync::atomic::AtomicBool;
use std::thread;

use proptest::prelude::*;

use super::*;

#[test]
fn every_reason_has_its_row_and_its_number() {
    let exits = Exits::default();
    for (index, reason) in REASONS.into_iter().enumerate() {
        assert_eq!(reason as usize, index, "{}", reason.name());
        for time_ns in 0..=index as u64 {
            exits.count(reason, 0, 0, time_ns);
        }
    }
    for (index, reason) in (0..).zip(REASONS) {
        assert_eq!(exits.of(reason), (index + 1, index * (index + 1) / 2), "{}", reason.name());
        assert_eq!(exits.read().longest_ns(reason), index);
    }
    assert_eq!(exits.total(), 45);
}

#[test]
fn the_last_exits_are_kept_in_their_order() {
    let exits = Exits::default();
    let exit = |number: u64| Exit {
        reason: REASONS[number as usize % REASONS.len()],
        detail: number << 20,
        begin: number * 1000,
        time_ns: number,
    };
    let all = RECENT as u64 + 10;
    for Exit { reason, detail, begin, time_ns } in (0..all).map(exit) {
        exits.count(reason, detail, begin, time_ns);
    }
    let recent = exits.read().recent();
    assert_eq!(recent, (10..all).map(exit).collect::<Vec<_>>());
    assert_eq!(exits.read().recorded(), all);
}

#[test]
fn another_process_reads_what_is_counted_here() {
    let exits = Exits::create().unwrap();
    let view = ExitsView::of_file(exits.file().unwrap()).unwrap();
    assert_eq!(view.read().sample(), None);
    exits.date(2_000_000_000, -5);
    exits.count(Reason::PortWrite, 0x3F8, 1_000, 70);
    exits.publish(&Sample::from_words(&[9; 16]));
    let ledger = view.read();
    assert_eq!((ledger.hertz(), ledger.ahead()), (2_000_000_000, -5));
    assert_eq!(ledger.of(Reason::PortWrite), (1, 70));
    let [exit] = ledger.recent()[..] else { panic!("one exit") };
    assert_eq!((exit.reason, exit.detail, exit.begin), (Reason::PortWrite, 0x3F8, 1_000));
    assert_eq!(ledger.sample().unwrap().exits(), 9);
    let again = Exits::of_file(exits.file().unwrap()).unwrap();
    assert_eq!((again.total(), ledger.total()), (0, 0), "it was begun anew");
}

#[test]
fn what_is_no_ledger_is_refused() {
    let shared = Shared::create("test", ByteSize::new(LEDGER_BYTES)).unwrap();
    let refused = ExitsView::of_file(shared.file()).unwrap_err().to_string();
    assert!(refused.contains("no ledger of exits"), "{refused}");
    let short = Shared::create("test", ByteSize::new(4096)).unwrap();
    assert!(ExitsView::of_file(short.file()).is_err());
}

/// Goal: a reader never sees parts of two exits.
/// Method: each exit's parts say its number, and one thread writes while another reads.
#[test]
fn an_exit_is_read_whole_or_not_at_all() {
    let (exits, is_done) = (Exits::default(), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..200_000 {
                exits.count(Reason::Halt, number, number, number);
            }
            is_done.store(true, Relaxed);
        });
        while !is_done.load(Relaxed) {
            for exit in exits.read().recent() {
                assert_eq!((exit.detail, exit.begin), (exit.time_ns, exit.time_ns));
            }
        }
    });
    assert_eq!(exits.read().recent().len(), RECENT);
}

proptest! {
    #[test]
    fn a_ledger_of_a_stranger_is_read(seed in any::<u64>(), hot in any::<[u64; 64]>()) {
        let exits = Exits::default();
        let mut value = seed | 1;
        for (index, word) in exits.words().iter().enumerate().skip(1) {
            value = value.wrapping_mul(6364136223846793005).wrapping_add(index as u64);
            word.store(if value >> 60 == 0 { hot[index % 64] } else { value }, Relaxed);
        }
        let ledger = exits.read();
        prop_assert!(ledger.recent().len() <= RECENT);
        let _ = (ledger.total(), ledger.sample(), ledger.hertz(), ledger.ahead());
    }
}
