//! The memory orderings, tried out: every order in which threads may run and memory may show words.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom \
//!     cargo test --release --package quietcore-exchange --test loom
//! ```
//!
//! Each test runs the code of the crate on loom's atomics with one writer and one reader. The
//! number of writes is the smallest in which a place is written again while its reader may look at
//! it. The number of preemptions is bounded; that of stale values that a relaxed load may see is
//! not. A load that sees a store which comes later is beyond loom, so it can't tell whether the
//! release store that gives a queue's place back is needed.
//!
//! Both sides are made before the threads start. Of each word loom remembers the last load alone: a
//! writer that looks at its own word in its thread would hide the loads of its reader, and loom
//! would try one order and be content. [`model`] therefore insists on a number of orders.
#![cfg(loom)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loom::sync::atomic::AtomicU64;
use loom::thread;
use quietcore_exchange::channel::{GroupReader, GroupWriter, SignalReader, SignalWriter};
use quietcore_exchange::primitive::{broadcast, latest, queue};
use quietcore_exchange::{
    Assignment, Command, CommandConsumer, CommandProducer, ImageReader, ImageWriter, Limits,
    OutcomeReader, RetainReader, RetainWriter, Target,
};
use quietcore_units::Nanos;

/// Preemptions of a run. All faults that were put in by hand show with them.
const PREEMPTIONS: usize = 2;
/// The same for the queues, in which there are fewer orders to try.
const QUEUE_PREEMPTIONS: usize = 4;

/// Orders that any test here has at least.
const ORDERS_MIN: usize = 100;

fn model(preemptions: usize, test: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 100_000;
    let orders = Arc::new(AtomicUsize::new(0));
    let counted = orders.clone();
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        test();
    });
    let orders = orders.load(Ordering::Relaxed);
    println!("{orders} orders");
    assert!(orders >= ORDERS_MIN, "loom tried {orders} orders only");
}

/// Words that live as long as the threads of a run.
fn words(count: usize) -> &'static [AtomicU64] {
    Box::leak((0..count).map(|_| AtomicU64::new(0)).collect::<Vec<_>>().into_boxed_slice())
}

#[test]
fn an_image_is_read_as_it_was_written_in_one_cycle() {
    model(PREEMPTIONS, || {
        let words = words(8 + 2);
        let mut image = ImageWriter::resume(words, 16).unwrap();
        let writer = thread::spawn(move || {
            for cycle in 1..=2_u8 {
                image.write(cycle.into(), Nanos::new(u64::from(cycle) * 10), &[cycle; 16]);
            }
        });
        let mut image = [9; 16];
        if let Ok(stamp) = ImageReader::new(words, 16).unwrap().read(&mut image) {
            assert_eq!(stamp.time, Nanos::new(stamp.cycle * 10));
            assert!(image.iter().all(|byte| u64::from(*byte) == stamp.cycle));
        }
        writer.join().unwrap();
    });
}

#[test]
fn a_signal_is_read_with_its_own_time_and_count() {
    model(PREEMPTIONS, || {
        let words = words(latest::cell_words(2));
        let mut reader = SignalReader::new(words).unwrap();
        let mut signal = SignalWriter::resume(words, 8).unwrap();
        let writer = thread::spawn(move || {
            // The fourth is written over the first.
            for value in 1..=4 {
                signal.send(Nanos::new(value * 10), value);
            }
        });
        let mut before = 0;
        for _ in 0..2 {
            if let Ok(received) = reader.receive() {
                assert_eq!(received.count, received.value);
                assert_eq!(received.sent, Nanos::new(received.value * 10));
                assert!(received.count >= before, "the last value is never an older one");
                assert_eq!(received.updated, received.count != before);
                before = received.count;
            }
        }
        writer.join().unwrap();
        assert_eq!(reader.receive().unwrap().value, 4, "what was sent is seen");
    });
}

#[test]
fn the_members_of_a_group_are_of_one_sending() {
    model(PREEMPTIONS, || {
        let words = words(latest::cell_words(3));
        let mut group = GroupWriter::resume(words, 2).unwrap();
        let writer = thread::spawn(move || {
            for value in 1..=4 {
                group.set(0, value);
                group.set(1, value * 7);
                group.send(Nanos::new(value));
            }
        });
        let mut reader = GroupReader::new(words, 2).unwrap();
        if let Ok(received) = reader.receive() {
            assert_eq!(reader.get(0), Some(received.count));
            assert_eq!(reader.get(1), Some(received.count * 7));
        }
        writer.join().unwrap();
    });
}

