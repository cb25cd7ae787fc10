//! A neighbour that is told its pace and asked for its work, so that a measurement beside it and
//! one without it can take turns in short blocks.
//!
//! ```text
//! host: Asking                                the neighbour's process: Answering
//!   command ring: a pace, or nothing but a look ──▶  sets the pace, waits until all work or rest
//!   outputs: ticket, work since the last answer ◀──  measures
//! ```
//!
//! The exchange carries both, which a container's process and one in a Linux guest share with the
//! host as any other does. A guest may write anything into its outputs: what is read is bounded,
//! and an answer is believed as a [report](super::NeighbourJob::read) is.

use std::thread;
use std::time::Duration;

use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::{
    Assignment, COMMANDS_PER_CYCLE, Command, CommandConsumer, ImageWriter, Limits, PublishError,
    Region, Shape, Target,
};
use quietcore_load::{LoadSet, Pace};
use quietcore_units::{Causes, CpuSet, Nanos};

use super::{NeighbourJob, NeighbourWork, PROBLEM_CHARS_MAX, Report, reports};

/// Time between two looks at the command ring.
const LOOK: Duration = Duration::from_millis(1);
/// Longest time that the workers may take until all work at their pace, or rest.
const TURN_MAX: Nanos = Nanos::from_secs(30);
/// Bytes of an answer: its ticket and the reports of one load, a line each.
const ANSWER_BYTES: u32 = 1024;
/// The bytes of the orders: the word of a pace, and the wish for a look.
const PACE: Target = Target::whole(0, 4);
const WORK: Target = Target::whole(4, 4);
const LIMITS: Limits = Limits { data_bytes: 8, generation: 0 };

/// An order of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Work at this pace, and answer when all workers do.
    Pace(Pace),
    /// Answer what was done since the last answer.
    Work,
}

impl NeighbourJob {
    /// Returns the shape of the exchange of a neighbour that is told its pace.
    pub fn paced_shape() -> Shape {
        Shape {
            command_slots: COMMANDS_PER_CYCLE as u32,
            output_bytes: ANSWER_BYTES,
            ..Self::shape()
        }
    }

    /// Gives a neighbour an order; returns the ticket that its answer has.
    ///
    /// # Errors
    /// [`PublishError`] when it has not taken the orders before.
    ///
    /// # Panics
    /// When its exchange has another shape.
    pub fn order(region: Region<'_>, order: Order) -> Result<u32, PublishError> {
        let (target, value) = match order {
            Order::Pace(pace) => (PACE, pace.word().into()),
            Order::Work => (WORK, 1),
        };
        let mut ring = region.command_producer().expect("the exchange has a command ring");
        ring.publish(&[Command::Set(Assignment { target, value })], LIMITS.generation)
    }

    /// Returns the answer with a ticket; `None` while there is none. `cpus` are those on which the
    /// host lets the neighbour run.
    pub fn answer(&self, region: Region<'_>, ticket: u32, cpus: CpuSet) -> Option<NeighbourWork> {
        let mut bytes = [0; ANSWER_BYTES as usize];
        region.outputs()?.read(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let mut lines = text.trim_end_matches('\0').lines();
        let is_its = lines.next()?.parse() == Ok(ticket);
        let lines: Vec<String> = lines.map(str::to_owned).collect();
        is_its.then(|| self.read(&lines, cpus))
    }
}

/// The side of the neighbour's process.
pub(super) struct Answering<'map> {
    ring: CommandConsumer<'map>,
    outputs: ImageWriter<'map>,
    answers: u64,
}

impl<'map> Answering<'map> {
    /// Takes over the sides of an exchange; `None` where the neighbour is not told its pace.
    pub(super) fn of(region: Region<'map>) -> Option<Self> {
        let (ring, outputs) = (region.command_consumer()?, region.output_writer()?);
        (outputs.bytes() == ANSWER_BYTES as usize).then_some(Self { ring, outputs, answers: 0 })
    }

    /// Carries out the next order, if there is one, or lets a moment pass.
    pub(super) fn serve(&mut self, set: &mut LoadSet) {
        let taken = self.ring.take(1, &LIMITS);
        let Some(taken) = taken else { return thread::sleep(LOOK) };
        let ticket = taken.ticket;
        let pace = match taken.commands {
            Ok([Command::Set(Assignment { target, value })]) if *target == PACE => {
                Some(Pace::of_word(*value as u32))
            }
            _ => None,
        };
        let problem = pace.and_then(|pace| turn(set, pace).err());
        let mut all = reports(&set.measure());
        all.extend(problem.map(|what| {
            let what = what.chars().take(PROBLEM_CHARS_MAX).collect();
            Report::Problem { load: 0, what }
        }));
        self.answers += 1;
        self.outputs.write(self.answers, Monotonic.now(), &answer(ticket, &all));
    }
}

