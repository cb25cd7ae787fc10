//! The verbs that change a running partition or show it, one module a group, and the one function
//! that hands each its request.

mod confirm;
mod pause;
mod trace;
mod write;

use std::fs::File;
use std::time::Duration;

use quietcore_exchange::WhyRejected;
use quietcore_units::Nanos;

pub(super) use confirm::Confirming;
pub(super) use write::LateCommands;

use super::Kept;
use super::builds::pending::Answering;
use super::incarnation::Incarnation;
use super::request::Request;
use crate::control::{ControlError, Done, ErrorKind, Opened, Refusal, Verb};
use crate::site::Answered;

/// Longest wait of a group of commands for its cycle, beyond a period.
pub(super) const ANSWER_MAX: Duration = Duration::from_secs(2);
/// Pause between two looks for an answer.
const GLANCE: Duration = Duration::from_micros(200);

impl Kept {
    /// Serves one request of a partition whose process runs.
    pub(super) fn serve(&mut self, life: &mut Incarnation<'_>, request: Request) {
        let Request { verb, prepared, caller } = request;
        match verb {
            Verb::Open => caller.answer(self.open(life).map(Answered::opened)),
            Verb::Write { changes, confirm } => self.write(life, changes, confirm, caller),
            Verb::UnforceAll => {
                let applied = self.unforce_all(life, &caller.by);
                caller.answer(applied);
            }
            Verb::TraceStart { trace } => caller.answer(self.trace_start(life, &trace)),
            Verb::TraceStop => {
                life.stop_traces();
                caller.answer(Ok(Done {}));
            }
            Verb::Deploy { patience, .. } => match (prepared, self.refuse_held(life)) {
                (_, Some(refusal)) => caller.refuse(refusal),
                (Some(prepared), None) => {
                    self.deploy(life, *prepared, Answering::Deploy { caller, patience });
                }
                (None, None) => {
                    let what = "the program was not built".to_owned();
                    caller.refuse(Refusal::Failed { what }.at(&self.setup.partition.name));
                }
            },
            Verb::Restart { how } => self.restart(life, how, caller),
            Verb::Pause => self.pause(life, true, caller),
            Verb::Resume => self.pause(life, false, caller),
        }
    }

    fn open(&self, life: &Incarnation<'_>) -> Result<(Opened, File), ControlError> {
        let file: std::io::Result<File> = life.exchange.read_only_file();
        let file = file.map_err(|error| {
            let what = format!("no view of it: {error}");
            Refusal::Failed { what }.at(&self.setup.partition.name)
        })?;
        let opened = Opened {
            site: self.setup.site.name().to_owned(),
            partition: self.setup.partition.name.clone(),
            generation: self.current.stage.generation,
            incarnation: self.incarnation,
            symbols: self.current.build.symbols_file.clone(),
            tasks: self.setup.tasks.clone(),
        };
        Ok((opened, file))
    }

    /// Lets a moment pass in a wait for the partition. Retained values are saved meanwhile, since
    /// the wait may take seconds.
    fn glance(&mut self, life: &Incarnation<'_>) {
        self.world.sleep(GLANCE);
        self.save(life, false);
    }

    /// Refuses a change of a partition that is held for another one.
    fn refuse_shed(&self) -> Result<(), ControlError> {
        match self.shed_by() {
            None => Ok(()),
            Some(by) => Err(Refusal::Shed { by }.at(&self.setup.partition.name)),
        }
    }

    /// Refuses a change that needs a cycle while the program is held.
    pub(super) fn refuse_paused(&self, life: &Incarnation<'_>) -> Result<(), ControlError> {
        self.refuse_shed()?;
        if !life.region.is_paused() {
            return Ok(());
        }
        let partition = &self.setup.partition.name;
        Err(Refusal::Paused { partition: partition.clone() }.at(partition))
    }

    /// Refuses another build while the one that runs is on probation, since the one before is kept
    /// for it.
    pub(super) fn refuse_on_probation(&self, life: &Incarnation<'_>) -> Result<(), ControlError> {
        let Some((cycles, left)) = self.probation_left(life) else { return Ok(()) };
        let generation = self.current.stage.generation;
        let refusal = Refusal::OnProbation { generation, cycles, left };
        Err(refusal.at(&self.setup.partition.name))
    }
}

/// Returns the error for a refusal by the partition itself.
fn rejected(place: &str, why: WhyRejected) -> ControlError {
    let kind = match why {
        WhyRejected::OutOfData | WhyRejected::BadSize | WhyRejected::NoBits => ErrorKind::BadValue,
        _ => ErrorKind::NotNow,
    };
    ControlError::new(kind, place, why.to_string(), "")
}

fn nanos(duration: Duration) -> Nanos {
    Nanos::new(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}