#[test]
fn a_queue_delivers_each_record_once_and_in_order() {
    model(QUEUE_PREEMPTIONS, || {
        let words = words(queue::queue_words(2, 1));
        let mut consumer = queue::Consumer::resume(words, 1).unwrap();
        let mut queued = queue::Producer::resume(words, 1).unwrap();
        let producer = thread::spawn(move || {
            let mut sent = 0;
            for _ in 0..4 {
                if queued.has_room(1) {
                    sent += 1;
                    queued.write(0, [sent]);
                    queued.publish(1);
                }
            }
            sent
        });
        let mut expected = 1;
        let mut take = |consumer: &mut queue::Consumer<'_>| {
            if consumer.available() > 0 {
                let mut word = [0];
                consumer.read(0, &mut word);
                assert_eq!(word[0], expected);
                expected += 1;
                consumer.release(1);
            }
        };
        for _ in 0..3 {
            take(&mut consumer);
        }
        let sent = producer.join().unwrap();
        while consumer.look() > 0 {
            take(&mut consumer);
        }
        assert_eq!(expected, sent + 1, "nothing that was accepted is lost");
        assert_eq!(consumer.resets(), 0);
    });
}

fn set(offset: u32, value: u64) -> Command {
    Command::Set(Assignment { target: Target::whole(offset, 8), value })
}

#[test]
fn a_group_of_commands_is_seen_whole_or_not_at_all() {
    model(QUEUE_PREEMPTIONS, || {
        let words = words(512 + queue::queue_words(4, 4));
        let mut consumer = CommandConsumer::resume(words).unwrap();
        let mut producer = CommandProducer::resume(words).unwrap();
        let outcomes = OutcomeReader::new(words).unwrap();
        let host = thread::spawn(move || {
            for value in 1..=3 {
                // The third lies where the first lay, or is refused.
                let _ = producer.publish(&[set(0, value), set(8, value)], 1);
                let outcome = outcomes.outcome(1);
                assert!(outcome.is_none_or(|outcome| outcome.cycle == 7));
            }
        });
        let limits = Limits { data_bytes: 16, generation: 1 };
        let mut expected = 1;
        for _ in 0..3 {
            if let Some(group) = consumer.take(64, &limits) {
                let ticket = group.ticket;
                let value = u64::from(ticket);
                assert_eq!(value, expected);
                assert_eq!(group.commands, Ok([set(0, value), set(8, value)].as_slice()));
                consumer.answer(ticket, 6 + value, Ok(()));
                expected += 1;
            }
        }
        assert_eq!(consumer.dropped(), 0);
        host.join().unwrap();
    });
}

#[test]
fn a_broadcast_record_is_read_whole_or_counted_as_lost() {
    model(PREEMPTIONS, || {
        let words = words(broadcast::HEADER_WORDS + 2 * 2);
        let mut reader = broadcast::BroadcastReader::oldest(words, 2).unwrap();
        let mut ring = broadcast::BroadcastWriter::resume(words, 2).unwrap();
        let writer = thread::spawn(move || {
            for number in 0..4 {
                ring.write([number + 1, (number + 1) * 7]);
            }
        });
        let mut seen = 0;
        for _ in 0..2 {
            let mut record = [0; 2];
            if let Ok(Some(number)) = reader.read(&mut record) {
                assert_eq!(record, [number + 1, (number + 1) * 7]);
                seen += 1;
                assert_eq!(reader.lost() + seen, number + 1, "each is read or lost");
            }
        }
        writer.join().unwrap();
    });
}

#[test]
fn retained_variables_are_always_there_once_they_were_written() {
    model(PREEMPTIONS, || {
        let halves = [words(8 + 1), words(8 + 1)];
        let mut writer = RetainWriter::resume(halves, 8).unwrap();
        writer.write(1, 1, |packer| packer.push(&[1; 8]));
        let writer = thread::spawn(move || {
            for cycle in 2..=3_u8 {
                writer.write(cycle.into(), 1, |packer| packer.push(&[cycle; 8]));
            }
        });
        let mut bytes = [0; 8];
        match RetainReader::new(halves, 8).unwrap().read(&mut bytes) {
            Ok(Some(retained)) => {
                assert_eq!(retained.number, retained.cycle);
                assert!(bytes.iter().all(|byte| u64::from(*byte) == retained.cycle));
            }
            Ok(None) => panic!("they were written before"),
            Err(_) => {}
        }
        writer.join().unwrap();
    });
}
