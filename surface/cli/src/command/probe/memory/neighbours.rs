//! Neighbours that rest and work in turns, and what they achieved while they worked.

use std::num::NonZeroU32;
use std::thread;
use std::time::{Duration, Instant};

use quietcore_load::{Achieved, LoadKind, LoadRequest, LoadSet, Pace};
use quietcore_record::reason::RunProblem;
use quietcore_units::Nanos;

use crate::files;
use crate::status::Failure;

/// How long neighbours may take until they work, or rest.
const TURN_MAX: Nanos = Nanos::from_secs(10);
/// How long they may take to go once through their sets: until then, what they had in the caches
/// before their rest is not back.
const SETTLE_MAX: Duration = Duration::from_millis(100);
/// Time between two looks at how far they are; one look reads some files of each.
const LOOK_EVERY: Duration = Duration::from_millis(3);
/// How long they work before a block where they count no bytes.
const SETTLE_BLIND: Duration = Duration::from_millis(20);
/// How long their full pace is measured.
const FULL_PACE: Duration = Duration::from_millis(300);

/// The neighbours of a measurement.
pub(super) struct Neighbours {
    set: LoadSet,
    pace: Pace,
    achieved: Option<Achieved>,
    /// What all of them move on one way through their sets, in bytes; `None` where they count none.
    pass: Option<f64>,
    /// Whether they worked while they should have rested.
    worked: bool,
}

impl Neighbours {
    /// Starts them; they rest as soon as each was seen to work.
    pub(super) fn start(request: LoadRequest) -> Result<Self, Failure> {
        let pass = request.size.filter(|_| request.kind.counts_bytes()).map(|size| {
            // A copy is from one half of the set to the other one.
            let part = if request.kind == LoadKind::MemoryBandwidth { 0.5 } else { 1.0 };
            size.get() as f64 * part * f64::from(request.workers)
        });
        let mut set = LoadSet::start(&files::runtime()?, &[request])?;
        set.wait_until_running(TURN_MAX)?;
        let mut neighbours = Self { set, pace: Pace::Full, achieved: None, pass, worked: false };
        neighbours.turn(Pace::Rest)?;
        Ok(neighbours)
    }

    /// Lets them work at a pace, or rest, and returns when they do: when they have gone once
    /// through their sets, or when all of them rest.
    pub(super) fn turn(&mut self, pace: Pace) -> Result<(), Failure> {
        if pace != self.pace {
            self.set.set_pace(pace);
            match pace {
                Pace::Rest => self.set.wait_until_resting(TURN_MAX)?,
                Pace::Full | Pace::AtMost(_) => {
                    self.set.wait_until_running(TURN_MAX)?;
                    self.settle();
                }
            }
            self.pace = pace;
        }
        Ok(())
    }

    /// Waits until they have gone once through their sets, at most [`SETTLE_MAX`].
    fn settle(&mut self) {
        let Some(pass) = self.pass else { return thread::sleep(SETTLE_BLIND) };
        let (begin, mut moved) = (Instant::now(), 0.0);
        while moved < pass && begin.elapsed() < SETTLE_MAX {
            thread::sleep(LOOK_EVERY);
            let bytes =
                |it: Achieved| it.bytes_per_second.unwrap_or(pass) * it.interval.as_secs_f64();
            moved += self.set.measure().pop().map_or(pass, bytes);
        }
    }

    /// Begins a block.
    pub(super) fn begin(&mut self) {
        self.set.measure();
    }

    /// Ends it; returns what they moved meanwhile, in bytes a second.
    pub(super) fn end(&mut self) -> f64 {
        let Some(achieved) = self.set.measure().pop() else { return 0.0 };
        if self.pace == Pace::Rest {
            self.worked |= achieved.operations_per_second > 0.0;
            return 0.0;
        }
        let bytes = achieved.bytes_per_second.unwrap_or_default();
        match &mut self.achieved {
            None => self.achieved = Some(achieved),
            Some(all) => join(all, achieved),
        }
        bytes
    }

    /// What a worker does at full pace, in operations a second.
    pub(super) fn full_pace(&mut self) -> Result<f64, Failure> {
        self.turn(Pace::Full)?;
        self.begin();
        thread::sleep(FULL_PACE);
        let achieved = self.set.measure().pop();
        self.turn(Pace::Rest)?;
        let rate = |it: Achieved| it.operations_per_second / f64::from(it.workers.max(1));
        Ok(achieved.map_or(0.0, rate))
    }

