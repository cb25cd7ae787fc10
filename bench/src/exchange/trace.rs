//! Measures the cost of a trace to a cycle, beside the same cycle without one.
//!
//! ```text
//! warm   cycle cycle cycle …            a batch, timed whole
//! cold   evict, cycle, evict, cycle …   each timed alone: as a task that is woken each millisecond
//! ```
//!
//! Both sides call what a task calls after each of its cycles, on the same data; on one of them
//! nobody has asked for a trace. A cycle that is timed alone ends when its stores are done, which a
//! task need not wait for.

use std::hint::black_box;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::fence;

use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::{
    DataSlot, Region, Shape, Slot, TraceConfiguration, TracePlace, TraceWriter, WritableData,
};
use quietcore_process::exchange::Exchange;
use quietcore_units::Nanos;

use crate::findings::{Common, Findings, Goal};

/// Variables of the trace, of eight bytes each.
const VARIABLES: u32 = 16;
/// Bytes from one variable to the next, so that several cache lines are read.
const APART: u32 = 24;
/// Cycles in a batch.
const BATCH: u64 = 10_000;
/// Cycles that are timed alone, a round and side.
const SINGLE: u64 = 200;
/// Bytes that are written between two cycles, so that nothing of the first is left in the caches
/// of a core.
const EVICTED_BYTES: usize = 8 << 20;
/// Build whose variables are traced.
const GENERATION: u32 = 1;
/// The most that a trace may cost a cycle, in ns.
const GOAL: Goal = Goal::AtMost(50.0);

/// A trace of 16 variables in each cycle, beside none
#[derive(Debug, clap::Args)]
pub(crate) struct Request {
    #[command(flatten)]
    common: Common,
}

pub(crate) fn run(request: &Request) -> Result<(), String> {
    let common = &request.common;
    let rounds = common.rounds_or(60);
    let method = format!(
        "{VARIABLES} variables in each cycle, sides in turn; warm: batches of {BATCH} cycles, each \
         timed whole; cold: {SINGLE} cycles a round, each timed alone after {} MiB were written",
        EVICTED_BYTES >> 20
    );
    let mut findings = Findings::begin("trace", method, common, rounds);
    let (off, on) = (exchange()?, exchange()?);
    ask(on.region())?;
    let mut sides = [Side::of(off.region())?, Side::of(on.region())?];
    let mut evicted = vec![0u64; EVICTED_BYTES / size_of::<u64>()];
    let single = common.length(SINGLE, 20);
    let [mut warm, mut cold] = [(); 2].map(|()| [Vec::new(), Vec::new()]);
    for round in 0..rounds {
        for side in [round % 2, 1 - round % 2] {
            warm[side].push(sides[side].batch());
            cold[side].push(sides[side].single(single, &mut evicted));
        }
    }
    if sides[0].writer.is_running() || !sides[1].writer.is_running() {
        return Err("the trace was not accepted".to_owned());
    }
    for (name, [off, on]) in [("warm", &warm), ("cold", &cold)] {
        let costs: Vec<f64> = on.iter().zip(off).map(|(on, off)| on - off).collect();
        findings.figure(&format!("{name} cycle, no trace"), "ns", off);
        findings.figure(&format!("{name} cycle, traced"), "ns", on);
        findings.goal(&format!("a trace, {name}"), "ns", &costs, GOAL);
    }
    findings.print(common)
}

fn exchange() -> Result<Exchange, String> {
    let shape = Shape { data_bytes: 4096, trace_bytes: 1 << 18, ..Shape::of_tasks(1) };
    Exchange::create(&shape).map_err(|error| error.to_string())
}

/// Asks for the trace, as a supervisor does.
fn ask(region: Region<'_>) -> Result<(), String> {
    let place = |number: u32| TracePlace { offset: number * APART, bytes: 8 };
    let places: Vec<TracePlace> = (0..VARIABLES).map(place).collect();
    let configuration = TraceConfiguration::new(&places, 1, GENERATION);
    let configuration = configuration.map_err(|error| error.to_string())?;
    let requester = region.trace_requester(0);
    requester.ok_or("the exchange has no trace")?.ask(&configuration);
    Ok(())
}

/// A task that is traced, or not.
struct Side<'map> {
    data: WritableData<'map>,
    writer: TraceWriter<'map>,
    cycle: u64,
}

impl<'map> Side<'map> {
    fn of(region: Region<'map>) -> Result<Self, String> {
        let data = region.writable_data(Slot::A).ok_or("the exchange has no data")?;
        let writer = region.trace_writer(0).ok_or("the exchange has no trace")?;
        Ok(Self { data, writer, cycle: 0 })
    }

    fn cycle(&mut self) {
        self.cycle += 1;
        let data: &DataSlot<'_> = &self.data;
        self.writer.sample(self.cycle, Nanos::new(self.cycle), black_box(data), GENERATION);
    }

    /// Time of a cycle among many, in ns.
    fn batch(&mut self) -> f64 {
        let begun = Monotonic.now();
        for _ in 0..BATCH {
            self.cycle();
        }
        (Monotonic.now() - begun).get() as f64 / BATCH as f64
    }

    /// Median time of a cycle after others have used the caches, in ns, looks at the clock in it.
    fn single(&mut self, count: u64, evicted: &mut [u64]) -> f64 {
        let mut took: Vec<u64> = (0..count)
            .map(|number| {
                evicted.fill(number);
                black_box(&*evicted);
                let begun = Monotonic.now();
                self.cycle();
                fence(SeqCst);
                (Monotonic.now() - begun).get()
            })
            .collect();
        let middle = took.len() / 2;
        *took.select_nth_unstable(middle).1 as f64
    }
}
