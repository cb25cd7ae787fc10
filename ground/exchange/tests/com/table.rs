//! The table in Rust: numbers, directions, update bits, timeouts.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use quietcore_exchange::channel::{Channel, WaitClock, channel_bytes};
use quietcore_exchange::com::{
    ComGroup, ComSignal, ComStatus, ComTable, Direction, OnTimeout, Shelter, SignalState,
};
use quietcore_units::Nanos;

use crate::memory::{Memory, entries};

/// The channel's entries as the sender numbers them: signal 0, members 1 and 2, queue 3, and 4 for
/// nothing.
pub(crate) fn signals<'map>(
    channel: &Channel<'map>,
    direction: Direction,
    on_timeout: OnTimeout,
) -> Vec<ComSignal<'map>> {
    [0, 2, 3, 4]
        .into_iter()
        .map(|entry| ComSignal::new(channel, entry, direction, on_timeout, 0).unwrap())
        .chain([ComSignal::UNUSED])
        .collect()
}

pub(crate) fn groups<'map>(
    channel: &Channel<'map>,
    direction: Direction,
    on_timeout: OnTimeout,
) -> Vec<ComGroup<'map>> {
    vec![ComGroup::new(channel, 1, direction, on_timeout).unwrap()]
}

/// A table for each side of a channel, both started at 1 µs.
fn with_tables(on_timeout: OnTimeout, test: impl FnOnce(&ComTable<'_>, &ComTable<'_>)) {
    let memory = Memory::new(channel_bytes(&entries()).unwrap());
    let channel = memory.make_channel(&entries()).unwrap();
    let started = Nanos::new(1_000);
    let (signals_out, groups_out) = (
        signals(&channel, Direction::Send, OnTimeout::Keep),
        groups(&channel, Direction::Send, OnTimeout::Keep),
    );
    let (signals_in, groups_in) = (
        signals(&channel, Direction::Receive, on_timeout),
        groups(&channel, Direction::Receive, on_timeout),
    );
    let sender = ComTable::new(&signals_out, &groups_out, started);
    let receiver = ComTable::new(&signals_in, &groups_in, started);
    test(&sender, &receiver);
}

fn receive(table: &ComTable<'_>, signal: u16) -> (ComStatus, u64) {
    let mut value = 99;
    (table.receive_signal(signal, &mut value), value)
}

#[test]
fn a_signal_keeps_its_last_value() {
    with_tables(OnTimeout::Keep, |sender, receiver| {
        assert_eq!(receive(receiver, 0), (ComStatus::Ok, 0x8877_6655));
        sender.begin_cycle(Nanos::new(5_000));
        assert_eq!(sender.send_signal(0, 0x1_0000_0007), ComStatus::Ok);
        receiver.begin_cycle(Nanos::new(5_099));
        let mut state = SignalState::default();
        assert_eq!(receiver.signal_state(0, &mut state), ComStatus::Ok);
        let expected = SignalState { age_ns: 99, count: 1, updated: 1, ..SignalState::default() };
        assert_eq!(state, expected);
        assert_eq!(receive(receiver, 0), (ComStatus::Ok, 7));
        receiver.begin_cycle(Nanos::new(5_100));
        receiver.signal_state(0, &mut state);
        assert_eq!((state.updated, state.overdue, state.age_ns), (0, 1, 100));
        assert_eq!(receive(receiver, 0), (ComStatus::Timeout, 7));
    });
}

#[test]
fn after_a_timeout_the_initial_value_comes_back_where_asked_for() {
    with_tables(OnTimeout::Replace, |sender, receiver| {
        receiver.begin_cycle(Nanos::new(2_000));
        assert_eq!(receive(receiver, 0), (ComStatus::Timeout, 0x8877_6655));
        sender.begin_cycle(Nanos::new(2_000));
        sender.send_signal(0, 7);
        sender.send_signal(1, 8);
        sender.send_group(0);
        assert_eq!(receive(receiver, 0), (ComStatus::Ok, 7));
        assert_eq!(receiver.receive_group(0), ComStatus::Ok);
        assert_eq!(receive(receiver, 1), (ComStatus::Ok, 8));
        receiver.begin_cycle(Nanos::new(2_100));
        assert_eq!(receive(receiver, 0), (ComStatus::Timeout, 0x8877_6655));
        assert_eq!(receiver.receive_group(0), ComStatus::Timeout);
        assert_eq!(receive(receiver, 1), (ComStatus::Ok, 11));
    });
}

