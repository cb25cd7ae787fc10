//! A running site: its keepers, behind the trait that clients talk to.

mod begin;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use quietcore_backend::container::ContainerError;
use quietcore_backend::process::Room;
use quietcore_backend::qemu::disk::DiskSettingError;
use quietcore_backend::qemu::disk::image::DiskProblem;
use quietcore_backend::rooms::{Rooms, sweep};
use quietcore_backend::setting::BackendSetting;
use quietcore_host::running_partitions::PartitionOwner;
use quietcore_process::channel::ChannelMemoryError;
use quietcore_process::setting;
use quietcore_program::Build;
use quietcore_settings::{Controls, LiveSettings, MemoryShare};
use quietcore_site::{Partition, Site as SiteFile};
use quietcore_units::{Causes, Nanos};

use crate::control::{
    Answer, Asked, Asker, ChannelUse, ControlError, EventLine, Opened, Partitions, Refusal,
    Restart, Severity, TaskDescription, Verb,
};
use crate::host_channel::SiteChannels;
use crate::keeper::{Caller, EventLog, Keeper, Prepared, Request};
use crate::places::cpu_locks::CpuLocks;
use crate::places::{Claim, PlaceError, Places, SITE_SCHEMA, SiteDescription, StartedBy, past};
use crate::running_monitor::RunningMonitor;
use crate::server::{Limits, Server};
use crate::settings::{HOST, HostDrift, Settings, SettingsError};
use crate::shared_cpus::{self, SharedCpu};
use crate::site::{Answered, Site};
use crate::socket::peer;
use crate::world::live::Live;
use quietcore_assembly::{Assembly, AssemblyError, Staged, Workshop};

use begin::{Begin, Made, disk_lines, refuse_disks};

/// Everything that a site is brought up from.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The checked site file.
    pub site: Arc<SiteFile>,
    /// Path of the site file.
    pub site_file: PathBuf,
    /// Path of the program `quietcore-runtime`.
    pub runtime: PathBuf,
    /// Part of its past that each program keeps.
    pub start: Restart,
    /// The machine's settings; `None` where this user may not change them.
    pub controls: Option<Controls<LiveSettings>>,
    /// Person or service that starts the site.
    pub started_by: StartedBy,
}

