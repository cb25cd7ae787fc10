//! What changes a running partition between two cycles of its program: writes, pauses, recordings.

use std::time::{Duration, Instant};

use quietcore_exchange::{Command, Outcome, Target, TraceConfiguration, TracePlace, WhyRejected};
use quietcore_wording::plural;

use super::Kept;
use super::incarnation::Incarnation;
use crate::control::{Applied, ControlError, ErrorKind, Severity, Trace, TraceStarted};

/// How long a group of commands may wait for its cycle, beside a period.
pub(super) const ANSWER_MAX: Duration = Duration::from_secs(2);
/// How often an answer is looked for.
const GLANCE: Duration = Duration::from_micros(200);
/// Groups of commands that are still waited for.
const LATE_MAX: usize = 64;

/// Variables of a group that an event names.
const TOLD_MAX: usize = 8;

/// Commands that no cycle took in time, and may still take.
pub(super) struct LateCommands {
    ticket: u32,
    commands: Vec<Command>,
    paths: Vec<String>,
}

impl Kept {
    /// Publishes commands as one group and waits for their cycle. `paths` are the names of their
    /// variables.
    pub(super) fn write(
        &mut self,
        life: &mut Incarnation<'_>,
        commands: Vec<Command>,
        paths: Vec<String>,
        generation: u32,
    ) -> Result<Applied, ControlError> {
        let place = &self.setup.partition.name;
        self.refuse_shed()?;
        let is_force = |command: &Command| matches!(command, Command::Force(_));
        if life.pending.is_some() && commands.iter().any(is_force) {
            // The places of its forces were chosen when it was staged.
            let what = "another build is on its way, and its swap would end the force";
            return Err(ControlError::new(ErrorKind::Busy, place, what, "wait for it"));
        }
        let ticket = life.commands.publish(&commands, generation).map_err(|error| {
            ControlError::new(ErrorKind::NotNow, place, error.to_string(), "try again")
        })?;
        let patience = ANSWER_MAX + self.period();
        let end = Instant::now() + patience;
        let outcomes = life.region.outcomes();
        // Looked at before each look for the outcome: its last cycle may have taken them.
        while Instant::now() < end {
            let is_over = life.process.is_over();
            let outcome = outcomes.and_then(|outcomes| outcomes.outcome(ticket));
            match outcome {
                Some(Outcome { cycle, result: Ok(()) }) => {
                    self.note_applied(life, &commands, &paths, cycle);
                    let overwritten = self.overwritten(&commands, &paths);
                    return Ok(Applied { cycle, overwritten });
                }
                Some(Outcome { result: Err((_, why)), .. }) => return Err(rejected(place, why)),
                None if is_over => {
                    let what = "the partition's process has ended, and no cycle took the change";
                    let remedy = "look with `quietcore ps`";
                    return Err(ControlError::new(ErrorKind::NotNow, place, what, remedy));
                }
                None => std::thread::sleep(GLANCE),
            }
        }
        if life.late.len() < LATE_MAX {
            life.late.push(LateCommands { ticket, commands, paths });
        }
        let what = format!(
            "no cycle took the change within {:.1} s; it may still be applied",
            patience.as_secs_f64()
        );
        Err(ControlError::new(ErrorKind::NotNow, place, what, "look with `quietcore ps`"))
    }

    /// The names of variables that were set, and that the fieldbus writes before each step.
    fn overwritten(&self, commands: &[Command], paths: &[String]) -> Vec<String> {
        let inputs = &self.current.stage.inputs;
        let is_input = |target: &Target| {
            let own = target.offset..target.offset + u32::from(target.bytes);
            inputs
                .iter()
                .any(|it| it.offset < own.end && own.start < it.offset + u32::from(it.bytes))
        };
        let set = commands.iter().zip(paths).filter(|(command, _)| match command {
            Command::Set(assignment) => is_input(&assignment.target),
            _ => false,
        });
        set.map(|(_, path)| path.clone()).collect()
    }

    /// Takes note of what commands that were applied force and release.
    fn note_applied(
        &mut self,
        life: &mut Incarnation<'_>,
        commands: &[Command],
        paths: &[String],
        cycle: u64,
    ) {
        self.forces.note(commands, paths, &self.current.build.symbols);
        self.tell_set(commands, paths, cycle);
        if commands.iter().any(|it| matches!(it, Command::Unforce(_) | Command::UnforceAll)) {
            self.saving.note_release(cycle);
            if let Some(pending) = &mut life.pending {
                pending.forces.keep_those_of(&self.forces);
            }
        }
    }

    /// Tells which variables were set to what: one group a second, with the number of the others,
    /// as a client may set a variable in each cycle.
    fn tell_set(&mut self, commands: &[Command], paths: &[String], cycle: u64) {
        const KIND: &str = "set";
        let symbols = &self.current.build.symbols;
        let told = commands.iter().zip(paths).filter_map(|(command, path)| match command {
            Command::Set(assignment) => {
                let place = symbols.resolve(path).ok()?;
                let value = place.decode(&assignment.value.to_le_bytes())?;
                Some((path, value))
            }
            _ => None,
        });
        let told: Vec<_> = told.collect();
        if told.is_empty() {
            return;
        }
        // As of warnings: what is always told has no pause.
        let pause_of = Severity::Warning;
        let Some(before) = self.quiet.admit(KIND, None, pause_of, Instant::now()) else { return };
        let named = told.iter().take(TOLD_MAX).enumerate().map(|(index, (path, value))| {
            let verb = if index == 0 { "is set to" } else { "to" };
            format!("`{path}` {verb} {value}")
        });
        let mut text = named.collect::<Vec<_>>().join(", ");
        if told.len() > TOLD_MAX {
            text.push_str(&format!(" and {} more", told.len() - TOLD_MAX));
        }
        if before > 0 {
            text.push_str(&format!(" ({before} more like it before)"));
        }
        let (name, now) = (&self.setup.partition.name, jiff::Timestamp::now());
        self.events.add(name, KIND, Severity::Information, &text, Some(cycle), now);
    }