#[test]
fn members_travel_with_their_group() {
    with_tables(OnTimeout::Keep, |sender, receiver| {
        assert_eq!(receive(receiver, 1), (ComStatus::Ok, 11));
        sender.begin_cycle(Nanos::new(1_500));
        assert_eq!(sender.send_signal(1, 5), ComStatus::Ok);
        assert_eq!(sender.send_signal(2, 0x106), ComStatus::Ok);
        receiver.receive_group(0);
        assert_eq!(receive(receiver, 1).1, 11, "nothing is sent before the group is");
        sender.send_group(0);
        let mut state = SignalState::default();
        assert_eq!(receiver.group_state(0, &mut state), ComStatus::Ok);
        assert_eq!((state.updated, state.count), (1, 1));
        assert_eq!(receive(receiver, 1).1, 11, "nothing changes before the group is received");
        assert_eq!(receiver.receive_group(0), ComStatus::Ok);
        assert_eq!((receive(receiver, 1).1, receive(receiver, 2).1), (5, 6));
        receiver.group_state(0, &mut state);
        assert_eq!(state.updated, 0);
    });
}

#[test]
fn messages_go_through_a_queue() {
    with_tables(OnTimeout::Keep, |sender, receiver| {
        let (mut buffer, mut bytes) = ([0; 20], 0);
        let empty = receiver.receive_message(3, &mut buffer, &mut bytes);
        assert_eq!(empty, ComStatus::QueueEmpty);
        assert_eq!(sender.send_message(3, &[1; 21]), ComStatus::NotOk);
        for length in 1..=4 {
            assert_eq!(sender.send_message(3, &vec![7; length]), ComStatus::Ok);
        }
        assert_eq!(sender.send_message(3, &[1]), ComStatus::QueueFull);
        let small = receiver.receive_message(3, &mut [], &mut bytes);
        assert_eq!((small, bytes), (ComStatus::BufferTooSmall, 1));
        for length in 1..=4 {
            let status = receiver.receive_message(3, &mut buffer, &mut bytes);
            assert_eq!((status, bytes), (ComStatus::Ok, length));
        }
    });
}

#[test]
fn what_is_no_such_signal_is_refused() {
    with_tables(OnTimeout::Keep, |sender, receiver| {
        let mut state = SignalState::default();
        for signal in [3, 4, 5, u16::MAX] {
            assert_eq!(sender.send_signal(signal, 1), ComStatus::NotOk);
            assert_eq!(receive(receiver, signal), (ComStatus::NotOk, 99));
            assert_eq!(receiver.signal_state(signal, &mut state), ComStatus::NotOk);
            assert_eq!(receiver.value_bytes(signal), None);
        }
        assert_eq!([0, 1, 2].map(|signal| sender.value_bytes(signal)), [Some(4), Some(8), Some(1)]);
        for signal in [0, 1, 4] {
            assert_eq!(sender.send_message(signal, &[]), ComStatus::NotOk);
        }
        assert_eq!(receive(sender, 0), (ComStatus::NotOk, 99), "it goes the other way");
        assert_eq!(receiver.send_signal(0, 1), ComStatus::NotOk);
        assert_eq!(receiver.send_signal(1, 1), ComStatus::NotOk);
        assert_eq!(receiver.send_group(0), ComStatus::NotOk);
        assert_eq!(sender.receive_group(0), ComStatus::NotOk);
        assert_eq!(sender.send_group(1), ComStatus::NotOk);
        assert_eq!(sender.group_state(0, &mut state), ComStatus::NotOk);
    });
}

