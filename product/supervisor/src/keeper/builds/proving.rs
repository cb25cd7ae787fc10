//! The probation of a deployed build: the client that deployed it may wait for its end.
//!
//! ```text
//! swapped ──► on probation ── its cycles pass ──► passed
//!                  │ fault or process lost ─────► taken back, with the reason
//!                  └ held by `pause` or shed ───► answered at once: nobody knows how long
//! ```

use quietcore_units::Nanos;

use crate::control::{Deployed, Probation, Severity};
use crate::keeper::Kept;
use crate::keeper::incarnation::Incarnation;
use crate::keeper::request::Caller;

/// A build whose client waits for the end of its probation.
pub(in crate::keeper) struct Proving {
    pub(in crate::keeper) caller: Caller,
    pub(in crate::keeper) deployed: Deployed,
}

impl Proving {
    fn answer(mut self, probation: Probation) {
        self.deployed.probation = probation;
        self.caller.answer(Ok(self.deployed));
    }
}

impl Kept {
    /// Returns the cycles and the time that are left of the probation of the build that runs;
    /// `None` if it is not on probation.
    pub(in crate::keeper) fn probation_left(&self, life: &Incarnation<'_>) -> Option<(u64, Nanos)> {
        self.before.as_ref()?;
        let cycle = life.region.task(0).map_or(0, |task| task.scan_cycle());
        let cycles = self.probation_end.checked_sub(cycle).filter(|cycles| *cycles > 0)?;
        Some((cycles, self.setup.partition.program.period * cycles))
    }

    /// Ends a probation that was passed, and the wait for one whose end can't be told.
    pub(in crate::keeper) fn look_after_probation(&mut self, life: &Incarnation<'_>) {
        let left = self.probation_left(life);
        if left.is_none() && self.before.is_some() && life.region.fault().is_none() {
            self.before = None;
            self.forces.forget_dormant();
            let generation = self.current.stage.generation;
            let text = format!("build {generation} has passed its probation");
            self.events.note(&self.setup.partition.name, "probation", Severity::Information, &text);
        }
        let Some(proving) = &self.proving else { return };
        if self.current.stage.generation != proving.deployed.generation {
            return;
        }
        let is_held = life.region.is_paused() || self.shed_by().is_some();
        let fate = match (left, &life.fault) {
            // This build failed and had nothing to go back to.
            (None, Some((why, _))) => Some(Probation::Failed { why: why.clone() }),
            (Some((cycles, left)), None) if is_held => Some(Probation::Running { cycles, left }),
            (None, None) if life.region.fault().is_none() => Some(Probation::Passed),
            _ => None,
        };
        if let Some(fate) = fate {
            self.end_proving(fate);
        }
    }

    /// Tells the client that waits for the end of a probation how it ended.
    pub(in crate::keeper) fn end_proving(&mut self, fate: Probation) {
        if let Some(proving) = self.proving.take() {
            proving.answer(fate);
        }
    }
}
