//! Goal: the simulated controllers answer as real ones did.
//! Method: the published `ethercrab` crate carries captures of its tests on real hardware. The
//! frames of their MainDevice go through a segment with the same devices, at the times of the
//! capture, and each datagram's answer is compared with the recorded one.
//!
//! Differences that are allowed are told apart from those that are not:
//! - times: registers 0x0900 to 0x09FF hold them;
//! - polls: a status asked for until it changes. How long a device took is chance, so a poll
//!   counts as the same when the answer is one that the real device gave to a poll of that register
//!   nearby;
//! - what lies in a mailbox behind its message was never written and is not compared.
//!
//! Promised: at least 99.5 % of the working counters are identical, and all data beside these.

mod capture;

use capture::devices::devices_of;
use capture::{Capture, Exchange, capture_folder};
use quietcore_segment::{Delivery, Options, Segment};
use quietcore_units::Nanos;

/// Working counters that may differ, in thousandths: the promise. None did when this was written.
const COUNTER_TOLERANCE: usize = 5;
/// Polls that may differ because the real device was slower or faster, in thousandths.
const POLL_TOLERANCE: usize = 20;
/// Number of polls of a register before and after that are looked at.
const POLLS_NEARBY: usize = 8;

/// The result of a replay.
#[derive(Debug, Default)]
struct Outcome {
    datagrams: usize,
    counters_different: usize,
    polls_different: usize,
    times_different: usize,
    data_different: usize,
    examples: Vec<String>,
}

#[test]
fn the_segment_answers_as_the_captured_hardware_did() {
    let folder = match capture_folder() {
        Ok(folder) => folder,
        Err(reason) => {
            quietcore_skip::skip!("{reason}; run `cargo fetch`");
            return;
        }
    };
    let captures = capture::read_all(&folder);
    assert_eq!(captures.len(), 8, "captures in {}", folder.display());
    let mut total = Outcome::default();
    println!(
        "{:40} {:>9} {:>8} {:>6} {:>6} {:>6}",
        "capture", "datagrams", "counters", "polls", "times", "data"
    );
    for capture in &captures {
        let outcome = replay(capture, &captures);
        println!(
            "{:40} {:>9} {:>8} {:>6} {:>6} {:>6}",
            capture.name,
            outcome.datagrams,
            outcome.counters_different,
            outcome.polls_different,
            outcome.times_different,
            outcome.data_different
        );
        for example in outcome.examples.iter().take(12) {
            println!("    {example}");
        }
        assert_eq!(outcome.data_different, 0, "{}", capture.name);
        total.datagrams += outcome.datagrams;
        total.counters_different += outcome.counters_different;
        total.polls_different += outcome.polls_different;
    }
    assert!(total.datagrams > 9_000, "{}", total.datagrams);
    assert!(total.counters_different * 1_000 <= total.datagrams * COUNTER_TOLERANCE);
    assert!(total.polls_different * 1_000 <= total.datagrams * POLL_TOLERANCE);
}

fn replay(capture: &Capture, all: &[Capture]) -> Outcome {
    let mut segment = Segment::new(devices_of(capture, all), Options::default());
    let mut outcome = Outcome::default();
    let mut answers = Vec::new();
    for frame in &capture.frames {
        let mut passing = frame.sent.clone();
        let delivery = segment.process(&mut passing, Nanos::new(frame.time_ns));
        assert_eq!(delivery, Delivery::Deliver);
        answers.extend(capture::datagrams(&passing));
    }
    for (place, (exchange, answered)) in capture.exchanges.iter().zip(answers).enumerate() {
        let recorded = &exchange.returned;
        outcome.datagrams += 1;
        if answered.counter != recorded.counter {
            outcome.counters_different += 1;
            outcome.examples.push(format!(
                "counter {} instead of {}: {exchange}",
                answered.counter, recorded.counter
            ));
            continue;
        }
        if same_data(exchange, &answered.data, &recorded.data) {
            continue;
        }
        if is_time(exchange) {
            outcome.times_different += 1;
        } else if is_poll_nearby(capture, place, &answered.data) {
            outcome.polls_different += 1;
        } else {
            outcome.data_different += 1;
            outcome.examples.push(format!(
                "answered {:02x?}: {exchange}",
                &answered.data[..answered.data.len().min(24)]
            ));
        }
    }
    outcome
}

fn same_data(exchange: &Exchange, answered: &[u8], recorded: &[u8]) -> bool {
    // A mailbox is compared as far as its own header says that there is a message.
    let is_mailbox_read = exchange.is_read() && exchange.register() >= 0x1000;
    let compared = if is_mailbox_read && recorded.len() >= 6 {
        recorded.len().min(6 + usize::from(u16::from_le_bytes([recorded[0], recorded[1]])))
    } else {
        recorded.len()
    };
    answered.len() == recorded.len() && answered[..compared] == recorded[..compared]
}

fn is_time(exchange: &Exchange) -> bool {
    (0x0900..0x0A00).contains(&exchange.register()) && !exchange.is_logical()
}

/// Returns `true` if the real device gave this answer to one of the polls of this register before
/// or after.
fn is_poll_nearby(capture: &Capture, place: usize, answered: &[u8]) -> bool {
    let asked = &capture.exchanges[place];
    let is_status = matches!(asked.register(), 0x0130 | 0x0502)
        || ((0x0800..0x0880).contains(&asked.register()) && asked.register() % 8 == 5);
    if !is_status || !asked.is_read() {
        return false;
    }
    let same = |other: &&Exchange| {
        other.address() == asked.address()
            && other.register() == asked.register()
            && other.is_read()
    };
    let before = capture.exchanges[..place].iter().rev().filter(same).take(POLLS_NEARBY);
    let after = capture.exchanges[place + 1..].iter().filter(same).take(POLLS_NEARBY);
    before.chain(after).any(|other| other.returned.data == answered)
}
