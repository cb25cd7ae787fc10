//! Measures the cost of recording one value.
//!
//! Both sides take the same values in batches of [`BATCH`]; a batch is timed whole, since one value
//! takes less than reading the clock. Quietcore's side is everything a cycle records: the release
//! histogram and the wake-up histogram, counters under their seqlock, time line and spikes; beside
//! it stands the exchange's histogram on the host's side alone. The peer's `record` is its
//! histogram alone.

use std::hint::black_box;

use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::{Recorder, Release, Shape};
use quietcore_process::exchange::Exchange;
use quietcore_record::histogram::Histogram;
use quietcore_units::Nanos;

use crate::findings::{Common, Findings, Goal};
use crate::peers::versions;

/// Values in a batch.
const BATCH: usize = 10_000;

/// Recording one value, beside the `hdrhistogram` crate's `record`
#[derive(Debug, clap::Args)]
pub(crate) struct Request {
    #[command(flatten)]
    common: Common,
}

pub(crate) fn run(request: &Request) -> Result<(), String> {
    let common = &request.common;
    let rounds = common.rounds_or(300);
    let method = format!(
        "batches of {BATCH} values in turn, each timed whole; a whole cycle is two histograms, \
         counters, time line and spikes"
    );
    let mut findings = Findings::begin("record", method, common, rounds);
    findings.peer("hdrhistogram", versions::of_crate("hdrhistogram"));
    let values = latencies();
    let exchange = Exchange::create(&Shape::of_tasks(1)).map_err(|error| error.to_string())?;
    let region = exchange.region();
    let task = region.task(0).ok_or("the exchange has no task")?;
    let mut recorder = Recorder::new(task, Nanos::from_millis(1), 1_000_000);
    let mut host = Histogram::new();
    let mut peer = hdrhistogram::Histogram::<u64>::new_with_bounds(1, 60_000_000_000, 3)
        .map_err(|error| error.to_string())?;

    let mut cycle_ns = Vec::new();
    let mut host_ns = Vec::new();
    let mut peer_ns = Vec::new();
    for _ in 0..rounds {
        cycle_ns.push(timed(&values, |value| {
            recorder.record(&Release {
                due: Nanos::new(1),
                started: Nanos::new(1 + value),
                wakeup_latency: Nanos::new(value),
                margin: Nanos::ZERO,
                spin: Nanos::ZERO,
                cpu: 0,
            });
        }));
        peer_ns.push(timed(&values, |value| peer.saturating_record(black_box(value))));
        host_ns.push(timed(&values, |value| host.record(black_box(value))));
    }
    black_box((task.release().totals(), peer.len(), host.count()));

    findings.goal("whole cycle", "ns", &cycle_ns, Goal::AtMost(15.0));
    findings.figure("one value", "ns", &host_ns);
    findings.figure("one value, hdrhistogram", "ns", &peer_ns);
    findings.ratio("whole cycle / hdrhistogram", &cycle_ns, &peer_ns, None);
    findings.ratio("one value / hdrhistogram", &host_ns, &peer_ns, Some(Goal::AtMost(1.1)));
    findings.print(common)
}

/// Time per value of a batch, in ns.
fn timed(values: &[u64], mut record: impl FnMut(u64)) -> f64 {
    let begin = Monotonic.now();
    for value in values {
        record(*value);
    }
    (Monotonic.now() - begin).get() as f64 / values.len() as f64
}

/// Latencies as they occur: mostly 10 µs to 60 µs, some far beyond, in a repeatable order.
fn latencies() -> Vec<u64> {
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let tail = if state.is_multiple_of(997) { state >> 44 } else { 0 };
        10_000 + (state >> 32) % 50_000 + tail
    })
    .take(BATCH)
    .collect()
}
