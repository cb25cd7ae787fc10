//! The probe `osek` in a guest: the same routines on the kernel's bare port, with all ways in which
//! an interrupt comes to a guest of its hypervisor.
//!
//! A guest leaves the counts of each series as a histogram in its exchange, one row for each.

use std::time::Duration;

use quietcore_exchange::{Region, Shape, TaskState};
use quietcore_record::histogram::Histogram;
use quietcore_units::{ByteSize, Nanos, ThreadRequest};
use serde::{Deserialize, Serialize};

use super::ProbeError;
use super::hypervisor::ProbeGuest;
use super::job::{GuestOsekJob, JOB_BYTES_MAX, encode, series};
use super::runner::GuestFacts;
use crate::measurement::{
    AnyMeasurement, Measurement, MeasurementError, MeasurementProgress, OpenExchange,
};
use crate::osek::{Offset, Routine, Sample, Series, Variant};
use crate::routines::program::SOURCES;

/// The most loops of a series in a guest: as many as in a process, though a guest keeps no list of
/// its counts.
pub const LOOPS_MAX: u64 = crate::osek::LOOPS_MAX;

const MEMORY: ByteSize = ByteSize::new(4 << 20);
/// The longest time that a loop is assumed to last, so that a guest that hangs is noticed.
const LOOP_MAX: Duration = Duration::from_micros(200);
/// The interrupt vector of source 0; those of the other sources follow.
const SOURCE_VECTOR: u8 = 0x30;

/// The plan of a measurement of routines in a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestOsekPlan {
    /// Loops of each series.
    pub loops: u64,
    /// Loops before each series, which are run and discarded.
    pub warm_up: u64,
    /// The kernel that is measured; a guest has no tasks beside the four.
    pub variant: Variant,
    /// CPU and scheduling of the thread that runs the guest's processor.
    pub thread: ThreadRequest,
    /// `true` if the hypervisor raises an interrupt at a doorbell that the guest rings.
    pub doorbells: bool,
}

/// The results of a measurement of routines in a guest.
#[derive(Debug)]
pub struct GuestOsekMeasured {
    /// The series that were begun, in their order, each with its sample.
    pub samples: Vec<(Series, Sample)>,
    /// `true` if it was told to stop before its end.
    pub stopped: bool,
}

impl From<GuestOsekPlan> for AnyMeasurement {
    fn from(plan: GuestOsekPlan) -> Self {
        Self::GuestRoutines(plan)
    }
}

impl Measurement for GuestOsekPlan {
    type Outcome = GuestFacts;

    fn shape(&self) -> Shape {
        Shape::of_tasks(u32::try_from(series(self.doorbells).count()).unwrap_or(u32::MAX))
    }

    fn carry_out(
        &self,
        exchange: &OpenExchange<'_>,
        look: &mut dyn FnMut(MeasurementProgress) -> bool,
    ) -> Result<GuestFacts, MeasurementError> {
        let look = |done| look(MeasurementProgress { series: 0, done, worst: Nanos::ZERO });
        Ok(measure(self, exchange, look)?)
    }
}

/// Measures all series; their counts lie in `exchange` at the end. `look` is called now and then
/// with the loops done so far; it returns `true` to end early.
///
/// # Errors
/// Returns [`ProbeError`] when the guest did not come to its end.
pub fn measure(
    plan: &GuestOsekPlan,
    exchange: &OpenExchange<'_>,
    mut look: impl FnMut(u64) -> bool,
) -> Result<GuestFacts, ProbeError> {
    let job = GuestOsekJob {
        loops: plan.loops,
        warm_up: plan.warm_up,
        extended: plan.variant.extended,
        accounting: plan.variant.accounting,
        doorbells: plan.doorbells,
    };
    let loops = (plan.loops + plan.warm_up).saturating_mul(plan.series_count());
    let vectors: [u8; SOURCES as usize] = std::array::from_fn(|it| SOURCE_VECTOR + it as u8);
    let mut place = [0; JOB_BYTES_MAX];
    let job = encode(&job, &mut place)?;
    let guest = ProbeGuest {
        image: quietcore_guests::OSEK,
        job,
        memory: MEMORY,
        thread: plan.thread,
        takes: LOOP_MAX.saturating_mul(u32::try_from(loops).unwrap_or(u32::MAX)),
        doorbells: if plan.doorbells { &vectors } else { &[] },
        board: None,
        polls: false,
        network: None,
    };
    let mut look =
        |region: &Region<'_>| look(region.tasks().map(|task| task.release().totals().count).sum());
    Ok(exchange.hypervisor.run(&guest, exchange, &mut look)?)
}

/// Reads the counts that a guest left in its exchange, as samples.
///
/// # Errors
/// Returns [`ProbeError::Unreadable`] when a routine did not come to its end, or the counts
/// contradict each other.
pub fn read(
    plan: &GuestOsekPlan,
    region: &Region<'_>,
    facts: &GuestFacts,
) -> Result<GuestOsekMeasured, ProbeError> {
    let (mut samples, mut offset, mut stopped) = (Vec::new(), Offset::default(), false);
    for (task, (routine, trigger)) in region.tasks().zip(series(plan.doorbells)) {
        let state = task.state();
        if state == TaskState::Unused {
            stopped = true;
            break;
        }
        let name = routine.name();
        if state == TaskState::Failed {
            let how = trigger.map_or("no interrupt", |way| way.meaning());
            return Err(ProbeError::Unreadable(format!(
                "loops of `{name}` did not come to the end of their routine ({how}); the guest's \
                 exits: {}",
                facts.exits.as_deref().unwrap_or("not counted")
            )));
        }
        let raw = Histogram::from_exchange(task.release())
            .map_err(|error| ProbeError::Unreadable(error.to_string()))?;
        let sample = Sample::of_histogram(raw, offset, facts.counter_hertz);
        if routine == Routine::Empty {
            offset = Offset::of_histogram(&sample.raw);
        }
        stopped |= state == TaskState::Stopped;
        samples.push((Series { routine, trigger, loops: plan.loops }, sample));
    }
    Ok(GuestOsekMeasured { samples, stopped })
}

impl GuestOsekPlan {
    /// Returns the number of series that it measures.
    pub fn series_count(&self) -> u64 {
        series(self.doorbells).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::job::TRIGGERS;
    use crate::osek::Trigger;

    #[test]
    fn each_routine_with_an_interrupt_is_measured_in_every_way() {
        assert_eq!(series(true).count(), 6 + 5 * TRIGGERS.len());
        for doorbells in [true, false] {
            let first = series(doorbells).next();
            assert_eq!(first, Some((Routine::Empty, None)), "its median is taken off the others");
        }
    }

    #[test]
    fn a_way_that_the_hypervisor_does_not_have_is_left_out() {
        assert_eq!(series(false).count(), 6 + 5 * (TRIGGERS.len() - 1));
        let has = |doorbells, way| series(doorbells).any(|(_, it)| it == Some(way));
        assert!(has(true, Trigger::Doorbell) && !has(false, Trigger::Doorbell));
        assert!(TRIGGERS[..3].iter().all(|way| has(false, *way)));
    }
}
