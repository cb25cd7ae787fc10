//! Keeps one partition: starts its process, reads its events, restarts it, changes it.
//!
//! ```text
//!            requests (set, deploy, restart …)        state, events
//! clients ──────────────────────────────────► keeper ──────────────► shared
//!                                               │  thread of its own, ordinary priority
//!                                               ▼
//!                                    process ── exchange
//!
//! start ─► running ── fault in the program ─► waiting ─► a new build staged in the same process
//!             │                                              │
//!             └── process gone ─► waiting ─► start           └─► running
//! ```
//!
//! Everything that is known of a partition while it runs lives in this one thread; others ask it
//! and get an answer.

mod builds;
mod conduct;
mod forces;
mod incarnation;
mod log;
mod request;
mod reservation;
mod restarts;
mod saving;
mod standstill;
mod system;
mod verbs;
mod watched;

use std::cell::Cell;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use quietcore_assembly::{BusImage, Staged};
use quietcore_backend::fieldbus::FieldbusJob;
use quietcore_backend::job::Job;
use quietcore_backend::process::{PartitionError, Room};
use quietcore_exchange::Shape;
use quietcore_process::channel::ChannelMemory;
use quietcore_scan::process::job::{ProgramJob, Value};
use quietcore_site::{Partition, Site};
use quietcore_units::{Causes, Nanos};
use quietcore_wording::plural;

use crate::control::{
    Activity, Asker, Done, Faults, NotForced, PartitionState, Restart, Severity, TaskDescription,
    Verb,
};
use crate::places::cpu_locks::CpuLocks;
use crate::running_monitor::post::Post;
use crate::world::{Process, World};

use conduct::Replacement;
pub(crate) use log::EventLog;
use log::quiet::Quiet;
#[cfg(any(test, feature = "simulation"))]
pub(crate) use request::Waiting;
pub(crate) use request::{Caller, Prepared, Request};
use restarts::Restarts;
use saving::{SAVE_EVERY, Saving, unlike_initial};
pub(crate) use system::{Launch, SystemSetup};

/// Time between two looks at a partition when nobody asks for anything.
const LOOK: Duration = Duration::from_millis(10);
/// Longest wait for a client to restart a partition, where there is nothing left to be saved.
const IDLE: Duration = Duration::from_secs(3600);
/// Limit of waiting requests.
const REQUESTS_MAX: usize = 64;

/// Everything about a partition that does not change while it is kept.
pub(crate) struct Setup {
    pub(crate) site: Arc<Site>,
    pub(crate) partition: Partition,
    pub(crate) bus: BusImage,
    pub(crate) runtime: PathBuf,
    pub(crate) state_folder: PathBuf,
    pub(crate) shape: Shape,
    pub(crate) tasks: Vec<TaskDescription>,
    pub(crate) job: ProgramJob,
    pub(crate) fieldbus: Option<FieldbusJob>,
    /// Memory of all channels of the site, in the order of its file.
    pub(crate) channels: Vec<Arc<ChannelMemory>>,
    /// Place in which its process runs.
    pub(crate) room: Room,
    /// Post at which it meets the running monitor; `None` where nothing is watched.
    pub(crate) post: Option<Arc<Post>>,
    /// `true` if retained values are taken over at the start.
    pub(crate) warm: bool,
    /// Locks on the site's CPUs, held until the partition's tasks run or are known not to.
    pub(crate) locks: Cell<Option<Arc<CpuLocks>>>,
}

/// The state of a partition that others may look at, at any time.
#[derive(Debug)]
pub(crate) struct Published {
    state: Mutex<PartitionState>,
    absence: Mutex<standstill::Absence>,
    world: Arc<dyn World>,
}

impl Published {
    pub(crate) fn state(&self) -> MutexGuard<'_, PartitionState> {
        // The state remains usable even if a thread panicked while it held the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn absence(&self) -> MutexGuard<'_, standstill::Absence> {
        self.absence.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the state at this instant, with the cycles that are missing until now.
    pub(crate) fn state_now(&self) -> PartitionState {
        let absent = self.absence().count(self.world.now());
        let mut state = self.state().clone();
        state.absent_cycles = absent;
        state.missed_cycles += absent;
        state
    }
}

/// The handle of a kept partition. Dropping it ends the partition.
pub(crate) struct Keeper {
    pub(crate) name: String,
    pub(crate) published: Arc<Published>,
    requests: Option<SyncSender<Request>>,
    thread: Option<JoinHandle<()>>,
    /// `true` if its end may take minutes: a guest is asked to shut down.
    takes_long: bool,
}