/// Sets the pace of all workers, and returns when they keep it.
fn turn(set: &mut LoadSet, pace: Pace) -> Result<(), String> {
    set.set_pace(pace);
    let kept = match pace {
        Pace::Rest => set.wait_until_resting(TURN_MAX),
        Pace::Full | Pace::AtMost(_) => set.wait_until_running(TURN_MAX),
    };
    kept.map_err(|error| Causes(&error).to_string())
}

/// Writes a ticket and the reports, as many as there is room for.
fn answer(ticket: u32, all: &[Report]) -> [u8; ANSWER_BYTES as usize] {
    let mut bytes = [0; ANSWER_BYTES as usize];
    let mut text = ticket.to_string();
    for line in all.iter().filter_map(|report| serde_json::to_string(report).ok()) {
        if text.len() + 1 + line.len() <= bytes.len() {
            text.push('\n');
            text.push_str(&line);
        }
    }
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use quietcore_load::Achieved;
    use quietcore_process::exchange::Exchange;
    use quietcore_site::LoadKind;

    use super::super::{NeighbourLoad, WorkReport};
    use super::*;

    fn job() -> NeighbourJob {
        let load = NeighbourLoad { kind: LoadKind::MemoryBandwidth, workers: 1, size: None };
        NeighbourJob { loads: vec![load], cpus: None }
    }

    fn work(bytes_per_second: f64) -> Report {
        Report::Work(WorkReport {
            load: 0,
            alive: 1,
            stalled: 0,
            interval: Nanos::from_millis(5),
            operations_per_second: 1.0,
            bytes_per_second: Some(bytes_per_second),
            cpu_share: 1.0,
        })
    }

    /// Goal: an order is taken as it was given, and only the answer to it is taken for one.
    #[test]
    fn an_answer_belongs_to_the_order_with_its_ticket() {
        let exchange = Exchange::create(&NeighbourJob::paced_shape()).unwrap();
        let region = exchange.region();
        let mut inside = Answering::of(region).unwrap();
        let first = NeighbourJob::order(region, Order::Pace(Pace::Rest)).unwrap();
        let second = NeighbourJob::order(region, Order::Work).unwrap();
        assert_ne!(first, second);
        let taken = inside.ring.take(1, &LIMITS).unwrap();
        let asked = [Command::Set(Assignment { target: PACE, value: u32::MAX.into() })];
        assert_eq!((taken.ticket, taken.commands), (first, Ok(&asked[..])));
        assert_eq!(inside.ring.take(1, &LIMITS).unwrap().ticket, second);
        let cpus: CpuSet = "3".parse().unwrap();
        let read = |ticket| job().answer(region, ticket, cpus);
        assert_eq!(read(first), None, "it has written nothing");
        inside.outputs.write(1, Nanos::new(1), &answer(first, &[work(7e9)]));
        let found = read(first).unwrap();
        let [(0, Achieved { bytes_per_second, cpus: on, .. })] = &found.achieved[..] else {
            panic!("{found:?}")
        };
        assert_eq!((*bytes_per_second, *on), (Some(7e9), cpus));
        assert_eq!(read(second), None, "an answer to the order before");
    }

    #[test]
    fn whatever_stands_in_the_outputs_is_read() {
        let exchange = Exchange::create(&NeighbourJob::paced_shape()).unwrap();
        let region = exchange.region();
        let mut outputs = region.output_writer().unwrap();
        for byte in [0, b'\n', b'7', 0xff] {
            outputs.write(1, Nanos::new(1), &[byte; ANSWER_BYTES as usize]);
            assert_eq!(job().answer(region, 7, CpuSet::EMPTY), None, "{byte}");
        }
        let odd = answer(7, &[Report::Problem { load: 9, what: "x".to_owned() }]);
        outputs.write(1, Nanos::new(1), &odd);
        assert_eq!(job().answer(region, 7, CpuSet::EMPTY).unwrap().problems, ["`unknown`: x"]);
        let many: Vec<Report> = (0..40).map(|_| work(1e15)).collect();
        assert_eq!(answer(1, &many).len(), ANSWER_BYTES as usize, "the rest is left out");
    }

    #[test]
    fn an_exchange_without_a_ring_is_told_no_pace() {
        let exchange = Exchange::create(&NeighbourJob::shape()).unwrap();
        assert!(Answering::of(exchange.region()).is_none());
    }
}
