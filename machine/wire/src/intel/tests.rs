//! The driver against the fake.

use std::vec;
use std::vec::Vec;

use proptest::prelude::*;
use quietcore_units::Nanos;

use super::fake::{ADDRESS, Fake, takes_multicasts};
use super::rings::DONE;
use super::*;

const FAMILIES: [CardFamily; 2] = [CardFamily::E82574, CardFamily::I210];

fn frame(number: usize) -> Vec<u8> {
    let bytes = 60 + number % (FRAME_BYTES_MAX - 60 + 1);
    (0..bytes).map(|index| (index + number) as u8).collect()
}

fn next(card: &mut Card<Fake>) -> Option<Vec<u8>> {
    let mut bytes = [0; FRAME_BYTES_MAX];
    let taken = card.receive(&mut bytes, Nanos::ZERO).unwrap();
    taken.map(|count| bytes[..count].to_vec())
}

#[test]
fn frames_of_all_lengths_go_out_and_come_in_whatever_was_there_before() {
    for family in FAMILIES {
        let fake = Fake::new(family);
        let mut card = fake.open().unwrap();
        assert_eq!((card.address(), takes_multicasts(&fake)), (ADDRESS, false));
        for number in 0..2_000 {
            card.send(&frame(number)).unwrap();
            assert_eq!(fake.0.borrow_mut().sent.pop(), Some(frame(number)));
            fake.arrive(&frame(number));
            assert_eq!(next(&mut card), Some(frame(number)));
            assert_eq!(next(&mut card), None, "there was one");
        }
        let counts = card.counts();
        assert_eq!((counts.sent, counts.received, counts.dropped), (2_000, 2_000, 0));
        assert_eq!(counts.written, 4_000, "one register for a frame in each direction");
    }
}

#[test]
fn frames_wait_in_their_order_and_the_card_drops_what_is_too_much() {
    let fake = Fake::new(CardFamily::E82574);
    let mut card = fake.open().unwrap();
    for round in 0..3 {
        for number in 0..DESCRIPTORS + 2 {
            fake.arrive(&frame(round + number));
        }
        for number in 0..DESCRIPTORS - 1 {
            assert_eq!(next(&mut card), Some(frame(round + number)));
        }
        assert_eq!(next(&mut card), None);
    }
    assert_eq!(fake.0.borrow().missed, 9, "a full ring would look like an empty one");
}

#[test]
fn what_is_no_whole_frame_is_dropped_and_the_next_one_is_not() {
    let fake = Fake::new(CardFamily::I210);
    let mut card = fake.open().unwrap();
    let wrong = [
        LAST,
        60 | LAST | 1 << 40,
        60 | LAST | ERRORS,
        (FRAME_BYTES_MAX as u64 + 1) | LAST,
        (BUFFER_BYTES as u64 + 1) | LAST,
        0xFFFF | LAST,
    ];
    for word in wrong {
        fake.arrive_as(&frame(1), word);
        fake.arrive(&frame(2));
        assert_eq!(next(&mut card), Some(frame(2)), "{word:#x}");
    }
    // A frame in three parts, as only a card that was set up otherwise has it.
    for word in [2048, 2048, 60 | LAST] {
        fake.arrive_as(&frame(1), word);
    }
    fake.arrive(&frame(3));
    assert_eq!(next(&mut card), Some(frame(3)));
    assert_eq!(card.counts().dropped, wrong.len() as u64 + 3);
    let mut short = [0; 59];
    fake.arrive(&frame(0));
    assert_eq!(card.receive(&mut short, Nanos::ZERO), Ok(None), "longer than its buffer");
}

#[test]
fn without_a_link_frames_wait_and_then_none_is_taken() {
    let fake = Fake::new(CardFamily::E82574);
    let mut card = fake.open().unwrap();
    fake.0.borrow_mut().has_link = false;
    assert!(!card.has_link());
    for number in 0..DESCRIPTORS - 1 {
        card.send(&frame(number)).unwrap();
    }
    assert_eq!(card.send(&frame(0)), Err(WireError::Down));
    assert_eq!(fake.0.borrow().sent, [[0; 0]; 0]);
    fake.plug();
    assert_eq!(fake.0.borrow().sent.len(), DESCRIPTORS - 1);
    assert_eq!(card.send(&frame(9)), Ok(()), "there is room again");
    let too_long = vec![0; FRAME_BYTES_MAX + 1];
    assert!(matches!(card.send(&too_long), Err(WireError::TooLong { .. })));
}

/// Goal: a card that can't be used is told as that, in bounded time, and left in its reset.
#[test]
fn a_card_that_does_not_come_up_is_refused() {
    type Fault = (CardFamily, fn(&mut super::fake::State), CardError);
    let faults: [Fault; 3] = [
        (CardFamily::E82574, |state| state.is_dead = true, CardError::Reset),
        (CardFamily::I210, |state| state.keeps_rings_off = true, CardError::Ring),
        (CardFamily::E82574, |state| state.has_link = false, CardError::Link),
    ];
    for (family, fault, error) in faults {
        let fake = Fake::new(family);
        fault(&mut fake.0.borrow_mut());
        assert_eq!(fake.open().map(|_| ()), Err(error));
        let resets = if error == CardError::Reset { 1 } else { 2 };
        assert_eq!(fake.0.borrow().resets, resets, "{error}");
    }
    assert!(CardError::Link.to_string().contains("6 s; plug the cable in"));
}

proptest! {
    /// Goal: whatever a card writes, the driver ends, and takes no more than it has room for.
    /// Method: words of any kind in all descriptors, the bit that says "done" more often than not.
    #[test]
    fn a_card_that_tells_nonsense_costs_frames_only(
        words in prop::collection::vec((any::<u64>(), any::<bool>()), 2 * DESCRIPTORS),
        room in 0..=2_500_usize,
    ) {
        let fake = Fake::new(CardFamily::E82574);
        let mut card = fake.open().unwrap();
        let rings = fake.0.borrow().rings;
        let descriptors = rings.receive.iter().chain(&rings.transmit);
        for (descriptor, (word, is_done)) in descriptors.zip(words) {
            descriptor.give(word, if is_done { word | DONE } else { word });
        }
        let mut buffer = vec![0; room];
        for _ in 0..DESCRIPTORS {
            let taken = card.receive(&mut buffer, Nanos::ZERO).unwrap();
            prop_assert!(taken.is_none_or(|bytes| (1..=room.min(BUFFER_BYTES)).contains(&bytes)));
        }
        card.reclaim();
        let counts = card.counts();
        prop_assert!(counts.received + counts.dropped <= DESCRIPTORS as u64);
    }
}
