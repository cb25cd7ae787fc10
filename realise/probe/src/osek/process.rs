//! Routines on the hosted port, measured in a process of their own.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use quietcore_units::{Nanos, ThreadRequest};
use serde::{Deserialize, Serialize};

use super::{ClockUsed, Measured, Plan, Progress, measure};
use crate::measurement::{
    AnyMeasurement, Measurement, MeasurementError, MeasurementProgress, OpenExchange,
};

/// Time between two looks at the progress.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The plan of a measurement of routines, with the thread and the clock that measure them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoutinesPlan {
    /// The series, and the kernel that is measured.
    pub plan: Plan,
    /// The thread that measures.
    pub thread: ThreadRequest,
    /// The clock, which was calibrated before.
    pub clock: ClockUsed,
}

impl From<RoutinesPlan> for AnyMeasurement {
    fn from(plan: RoutinesPlan) -> Self {
        Self::Routines(plan)
    }
}

impl Measurement for RoutinesPlan {
    type Outcome = Measured;

    fn carry_out(
        &self,
        _: &OpenExchange<'_>,
        look: &mut dyn FnMut(MeasurementProgress) -> bool,
    ) -> Result<Measured, MeasurementError> {
        let progress = Arc::new(Progress::default());
        let measured = thread::scope(|scope| {
            let run = scope.spawn(|| measure(&self.plan, self.thread, self.clock, &progress));
            while !run.is_finished() {
                thread::sleep(LOOK_EVERY);
                progress.stop.store(look(so_far(&progress, self.clock.hertz())), Relaxed);
            }
            run.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        Ok(measured?)
    }
}

fn so_far(progress: &Progress, hertz: u64) -> MeasurementProgress {
    let worst = progress.worst.load(Relaxed) as f64 * 1e9 / hertz.max(1) as f64;
    MeasurementProgress {
        series: progress.series.load(Relaxed),
        done: progress.done.load(Relaxed),
        worst: Nanos::new(worst as u64),
    }
}