/// The error of a site that can't be brought up.
#[derive(Debug, thiserror::Error)]
pub enum UpError {
    /// The folder of the site can't be had; it may run already.
    #[error(transparent)]
    Folder(#[from] PlaceError),
    /// Other sites that are up have real-time tasks on its CPUs.
    #[error("{}", lines(.0))]
    SharedCpus(Vec<SharedCpu>),
    /// A partition can't be assembled, for instance because its program can't be built.
    #[error(transparent)]
    Assembly(#[from] AssemblyError),
    /// Disks of guests can't be used.
    #[error("{}", disk_lines(.0))]
    Disks(Vec<DiskProblem>),
    /// A guest can't have the disk that it starts from.
    #[error(transparent)]
    Disk(#[from] DiskSettingError),
    /// A partition can't be kept; the text says why.
    #[error("{0}")]
    Keep(String),
    /// The machine's settings can't be changed in a way that can be undone.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// Nothing can run the partitions that are containers.
    #[error(transparent)]
    Containers(#[from] ContainerError),
    /// The folder of containers can't be used.
    #[error(transparent)]
    ContainerPlace(PlaceError),
    /// There is no memory for a channel, or there can be no such channel.
    #[error("there is no channel `{channel}`")]
    Channel {
        /// Name of the channel.
        channel: String,
        /// The error of making its memory.
        #[source]
        source: ChannelMemoryError,
    },
    /// No thread can be started to watch the partitions.
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
    channels: SiteChannels,
    drift: HostDrift,
    down: AtomicBool,
}

impl Running {
    /// Builds the programs of a site, starts its partitions, and answers its clients. `progress`
    /// gets a line for each step. The calling thread, and all that it starts from then on, keeps to
    /// the housekeeping CPUs.
    ///
    /// # Errors
    /// [`UpError`]; nothing of the site runs then.
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
        refuse_disks(&plan.site, &site_folder)?;
        let workshop = Workshop { site_folder, build_folder: state.join("builds") };
        let events = Arc::new(EventLog::in_file(Arc::new(Live), state.join(past::EVENTS)));
        let mut ready = Vec::new();
        for partition in plan.site.partitions() {
            let made = Made::ready(&plan, partition, &workshop, &claim, &state, &events, progress)?;
            ready.push((partition.clone(), made));
        }
        let locks = lock_cpus(&plan.site, progress)?;
        let channels = channels_of(&plan.site)?;
        let monitor = RunningMonitor::start(&plan.site, &events).map_err(UpError::Monitor)?;
        let settings = Settings::change(&plan.site, plan.controls.as_ref(), &events)?;
        let rooms = prepare_rooms(&plan.site, &ready, places, &settings, &events)?;
        let mut keepers = Vec::new();
        let begin = Begin {
            plan: &plan,
            state: &state,
            channels: &channels,
            rooms: &rooms,
            monitor: &monitor,
            locks: &locks,
        };
        for (index, (partition, made)) in ready.into_iter().enumerate() {
            progress(&format!("starting `{}`", partition.name));
            if plan.start == Restart::Origin {
                // What can't be removed is overwritten by the first snapshot.
                let _ = std::fs::remove_dir_all(state.join(&partition.name));
            }
            let keeper = begin.keeper(index, partition, made, &events);
            keepers.push(keeper.map_err(UpError::Keep)?);
        }
        let names = keepers.iter().map(|keeper| keeper.name.clone()).collect();
        let inner = Arc::new(Inner {
            plan,
            workshop,
            keepers: Mutex::new(keepers),
            names,
            events,
            channels,
            drift: settings.drift(),
            down: AtomicBool::new(false),
        });
        let site: Arc<dyn Site> = Arc::clone(&inner) as Arc<dyn Site>;
        let listener = claim.listen()?;
        let server = Server::start(listener, &name, site, Limits::default());
        let server = server.map_err(UpError::Serve)?;
        claim.describe(&inner.describe())?;
        Ok(Self { inner, server: Some(server), monitor, settings, _claim: claim })
    }

    /// Returns `true` once a client has asked for the end of the site.
    pub fn is_asked_down(&self) -> bool {
        self.inner.down.load(Ordering::Relaxed)
    }

    /// Brings the site down in order. Returns a message for each setting of the machine that could
    /// not be put back.
    pub fn down(mut self) -> Vec<String> {
        self.end()
    }

    /// Returns the same site as its clients see it.
    pub fn site(&self) -> &dyn Site {
        &*self.inner
    }

    /// Returns the answer to `open` for a partition, and its exchange, open for reading only.
    ///
    /// # Errors
    /// [`ControlError`] when there is no such partition, or it has no exchange now.
    pub fn open(&self, partition: &str) -> Result<(Opened, File), ControlError> {
        let asked = Asked { by: peer::own(), partition: partition.to_owned(), verb: Verb::Open };
        match self.inner.ask(asked, &mut |_| {})? {
            Answered { answer: Answer::Opened(opened), file: Some(file) } => Ok((opened, file)),
            _ => {
                let what = "it was answered without its exchange".to_owned();
                Err(Refusal::Failed { what }.at(partition))
            }
        }
    }

    fn end(&mut self) -> Vec<String> {
        // Clients go first, so that none asks while the partitions end.
        self.server = None;
        self.monitor.stop();
        let mut keepers = self.inner.keepers();
        keepers.iter_mut().for_each(Keeper::begin_stop);
        keepers.drain(..).for_each(drop);
        drop(keepers);
        self.settings.put_back()
    }
}

/// Refuses a site whose real-time tasks would share a CPU with those of another site, and remarks
/// on its other shared CPUs.
fn refuse_shared(site: &SiteFile, progress: &mut dyn FnMut(&str)) -> Result<(), UpError> {
    let shared = shared_cpus::shared_now(site);
    let (refused, told): (Vec<_>, Vec<_>) = shared.into_iter().partition(|it| it.is_refused);
    told.iter().for_each(|shared| progress(&format!("remark: {shared}")));
    if refused.is_empty() { Ok(()) } else { Err(UpError::SharedCpus(refused)) }
}

/// Locks the CPUs that the site's real-time tasks are to be pinned to, until they run. Refuses a
/// site that would share them with one that has come up while the programs were built.
fn lock_cpus(site: &SiteFile, progress: &mut dyn FnMut(&str)) -> Result<Arc<CpuLocks>, UpError> {
    let locks = CpuLocks::take(shared_cpus::real_time_cpus(site));
    for cpu in locks.not_had() {
        progress(&format!(
            "remark: the lock of CPU {cpu} is held by another process, so that a site that starts \
             there at this instant may be overlooked; `lslocks` names the process"
        ));
    }
    // The remarks were made before.
    refuse_shared(site, &mut |_| ())?;
    Ok(Arc::new(locks))
}

fn lines(all: &[SharedCpu]) -> String {
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Remarks on retained values that somebody who has copied or moved a site file may miss.
fn tell_of_others(plan: &Plan, places: &Places, progress: &mut dyn FnMut(&str)) {
    let name = plan.site.name();
    for other in places.states_of_others(name, &plan.site_file) {
        let other = other.display();
        progress(&format!(
            "remark: what site `{name}` of `{other}` has retained is not taken over"
        ));
    }
}

/// Finds out the rooms of the site's partitions, and removes containers and domains that killed
/// supervisors have left.
fn prepare_rooms(
    site: &SiteFile,
    ready: &[(Partition, Made)],
    places: &Places,
    settings: &Settings,
    events: &EventLog,
) -> Result<Rooms, UpError> {
    let of_backends: Vec<BackendSetting> = ready.iter().map(|(_, made)| made.setting()).collect();
    let in_container = |it: &BackendSetting| it.declaration().in_container();
    let folder = of_backends.iter().any(in_container).then(|| places.container_folder());
    let folder = folder.transpose().map_err(UpError::ContainerPlace)?;
    for left in sweep(folder.as_deref(), of_backends.iter()) {
        events.note(HOST, "leftovers", Severity::Warning, &left);
    }
    let (wanted, group) = (site.container_runtime(), settings.group().cloned());
    Ok(Rooms::prepare(of_backends.iter(), site.name(), folder, wanted, group)?)
}

/// Returns the room of a partition's process, with the owner that others on the machine can see.
fn room_of(site: &str, partition: &Partition, rooms: &Rooms, setting: &BackendSetting) -> Room {
    let name = &partition.name;
    let owner = PartitionOwner::own(site, name, partition.cpus_in_use());
    rooms.of(name, setting, MemoryShare::of(&partition.vcr)).of(owner)
}

/// Notes the compiler's warnings and other remarks on a program that was built.
fn note_assembly(first: &Staged, partition: &str, events: &EventLog) {
    note_build(&first.build, partition, events);
    for remark in &first.remarks {
        events.note(partition, "site", Severity::Warning, &remark.to_string());
    }
}

fn note_build(build: &Build, partition: &str, events: &EventLog) {
    let warnings = build.warnings_told();
    if !warnings.is_empty() {
        events.note(partition, "build", Severity::Information, &warnings.join("\n"));
    }
    for remark in build.remarks_told() {
        events.note(partition, "build", Severity::Information, &remark);
    }
}

/// Restricts this thread and its children to the housekeeping CPUs. Where the kernel refuses, they
/// run anywhere, at ordinary priority, which a real-time task notices by its caches at most.
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
        // The keepers remain usable even if a thread panicked while it held the lock.
        self.keepers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn no_partition(&self, partition: &str) -> ControlError {
        ControlError::no_partition(partition, self.names.iter().map(String::as_str))
    }

    /// Hands a request over to the keeper of a partition.
    fn hand_over(&self, partition: &str, request: Request) -> Result<(), ControlError> {
        let keepers = self.keepers();
        let keeper = keepers.iter().find(|keeper| keeper.name == partition);
        match keeper.ok_or_else(|| self.no_partition(partition))?.ask(request) {
            true => Ok(()),
            false => Err(Refusal::ComingDown.at(partition)),
        }
    }

    /// Does in advance what a keeper must not wait for: builds the program of a deploy.
    fn prepare(
        &self,
        partition: &str,
        verb: &Verb,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Option<Box<Prepared>>, ControlError> {
        let Verb::Deploy { folder, .. } = verb else { return Ok(None) };
        let file = self.plan.site.partitions().iter().find(|known| known.name == partition);
        let file = file.ok_or_else(|| self.no_partition(partition))?;
        if file.disk().is_some() {
            // Its keeper says that it runs no program.
            return Ok(None);
        }
        progress(&format!("building `{}`", folder.display()));
        let build = self
            .workshop
            .build_folder_of(&self.plan.site, file, folder)
            .map_err(|error| Refusal::NotBuilt { why: not_built(folder, &error) }.at(partition))?;
        note_build(&build, partition, &self.events);
        for remark in build.remarks_told() {
            progress(&format!("remark: {remark}"));
        }
        progress("staging it beside the running one");
        Ok(Some(Box::new(Prepared { build, folder: folder.display().to_string() })))
    }
}

fn channels_of(site: &SiteFile) -> Result<SiteChannels, UpError> {
    SiteChannels::of(site).map_err(|(channel, source)| UpError::Channel { channel, source })
}

/// Returns the message of a deploy that failed. It leaves out the path in the site file, which
/// names another folder, and puts the compiler's words last, since they have many lines.
fn not_built(folder: &Path, error: &AssemblyError) -> String {
    let folder = folder.display();
    let why = match error {
        AssemblyError::Build { source, .. } => Causes(source).to_string(),
        other => Causes(other).to_string(),
    };
    format!("the old program runs on, as the one in `{folder}` can't be built: {why}")
}

/// Returns the tasks of a partition, followed by those of its program's kernel, which have no
/// period.
fn tasks_of(assembly: &Assembly) -> Vec<TaskDescription> {
    let period = |task: &quietcore_site::Task| task.release.rule.period().unwrap_or(Nanos::ZERO);
    let periods = assembly.tasks.iter().map(period).chain(std::iter::repeat(Nanos::ZERO));
    let named = assembly.task_names().zip(periods);
    named.map(|(name, period)| TaskDescription { name: name.to_owned(), period }).collect()
}

impl Site for Inner {
    fn ask(&self, asked: Asked, progress: &mut dyn FnMut(&str)) -> Result<Answered, ControlError> {
        let Asked { by, partition, verb } = asked;
        let prepared = self.prepare(&partition, &verb, progress)?;
        let (caller, waiting) = Caller::new(by);
        self.hand_over(&partition, Request { verb, prepared, caller })?;
        waiting.hear(progress).unwrap_or_else(|| Err(Refusal::ComingDown.at(partition)))
    }

    fn channel(
        &self,
        channel: &str,
        usage: ChannelUse,
        by: &Asker,
    ) -> Result<Answered, ControlError> {
        if self.channels.mend(channel) {
            let text = format!(
                "a partition has overwritten the description of channel `{channel}`; it is put \
                 right"
            );
            self.events.note(HOST, "channel-mended", Severity::Warning, &text);
        }
        let answered = self.channels.open(channel, usage)?;
        if usage == ChannelUse::End {
            let text = format!("a program of the host is an end of channel `{channel}`");
            self.events.add_asked(HOST, "channel", &text, None, Some(by));
        }
        Ok(answered)
    }

    fn partitions(&self) -> Partitions {
        let partitions = self.keepers().iter().map(|keeper| keeper.published.state_now()).collect();
        Partitions { partitions, drift: self.drift.now() }
    }

    fn events(&self, since: u64) -> Vec<EventLine> {
        self.events.since(since)
    }

    fn down(&self, by: &Asker) {
        self.events.add_asked(HOST, "down", "the site is brought down", None, Some(by));
        self.down.store(true, Ordering::Relaxed);
    }
}