impl Keeper {
    /// Starts to keep a partition, in the world of its events.
    ///
    /// # Errors
    /// When its retained values are damaged or don't fit, or this process has no threads left.
    pub(crate) fn start(
        setup: Setup,
        first: Staged,
        events: Arc<EventLog>,
    ) -> Result<Self, String> {
        let (sender, requests) = sync_channel(REQUESTS_MAX);
        let kept = Kept::new(setup, first, events, requests)?;
        let name = kept.setup.partition.name.clone();
        let published = Arc::clone(&kept.published);
        let thread = thread::Builder::new()
            .name(format!("keep-{name}"))
            .spawn(move || kept.keep())
            .map_err(|error| format!("no thread for partition `{name}`: {error}"))?;
        let requests = Some(sender);
        Ok(Self { name, published, requests, thread: Some(thread), takes_long: false })
    }

    /// Hands a request over; returns `false` if the partition is not kept any more.
    pub(crate) fn ask(&self, request: Request) -> bool {
        self.requests.as_ref().is_some_and(|requests| requests.send(request).is_ok())
    }

    /// Begins the end of a partition that takes long to end, so that others needn't wait for it.
    pub(crate) fn begin_stop(&mut self) {
        if self.takes_long {
            self.requests = None;
        }
    }

    /// Ends the partition and waits for its end.
    pub(crate) fn stop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Keeps a partition on the calling thread, as [`Keeper::start`] does on one of its own. `begun`
/// gets the published state before the first process starts.
///
/// # Errors
/// Those of [`Keeper::start`].
#[cfg(any(test, feature = "simulation"))]
pub(crate) fn keep_here(
    setup: Setup,
    first: Staged,
    events: Arc<EventLog>,
    requests: Receiver<Request>,
    begun: impl FnOnce(&Arc<Published>),
) -> Result<(), String> {
    let kept = Kept::new(setup, first, events, requests)?;
    begun(&kept.published);
    kept.keep();
    Ok(())
}

fn initial_state(setup: &Setup, first: &Staged) -> PartitionState {
    PartitionState {
        name: setup.partition.name.clone(),
        backend: setup.partition.backend.to_string(),
        state: Activity::Starting,
        class: setup.partition.class.name.to_string(),
        period: setup.partition.program.period,
        cycles: 0,
        missed_cycles: 0,
        overruns: 0,
        release_max: Nanos::ZERO,
        forces: 0,
        generation: first.stage.generation,
        restarts: 0,
        criticality: setup.partition.criticality,
        times_shed: 0,
        reactions: None,
        cpu: setup.job.cpu,
        pid: None,
        fieldbus: None,
        model_hash: first.build.hash.clone(),
        absent_cycles: 0,
        faults: Faults::default(),
        drift: Vec::new(),
        console: None,
        vnc: None,
    }
}

/// A partition, as the thread that keeps it knows it.
struct Kept {
    setup: Setup,
    /// The build that runs.
    current: Staged,
    /// Highest generation that was given to a build.
    generations: u32,
    /// The build before, for as long as the one that runs may be taken back.
    before: Option<Staged>,
    /// Cycle in which the probation of the current build ends.
    probation_end: u64,
    /// The client that waits for the end of that probation.
    proving: Option<builds::proving::Proving>,
    /// Forces, which outlive the process.
    forces: forces::Forces,
    saving: Saving,
    quiet: Quiet,
    printing: conduct::Printing,
    events: Arc<EventLog>,
    published: Arc<Published>,
    requests: Receiver<Request>,
    /// The instant at which the last process was started, in ns, as partitions write it.
    incarnation: u64,
    restarts: Restarts,
    watched: watched::Watched,
    world: Arc<dyn World>,
}

/// The end of a process's life.
enum End {
    /// The site comes down.
    Down,
    /// The process failed, and may be started again.
    Failed(String),
    /// The program is to be started again at once, in another process.
    Replaced { why: String, restart: Replacement },
}

impl Kept {
    /// Makes a partition that is to be kept, with the requests that come for it.
    fn new(
        setup: Setup,
        first: Staged,
        events: Arc<EventLog>,
        requests: Receiver<Request>,
    ) -> Result<Self, String> {
        let world = events.world();
        let saving = Saving::open(&setup, &first, &*world)?;
        let printing = conduct::Printing::new(&setup.state_folder, world.storage());
        let period = Duration::from_nanos(setup.partition.program.period.get());
        let published = Arc::new(Published {
            state: Mutex::new(initial_state(&setup, &first)),
            absence: Mutex::new(standstill::Absence::new(period)),
            world: Arc::clone(&world),
        });
        Ok(Self {
            setup,
            generations: first.stage.generation,
            current: first,
            before: None,
            probation_end: 0,
            proving: None,
            forces: forces::Forces::default(),
            saving,
            quiet: Quiet::default(),
            printing,
            events,
            published,
            requests,
            incarnation: 0,
            restarts: Restarts::default(),
            watched: watched::Watched::default(),
            world,
        })
    }

