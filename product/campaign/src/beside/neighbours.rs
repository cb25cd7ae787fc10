//! Neighbours of a run: started before its partitions, listened to meanwhile, stopped after them.
//!
//! A neighbour tells by itself what its loads achieve; its exchange and its lines carry that out of
//! a container or a guest. One that ends, says nothing or loses a worker makes the run's records no
//! evidence: the machine was not loaded as the profile says.

mod paced;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use quietcore_backend::job::Job;
use quietcore_backend::neighbour::{NeighbourJob, NeighbourLoad};
use quietcore_backend::process::{PartitionError, Room};
use quietcore_backend::rooms::Rooms;
use quietcore_clock::Clock;
use quietcore_exchange::TaskState;
use quietcore_load::Achieved;
use quietcore_record::reason::RunProblem;
use quietcore_record::record::{LoadAchieved, NeighbourAchieved};
use quietcore_settings::{MemoryShare, ReservedGroup};
use quietcore_units::{Causes, Nanos};

use crate::beside::loads::prolong;
use crate::collect::load_achieved;
use crate::measure::{BEGIN_MAX, Machine, MeasureError};
use crate::observer::Observer;
use crate::run::{NeighbourRun, Run};
use crate::world::{Process, sleep};

/// Time between two looks at a neighbour that starts or stops.
const LOOK: Duration = Duration::from_millis(50);
/// Longest time in which a neighbour may say nothing; it reports once a second.
const SILENT_MAX: Nanos = Nanos::from_secs(15);
/// Longest time that a neighbour may take to stop its workers; after that it is ended.
const STOP_MAX: Nanos = Nanos::from_secs(10);
/// The most problems of a neighbour that are kept.
const PROBLEMS_MAX: usize = 8;

/// The neighbours of a run; none where its profile has none.
#[derive(Debug)]
pub(crate) struct Neighbours(Vec<Running>);

/// The findings about a neighbour over a whole run.
#[derive(Clone, Debug)]
pub(crate) struct NeighbourFound {
    run: NeighbourRun,
    /// Work of each of its loads; `None` where nothing was told of it.
    work: Vec<Option<Achieved>>,
    /// Its problems, each once.
    problems: Vec<String>,
}

/// A neighbour that was started.
struct Running {
    found: NeighbourFound,
    job: NeighbourJob,
    process: Box<dyn Process>,
    /// When it last said something.
    heard: Nanos,
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").field("found", &self.found).finish_non_exhaustive()
    }
}

