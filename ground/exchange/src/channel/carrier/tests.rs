//! Carriers between two memories of one channel.
// UNSAFETY: makes channels of memory that the tests have for themselves.
#![expect(unsafe_code, reason = "channels are made of raw memory")]

use core::ptr::NonNull;
use std::sync::Mutex;
use std::sync::atomic::AtomicPtr;

use proptest::collection::vec;
use proptest::prelude::*;
use quietcore_units::Nanos;

use super::*;
use crate::channel::{Timeouts, channel_bytes};

const NONE: Timeouts = Timeouts { first: Nanos::ZERO, next: Nanos::ZERO };
const ENTRIES: [Entry; 5] = [
    Entry::Signal { bytes: 8, initial: 5, timeouts: NONE },
    Entry::Group { members: 2, timeouts: NONE },
    Entry::Member { bytes: 4, initial: 0 },
    Entry::Member { bytes: 4, initial: 6 },
    Entry::Queue { message_bytes: 8, slots: 2 },
];

#[repr(C, align(4096))]
#[derive(Clone, Copy)]
struct Page([u8; 4096]);

/// The memory of all channels of the tests, which is never given back. Miri would call it leaked if
/// nothing knew of it.
static KEPT: Mutex<Vec<AtomicPtr<Page>>> = Mutex::new(Vec::new());

/// A channel in memory of its own.
fn channel() -> Channel<'static> {
    let bytes = channel_bytes(&ENTRIES).unwrap();
    let pages = Vec::leak(vec![Page([0; 4096]); bytes / 4096]);
    let base: NonNull<Page> = NonNull::from(pages).cast();
    KEPT.lock().unwrap().push(AtomicPtr::new(base.as_ptr()));
    let base = base.cast();
    // SAFETY: as many bytes, for ever, and nobody else has them.
    unsafe { Channel::initialise(base, bytes, &ENTRIES) }.unwrap()
}

fn carriers(both: [&Channel<'static>; 2], renewed: Renewed) -> Vec<Carrier<'static>> {
    let all = (0..ENTRIES.len()).filter_map(|index| Carrier::new(both, &ENTRIES, index, renewed));
    all.collect()
}

fn carry(carriers: &mut [Carrier<'_>]) -> usize {
    carriers.iter_mut().map(Carrier::carry).filter(|has_moved| *has_moved).count()
}

#[test]
fn what_is_sent_in_one_memory_is_received_in_the_other() {
    let (from, to) = (channel(), channel());
    let mut all = carriers([&from, &to], Renewed::Receiver);
    assert_eq!(all.len(), 3, "members come with their group");
    let mut signal = from.signal_writer(0).unwrap();
    (1..=4).for_each(|value| signal.send(Nanos::new(value), value * 10));
    let mut group = from.group_writer(1).unwrap();
    group.set(0, 7);
    group.send(Nanos::new(9));
    from.sender(4).unwrap().send(Nanos::new(3), b"hello").unwrap();
    assert_eq!((carry(&mut all), carry(&mut all)), (3, 0));
    let received = to.signal_reader(0).unwrap().receive().unwrap();
    assert_eq!((received.value, received.count, received.sent), (40, 4, Nanos::new(4)));
    let mut group = to.group_reader(1).unwrap();
    assert_eq!(group.receive().unwrap().count, 1);
    assert_eq!([group.get(0), group.get(1)], [Some(7), Some(6)]);
    let mut buffer = [0; 8];
    let message = to.receiver(4).unwrap().receive(&mut buffer).unwrap().unwrap();
    assert_eq!((message.sent, &buffer[..message.bytes]), (Nanos::new(3), &b"hello"[..]));
}

#[test]
fn a_queue_holds_and_refuses_as_many_as_one_memory_would() {
    let (from, to) = (channel(), channel());
    let mut all = carriers([&from, &to], Renewed::Receiver);
    let (mut sender, mut receiver) = (from.sender(4).unwrap(), to.receiver(4).unwrap());
    let mut sent = |value: u8| sender.send(Nanos::ZERO, &[value]).is_ok();
    assert_eq!([sent(1), sent(2), sent(3)], [true, true, false]);
    carry(&mut all);
    assert!(!sent(4), "it still waits, if elsewhere");
    receiver.receive(&mut [0; 8]).unwrap().unwrap();
    carry(&mut all);
    assert_eq!([sent(5), sent(6)], [true, false]);
    carry(&mut all);
    assert_eq!(to.sender(4).unwrap().refused(), 3, "who looks at the channel sees it");
}

#[test]
fn a_sender_with_new_memory_goes_on_counting() {
    let old = channel();
    for life in 1..=3 {
        let new = channel();
        let mut all = carriers([&new, &old], Renewed::Sender);
        assert_eq!(carry(&mut all), 0, "nothing was sent yet");
        new.signal_writer(0).unwrap().send(Nanos::new(life), life);
        carry(&mut all);
        let received = old.signal_reader(0).unwrap().receive().unwrap();
        assert_eq!((received.value, received.count), (life, life));
    }
}

#[test]
fn a_receiver_with_new_memory_has_the_last_value_at_once() {
    let (old, new) = (channel(), channel());
    old.signal_writer(0).unwrap().send(Nanos::new(1), 77);
    carry(&mut carriers([&old, &new], Renewed::Receiver));
    assert_eq!(new.signal_reader(0).unwrap().receive().unwrap().value, 77);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

    /// Goal: a guest that overwrites header, table, numbers or indices harms nobody. Method: words
    /// of both memories get any values between the looks.
    #[test]
    fn whatever_is_written_carrying_ends_and_stays_within_the_cells(
        wild in vec((any::<bool>(), 0..1_600_usize, any::<u64>()), 0..40),
    ) {
        let (from, to) = (channel(), channel());
        let mut all = carriers([&from, &to], Renewed::Receiver);
        // Both found their cells before anybody wrote to the tables.
        let (mut sender, receiver) = (from.signal_writer(0).unwrap(), to.signal_reader(0).unwrap());
        for (is_sender, place, value) in wild {
            let words = if is_sender { from.words() } else { to.words() };
            words[place % words.len()].store(value, crate::sync::Relaxed);
            carry(&mut all);
        }
        // One of two numbers is not the one that was taken on last.
        for value in [8, 9] {
            sender.send(Nanos::new(value), value);
            carry(&mut all);
        }
        prop_assert_eq!(receiver.peek().map(|it| it.value), Ok(9));
    }
}
