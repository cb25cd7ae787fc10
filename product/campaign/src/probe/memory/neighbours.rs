//! Neighbours that rest and work in turns, and what they achieved while they worked. They are the
//! workers of a load, or partitions in each of which one such worker is.

use std::num::NonZeroU32;
use std::time::Duration;

use quietcore_backend::neighbour::Order;
use quietcore_clock::Clock;
use quietcore_load::{Achieved, LoadRequest, LoadSet, Pace};
use quietcore_record::reason::RunProblem;
use quietcore_site::LoadKind;
use quietcore_units::Nanos;

use super::plan::MemoryPlan;
use crate::beside::loads::LoadsAchieved;
use crate::beside::neighbours::Neighbours as Partitions;
use crate::probe::{ProbeContext, ProbeError};
use crate::world::{nanos, sleep};

/// The longest time that neighbours may take until all of them work, or rest.
const TURN_MAX: Nanos = Nanos::from_secs(10);
/// The longest time that neighbours may take to go through their sets once. Until then, the caches
/// don't hold again what they held before the neighbours rested.
const SETTLE_MAX: Duration = Duration::from_millis(100);
/// Time between two looks at their progress; one look reads some files of each.
const LOOK_EVERY: Duration = Duration::from_millis(3);
/// Time for which they work before a block where they count no bytes.
const SETTLE_BLIND: Duration = Duration::from_millis(20);
/// Time for which their full pace is measured.
const FULL_PACE: Duration = Duration::from_millis(300);

/// Neighbours of either kind.
enum Means {
    /// Workers among the host's processes, told their pace on a board that both see.
    Workers(LoadSet),
    /// Containers or guests, told their pace through their exchange.
    Partitions(Partitions),
}

/// The neighbours of a measurement.
pub(super) struct Neighbours {
    means: Means,
    pace: Pace,
    achieved: LoadsAchieved,
    /// Bytes that all of them move in one pass through their sets; `None` where they count none.
    pass: Option<f64>,
    /// `true` if they worked while they should have rested.
    worked: bool,
}

impl Neighbours {
    /// Starts them, and lets them rest as soon as each was seen to work.
    pub(super) fn start(
        plan: &MemoryPlan,
        context: &mut ProbeContext<'_>,
    ) -> Result<Self, ProbeError> {
        let request = plan.neighbours.clone();
        let pass = request.size.filter(|_| request.kind.counts_bytes()).map(|size| {
            // A copy moves one half of the set to the other.
            let part = if request.kind == LoadKind::MemoryBandwidth { 0.5 } else { 1.0 };
            size.get() as f64 * part * f64::from(request.workers)
        });
        let means = match plan.beside() {
            Some(run) => {
                // Refused here, and not by each neighbour when it has started.
                LoadSet::check(&[request])?;
                let holder = format!("probe-{}", std::process::id());
                let (machine, stop) = (context.machine, context.stop);
                let held = (&*holder, None);
                let started = Partitions::start(&run, machine, held, context.observer, stop)?;
                Means::Partitions(started)
            }
            None => Means::Workers(workers(context, request)?),
        };
        let achieved = LoadsAchieved::default();
        let mut neighbours = Self { means, pace: Pace::Full, achieved, pass, worked: false };
        neighbours.rest()?;
        Ok(neighbours)
    }

    /// Lets them rest, and returns when all do.
    pub(super) fn rest(&mut self) -> Result<(), ProbeError> {
        if self.pace != Pace::Rest {
            self.means.turn(Pace::Rest)?;
            self.pace = Pace::Rest;
        }
        Ok(())
    }

    /// Sets their pace, and returns when it holds: once all have gone through their sets, or all
    /// rest.
    pub(super) fn turn(&mut self, pace: Pace, clock: &dyn Clock) -> Result<(), ProbeError> {
        if pace == Pace::Rest {
            return self.rest();
        }
        if pace != self.pace {
            self.means.turn(pace)?;
            settle(self.pass, clock, || self.means.measure().ok().flatten());
            self.pace = pace;
        }
        Ok(())
    }

    /// Begins to measure a block.
    pub(super) fn begin(&mut self) -> Result<(), ProbeError> {
        self.means.measure().map(drop)
    }

    /// Ends the block; returns what they moved meanwhile, in bytes per second.
    pub(super) fn end(&mut self) -> Result<f64, ProbeError> {
        let Some(achieved) = self.means.measure()? else { return Ok(0.0) };
        if self.pace == Pace::Rest {
            self.worked |= achieved.operations_per_second > 0.0;
            return Ok(0.0);
        }
        let bytes = achieved.bytes_per_second.unwrap_or_default();
        self.achieved.add(vec![achieved]);
        Ok(bytes)
    }

    /// Measures the operations per second of one worker at full pace.
    pub(super) fn full_pace(&mut self, clock: &dyn Clock) -> Result<f64, ProbeError> {
        self.turn(Pace::Full, clock)?;
        self.begin()?;
        sleep(clock, FULL_PACE);
        let achieved = self.means.measure()?;
        self.rest()?;
        let rate = |it: Achieved| it.operations_per_second / f64::from(it.workers.max(1));
        Ok(achieved.map_or(0.0, rate))
    }

