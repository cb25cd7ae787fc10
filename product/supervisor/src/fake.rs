//! A site without partitions: it notes what it is asked, and fails where it is told to.

mod program;

use std::fs::File;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::control::{
    Applied, Asked, Asker, Change, ChangeKind, ChannelUse, ControlError, DeployPatience, Done,
    Effect, ErrorKind, EventLine, Opened, PartitionState, Partitions, Paused, Refusal, Trace,
    TraceStarted, Verb, WhyNoEffect,
};
use crate::host_channel::SiteChannels;
use crate::site::{Answered, Site};

pub use crate::control::samples::{deployed, event, opened, partitions};
pub use program::FakeProgram;

/// A site file with channels that programs of the host reach, and one that they only follow.
pub const CHANNELS: &str = include_str!("fake/channels.toml");

/// Answers of a fake site, and the requests that it has got.
#[derive(Debug, Default)]
pub struct FakeState {
    /// Name of the site.
    pub name: String,
    /// States of its partitions, as `ps` shows them.
    pub partitions: Vec<PartitionState>,
    /// Answer to `open`, and the file that goes with it.
    pub opened: Option<(Opened, File)>,
    /// Program that runs as partition `axis`, in place of `opened`.
    pub program: Option<FakeProgram>,
    /// Events that have happened so far.
    pub events: Vec<EventLine>,
    /// Error that every request gets instead of its answer, if it can fail.
    pub refusal: Option<ControlError>,
    /// Requests in the order in which they came, in a short form.
    pub asked: Vec<String>,
    /// Client that has asked last.
    pub by: Option<Asker>,
    /// Cycle in which the next group of changes acts.
    pub cycle: u64,
    /// Lines about settings of the machine that have drifted.
    pub drift: Vec<String>,
    /// Channels of the site, as [`channels`] makes them.
    pub channels: Option<SiteChannels>,
    /// Variables that the fieldbus is said to write.
    pub overwritten: Vec<String>,
}

/// A site that does nothing but answer and take notes.
#[derive(Debug, Default)]
pub struct FakeSite {
    state: Mutex<FakeState>,
}

impl FakeSite {
    /// Makes a site with the partitions of [`partitions`].
    pub fn new() -> Self {
        let name = "line".to_owned();
        let partitions = partitions();
        let state = FakeState { name, partitions, cycle: 1000, ..FakeState::default() };
        Self { state: Mutex::new(state) }
    }

    /// Makes the same site, with a program that really runs as `axis`.
    pub fn with_program(program: FakeProgram) -> Self {
        let site = Self::new();
        site.state().program = Some(program);
        site
    }

    /// Locks its state, to be changed or looked at.
    pub fn state(&self) -> MutexGuard<'_, FakeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the request, and refuses it where a refusal is set or there is no such partition.
    fn ask_of(
        &self,
        partition: &str,
        asked: String,
    ) -> Result<MutexGuard<'_, FakeState>, ControlError> {
        let mut state = self.state();
        state.asked.push(asked);
        if let Some(refusal) = &state.refusal {
            return Err(refusal.clone());
        }
        if !state.partitions.iter().any(|it| it.name == partition) {
            let names = state.partitions.iter().map(|it| it.name.as_str());
            return Err(ControlError::no_partition(partition, names));
        }
        Ok(state)
    }

    fn write(
        &self,
        partition: &str,
        changes: Vec<Change>,
        confirm: bool,
    ) -> Result<Applied, ControlError> {
        let written = changes.iter().map(|change| {
            let value = change.value.as_deref().unwrap_or("–");
            format!("{:?} {} {value}", change.kind, change.variable)
        });
        let written = written.collect::<Vec<_>>().join(", ");
        let mut state = self.ask_of(partition, format!("write {partition}: {written}"))?;
        state.cycle += 1;
        let cycle = state.cycle;
        let mut effects = match &state.program {
            Some(program) => program.change(changes, confirm)?,
            None => changes.into_iter().map(unseen).collect(),
        };
        for effect in &mut effects {
            if state.overwritten.contains(&effect.change.variable) {
                effect.without_effect = Some(WhyNoEffect::WrittenByFieldbus);
            }
        }
        Ok(Applied { cycle, effects })
    }

    fn unforce_all(&self, partition: &str) -> Result<Applied, ControlError> {
        let mut state = self.ask_of(partition, format!("unforce-all {partition}"))?;
        state.cycle += 1;
        let effects = match &state.program {
            Some(program) => program.release_all()?,
            None => Vec::new(),
        };
        Ok(Applied { cycle: state.cycle, effects })
    }

    fn open(&self, partition: &str) -> Result<Answered, ControlError> {
        let state = self.ask_of(partition, format!("open {partition}"))?;
        if let Some(program) = state.program.as_ref().filter(|_| partition == "axis") {
            let opened = program.opened(&state.name, partition);
            let opened = opened.map_err(|error| failed(partition, error.to_string()))?;
            return Ok(Answered::opened(opened));
        }
        let (opened, file) = state.opened.as_ref().ok_or_else(|| {
            ControlError::new(ErrorKind::NotNow, partition, "it does not run", "")
        })?;
        let file = file.try_clone().map_err(|error| failed(partition, error.to_string()))?;
        Ok(Answered::opened((opened.clone(), file)))
    }

    fn trace_start(&self, partition: &str, trace: &Trace) -> Result<TraceStarted, ControlError> {
        let Trace { variables, every, task } = trace;
        let names = variables.join(" ");
        let asked = format!("trace-start {partition}: {names}, every {every} of task {task}");
        let state = self.ask_of(partition, asked)?;
        let Some(program) = &state.program else {
            return Ok(TraceStarted { generation: 1, cycle: state.cycle });
        };
        program.trace(trace)?;
        Ok(TraceStarted { generation: program.generation(), cycle: 0 })
    }

    fn trace_stop(&self, partition: &str) -> Result<Done, ControlError> {
        let state = self.ask_of(partition, format!("trace-stop {partition}"))?;
        if let Some(program) = &state.program {
            program.trace(&Trace { variables: Vec::new(), every: 1, task: 0 })?;
        }
        Ok(Done {})
    }

    fn pause(&self, partition: &str, is_paused: bool) -> Result<Paused, ControlError> {
        let what = if is_paused { "pause" } else { "resume" };
        let state = self.ask_of(partition, format!("{what} {partition}"))?;
        let known = state.partitions.iter().find(|it| it.name == partition);
        let has_fieldbus = known.is_some_and(|it| it.fieldbus.is_some());
        let was_paused = known.is_some_and(|it| it.state == crate::control::Activity::Paused);
        Ok(Paused { is_paused, was_paused, has_fieldbus })
    }
}

