//! Neighbours that are told their pace and asked for their work.

use std::thread;
use std::time::Duration;

use quietcore_backend::neighbour::{NeighbourJob, NeighbourWork, Order};
use quietcore_clock::{Clock as _, Monotonic};
use quietcore_load::Achieved;
use quietcore_record::reason::RunProblem;
use quietcore_units::{Causes, Nanos};

use super::{Neighbours, Running};
use crate::measure::MeasureError;

/// Longest time until a neighbour has answered: the workers of an emulated guest are slow.
const ANSWER_MAX: Nanos = Nanos::from_secs(60);
/// Time between two looks at the answers; a block is a few milliseconds long.
const LOOK: Duration = Duration::from_micros(200);

impl Neighbours {
    /// Gives all of them an order and waits for their answers. Returns what they did since those
    /// before, as the work of one load.
    ///
    /// # Errors
    /// [`MeasureError::Neighbour`] when one has ended, does not answer or can't keep its pace.
    pub(crate) fn order(&mut self, order: Order) -> Result<Achieved, MeasureError> {
        let tickets: Vec<u32> =
            self.0.iter().map(|running| running.order(order)).collect::<Result<_, _>>()?;
        let end = Monotonic.now() + ANSWER_MAX;
        let mut whole: Option<Achieved> = None;
        for (running, ticket) in self.0.iter_mut().zip(tickets) {
            let work = running.answer(ticket, end)?;
            let problem = work.problems.first().cloned();
            if let (Some(because), Order::Pace(_)) = (&problem, order) {
                return Err(running.failed(because.clone()));
            }
            work.problems.into_iter().for_each(|problem| running.found.note(problem));
            let Some((_, achieved)) = work.achieved.into_iter().next() else {
                let silent = || "it answered without any work".to_owned();
                return Err(running.failed(problem.unwrap_or_else(silent)));
            };
            whole = Some(match whole {
                Some(others) => together(others, achieved),
                None => achieved,
            });
        }
        whole.ok_or(MeasureError::Empty)
    }

    /// Returns what was wrong with the first of them that was not as asked; `None` where all were.
    pub(crate) fn trouble(&self) -> Option<RunProblem> {
        let mut troubled = self.0.iter().filter(|running| !running.found.problems.is_empty());
        troubled.next().map(|running| RunProblem::NeighbourIncomplete {
            neighbour: running.found.run.name.clone(),
            problems: running.found.problems.clone(),
        })
    }
}

impl Running {
    fn order(&self, order: Order) -> Result<u32, MeasureError> {
        let ticket = NeighbourJob::order(self.process.region(), order);
        ticket.map_err(|error| self.failed(error.to_string()))
    }

    fn answer(&mut self, ticket: u32, end: Nanos) -> Result<NeighbourWork, MeasureError> {
        loop {
            let region = self.process.region();
            if let Some(work) = self.job.answer(region, ticket, self.found.run.cpus) {
                return Ok(work);
            }
            match self.process.has_ended() {
                Ok(false) => {}
                Ok(true) => return Err(self.failed("it ended by itself".to_owned())),
                Err(error) => return Err(self.failed(Causes(&error).to_string())),
            }
            if Monotonic.now() > end {
                let guest = self.found.run.processors.is_some();
                let old = if guest { "; its image may be too old: build it again" } else { "" };
                return Err(self.failed(format!("it has not answered within {ANSWER_MAX}{old}")));
            }
            thread::sleep(LOOK);
        }
    }

    fn failed(&self, because: String) -> MeasureError {
        MeasureError::NeighbourFailed { neighbour: self.found.run.name.clone(), because }
    }
}

/// Adds the work of another neighbour of the same kind in the same interval.
fn together(mut one: Achieved, other: Achieved) -> Achieved {
    one.workers += other.workers;
    one.workers_alive += other.workers_alive;
    one.workers_stalled += other.workers_stalled;
    one.cpus = one.cpus.union(&other.cpus);
    one.interval = one.interval.max(other.interval);
    one.operations_per_second += other.operations_per_second;
    let bytes = one.bytes_per_second.zip(other.bytes_per_second);
    one.bytes_per_second = bytes.map(|(one, other)| one + other);
    one.cpu_share += other.cpu_share;
    one.faults.extend(other.faults);
    one
}

#[cfg(test)]
mod tests {
    use quietcore_site::LoadKind;

    use super::*;

    #[test]
    fn the_work_of_neighbours_adds_up() {
        let one = |millis, bytes| Achieved {
            kind: LoadKind::MemoryBandwidth,
            workers: 1,
            workers_alive: 1,
            workers_stalled: 0,
            size: None,
            cpus: "1".parse().unwrap(),
            interval: Nanos::from_millis(millis),
            operations_per_second: 10.0,
            unit: "blocks/s".into(),
            bytes_per_second: Some(bytes),
            cpu_share: 0.5,
            faults: Vec::new(),
        };
        let both = together(one(5, 1e9), one(6, 2e9));
        assert_eq!((both.workers, both.workers_alive), (2, 2));
        assert_eq!((both.bytes_per_second, both.cpu_share), (Some(3e9), 1.0));
        assert_eq!(both.interval, Nanos::from_millis(6));
        assert!(both.is_complete());
    }
}