    /// Returns the pace of `permille` thousandths of `full`.
    pub(super) fn part_of(full: f64, permille: u32) -> Pace {
        if permille >= 1_000 {
            return Pace::Full;
        }
        let rate = full * f64::from(permille) / 1e3;
        // A rate that the board can't hold bounds nothing.
        let rate = if rate < f64::from(u32::MAX - 1) { rate as u32 } else { u32::MAX - 1 };
        Pace::AtMost(NonZeroU32::new(rate).unwrap_or(NonZeroU32::MIN))
    }

    /// Takes what they achieved while they worked since the last call, and what was wrong.
    pub(super) fn take_achieved(&mut self) -> (Vec<Achieved>, Option<RunProblem>) {
        let worked = std::mem::take(&mut self.worked).then_some(RunProblem::NeighboursWorked);
        let wrong = worked.or_else(|| self.means.trouble());
        (std::mem::take(&mut self.achieved).achieved, wrong)
    }

    /// Ends them; by then, what was wrong with them is in the records.
    pub(super) fn stop(self, clock: &dyn Clock) -> Result<(), ProbeError> {
        match self.means {
            Means::Workers(set) => set.stop()?,
            Means::Partitions(partitions) => drop(partitions.stop(clock)),
        }
        Ok(())
    }
}

impl Means {
    /// Sets their pace, and returns when all keep it.
    fn turn(&mut self, pace: Pace) -> Result<(), ProbeError> {
        match self {
            Self::Workers(set) => {
                set.set_pace(pace);
                match pace {
                    Pace::Rest => set.wait_until_resting(TURN_MAX)?,
                    Pace::Full | Pace::AtMost(_) => set.wait_until_running(TURN_MAX)?,
                }
            }
            Self::Partitions(partitions) => drop(partitions.order(Order::Pace(pace))?),
        }
        Ok(())
    }

    /// Returns their work since they were last measured or told a pace.
    fn measure(&mut self) -> Result<Option<Achieved>, ProbeError> {
        match self {
            Self::Workers(set) => Ok(set.measure().pop()),
            Self::Partitions(partitions) => Ok(Some(partitions.order(Order::Work)?)),
        }
    }

    /// Returns what was wrong with them, as far as it is not in what they achieved.
    fn trouble(&self) -> Option<RunProblem> {
        match self {
            Self::Workers(_) => None,
            Self::Partitions(partitions) => partitions.trouble(),
        }
    }
}

/// Starts workers among the host's processes, and waits until each was seen to work.
fn workers(context: &ProbeContext<'_>, request: LoadRequest) -> Result<LoadSet, ProbeError> {
    let mut set = LoadSet::start(context.machine.runtime, &[request])?;
    set.wait_until_running(TURN_MAX)?;
    Ok(set)
}

/// Waits until neighbours have moved the bytes of one `pass` through their sets, for [`SETTLE_MAX`]
/// at most. `measure` returns the work since its last call.
fn settle(pass: Option<f64>, clock: &dyn Clock, mut measure: impl FnMut() -> Option<Achieved>) {
    let Some(pass) = pass else { return sleep(clock, SETTLE_BLIND) };
    let end = clock.now() + nanos(SETTLE_MAX);
    let mut moved = 0.0;
    while moved < pass && clock.now() < end {
        sleep(clock, LOOK_EVERY);
        let bytes = |it: Achieved| it.bytes_per_second.unwrap_or(pass) * it.interval.as_secs_f64();
        moved += measure().map_or(pass, bytes);
    }
}

#[cfg(test)]
mod tests {
    use quietcore_clock::FakeClock;
    use quietcore_units::CpuSet;

    use super::*;

    /// Returns the time for which neighbours settle that move a pass of 1 MB at this rate.
    fn settled(pass: Option<f64>, bytes_per_second: Option<f64>) -> Duration {
        let clock = FakeClock::default();
        settle(pass, &clock, || {
            Some(Achieved {
                kind: LoadKind::MemoryBandwidth,
                workers: 1,
                workers_alive: 1,
                workers_stalled: 0,
                size: None,
                cpus: CpuSet::EMPTY,
                interval: nanos(LOOK_EVERY),
                operations_per_second: 1.0,
                unit: "blocks/s".into(),
                bytes_per_second,
                cpu_share: 1.0,
                faults: Vec::new(),
            })
        });
        Duration::from_nanos(clock.now().get())
    }

    /// Goal: a block begins when the caches hold again what they held, and never later than 100 ms.
    #[test]
    fn neighbours_settle_for_one_pass_and_not_for_ever() {
        let pass = Some(1e6);
        assert_eq!(settled(pass, Some(1e8)), LOOK_EVERY * 4, "10 ms are within the fourth look");
        let slow = settled(pass, Some(1.0));
        assert!(slow >= SETTLE_MAX && slow < SETTLE_MAX + LOOK_EVERY, "{slow:?}");
        assert_eq!(settled(None, None), SETTLE_BLIND, "what counts no bytes is given a fixed time");
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