impl Site for FakeSite {
    fn ask(&self, asked: Asked, progress: &mut dyn FnMut(&str)) -> Result<Answered, ControlError> {
        let Asked { by, partition, verb } = asked;
        self.state().by = Some(by);
        let partition = partition.as_str();
        Ok(match verb {
            Verb::Open => return self.open(partition),
            Verb::Write { changes, confirm } => self.write(partition, changes, confirm)?.into(),
            Verb::UnforceAll => self.unforce_all(partition)?.into(),
            Verb::TraceStart { trace } => self.trace_start(partition, &trace)?.into(),
            Verb::TraceStop => self.trace_stop(partition)?.into(),
            Verb::Deploy { folder, patience } => {
                let waits = match patience {
                    DeployPatience::UntilItRuns => "",
                    DeployPatience::UntilProven => ", until proven",
                };
                let asked = format!("deploy {partition} {}{waits}", folder.display());
                drop(self.ask_of(partition, asked)?);
                progress("building");
                progress("staged");
                deployed().into()
            }
            Verb::Pause => self.pause(partition, true)?.into(),
            Verb::Resume => self.pause(partition, false)?.into(),
            // All other verbs are answered only with their being done.
            other => {
                drop(self.ask_of(partition, format!("{partition}: {other:?}"))?);
                Done {}.into()
            }
        })
    }

    fn channel(
        &self,
        channel: &str,
        usage: ChannelUse,
        by: &Asker,
    ) -> Result<Answered, ControlError> {
        let mut state = self.state();
        state.by = Some(by.clone());
        state.asked.push(format!("channel {channel}: {usage:?}"));
        match &state.channels {
            Some(channels) => channels.open(channel, usage),
            None => Err(ControlError::no_channel(channel, [])),
        }
    }

    fn partitions(&self) -> Partitions {
        let state = self.state();
        Partitions { partitions: state.partitions.clone(), drift: state.drift.clone() }
    }

    fn events(&self, since: u64) -> Vec<EventLine> {
        self.state().events.iter().filter(|event| event.sequence >= since).cloned().collect()
    }

    fn down(&self, by: &Asker) {
        let mut state = self.state();
        state.by = Some(by.clone());
        state.asked.push("down".to_owned());
    }
}

/// Makes the channels of a site file. Fails as `up` does where one can't be.
pub fn channels(site: &quietcore_site::Site) -> SiteChannels {
    SiteChannels::of(site).unwrap_or_else(|(channel, error)| panic!("{channel}: {error}"))
}

/// Returns the effect of a change whose variable nobody has read.
fn unseen(change: Change) -> Effect {
    let new = change.value.clone().filter(|_| change.kind != ChangeKind::Unforce);
    Effect { change, old: None, new, without_effect: None }
}

fn failed(partition: &str, what: String) -> ControlError {
    Refusal::Failed { what }.at(partition)
}
