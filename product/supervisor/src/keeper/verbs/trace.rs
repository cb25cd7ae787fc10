//! `trace-start` and `trace-stop`: record variables in the exchange's trace ring.

use std::time::Duration;

use quietcore_exchange::{TraceConfiguration, TracePlace, TraceRequester};

use super::{ANSWER_MAX, rejected};
use crate::control::{ControlError, Refusal, Trace, TraceStarted};
use crate::keeper::Kept;
use crate::keeper::incarnation::Incarnation;

impl Incarnation<'_> {
    /// Stops the recordings of all tasks.
    pub(super) fn stop_traces(&mut self) {
        for trace in &mut self.traces {
            trace.ask(&TraceConfiguration::OFF);
        }
    }
}

impl Kept {
    pub(super) fn trace_start(
        &mut self,
        life: &mut Incarnation<'_>,
        trace: &Trace,
    ) -> Result<TraceStarted, ControlError> {
        self.refuse_paused(life)?;
        let place = &self.setup.partition.name.clone();
        let mut places = Vec::new();
        for path in &trace.variables {
            let found = self.current.build.symbols.resolve(path);
            let found =
                found.map_err(|error| Refusal::NoVariable { why: error.to_string() }.at(path))?;
            places.push(TracePlace { offset: found.offset, bytes: found.bytes() as u8 });
        }
        let generation = self.current.stage.generation;
        let configuration = TraceConfiguration::new(&places, u64::from(trace.every), generation)
            .map_err(|error| Refusal::BadValue { why: error.to_string() }.at(place))?;
        let task = trace.task;
        let cycle = life.region.task(task).and_then(|task| task.counters().ok());
        let requester = life.traces.get_mut(task as usize);
        let requester = requester.ok_or_else(|| Refusal::NoTask { task }.at(place))?;
        requester.ask(&configuration);
        let cycle = cycle.map_or(0, |counters| counters.cycles);
        let started = TraceStarted { generation, cycle };
        let period = self.setup.tasks.get(task as usize).map_or(0, |task| task.period.get());
        if period == 0 {
            // Nobody knows when its next job comes; the request stands until then.
            return Ok(started);
        }
        let end = self.world.now() + ANSWER_MAX + Duration::from_nanos(period);
        let refusal = loop {
            let answer = life.traces.get(task as usize).and_then(TraceRequester::answer);
            match answer {
                Some(Ok(())) => return Ok(started),
                Some(Err(why)) => break rejected(place, why),
                None if self.world.now() < end => self.glance(life),
                None => break Refusal::NoCycles.at(place),
            }
        };
        // What was refused must not begin later.
        if let Some(requester) = life.traces.get_mut(task as usize) {
            requester.ask(&TraceConfiguration::OFF);
        }
        Err(refusal)
    }
}