    fn keep(mut self) {
        loop {
            let end = match self.start_process() {
                Ok(process) => self.live(process),
                Err(error) => End::Failed(Causes(&error).to_string()),
            };
            self.note_end(&end);
            match end {
                End::Down => {
                    self.publish(Activity::Stopped { why: "told to".to_owned() });
                    return;
                }
                End::Replaced { restart: Replacement::Asked(how), .. } => self.begin_anew(how),
                End::Replaced { restart: Replacement::Planned, .. } => {}
                End::Failed(why) => {
                    let Some(wait) = self.next_restart() else {
                        self.publish(Activity::Stopped { why });
                        if self.wait_for_restart() {
                            continue;
                        }
                        return;
                    };
                    if self.wait(wait, &why).is_none() {
                        return;
                    }
                }
            }
        }
    }

    /// Reports the end of a process that was not told to end.
    fn note_end(&self, end: &End) {
        let (why, kind, severity) = match end {
            End::Down => return,
            End::Failed(why) => (why, "process-lost", Severity::Fault),
            End::Replaced { why, .. } => (why, "process-replaced", Severity::Warning),
        };
        if severity == Severity::Fault {
            // A client that asks because of the event must not be told that it runs.
            self.publish(Activity::Waiting { restart_in: Nanos::ZERO, why: why.clone() });
            self.published.state().faults.add(why, None);
        }
        self.events.note(&self.setup.partition.name, kind, severity, why);
    }

    fn start_process(&mut self) -> Result<Box<dyn Process>, PartitionError> {
        self.publish(Activity::Starting);
        self.incarnation = self.world.exchange_time().get();
        // A process begins with the build that ran last, in the first slot.
        self.current.stage.slot = 0;
        self.current.stage.carried.clear();
        self.current.stage.forces.clear();
        self.resume_forces();
        let values = self.retained(&self.current);
        let mut program =
            ProgramJob { build: self.current.to_job(values), ..self.setup.job.clone() };
        let files = self.channel_files(&mut program).map_err(PartitionError::Job)?;
        let job = Job::of_program(program, self.setup.fieldbus.clone());
        self.world.start(&self.setup, &job, files)
    }

    /// Makes a new process begin with the forces of the one before; reports those that its build
    /// can't have.
    fn resume_forces(&mut self) {
        let (forces, lost) = self.forces.in_build(&self.current.build.symbols);
        self.forces = forces;
        self.tell_not_forced(&lost);
        self.current.stage.held = self.forces.at_start();
        if self.forces.count() > 0 {
            let names = self.forces.names();
            let text = format!("forces hold on in the new process: {names}");
            let name = &self.setup.partition.name;
            self.events.note(name, "forces", Severity::Information, &text);
        }
    }

    /// Reports forces that the build which runs can't have.
    pub(super) fn tell_not_forced(&self, lost: &[NotForced]) {
        let generation = self.current.stage.generation;
        for NotForced { variable, why } in lost {
            let text = format!("`{variable}` is not forced any more in build {generation}: {why}");
            self.events.note(&self.setup.partition.name, "force-lost", Severity::Warning, &text);
        }
    }

    /// Returns the retained values for a build; reports those that it can't have.
    fn retained(&self, staged: &Staged) -> Vec<Value> {
        let (values, changed) = self.saving.values(staged);
        if !changed.is_empty() {
            let text = format!(
                "retained values are not given back, their types have changed: {}",
                changed.join(", ")
            );
            self.events.note(&self.setup.partition.name, "retain", Severity::Warning, &text);
        }
        if let Some(names) = unlike_initial(staged, &values) {
            let name = &self.setup.partition.name;
            let text = format!(
                "retained values go on, others than the program begins with: {names}; \
                 `quietcore restart {name} cold` begins anew"
            );
            self.events.note(name, "retained", Severity::Information, &text);
        }
        values
    }

