//! Signals: what sending and receiving cost, and how long a value takes to another core.
//!
//! ```text
//! one thread   send × BATCH │ receive × BATCH │ (send, receive) × BATCH   time of a batch / BATCH
//! two cores    near ── n ──► far ── n ──► near, again and again              round trip / 2
//! ```
//!
//! The ping-pong is measured with bare cache lines first: one atomic in each direction, nothing
//! else. No side pauses while it waits. `iceoryx2` publishes and subscribes the same 8 bytes.

#[cfg(feature = "iceoryx2")]
mod iceoryx;
mod ping_pong;

use std::hint::black_box;

use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::channel::{Entry, Timeouts};
use quietcore_exchange::com::{ComSignal, ComTable, Direction, OnTimeout};
use quietcore_process::channel::ChannelMemory;
use quietcore_units::Nanos;

use crate::cores::{Cores, pin};
use crate::exchange::signal::ping_pong::one_way;
use crate::findings::{Common, Findings, Goal};

/// Calls in a batch; a batch is timed whole, since a call takes less than reading the clock.
const BATCH: u64 = 10_000;

/// Signals beside bare cache lines and `iceoryx2`
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
    let trips = common.length(100_000, 2_000);
    let method = format!(
        "8-byte signals in shared memory; batches of {BATCH} calls of what Com_SendSignal and \
         Com_ReceiveSignal call; {trips} round trips between CPUs {} and {} a round, halved",
        request.cores.cpu, request.cores.other_cpu
    );
    let mut findings = Findings::begin("signal", method, common, rounds);
    #[cfg(feature = "iceoryx2")]
    findings.peer("iceoryx2", crate::peers::versions::of_crate("iceoryx2"));
    let mut samples = Samples::default();
    pin(request.cores.cpu)?;
    for _ in 0..rounds {
        samples.local()?;
        samples.bare_ns.push(one_way::<ping_pong::Line>(request.cores, trips)?);
        samples.signal_ns.push(one_way::<ping_pong::Signal>(request.cores, trips)?);
        #[cfg(feature = "iceoryx2")]
        {
            samples.peer_both_ns.push(iceoryx::send_and_receive(BATCH)?);
            samples.peer_ns.push(one_way::<iceoryx::Link>(request.cores, trips)?);
        }
    }
    samples.tell(&mut findings);
    findings.print(common)
}

/// The measured values, one a round, in ns.
#[derive(Default)]
struct Samples {
    send_ns: Vec<f64>,
    receive_ns: Vec<f64>,
    both_ns: Vec<f64>,
    bare_ns: Vec<f64>,
    signal_ns: Vec<f64>,
    peer_both_ns: Vec<f64>,
    peer_ns: Vec<f64>,
}

/// A signal of 8 bytes.
const SIGNAL: Entry = Entry::Signal {
    bytes: 8,
    initial: 0,
    timeouts: Timeouts { first: Nanos::ZERO, next: Nanos::ZERO },
};

impl Samples {
    /// One batch of each kind, in one thread: nobody else wants the cache line.
    fn local(&mut self) -> Result<(), String> {
        let memory = ChannelMemory::create(&[SIGNAL]).map_err(|error| error.to_string())?;
        let channel = memory.channel();
        let signal = |direction| {
            ComSignal::new(&channel, 0, direction, OnTimeout::Keep, 0).ok_or("there is no signal")
        };
        let signals = [signal(Direction::Send)?, signal(Direction::Receive)?];
        let table = ComTable::new(&signals, &[], Monotonic.now());
        table.begin_cycle(Monotonic.now());
        let mut received = 0;
        self.send_ns.push(timed(|value| {
            black_box(table.send_signal(0, value));
        }));
        self.receive_ns.push(timed(|_| {
            black_box(table.receive_signal(1, &mut received));
            black_box(received);
        }));
        self.both_ns.push(timed(|value| {
            black_box(table.send_signal(0, value));
            black_box(table.receive_signal(1, &mut received));
        }));
        if received == BATCH { Ok(()) } else { Err(format!("{received} was received last")) }
    }

    fn tell(&self, findings: &mut Findings) {
        let limit = Some(Goal::AtMost(1.3));
        findings.goal("send", "ns", &self.send_ns, Goal::AtMost(20.0));
        findings.goal("receive, nobody writing", "ns", &self.receive_ns, Goal::AtMost(20.0));
        findings.figure("send and receive in turn", "ns", &self.both_ns);
        findings.figure("one way, bare cache line", "ns", &self.bare_ns);
        findings.figure("one way, signal", "ns", &self.signal_ns);
        findings.ratio("one way, signal / bare cache line", &self.signal_ns, &self.bare_ns, limit);
        if self.peer_ns.is_empty() {
            findings.not_measured("iceoryx2: not built in; build with `--features iceoryx2`");
            return;
        }
        findings.figure("send and receive in turn, iceoryx2", "ns", &self.peer_both_ns);
        findings.figure("one way, iceoryx2", "ns", &self.peer_ns);
        let both = (&self.peer_both_ns, &self.both_ns);
        findings.ratio("send and receive in turn, iceoryx2 / signal", both.0, both.1, None);
        findings.ratio("one way, iceoryx2 / signal", &self.peer_ns, &self.signal_ns, None);
    }
}

/// Time per call of a batch, in ns. Values are those from 1 on.
fn timed(mut call: impl FnMut(u64)) -> f64 {
    let begin = Monotonic.now();
    for value in 1..=BATCH {
        call(black_box(value));
    }
    (Monotonic.now() - begin).get() as f64 / BATCH as f64
}
