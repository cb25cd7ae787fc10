//! The patience with a run: a limit until every partition has begun, and one from there to its end.
//!
//! ```text
//! started ── boot, initialize, warm-up ──► all have begun ── the run's time ──► end
//!    │ at most BEGIN_MAX and the warm-up │                │ OVERTIME_MAX beyond │
//! ```
//!
//! A guest boots before its first cycle, an emulated one for a minute, so that the run's own time
//! says nothing about how long that may take.

use quietcore_exchange::TaskState;
use quietcore_units::Nanos;

use super::{BEGIN_MAX, MeasureError, OVERTIME_MAX};
use crate::run::Run;
use crate::world::Process;

/// The limit that holds at present.
#[derive(Debug)]
pub(super) struct Patience {
    began: Nanos,
    /// `true` once every partition has begun, or the run is to end.
    has_begun: bool,
    end: Nanos,
}

impl Patience {
    /// Begins at `now`, when the partitions were started.
    pub(super) fn new(run: &Run, now: Nanos) -> Self {
        let warm_ups = run
            .partitions
            .iter()
            .map(|partition| partition.work.duration().saturating_sub(partition.work.measured()));
        let warm_up = warm_ups.max().unwrap_or_default();
        Self { began: now, has_begun: false, end: now + BEGIN_MAX + warm_up }
    }

    /// Counts from now, as the run was told to end.
    pub(super) fn cut_short(&mut self, now: Nanos) {
        (self.has_begun, self.end) = (true, now + OVERTIME_MAX);
    }

    /// Looks whether all partitions have begun, and whether the limit has passed.
    ///
    /// # Errors
    /// [`MeasureError::NotBegun`] of the first that has not begun in time, [`MeasureError::Hung`]
    /// when the run has not ended in time.
    pub(super) fn look(
        &mut self,
        run: &Run,
        partitions: &[Box<dyn Process>],
        now: Nanos,
    ) -> Result<(), MeasureError> {
        let late = || partitions.iter().position(|partition| !has_begun(&**partition));
        if !self.has_begun && late().is_none() {
            (self.has_begun, self.end) = (true, now + run.duration() + OVERTIME_MAX);
        }
        if now <= self.end {
            return Ok(());
        }
        match late().filter(|_| !self.has_begun) {
            Some(index) => Err(MeasureError::NotBegun {
                partition: run.partitions[index].name.clone(),
                waited: now.saturating_sub(self.began),
            }),
            None => Err(MeasureError::Hung { overtime: OVERTIME_MAX }),
        }
    }
}

/// Returns `true` if the leading task of a partition runs, or has run.
fn has_begun(partition: &dyn Process) -> bool {
    let lead = partition.region().task(0).map(|lead| lead.state());
    !matches!(lead, None | Some(TaskState::Unused | TaskState::Starting))
}