    /// A part of that pace, in thousandths.
    pub(super) fn part_of(full: f64, permille: u32) -> Pace {
        if permille >= 1_000 {
            return Pace::Full;
        }
        let rate = full * f64::from(permille) / 1e3;
        // A rate beyond what the board can say is as good as none.
        let rate = if rate < f64::from(u32::MAX - 1) { rate as u32 } else { u32::MAX - 1 };
        Pace::AtMost(NonZeroU32::new(rate).unwrap_or(NonZeroU32::MIN))
    }

    /// Takes what they achieved since the last call, while they worked; and what was wrong.
    pub(super) fn take_achieved(&mut self) -> (Vec<Achieved>, Option<RunProblem>) {
        let wrong = std::mem::take(&mut self.worked).then_some(RunProblem::NeighboursWorked);
        (self.achieved.take().into_iter().collect(), wrong)
    }

    pub(super) fn stop(self) -> Result<(), Failure> {
        Ok(self.set.stop()?)
    }
}

/// Adds what was achieved over another stretch of time.
fn join(all: &mut Achieved, next: Achieved) {
    let (one, other) = (all.interval.as_secs_f64(), next.interval.as_secs_f64());
    let part = if one + other > 0.0 { other / (one + other) } else { 0.0 };
    let mean = |one: f64, other: f64| one + (other - one) * part;
    all.operations_per_second = mean(all.operations_per_second, next.operations_per_second);
    let bytes = all.bytes_per_second.zip(next.bytes_per_second);
    all.bytes_per_second = bytes.map(|(one, other)| mean(one, other));
    all.cpu_share = mean(all.cpu_share, next.cpu_share);
    all.interval = all.interval.checked_add(next.interval).unwrap_or(all.interval);
    all.workers_alive = all.workers_alive.min(next.workers_alive);
    all.workers_stalled = all.workers_stalled.max(next.workers_stalled);
    all.cpus = all.cpus.union(&next.cpus);
    for fault in next.faults {
        if !all.faults.contains(&fault) {
            all.faults.push(fault);
        }
    }
}

#[cfg(test)]
mod tests {
    use quietcore_load::{WorkerFault, WorkerProblem};
    use quietcore_units::CpuSet;

    use super::*;

    fn achieved(seconds: u64, rate: f64) -> Achieved {
        Achieved {
            kind: LoadKind::MemoryBandwidth,
            workers: 3,
            workers_alive: 3,
            workers_stalled: 0,
            size: None,
            cpus: CpuSet::EMPTY,
            interval: Nanos::from_secs(seconds),
            operations_per_second: rate,
            unit: "blocks/s".into(),
            bytes_per_second: Some(rate * 64.0),
            cpu_share: 0.5,
            faults: Vec::new(),
        }
    }

    #[test]
    fn stretches_of_time_are_joined_by_their_length() {
        let mut all = achieved(3, 100.0);
        join(&mut all, achieved(1, 500.0));
        assert_eq!((all.operations_per_second, all.bytes_per_second), (200.0, Some(12_800.0)));
        assert_eq!(all.interval, Nanos::from_secs(4));
        assert!(all.is_complete());
        let problem = WorkerProblem::Stopped;
        let fault = WorkerFault { worker: 1, process_id: 7, problem };
        for _ in 0..2 {
            let next = Achieved { faults: vec![fault.clone()], ..achieved(1, 0.0) };
            join(&mut all, next);
        }
        assert_eq!(all.faults.len(), 1, "the same is told once");
        assert!(!all.is_complete());
    }

    #[test]
    fn a_part_of_the_full_pace_is_a_rate() {
        assert_eq!(Neighbours::part_of(2_000.0, 1_000), Pace::Full);
        let rate = |full, permille| match Neighbours::part_of(full, permille) {
            Pace::AtMost(rate) => rate.get(),
            other => panic!("{other:?}"),
        };
        assert_eq!(rate(2_000.0, 250), 500);
        assert_eq!(rate(0.1, 100), 1, "no rate is none at all");
        assert_eq!(rate(1e12, 999), u32::MAX - 1);
    }
}
