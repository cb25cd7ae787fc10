//! Messages from one core to another, as fast as they go, beside `rtrb`.
//!
//! Both queues hold [`SLOTS`] messages of [`MESSAGE_BYTES`] bytes. Ours lies in memory that two
//! processes share, believes nothing that the other side wrote, and carries length and instant of
//! each message; `rtrb` moves values within a process. The bytes of a message come from memory, as
//! a program's do: where a compiler knows them, it need not copy them.

use std::hint::black_box;

use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::channel::Entry;
use quietcore_process::channel::ChannelMemory;
use quietcore_units::Nanos;

use crate::cores::{Cores, together};
use crate::findings::{Common, Findings, Goal};
use crate::peers::versions;

/// Places of each queue.
const SLOTS: u32 = 1024;
/// Bytes of a message.
const MESSAGE_BYTES: usize = 32;

/// Queue throughput beside `rtrb`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Request {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(flatten)]
    cores: Cores,
}

pub(crate) fn run(request: &Request) -> Result<(), String> {
    let common = &request.common;
    let rounds = common.rounds_or(100);
    let messages = common.length(1_000_000, 20_000);
    let method = format!(
        "{messages} messages of {MESSAGE_BYTES} bytes a round from CPU {} to CPU {} through \
         {SLOTS} places, one message a call, timed at the receiver",
        request.cores.other_cpu, request.cores.cpu
    );
    let mut findings = Findings::begin("queue", method, common, rounds);
    findings.peer("rtrb", versions::of_crate("rtrb"));
    let (mut own_ns, mut peer_ns) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        own_ns.push(own(request.cores, messages)?);
        peer_ns.push(peer(request.cores, messages)?);
    }
    let rate = |values: &[f64]| values.iter().map(|ns| 1e3 / ns).collect::<Vec<_>>();
    findings.figure("queue of a channel", "M/s", &rate(&own_ns));
    findings.figure("rtrb", "M/s", &rate(&peer_ns));
    // Times above each other the other way round are rates.
    let goal = Some(Goal::AtLeast(1.1));
    findings.ratio("throughput, queue of a channel / rtrb", &peer_ns, &own_ns, goal);
    findings.print(common)
}

/// The message with this number, whose bytes no compiler knows.
fn message(number: u64) -> [u8; MESSAGE_BYTES] {
    let mut bytes = [0; MESSAGE_BYTES];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    black_box(bytes)
}

/// The number of a message.
fn number(message: &[u8; MESSAGE_BYTES]) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&message[..8]);
    u64::from_le_bytes(bytes)
}

/// Time of a message through our queue, in ns.
fn own(cores: Cores, messages: u64) -> Result<f64, String> {
    let entry = Entry::Queue { message_bytes: MESSAGE_BYTES as u16, slots: SLOTS };
    let memory = ChannelMemory::create(&[entry]).map_err(|error| error.to_string())?;
    let channel = memory.channel();
    let missing = || "there is no queue".to_owned();
    let receiver = channel.receiver(0).ok_or_else(missing)?;
    let sender = channel.sender(0).ok_or_else(missing)?;
    let receive = |mut receiver: quietcore_exchange::channel::Receiver<'_>| {
        let mut buffer = [0; MESSAGE_BYTES];
        in_order(messages, || {
            let received = receiver.receive(&mut buffer).expect("the buffer fits");
            received.map(|_| number(&buffer))
        })
    };
    let send = |mut sender: quietcore_exchange::channel::Sender<'_>| {
        for number in 0..messages {
            let bytes = message(number);
            while sender.send(Nanos::new(number), &bytes).is_err() {}
        }
    };
    together(cores, || Ok(receiver), || Ok(sender), receive, send)?
}

/// Time of a message through the peer's, in ns.
fn peer(cores: Cores, messages: u64) -> Result<f64, String> {
    let (sender, receiver) = rtrb::RingBuffer::<[u8; MESSAGE_BYTES]>::new(SLOTS as usize);
    let receive = |mut receiver: rtrb::Consumer<_>| {
        in_order(messages, || receiver.pop().ok().map(|bytes| number(&bytes)))
    };
    let send = |mut sender: rtrb::Producer<_>| {
        for number in 0..messages {
            let bytes = message(number);
            while sender.push(bytes).is_err() {}
        }
    };
    together(cores, || Ok(receiver), || Ok(sender), receive, send)?
}

/// Takes all messages; the mean time of one, in ns. That nothing is lost is part of the work.
fn in_order(messages: u64, mut take: impl FnMut() -> Option<u64>) -> Result<f64, String> {
    let begin = Monotonic.now();
    let mut wrong = 0;
    for expected in 0..messages {
        let found = loop {
            if let Some(found) = take() {
                break found;
            }
        };
        wrong += u64::from(found != expected);
    }
    let elapsed = Monotonic.now() - begin;
    if wrong > 0 {
        return Err(format!("{wrong} of {messages} messages came out of order"));
    }
    Ok(elapsed.get() as f64 / messages as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_messages_arrive_in_order() {
        let cores = Cores { cpu: 0, other_cpu: 0 };
        assert!(own(cores, 2_000).unwrap() > 0.0);
        assert!(peer(cores, 2_000).unwrap() > 0.0);
        assert!(in_order(2, || Some(1)).is_err());
    }
}
