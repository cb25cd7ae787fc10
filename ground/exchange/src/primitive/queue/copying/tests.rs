//! A queue through two memories: the same as one, whatever either side writes.

use super::*;
use crate::primitive::queue::{Consumer, Producer, queue_words};
use proptest::prelude::*;
use std::collections::VecDeque;

fn words(capacity: usize) -> Vec<AtomicU64> {
    (0..queue_words(capacity, 1)).map(|_| AtomicU64::new(0)).collect()
}

fn take(consumer: &mut Consumer<'_>) -> Option<u64> {
    let mut word = [0];
    (consumer.available() > 0).then(|| {
        consumer.read(0, &mut word);
        consumer.release(1);
        word[0]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

    /// Goal: through two memories it is the same bounded queue. Method: play pushes, pops and
    /// copies on it and on the standard library's; a pop sees what was copied, a push the room
    /// that was.
    #[test]
    fn two_memories_are_one_bounded_queue(steps in proptest::collection::vec(0..3_u8, 0..200)) {
        let (from, to) = (words(4), words(4));
        let mut copying = Copying::new(&from, &to, 1).unwrap();
        copying.begin_consumer();
        let mut producer = Producer::resume(&from, 1).unwrap();
        let mut consumer = Consumer::resume(&to, 1).unwrap();
        let (mut sent, mut copied, mut held) = (VecDeque::new(), VecDeque::new(), 0_usize);
        for (value, step) in (0..).zip(steps) {
            match step {
                0 => {
                    prop_assert_eq!(producer.has_room(1), held < 4);
                    if held < 4 {
                        producer.write(0, [value]);
                        producer.publish(1);
                        sent.push_back(value);
                        held += 1;
                    }
                }
                1 => prop_assert_eq!(take(&mut consumer), copied.pop_front()),
                _ => {
                    copying.copy();
                    copied.append(&mut sent);
                    held = copied.len();
                }
            }
        }
    }

    #[test]
    fn whatever_either_side_writes_a_copy_ends(
        numbers in proptest::collection::vec((0..4_u8, any::<u64>()), 0..20),
    ) {
        let (from, to) = (words(4), words(4));
        let mut copying = Copying::new(&from, &to, 1).unwrap();
        for (place, number) in numbers {
            let memory = if place & 1 == 0 { &from } else { &to };
            let queue = Queue::new(memory, 1).unwrap();
            let word = if place & 2 == 0 { queue.head() } else { queue.tail() };
            word.store(number, Relaxed);
            copying.copy();
            prop_assert_eq!(to[0].load(Relaxed), from[0].load(Relaxed));
        }
    }
}

#[test]
fn a_new_memory_goes_on_where_the_other_stands() {
    let (old, first, second) = (words(4), words(4), words(4));
    let mut copying = Copying::new(&first, &old, 1).unwrap();
    copying.begin_producer();
    let mut producer = Producer::resume(&first, 1).unwrap();
    producer.write(0, [7]);
    producer.publish(1);
    assert!(copying.copy());
    let mut copying = Copying::new(&second, &old, 1).unwrap();
    copying.begin_producer();
    let mut producer = Producer::resume(&second, 1).unwrap();
    producer.write(0, [8]);
    producer.publish(1);
    assert!(copying.copy());
    let mut consumer = Consumer::resume(&old, 1).unwrap();
    assert_eq!([take(&mut consumer), take(&mut consumer)], [Some(7), Some(8)]);
    assert_eq!(take(&mut consumer), None);
    assert!(copying.copy() && !copying.copy(), "places were given back, once");
}

#[test]
fn a_new_consumer_gets_what_still_waits_and_nothing_twice() {
    let (old, fresh) = (words(4), words(4));
    let mut producer = Producer::resume(&old, 1).unwrap();
    (1..=3).for_each(|value| {
        producer.write(0, [value]);
        producer.publish(1);
    });
    assert_eq!(take(&mut Consumer::resume(&old, 1).unwrap()), Some(1));
    let mut copying = Copying::new(&old, &fresh, 1).unwrap();
    copying.begin_consumer();
    assert!(copying.copy());
    let mut consumer = Consumer::resume(&fresh, 1).unwrap();
    assert_eq!([take(&mut consumer), take(&mut consumer)], [Some(2), Some(3)]);
    assert_eq!(take(&mut consumer), None);
}
