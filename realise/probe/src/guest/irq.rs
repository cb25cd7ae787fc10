//! The probe `irq`: an interrupt of the clock board in a guest with our kernel.
//!
//! ```text
//!  t1 raised ──────────► t2 first statement of the ISR ──► ActivateTask ──► t3 first of the task
//!  │  interrupt response │                                 │ context switch │
//!  └── by the register: ─┴─ where the ISR has read it      └────────────────┘
//! ```
//!
//! The published figures of physical boards (kong2021, tables 1 and 2) are this register, as read
//! by the ISR. The counter is read first, so that the time of reading the register can be told
//! apart.

use std::time::Duration;

use quietcore_boot::board::UNIT_NS;
use quietcore_exchange::{Region, TaskState};
use quietcore_record::histogram::Histogram;
use quietcore_units::{ByteSize, Nanos, ThreadRequest};
use serde::{Deserialize, Serialize};

use super::ProbeError;
use super::hypervisor::ProbeGuest;
use super::job::{IrqJob, JOB_BYTES_MAX, encode};
use super::runner::{GuestError, GuestFacts};
use crate::measurement::{
    AnyMeasurement, Measurement, MeasurementError, MeasurementProgress, OpenExchange,
};

/// Number of interrupts in the published figures.
pub const PUBLISHED_INTERRUPTS: u64 = 10_000;
/// The period of the published figures.
pub const PUBLISHED_PERIOD: Nanos = Nanos::from_millis(10);
/// The shortest period that can be asked for.
pub const PERIOD_MIN: Nanos = Nanos::from_micros(10);
/// The longest period that can be asked for.
pub const PERIOD_MAX: Nanos = Nanos::from_secs(1);
/// The most interrupts that can be asked for.
pub const INTERRUPTS_MAX: u64 = 1_000_000_000;

/// The unit in which the board counts.
const UNIT: Nanos = Nanos::new(UNIT_NS);
const MEMORY: ByteSize = ByteSize::new(4 << 20);

/// The plan of a measurement of interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IrqPlan {
    /// Time between two interrupts, [`PERIOD_MIN`] to [`PERIOD_MAX`], in steps of 10 ns.
    pub period: Nanos,
    /// Number of interrupts to measure.
    pub interrupts: u64,
    /// Interrupts to take before the measured ones.
    pub warm_up: u64,
    /// CPU and scheduling of the thread that runs the guest's processor.
    pub thread: ThreadRequest,
    /// CPU and scheduling of the board's thread.
    pub board: ThreadRequest,
    /// `true` if the guest keeps its processor while it waits.
    pub polls: bool,
}

/// The results of a measurement of interrupts.
#[derive(Clone, Debug)]
pub struct IrqMeasured {
    /// Times from the instant at which the interrupt was raised to the first statement of the ISR.
    pub response: Histogram,
    /// Times since that instant as the ISR read them from the board's register, in ns.
    pub register: Histogram,
    /// Times from before ActivateTask in the ISR to the first statement of the task.
    pub switch: Histogram,
    /// Times from the instant at which the interrupt was raised to the first statement of the task.
    pub whole: Histogram,
    /// Interrupts that came before the task of the previous one was through, or never came.
    pub left_out: u64,
    /// `true` if it came to its end.
    pub finished: bool,
}

impl From<IrqPlan> for AnyMeasurement {
    fn from(plan: IrqPlan) -> Self {
        Self::Interrupts(plan)
    }
}

impl Measurement for IrqPlan {
    type Outcome = GuestFacts;

    fn carry_out(
        &self,
        exchange: &OpenExchange<'_>,
        look: &mut dyn FnMut(MeasurementProgress) -> bool,
    ) -> Result<GuestFacts, MeasurementError> {
        let look = |done, worst| look(MeasurementProgress { series: 0, done, worst });
        Ok(measure(self, exchange, look)?)
    }
}

/// Measures interrupts; the times lie in `exchange` at the end. `look` is called now and then with
/// the interrupts taken so far and the longest response; it returns `true` to end early.
///
/// # Errors
/// Returns [`ProbeError`] when the guest did not end as it should.
pub fn measure(
    plan: &IrqPlan,
    exchange: &OpenExchange<'_>,
    mut look: impl FnMut(u64, Nanos) -> bool,
) -> Result<GuestFacts, ProbeError> {
    let job = IrqJob {
        period: u32::try_from(plan.period.whole_times(UNIT)).unwrap_or(u32::MAX),
        interrupts: plan.interrupts,
        warm_up: plan.warm_up,
    };
    if !exchange.hypervisor.has_boards() {
        let why = "a guest of this hypervisor has no clock board, which would interrupt it";
        return Err(GuestError::Other(why.to_owned()).into());
    }
    let mut place = [0; JOB_BYTES_MAX];
    let guest = ProbeGuest {
        image: quietcore_guests::IRQ,
        job: encode(&job, &mut place)?,
        memory: MEMORY,
        thread: plan.thread,
        takes: Duration::from_nanos((plan.period * (plan.interrupts + plan.warm_up)).get()),
        doorbells: &[],
        board: Some(plan.board),
        polls: plan.polls,
        network: None,
    };
    let mut look = |region: &Region<'_>| {
        let (taken, longest) = so_far(region);
        look(taken, longest)
    };
    Ok(exchange.hypervisor.run(&guest, exchange, &mut look)?)
}

fn so_far(region: &Region<'_>) -> (u64, Nanos) {
    let Some(task) = region.task(0).filter(|task| task.state() != TaskState::Starting) else {
        return (0, Nanos::ZERO);
    };
    let totals = task.release().totals();
    (totals.count, Nanos::new(totals.max_ns))
}

/// Reads the times that a guest left in its exchange.
///
/// # Errors
/// Returns [`ProbeError::Unreadable`] when they contradict each other.
pub fn read(region: &Region<'_>) -> Result<IrqMeasured, ProbeError> {
    let wrong = |error: String| ProbeError::Unreadable(error);
    let task = region.task(0).ok_or_else(|| wrong("there are none".to_owned()))?;
    let copy = |shared| Histogram::from_exchange(shared).map_err(|error| wrong(error.to_string()));
    let counters = task.scan_counters().map_err(|error| wrong(error.to_string()))?;
    Ok(IrqMeasured {
        response: copy(task.release())?,
        register: copy(task.wakeup())?,
        switch: copy(task.execution())?,
        whole: copy(task.response())?,
        left_out: counters.skipped_releases,
        finished: task.state() == TaskState::Finished,
    })
}