    /// Returns the files of the channels that the partition takes part in, and writes their numbers
    /// into the job.
    fn channel_files(&self, job: &mut ProgramJob) -> io::Result<Vec<OwnedFd>> {
        let all = self.setup.site.channels().iter().zip(&self.setup.channels);
        let mut files = Vec::new();
        for (channel, memory) in all {
            if let Some(own) = job.channels.iter_mut().find(|own| own.name == channel.name) {
                if memory.mend() {
                    let text = format!(
                        "a partition has overwritten the description of channel `{}`; it is put \
                         right",
                        channel.name
                    );
                    let name = &self.setup.partition.name;
                    self.events.note(name, "channel-mended", Severity::Warning, &text);
                }
                let file = OwnedFd::from(memory.file()?);
                own.descriptor = file.as_raw_fd();
                files.push(file);
            }
        }
        Ok(files)
    }

    /// Notes what was done at a client's request.
    fn note_asked(&self, kind: &str, text: &str, cycle: Option<u64>, by: &Asker) {
        self.events.add_asked(&self.setup.partition.name, kind, text, cycle, Some(by));
    }

    /// Notes the same at most once a second for each kind; the next note tells how many were left
    /// out.
    fn note_asked_quietly(
        &mut self,
        kind: &'static str,
        text: &str,
        cycle: Option<u64>,
        by: &Asker,
    ) {
        match self.quiet.admit(kind, None, Severity::Warning, self.world.now()) {
            None => {}
            Some(0) => self.note_asked(kind, text, cycle, by),
            Some(before) => {
                self.note_asked(kind, &format!("{text} ({before} more like it before)"), cycle, by);
            }
        }
    }

    /// Returns the time between two releases of the leading task, which takes commands.
    fn period(&self) -> Duration {
        Duration::from_nanos(self.setup.partition.program.period.get())
    }

    fn publish(&self, state: Activity) {
        if state != Activity::Starting {
            drop(self.setup.locks.take());
        }
        let mut published = self.published.state();
        published.state = state;
        published.restarts = self.restarts.count;
        published.generation = self.current.stage.generation;
        published.model_hash.clone_from(&self.current.build.hash);
    }

    /// Counts a restart and returns the wait before it; reports that the limit is reached and
    /// returns `None` if there are no more.
    fn next_restart(&mut self) -> Option<Duration> {
        let allowed = &self.setup.partition.program.restart;
        match self.restarts.next(allowed, self.world.now()) {
            Ok(wait) => Some(wait),
            Err(done) => {
                let name = &self.setup.partition.name;
                let s = plural(u64::from(done));
                let text = format!(
                    "not restarted any more after {done} restart{s}; `quietcore restart {name}` \
                     starts it"
                );
                self.events.note(name, "given-up", Severity::Fault, &text);
                None
            }
        }
    }

    /// Withdraws a planned restart that is not needed any more.
    fn withdraw_restart(&mut self) {
        self.restarts.withdraw();
    }

    /// Prepares the next process for a program that a client wants to start anew. What the process
    /// before has left must have been saved already, since it may have to be forgotten here.
    fn begin_anew(&mut self, how: Restart) {
        self.restarts.begin_anew();
        self.saving.begin(how);
        if how == Restart::Origin {
            self.forces = forces::Forces::default();
        }
    }

    /// Waits before a process is started again, which a client may cut short. Returns `None` if the
    /// site comes down meanwhile.
    fn wait(&mut self, wait: Duration, why: &str) -> Option<()> {
        let end = self.world.now() + wait;
        loop {
            let left = end.saturating_duration_since(self.world.now());
            if left.is_zero() {
                return Some(());
            }
            let restart_in = Nanos::new(left.as_nanos() as u64);
            self.publish(Activity::Waiting { restart_in, why: why.to_owned() });
            self.save_left();
            match self.world.wait(&self.requests, left.min(LOOK)) {
                Ok(Request { verb: Verb::Restart { how }, caller, .. }) => {
                    // This restart was asked for, so the planned one does not count.
                    self.withdraw_restart();
                    self.begin_anew(how);
                    caller.answer(Ok(Done {}));
                    return Some(());
                }
                Ok(request) => request.refuse_not_running(&self.setup.partition.name),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// Waits for a client that starts the partition again; returns `false` if the site comes down
    /// instead.
    fn wait_for_restart(&mut self) -> bool {
        loop {
            self.save_left();
            let longest = if self.saving.is_settled() { IDLE } else { SAVE_EVERY };
            match self.world.wait(&self.requests, longest) {
                Ok(Request { verb: Verb::Restart { how }, caller, .. }) => {
                    self.begin_anew(how);
                    caller.answer(Ok(Done {}));
                    return true;
                }
                Ok(other) => other.refuse_not_running(&self.setup.partition.name),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
    }
}