#[test]
fn a_queue_is_used_in_shelter_and_a_value_needs_none() {
    static ENTERED: AtomicU32 = AtomicU32::new(0);
    static LEFT: AtomicU32 = AtomicU32::new(0);
    let shelter = Shelter {
        enter: || _ = ENTERED.fetch_add(1, Ordering::Relaxed),
        leave: || _ = LEFT.fetch_add(1, Ordering::Relaxed),
    };
    let memory = Memory::new(channel_bytes(&entries()).unwrap());
    let channel = memory.make_channel(&entries()).unwrap();
    let signals = signals(&channel, Direction::Send, OnTimeout::Keep);
    let table = ComTable::new(&signals, &[], Nanos::new(1)).with_shelter(shelter);
    let seen = || (ENTERED.load(Ordering::Relaxed), LEFT.load(Ordering::Relaxed));
    assert_eq!(table.send_signal(0, 1), ComStatus::Ok);
    assert_eq!(seen(), (0, 0));
    assert_eq!(table.send_message(3, &[1]), ComStatus::Ok);
    assert_eq!(table.send_message(3, &[1; 21]), ComStatus::NotOk);
    assert_eq!(seen(), (2, 2), "left after a refusal too");
}

/// Goal: two tasks that use one queue at once do no harm.
/// Method: both send; what was accepted arrives, whole and once.
#[test]
fn two_tasks_may_use_one_queue() {
    const MESSAGES: u32 = if cfg!(miri) { 5 } else { 5_000 };
    with_tables(OnTimeout::Keep, |sender, receiver| {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let tasks = [1_u8, 2].map(|task| {
                scope.spawn(move || {
                    (0..MESSAGES)
                        .filter(|_| sender.send_message(3, &[task; 20]) == ComStatus::Ok)
                        .count()
                })
            });
            let counter = scope.spawn(|| {
                let (mut buffer, mut bytes, mut count) = ([0; 20], 0, 0);
                loop {
                    let last = done.load(Ordering::Acquire);
                    while receiver.receive_message(3, &mut buffer, &mut bytes) == ComStatus::Ok {
                        assert!(bytes == 20 && buffer.iter().all(|byte| *byte == buffer[0]));
                        count += 1;
                    }
                    if last {
                        break count;
                    }
                }
            });
            let sent: usize = tasks.into_iter().map(|task| task.join().unwrap()).sum();
            done.store(true, Ordering::Release);
            assert_eq!(counter.join().unwrap(), sent);
        });
    });
}

/// Goal: what the other side writes into a channel's table decides about no byte of our memory.
/// Method: sizes are changed between attaching and numbering, when the table has been checked.
#[test]
fn sizes_that_became_impossible_are_refused() {
    let memory = Memory::new(channel_bytes(&entries()).unwrap());
    let channel = memory.make_channel(&entries()).unwrap();
    // The second word of an entry is its size; entries begin on the second page, 64 bytes each.
    let size_of = |entry: usize| 4096 + 64 * entry + 8;
    let (direction, keep) = (Direction::Receive, OnTimeout::Keep);
    for bytes in [0, 3, 9, 200] {
        memory.poke(size_of(0), &[bytes]);
        memory.poke(size_of(2), &[bytes]);
        assert!(ComSignal::new(&channel, 0, direction, keep, 0).is_none(), "{bytes}");
        assert!(ComSignal::new(&channel, 2, direction, keep, 0).is_none(), "{bytes}");
    }
    memory.poke(size_of(1), &[65]);
    assert!(ComGroup::new(&channel, 1, direction, keep).is_none());
}

