//! What recording one value costs.
//!
//! Both sides take the same values in batches of [`BATCH`]; a batch is timed whole, since one value
//! takes less than reading the clock. Quietcore's side is everything a cycle records: the release
//! histogram and the wake-up histogram, counters under their seqlock, time line and spikes; beside
//! it stands the exchange's histogram on the host's side alone. The peer's `record` is its
//! histogram alone.

use std::hint::black_box;

use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::{Cycle, Recorder, Shape};
use quietcore_process::exchange::Exchange;
use quietcore_record::histogram::Histogram;
use quietcore_units::Nanos;

use crate::findings::pairs::Median;

/// Values in a batch.
const BATCH: usize = 10_000;

/// Recording one value, beside the `hdrhistogram` crate's `record`
#[derive(Debug, clap::Args)]
pub(crate) struct Request {
    /// Pairs of batches
    #[arg(long, default_value_t = 300)]
    pairs: usize,
}

pub(crate) fn run(request: &Request) -> Result<(), String> {
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
    for _ in 0..request.pairs {
        cycle_ns.push(timed(&values, |value| {
            recorder.record(&Cycle {
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

    println!("recording one value, ns: median of {} batches of {BATCH}", request.pairs);
    for (name, sample) in [
        ("one cycle: two histograms, counters, time line, spikes", &cycle_ns),
        ("one value: quietcore_record::Histogram::record", &host_ns),
        ("one value: hdrhistogram::Histogram::saturating_record", &peer_ns),
    ] {
        let median = Median::of(sample).ok_or("no pairs")?;
        println!("  {name:<58} {:6.2}", median.value);
    }
    for (name, sample) in [("one cycle", &cycle_ns), ("one value", &host_ns)] {
        let ratios: Vec<f64> = sample.iter().zip(&peer_ns).map(|(own, peer)| own / peer).collect();
        println!("  {name} / hdrhistogram: {}", Median::of(&ratios).ok_or("no pairs")?);
    }
    Ok(())
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
