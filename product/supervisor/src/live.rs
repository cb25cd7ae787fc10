//! A site that runs: its keepers behind the trait that clients talk to.

use std::cell::Cell;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use quietcore_backend::container::{ContainerError, ContainerWish, Containers};
use quietcore_backend::process::Room;
use quietcore_exchange::channel::Entry;
use quietcore_exchange::{Assignment, Command, Target};
use quietcore_host::controls::{Controls, LiveSettings, MemoryShare};
use quietcore_host::running_partitions::PartitionOwner;
use quietcore_process::channel::{ChannelMemory, ChannelMemoryError};
use quietcore_process::setting;
use quietcore_program::Symbols;
use quietcore_program::place::Place;
use quietcore_site::{Partition, Site as SiteFile};
use quietcore_units::Causes;

use crate::control::{
    Applied, Change, ChangeKind, ControlError, DeployPatience, Deployed, ErrorKind, EventLine,
    Opened, PartitionState, Restart, Severity, Site, TaskDescription, Trace, TraceStarted,
};
use crate::keeper::{EventLog, Keeper, Prepared, Request, Setup};
use crate::places::cpu_locks::CpuLocks;
use crate::places::{Claim, PlaceError, Places, SITE_SCHEMA, SiteDescription, StartedBy, past};
use crate::running_monitor::RunningMonitor;
use crate::server::{Limits, Server};
use crate::settings::{HOST, Settings, SettingsError};
use crate::shared_cpus::{self, SharedCpu};
use quietcore_assembly::{AssemblyError, Staged, Workshop, channels};

/// Lines about a deploy that wait for who asked for it.
const PROGRESS_MAX: usize = 8;

/// What a site is brought up from.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The checked site file.
    pub site: Arc<SiteFile>,
    /// Where it stands.
    pub site_file: PathBuf,
    /// The program `quietcore-runtime`.
    pub runtime: PathBuf,
    /// How much of its past each program keeps.
    pub start: Restart,
    /// The machine's settings; `None` where this user may not change them.
    pub controls: Option<Controls<LiveSettings>>,
    /// Who starts it.
    pub started_by: StartedBy,
}