/// Goal: a wait gets what was not received yet, and no more than its limit passes.
/// Method: time passes only while the waiter sleeps; where it may not wait, nothing is received.
#[test]
fn a_wait_ends_with_a_new_value_or_at_its_limit() {
    static TIME: AtomicU64 = AtomicU64::new(0);
    let clock = WaitClock {
        now: || Nanos::new(TIME.load(Ordering::Relaxed)),
        sleep_until: |due| TIME.store(due.get(), Ordering::Relaxed),
    };
    let limit = Nanos::from_millis(1);
    let memory = Memory::new(channel_bytes(&entries()).unwrap());
    let channel = memory.make_channel(&entries()).unwrap();
    let (signals_in, groups_in) = (
        signals(&channel, Direction::Receive, OnTimeout::Keep),
        groups(&channel, Direction::Receive, OnTimeout::Keep),
    );
    let (signals_out, groups_out) = (
        signals(&channel, Direction::Send, OnTimeout::Keep),
        groups(&channel, Direction::Send, OnTimeout::Keep),
    );
    let sender = ComTable::new(&signals_out, &groups_out, Nanos::new(1));
    let receiver = ComTable::new(&signals_in, &groups_in, Nanos::new(1));
    let mut value = 99;
    sender.send_signal(0, 8);
    assert_eq!(receiver.wait_signal(0, limit, &mut value), ComStatus::NotOk, "it may not wait");
    let receiver = receiver.with_wait_clock(Some(clock));
    assert_eq!(receiver.wait_signal(0, limit, &mut value), ComStatus::Ok);
    assert_eq!((value, TIME.load(Ordering::Relaxed)), (8, 0), "it was there already");
    assert_eq!(receiver.wait_signal(0, limit, &mut value), ComStatus::NothingNew);
    assert_eq!((value, TIME.load(Ordering::Relaxed)), (8, 1_000_000));
    sender.send_signal(1, 5);
    assert_eq!(receiver.wait_group(0, Nanos::ZERO), ComStatus::NothingNew, "it is not sent");
    sender.send_group(0);
    assert_eq!(receiver.wait_signal(1, limit, &mut value), ComStatus::Ok, "its group was sent");
    assert_eq!(value, 5);
    assert_eq!(receiver.wait_group(0, Nanos::ZERO), ComStatus::NothingNew, "it was received");
    for none in [3, 99] {
        assert_eq!(receiver.wait_signal(none, limit, &mut value), ComStatus::NotOk);
    }
    assert_eq!(receiver.wait_group(7, limit), ComStatus::NotOk);
    assert_eq!(sender.with_wait_clock(Some(clock)).wait_group(0, limit), ComStatus::NotOk);
}

#[test]
fn first_timeouts_count_from_the_beginning() {
    with_tables(OnTimeout::Keep, |_, receiver| {
        receiver.begin(Nanos::new(50_000));
        assert_eq!(receive(receiver, 0).0, ComStatus::Ok);
        receiver.begin_cycle(Nanos::new(50_999));
        assert_eq!(receive(receiver, 0).0, ComStatus::Ok);
        receiver.begin_cycle(Nanos::new(51_000));
        assert_eq!(receive(receiver, 0).0, ComStatus::Timeout);
    });
}

/// Goal: each sending is seen in the count, whatever was received meanwhile; else nothing is.
/// Method: everything is sent, and received, and what is sent elsewhere is asked for.
#[test]
fn a_receiver_counts_sendings_without_receiving() {
    with_tables(OnTimeout::Keep, |sender, receiver| {
        let counts = || [0, 1, 2, 3].map(|signal| receiver.signal_count(signal));
        assert_eq!((counts(), receiver.group_count(0)), ([0; 4], 0), "initial values are not sent");
        sender.send_signal(0, 7);
        sender.send_signal(0, 7);
        sender.send_signal(1, 5);
        assert_eq!(counts(), [2, 0, 0, 0], "the same value is a sending; a shadow buffer is none");
        sender.send_group(0);
        sender.send_message(3, &[1]);
        assert_eq!((counts(), receiver.group_count(0)), ([2, 1, 1, 1], 1));
        let (mut buffer, mut bytes) = ([0; 20], 0);
        receiver.receive_message(3, &mut buffer, &mut bytes);
        receive(receiver, 0);
        receiver.receive_group(0);
        assert_eq!((counts(), receiver.group_count(0)), ([2, 1, 1, 1], 1), "received or not");
        for signal in 0..6 {
            assert_eq!(sender.signal_count(signal), 0, "it goes the other way");
        }
        assert_eq!((receiver.signal_count(9), receiver.group_count(9)), (0, 0));
        assert_eq!(sender.group_count(0), 0);
    });
}