impl Neighbours {
    /// Starts the neighbours of a run and waits until the loads of all work. Those that have CPUs
    /// of partitions only are let into `group`, which has these for itself.
    ///
    /// # Errors
    /// [`MeasureError`] when one can't be started, does not work in time, or `stop` is set; then
    /// none is left.
    pub(crate) fn start(
        run: &Run,
        machine: &Machine<'_>,
        (holder, group): (&str, Option<ReservedGroup>),
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Self, MeasureError> {
        let mut all = Self(Vec::new());
        let clock = machine.world.clock();
        let holder = format!("{holder}-beside");
        for neighbour in &run.neighbours {
            observer.step(&format!(
                "starting {}, a {} on CPUs {}",
                neighbour.name, neighbour.form, neighbour.cpus
            ));
            let job = NeighbourJob { loads: neighbour.loads.clone(), cpus: Some(neighbour.cpus) };
            let room = room_of(neighbour, run, machine, (&holder, group.as_ref()))?;
            let asked = Job::Neighbour(job.clone());
            let paced = neighbour.is_paced;
            let shape = if paced { NeighbourJob::paced_shape() } else { NeighbourJob::shape() };
            let world = machine.world;
            let process = world.start(machine.runtime, &asked, &shape, Vec::new(), &room)?;
            let found = NeighbourFound::new(neighbour);
            all.0.push(Running { found, job, process, heard: clock.now() });
        }
        let end = clock.now() + BEGIN_MAX;
        while let Some(waiting) = all.first_that_does_not_work()? {
            if stop.load(Ordering::Relaxed) {
                return Err(MeasureError::Stopped);
            }
            if clock.now() > end {
                let because = format!("its loads did not work within {BEGIN_MAX}");
                return Err(MeasureError::Neighbour { neighbour: waiting, because });
            }
            all.0.iter_mut().for_each(|running| running.hear(clock.now()));
            sleep(clock, LOOK);
        }
        // It tells once a second from now on; before, a guest may have booted for long.
        let now = clock.now();
        all.0.iter_mut().for_each(|running| running.heard = now);
        Ok(all)
    }

    /// Returns the name of the first neighbour whose loads do not work yet.
    fn first_that_does_not_work(&mut self) -> Result<Option<String>, MeasureError> {
        for running in &mut self.0 {
            let name = || running.found.run.name.clone();
            let ended = running.process.has_ended().map_err(|error| MeasureError::Neighbour {
                neighbour: name(),
                because: Causes(&error).to_string(),
            })?;
            let state = running.process.region().task(0).map(|task| task.state());
            if ended || state != Some(TaskState::Running) {
                return Ok(Some(name()));
            }
        }
        Ok(None)
    }

    /// Takes what the neighbours have said, and notes those that have ended or say nothing.
    pub(crate) fn look(&mut self, now: Nanos) {
        self.0.iter_mut().for_each(|running| running.look(now));
    }

    /// Stops all neighbours and returns what was found about them. One that can't be stopped in
    /// order is ended.
    pub(crate) fn stop(mut self, clock: &dyn Clock) -> Vec<NeighbourFound> {
        self.look(clock.now());
        self.0.iter().for_each(|running| running.process.request_stop());
        let end = clock.now() + STOP_MAX;
        let has_ended = |running: &mut Running| running.process.has_ended().unwrap_or(true);
        while !self.0.iter_mut().all(has_ended) && clock.now() < end {
            sleep(clock, LOOK);
        }
        let found = self.0.into_iter().map(|mut running| {
            if let Err(error) = running.process.stop() {
                running.found.note(Causes(&error).to_string());
            }
            running.hear(clock.now());
            running.found
        });
        found.collect()
    }
}

/// Prepares the room of a neighbour. One whose CPUs are all reserved for partitions is in the group
/// that has these for itself, beside the partition; any other has none of them.
fn room_of(
    neighbour: &NeighbourRun,
    run: &Run,
    machine: &Machine<'_>,
    (holder, group): (&str, Option<&ReservedGroup>),
) -> Result<Room, PartitionError> {
    let is_within = neighbour.cpus.without(&run.settings.cpus).is_empty();
    let group = group.filter(|_| is_within).cloned();
    let folder = machine.container_folder.map(Path::to_owned);
    let settings = std::iter::once(&neighbour.setting);
    let rooms = Rooms::prepare(settings, holder, folder, run.container_runtime, group)?;
    Ok(rooms.of(&neighbour.name, &neighbour.setting, MemoryShare::default()))
}

impl Running {
    fn look(&mut self, now: Nanos) {
        self.hear(now);
        match self.process.has_ended() {
            Err(error) => self.found.note(Causes(&error).to_string()),
            Ok(true) => self.found.note("it ended before the run did".to_owned()),
            Ok(false) if self.found.run.is_paced => {}
            Ok(false) if now.saturating_sub(self.heard) > SILENT_MAX => {
                self.found.note(format!("it said nothing for {SILENT_MAX}"));
            }
            Ok(false) => {}
        }
    }

    /// Takes the lines that it has written.
    fn hear(&mut self, now: Nanos) {
        let printed = self.process.take_printed();
        if printed.lines.is_empty() {
            return;
        }
        self.heard = now;
        let read = self.job.read(&printed.lines, self.found.run.cpus);
        for problem in read.problems {
            self.found.note(problem);
        }
        for (load, achieved) in read.achieved {
            match &mut self.found.work[load] {
                Some(whole) => prolong(whole, achieved),
                nothing => *nothing = Some(achieved),
            }
        }
    }
}

impl NeighbourFound {
    fn new(run: &NeighbourRun) -> Self {
        Self { run: run.clone(), work: vec![None; run.loads.len()], problems: Vec::new() }
    }

    /// Notes a problem once, and no more than are kept.
    fn note(&mut self, problem: String) {
        if self.problems.len() < PROBLEMS_MAX && !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// Returns what it achieved in the form that records have: an entry for each load, even where
    /// nothing was told of it.
    pub(crate) fn achieved(&self) -> NeighbourAchieved {
        let nothing = |load: &NeighbourLoad| LoadAchieved {
            kind: load.kind.name().to_owned(),
            workers: load.workers,
            unit: load.kind.unit().to_owned(),
            cpus: self.run.cpus,
            ..LoadAchieved::default()
        };
        let loads = self.run.loads.iter().zip(&self.work);
        let loads =
            loads.map(|(load, work)| work.as_ref().map_or_else(|| nothing(load), load_achieved));
        NeighbourAchieved {
            name: self.run.name.clone(),
            kind: self.run.form.to_string(),
            cpus: self.run.cpus,
            processors: self.run.processors,
            loads: loads.collect(),
        }
    }

    /// Returns why it did not load the machine as asked; `None` if it did.
    pub(crate) fn problem(&self) -> Option<RunProblem> {
        let mut problems = self.problems.clone();
        for load in self.achieved().loads.iter().filter(|load| !load.is_whole()) {
            let (working, workers, kind) = (load.working, load.workers, &load.kind);
            let idle = if working == workers { " and did nothing" } else { "" };
            let words = format!("{working} of {workers} workers `{kind}` worked to the end{idle}");
            problems.push(words);
        }
        let neighbour = self.run.name.clone();
        (!problems.is_empty()).then_some(RunProblem::NeighbourIncomplete { neighbour, problems })
    }
}