/// A site that can't be brought up.
#[derive(Debug, thiserror::Error)]
pub enum UpError {
    /// Its folder can't be had; it may run already.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// Other sites that are up have real-time tasks on its CPUs.
    #[error("{}", lines(.0))]
    SharedCpus(Vec<SharedCpu>),
    /// A partition can't be made ready.
    #[error(transparent)]
    Assembly(#[from] AssemblyError),
    /// A partition can't be kept.
    #[error("{0}")]
    Keep(String),
    /// The machine's settings can't be changed so that they could be put back.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The partitions that are containers can't be run.
    #[error(transparent)]
    Containers(#[from] ContainerError),
    /// The folder of containers can't be used.
    #[error(transparent)]
    ContainerPlace(PlaceError),
    /// There is no memory for a channel, or there can be no such channel.
    #[error("there is no channel `{channel}`")]
    Channel {
        /// The channel.
        channel: String,
        /// Why.
        #[source]
        source: ChannelMemoryError,
    },
    /// There is no thread that watches the partitions.
    #[error("the partitions can't be watched")]
    Monitor(#[source] std::io::Error),
    /// The control socket can't be served.
    #[error("the control socket can't be served")]
    Serve(#[source] std::io::Error),
}

/// A running site. Dropping it brings it down in order.
pub struct Running {
    inner: Arc<Inner>,
    server: Option<Server>,
    monitor: RunningMonitor,
    settings: Settings,
    _claim: Claim,
}

struct Inner {
    plan: Plan,
    workshop: Workshop,
    keepers: Mutex<Vec<Keeper>>,
    names: Vec<String>,
    events: Arc<EventLog>,
    down: AtomicBool,
}

impl Running {
    /// Builds the programs of a site, starts its partitions, and answers its clients. `progress` is
    /// told what happens, a line each. The calling thread, and all that it starts from then on,
    /// keeps to the housekeeping CPUs.
    ///
    /// # Errors
    /// [`UpError`]; then nothing of it runs.
    pub fn up(
        plan: Plan,
        places: &Places,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Self, UpError> {
        let name = plan.site.name().to_owned();
        stay_off_the_partitions(&plan.site);
        let claim = Claim::take(places, &name)?;
        refuse_shared(&plan.site, progress)?;
        let state = places.state_folder(&name, &plan.site_file)?;
        tell_of_others(&plan, places, progress);
        let site_folder = plan.site_file.parent().unwrap_or(Path::new(".")).to_owned();
        let workshop = Workshop { site_folder, build_folder: state.join("builds") };
        let events = Arc::new(EventLog::in_file(state.join(past::EVENTS)));
        let mut ready = Vec::new();
        for partition in plan.site.partitions() {
            progress(&format!("building the program of `{}`", partition.name));
            let assembly = workshop.assemble(&plan.site, partition)?;
            note_assembly(&assembly.first, &partition.name, &events);
            ready.push((partition.clone(), assembly));
        }
        let locks = lock_cpus(&plan.site, progress)?;
        let channels = channel_memories(&plan.site)?;
        let monitor = RunningMonitor::start(&plan.site, &events).map_err(UpError::Monitor)?;
        let settings = Settings::change(&plan.site, plan.controls.as_ref(), &events)?;
        let containers = prepare_containers(&plan.site, places, &settings, &events)?;
        let mut keepers = Vec::new();
        for (index, (partition, assembly)) in ready.into_iter().enumerate() {
            progress(&format!("starting `{}`", partition.name));
            if plan.start == Restart::Origin {
                // What can't be removed is overwritten by the first snapshot.
                let _ = std::fs::remove_dir_all(state.join(&partition.name));
            }
            let setup = Setup {
                site: Arc::clone(&plan.site),
                state_folder: state.join(&partition.name),
                runtime: plan.runtime.clone(),
                shape: assembly.shape,
                tasks: TaskDescription::all(&assembly),
                job: assembly.job,
                fieldbus: assembly.fieldbus,
                guest: assembly.guest,
                warm: plan.start == Restart::Warm,
                channels: channels.clone(),
                room: room(&name, &partition, assembly.container, containers.as_ref(), &settings),
                post: monitor.post(index),
                locks: Cell::new(Some(Arc::clone(&locks))),
                partition,
                bus: assembly.bus,
            };
            let keeper = Keeper::start(setup, assembly.first, Arc::clone(&events));
            keepers.push(keeper.map_err(UpError::Keep)?);
        }
        let names = keepers.iter().map(|keeper| keeper.name.clone()).collect();
        let inner = Arc::new(Inner {
            plan,
            workshop,
            keepers: Mutex::new(keepers),
            names,
            events,
            down: AtomicBool::new(false),
        });
        let site: Arc<dyn Site> = Arc::clone(&inner) as Arc<dyn Site>;
        let listener = claim.listen()?;
        let server = Server::start(listener, &name, site, Limits::default());
        let server = server.map_err(UpError::Serve)?;
        claim.describe(&inner.describe())?;
        Ok(Self { inner, server: Some(server), monitor, settings, _claim: claim })
    }

    /// Whether a client asked for the end.
    pub fn is_asked_down(&self) -> bool {
        self.inner.down.load(Ordering::Relaxed)
    }

    /// Brings the site down in order. Returns which settings of the machine could not be put back.
    pub fn down(mut self) -> Vec<String> {
        self.end()
    }

    /// The same site, as its clients see it.
    pub fn site(&self) -> &dyn Site {
        &*self.inner
    }

    fn end(&mut self) -> Vec<String> {
        // Nobody asks any more before the partitions go.
        self.server = None;
        self.monitor.stop();
        let mut keepers = self.inner.keepers();
        keepers.drain(..).for_each(drop);
        drop(keepers);
        self.settings.put_back()
    }
}

/// Refuses a site whose real-time tasks would share a CPU with those of another site, and tells of
/// what else others have of its CPUs.
fn refuse_shared(site: &SiteFile, progress: &mut dyn FnMut(&str)) -> Result<(), UpError> {
    let shared = shared_cpus::shared_now(site);
    let (refused, told): (Vec<_>, Vec<_>) = shared.into_iter().partition(|it| it.is_refused);
    told.iter().for_each(|shared| progress(&format!("remark: {shared}")));
    if refused.is_empty() { Ok(()) } else { Err(UpError::SharedCpus(refused)) }
}

/// Locks the CPUs that the site's real-time tasks are to be pinned to, until they run, and refuses
/// a site that would share them with one that has come up while the programs were built.
fn lock_cpus(site: &SiteFile, progress: &mut dyn FnMut(&str)) -> Result<Arc<CpuLocks>, UpError> {
    let locks = CpuLocks::take(shared_cpus::real_time_cpus(site));
    for cpu in locks.not_had() {
        progress(&format!(
            "remark: the lock of CPU {cpu} is held by another process, so that a site that starts \
             there at this instant may be overlooked; `lslocks` names the process"
        ));
    }
    // All else was told before.
    refuse_shared(site, &mut |_| ())?;
    Ok(Arc::new(locks))
}

fn lines(all: &[SharedCpu]) -> String {
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Tells of retained values that somebody may miss who has copied or moved a site file.
fn tell_of_others(plan: &Plan, places: &Places, progress: &mut dyn FnMut(&str)) {
    let name = plan.site.name();
    for other in places.states_of_others(name, &plan.site_file) {
        let other = other.display();
        progress(&format!(
            "remark: what site `{name}` of `{other}` has retained is not taken over"
        ));
    }
}

/// What the site's containers have in common; `None` where it has none.
fn prepare_containers(
    site: &SiteFile,
    places: &Places,
    settings: &Settings,
    events: &EventLog,
) -> Result<Option<Containers>, UpError> {
    let count = site.containers();
    if count == 0 {
        return Ok(None);
    }
    let folders = places.container_folder().map_err(UpError::ContainerPlace)?;
    for left in quietcore_backend::container::clear(&folders).left {
        events.note(HOST, "containers", Severity::Warning, &left);
    }
    let wanted = site.container_runtime();
    Ok(Some(Containers::prepare(folders, site.name(), count, wanted, settings.group())?))
}

/// Where the process of a partition runs.
fn room(
    site: &str,
    partition: &Partition,
    wish: Option<ContainerWish>,
    containers: Option<&Containers>,
    settings: &Settings,
) -> Room {
    let name = &partition.name;
    let room = match wish.zip(containers) {
        Some((wish, containers)) => Room::container(containers.of_partition(name, wish)),
        None => match settings.group() {
            Some(group) => Room::behind(group.entrance()),
            None => Room::among_others(),
        },
    };
    let owner = PartitionOwner::own(site, name, partition.cpus_in_use());
    room.with_share(name, MemoryShare::of(&partition.vcr)).of(owner)
}

/// Tells what is to be said of a program that was built.
fn note_assembly(first: &Staged, partition: &str, events: &EventLog) {
    let warnings = first.build.warnings_told();
    if !warnings.is_empty() {
        events.note(partition, "build", Severity::Information, &warnings.join("\n"));
    }
    for remark in &first.build.remarks {
        events.note(partition, "build", Severity::Information, remark);
    }
    for remark in &first.remarks {
        events.note(partition, "site", Severity::Warning, &remark.to_string());
    }
}

/// Lets this thread and its children run on the housekeeping CPUs only. Where the kernel refuses
/// that they run anywhere, at ordinary priority, which a real-time task does not notice but by its
/// caches.
fn stay_off_the_partitions(site: &SiteFile) {
    let Ok(allowed) = setting::allowed() else { return };
    let house = site.housekeeping().unwrap_or_else(|| allowed.without(&site.claimed_cpus()));
    if !house.is_empty() {
        let _ = setting::allow(house);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running")
            .field("site", &self.inner.plan.site.name())
            .finish_non_exhaustive()
    }
}

impl Inner {
    fn describe(&self) -> SiteDescription {
        let site_file = self.plan.site_file.canonicalize();
        SiteDescription {
            schema: SITE_SCHEMA.to_owned(),
            site: self.plan.site.name().to_owned(),
            pid: std::process::id(),
            site_file: site_file.unwrap_or_else(|_| self.plan.site_file.clone()),
            started_at: jiff::Timestamp::now().to_string(),
            started_by: Some(self.plan.started_by.clone()),
            partitions: self.names.clone(),
            quietcore_version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    fn keepers(&self) -> std::sync::MutexGuard<'_, Vec<Keeper>> {
        // They stay of use whatever became of a thread that held them.
        self.keepers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the keeper of a partition and waits for its answer.
    fn ask<T>(
        &self,
        partition: &str,
        request: impl FnOnce(SyncSender<Result<T, ControlError>>) -> Request,
    ) -> Result<T, ControlError> {
        let answer = self.order(partition, request)?;
        answer.recv().unwrap_or_else(|_| Err(gone(partition)))
    }

    /// Asks the keeper of a partition; its answer comes by and by.
    fn order<T>(
        &self,
        partition: &str,
        request: impl FnOnce(SyncSender<Result<T, ControlError>>) -> Request,
    ) -> Result<Receiver<Result<T, ControlError>>, ControlError> {
        let (sender, answer) = sync_channel(1);
        {
            let keepers = self.keepers();
            let keeper = keepers.iter().find(|keeper| keeper.name == partition);
            let known = self.names.iter().map(String::as_str);
            let keeper = keeper.ok_or_else(|| ControlError::no_partition(partition, known))?;
            if !keeper.ask(request(sender)) {
                return Err(gone(partition));
            }
        }
        Ok(answer)
    }

    fn symbols(&self, partition: &str) -> Result<(u32, Box<Symbols>), ControlError> {
        self.ask(partition, |reply| Request::Symbols { reply })
    }

    fn write_commands(
        &self,
        partition: &str,
        commands: Vec<Command>,
        paths: Vec<String>,
        generation: u32,
    ) -> Result<Applied, ControlError> {
        self.ask(partition, |reply| Request::Write { commands, paths, generation, reply })
    }
}

/// The memory of all channels of a site, in the order of its file. It outlives the processes at
/// both ends, so that a value stays when its sender is started again.
fn channel_memories(site: &SiteFile) -> Result<Vec<Arc<ChannelMemory>>, UpError> {
    let memory = |channel: &quietcore_site::Channel| {
        let entries: Vec<Entry> = channels::entries(channel).into_iter().map(Entry::from).collect();
        let made = ChannelMemory::create(&entries).map(Arc::new);
        made.map_err(|source| UpError::Channel { channel: channel.name.clone(), source })
    };
    site.channels().iter().map(memory).collect()
}

/// Says that a folder is not deployed. The site file's place is left out: it names another folder.
/// Puts the compiler's words last, since they have many lines.
fn not_built(folder: &Path, error: &AssemblyError) -> String {
    let folder = folder.display();
    let why = match error {
        AssemblyError::Build { source, .. } => Causes(source).to_string(),
        other => Causes(other).to_string(),
    };
    format!("the old program runs on, as the one in `{folder}` can't be built: {why}")
}

fn gone(partition: &str) -> ControlError {
    ControlError::new(ErrorKind::NotNow, partition, "the site is coming down", "")
}

/// A change as a command, its names resolved.
fn command(symbols: &Symbols, change: &Change) -> Result<Command, ControlError> {
    let place = symbols.resolve(&change.variable).map_err(|error| {
        ControlError::new(ErrorKind::NoVariable, &change.variable, error.to_string(), "")
    })?;
    if !place.writable {
        let what = "the variable can't be written: it is a constant or an address";
        return Err(ControlError::new(ErrorKind::NotWritable, &change.variable, what, ""));
    }
    let target = target_of(&place);
    if change.kind == ChangeKind::Unforce {
        return Ok(Command::Unforce(target));
    }
    let assignment = Assignment { target, value: change.encode(&place)?.value };
    Ok(match change.kind {
        ChangeKind::Force => Command::Force(assignment),
        _ => Command::Set(assignment),
    })
}

/// Returns the target of commands for a variable.
pub(crate) fn target_of(place: &Place) -> Target {
    match place.bit {
        None => Target::whole(place.offset, place.bytes() as u8),
        Some(_) => Target { offset: place.offset, bytes: place.bytes() as u8, mask: place.mask() },
    }
}

impl Site for Inner {
    fn list(&self) -> Vec<PartitionState> {
        self.keepers().iter().map(|keeper| keeper.published.state_now()).collect()
    }

    fn open(&self, partition: &str) -> Result<(Opened, File), ControlError> {
        self.ask(partition, |reply| Request::Open { reply })
    }

    fn write(&self, partition: &str, changes: &[Change]) -> Result<Applied, ControlError> {
        let (generation, symbols) = self.symbols(partition)?;
        let commands: Result<Vec<_>, _> =
            changes.iter().map(|change| command(&symbols, change)).collect();
        let paths = changes.iter().map(|change| change.variable.clone()).collect();
        self.write_commands(partition, commands?, paths, generation)
    }

    fn unforce_all(&self, partition: &str) -> Result<Applied, ControlError> {
        self.write_commands(partition, vec![Command::UnforceAll], Vec::new(), 0)
    }

    fn trace_start(&self, partition: &str, trace: &Trace) -> Result<TraceStarted, ControlError> {
        self.ask(partition, |reply| Request::TraceStart { trace: trace.clone(), reply })
    }

    fn trace_stop(&self, partition: &str) -> Result<(), ControlError> {
        self.ask(partition, |reply| Request::TraceStop { reply })
    }

    fn deploy(
        &self,
        partition: &str,
        folder: &Path,
        patience: DeployPatience,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Deployed, ControlError> {
        let file = self.plan.site.partitions().iter().find(|known| known.name == partition);
        let known = || ControlError::no_partition(partition, self.names.iter().map(String::as_str));
        let file = file.ok_or_else(known)?;
        progress(&format!("building `{}`", folder.display()));
        let build =
            self.workshop.build_folder_of(&self.plan.site, file, folder).map_err(|error| {
                let what = not_built(folder, &error);
                ControlError::new(ErrorKind::Build, partition, what, "")
            })?;
        progress("staging it beside the running one");
        let prepared = Box::new(Prepared { build, folder: folder.display().to_string() });
        let (sender, lines) = sync_channel(PROGRESS_MAX);
        let answer = self.order(partition, |reply| Request::Deploy {
            prepared,
            patience,
            progress: sender,
            reply,
        })?;
        // The way for lines closes when the request is answered, or given up.
        lines.iter().for_each(|line| progress(&line));
        answer.recv().unwrap_or_else(|_| Err(gone(partition)))
    }

    fn restart(&self, partition: &str, how: Restart) -> Result<(), ControlError> {
        self.ask(partition, |reply| Request::Restart { how, reply })
    }

    fn pause(&self, partition: &str, pause: bool) -> Result<(), ControlError> {
        self.ask(partition, |reply| Request::Pause { pause, reply })
    }

    fn events(&self, since: u64) -> Vec<EventLine> {
        self.events.since(since)
    }

    fn down(&self) {
        self.down.store(true, Ordering::Relaxed);
    }
}