    /// Hears what became of commands that were not taken in time.
    pub(super) fn hear_late(&mut self, life: &mut Incarnation<'_>) {
        let Some(outcomes) = life.region.outcomes() else { return };
        for late in std::mem::take(&mut life.late) {
            match outcomes.outcome(late.ticket) {
                Some(Outcome { cycle, result: Ok(()) }) => {
                    self.note_applied(life, &late.commands, &late.paths, cycle);
                }
                Some(Outcome { result: Err(_), .. }) => {}
                None => life.late.push(late),
            }
        }
    }

    /// Holds the program between two cycles, or lets it go on, and waits for that.
    pub(super) fn pause(
        &mut self,
        life: &mut Incarnation<'_>,
        pause: bool,
    ) -> Result<(), ControlError> {
        let place = &self.setup.partition.name;
        self.refuse_shed()?;
        if pause && life.pending.is_some() {
            let what = "another build is on its way, and comes with a cycle";
            return Err(ControlError::new(ErrorKind::Busy, place, what, "wait for it"));
        }
        life.region.request_pause(pause);
        let patience = ANSWER_MAX + self.period();
        let end = Instant::now() + patience;
        while life.region.is_paused() != pause {
            if Instant::now() >= end {
                // What was refused must not come later.
                life.region.request_pause(!pause);
                let what =
                    format!("no cycle took note of it within {:.1} s", patience.as_secs_f64());
                return Err(ControlError::new(ErrorKind::NotNow, place, what, "try again"));
            }
            std::thread::sleep(GLANCE);
        }
        Ok(())
    }

    /// Why nothing can be changed now: the partition is held for another one.
    fn refuse_shed(&self) -> Result<(), ControlError> {
        let Some(by) = self.shed_by() else { return Ok(()) };
        let what = format!("the partition is shed for `{by}`");
        let remedy = "it is given back when that one is on time again; try again then";
        Err(ControlError::new(ErrorKind::NotNow, &self.setup.partition.name, what, remedy))
    }

    /// Why a change that needs a cycle can't be made now: the program is held.
    pub(super) fn refuse_paused(&self, life: &Incarnation<'_>) -> Result<(), ControlError> {
        self.refuse_shed()?;
        if !life.region.is_paused() {
            return Ok(());
        }
        let place = &self.setup.partition.name;
        let remedy = format!("let it go on with `quietcore resume {place}`");
        Err(ControlError::new(ErrorKind::NotNow, place, "the partition is paused", remedy))
    }

    /// Refuses another build while the one that runs is on probation, and the one before is kept
    /// for it.
    pub(super) fn refuse_on_probation(&self, life: &Incarnation<'_>) -> Result<(), ControlError> {
        let Some((cycles, left)) = self.probation_left(life) else { return Ok(()) };
        let generation = self.current.stage.generation;
        let s = plural(cycles);
        let what = format!(
            "build {generation} is on probation for another {left} ({cycles} cycle{s}), and the \
             one before is kept for it"
        );
        let place = &self.setup.partition.name;
        Err(ControlError::new(ErrorKind::Busy, place, what, "try again then"))
    }

    pub(super) fn trace_start(
        &mut self,
        life: &mut Incarnation<'_>,
        trace: &Trace,
    ) -> Result<TraceStarted, ControlError> {
        self.refuse_paused(life)?;
        let place = &self.setup.partition.name;
        let bad = |what: String| ControlError::new(ErrorKind::BadValue, place, what, "");
        let mut places = Vec::new();
        for path in &trace.variables {
            let found = self.current.build.symbols.resolve(path).map_err(|error| {
                ControlError::new(ErrorKind::NoVariable, path, error.to_string(), "")
            })?;
            places.push(TracePlace { offset: found.offset, bytes: found.bytes() as u8 });
        }
        let generation = self.current.stage.generation;
        let configuration = TraceConfiguration::new(&places, u64::from(trace.every), generation)
            .map_err(|error| bad(error.to_string()))?;
        let task = trace.task;
        let cycle = life.region.task(task).and_then(|task| task.counters().ok());
        let requester = life
            .traces
            .get_mut(task as usize)
            .ok_or_else(|| bad(format!("there is no task {task}")))?;
        requester.ask(&configuration);
        let cycle = cycle.map_or(0, |counters| counters.cycles);
        let started = TraceStarted { generation, cycle };
        let period = self.setup.tasks.get(task as usize).map_or(0, |task| task.period.get());
        if period == 0 {
            // Nobody knows when its next job comes; the request stands until then.
            return Ok(started);
        }
        let end = Instant::now() + ANSWER_MAX + Duration::from_nanos(period);
        let refusal = loop {
            match requester.answer() {
                Some(Ok(())) => return Ok(started),
                Some(Err(why)) => break rejected(place, why),
                None if Instant::now() < end => std::thread::sleep(GLANCE),
                None => {
                    let what = "the task runs no cycles";
                    break ControlError::new(ErrorKind::NotNow, place, what, "");
                }
            }
        };
        // What was refused must not begin later.
        requester.ask(&TraceConfiguration::OFF);
        Err(refusal)
    }
}

fn rejected(place: &str, why: WhyRejected) -> ControlError {
    let kind = match why {
        WhyRejected::OutOfData | WhyRejected::BadSize | WhyRejected::NoBits => ErrorKind::BadValue,
        _ => ErrorKind::NotNow,
    };
    ControlError::new(kind, place, why.to_string(), "")
}
