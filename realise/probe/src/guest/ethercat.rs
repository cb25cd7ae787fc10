//! The probe `ethercat` in a guest: the MainDevice in a task of our OSEK kernel, which brings the
//! SubDevices to OP over its network device and measures its round trips.
//!
//! ```text
//! MainDevice ─► device ─► host ─► simulated segment, or a network interface
//! └──────────────── round trip ───────────────┘  and back
//! ```

use std::time::Duration;

use quietcore_exchange::{Region, Shape, TaskState, TaskStatistics};
use quietcore_fieldbus::bus::PATIENCE as BRING_UP_MAX;
use quietcore_record::histogram::Histogram;
use quietcore_units::{ByteSize, Nanos, Scheduling, ThreadRequest};
use serde::{Deserialize, Serialize};

use super::ProbeError;
use super::hypervisor::{GuestNetwork, ProbeGuest};
use super::job::{JOB_BYTES_MAX, encode};
use super::runner::{GuestError, GuestFacts};
use crate::ethercat::process::{RoundTripsMeasured, RoundTripsPlan};
use crate::ethercat::rows::{ROUND_TRIPS, SHAPE, WHOLE, WINDOWS};
use crate::ethercat::{Plan, RoundTrips};
use crate::measurement::{
    AnyMeasurement, Measurement, MeasurementError, MeasurementProgress, OpenExchange,
};

const MEMORY: ByteSize = ByteSize::new(16 << 20);

/// The plan of a measurement of round trips in a guest. Thread and CPU are those of the guest's
/// processor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestRoundTripsPlan(pub RoundTripsPlan);

impl From<GuestRoundTripsPlan> for AnyMeasurement {
    fn from(plan: GuestRoundTripsPlan) -> Self {
        Self::GuestRoundTrips(plan)
    }
}

impl Measurement for GuestRoundTripsPlan {
    type Outcome = GuestFacts;

    fn shape(&self) -> Shape {
        SHAPE
    }

    fn carry_out(
        &self,
        exchange: &OpenExchange<'_>,
        look: &mut dyn FnMut(MeasurementProgress) -> bool,
    ) -> Result<GuestFacts, MeasurementError> {
        let look = |done, worst| look(MeasurementProgress { series: 0, done, worst });
        Ok(measure(&self.0, exchange, look)?)
    }
}

/// Measures round trips; they lie in `exchange` at the end. `look` is called now and then with the
/// cycles measured so far and the longest round trip; it returns `true` to end early.
///
/// # Errors
/// Returns [`ProbeError`] when the guest did not come to its end.
pub fn measure(
    plan: &RoundTripsPlan,
    exchange: &OpenExchange<'_>,
    mut look: impl FnMut(u64, Nanos) -> bool,
) -> Result<GuestFacts, ProbeError> {
    if !exchange.hypervisor.carries_frames() {
        let why = "a guest of this hypervisor has no network, and its MainDevice no SubDevices";
        return Err(GuestError::Other(why.to_owned()).into());
    }
    let network = GuestNetwork { line: plan.line.clone(), wait: plan.plan.timeout };
    let mut place = [0; JOB_BYTES_MAX];
    let guest = ProbeGuest {
        image: quietcore_guests::ETHERCAT,
        job: encode(&plan.plan, &mut place)?,
        memory: MEMORY,
        thread: thread(plan),
        takes: takes(&plan.plan),
        doorbells: &[],
        board: None,
        polls: false,
        network: Some(&network),
    };
    let mut look = |region: &Region<'_>| {
        let row = region.task(ROUND_TRIPS).filter(|row| row.state() != TaskState::Starting);
        let totals = row.map(|row| row.release().totals()).unwrap_or_default();
        look(totals.count, Nanos::new(totals.max_ns))
    };
    Ok(exchange.hypervisor.run(&guest, exchange, &mut look)?)
}

/// Returns the request of the thread that runs the guest's processor.
fn thread(plan: &RoundTripsPlan) -> ThreadRequest {
    ThreadRequest::measuring(plan.scheduling.unwrap_or(Scheduling::Other), plan.cpu)
}

/// Returns the longest that a measurement is expected to take: each cycle may wait in vain.
fn takes(plan: &Plan) -> Duration {
    let cycle = plan.period.unwrap_or_default().max(plan.timeout).get();
    let of = |cycles: u64| cycles.saturating_mul(cycle);
    let measured = of(plan.cycles).min(plan.limit.map_or(u64::MAX, Nanos::get));
    let all = BRING_UP_MAX.get().saturating_add(of(plan.warm_up_cycles)).saturating_add(measured);
    Duration::from_nanos(all)
}

/// Reads the round trips that a guest left in its exchange.
///
/// # Errors
/// Returns [`ProbeError::Unreadable`] when they contradict each other.
pub fn read(
    plan: &RoundTripsPlan,
    region: &Region<'_>,
    facts: &GuestFacts,
) -> Result<RoundTripsMeasured, ProbeError> {
    let unreadable = |error: &dyn std::fmt::Display| ProbeError::Unreadable(error.to_string());
    let row = |number| region.task(number).ok_or_else(|| unreadable(&"a row is missing"));
    let [round_trips, windows, whole] = [row(ROUND_TRIPS)?, row(WINDOWS)?, row(WHOLE)?];
    let histogram =
        Histogram::from_exchange(round_trips.release()).map_err(|error| unreadable(&error))?;
    let counters = round_trips.scan_counters().map_err(|error| unreadable(&error))?;
    let longest = |row: &TaskStatistics| Nanos::new(row.release().totals().max_ns);
    let first_alarm = region.events(0).and_then(|mut events| events.next_event());
    let lost = counters.skipped_releases;
    let measured = RoundTrips {
        cycles: histogram.count().saturating_add(lost),
        histogram,
        lost,
        incomplete: counters.overruns,
        elapsed: longest(&whole),
        slowest_window: (windows.release().totals().count > 0).then(|| longest(&windows)),
        first_alarm: first_alarm.map(|event| event.what.to_string()),
        stopped: round_trips.state() != TaskState::Finished,
    };
    let subdevices = u64::from(region.fieldbus().subdevices);
    let standing = facts.standing.clone();
    Ok(RoundTripsMeasured::of(measured, &plan.interface, subdevices, standing))
}

#[cfg(test)]
mod tests;
