//! One run on the machine: loads and partitions are brought up, watched, and brought down again.

pub(crate) mod checkpoint;
pub(crate) mod course;
pub(crate) mod others;
mod patience;
mod watch;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use quietcore_backend::process::PartitionError;
use quietcore_backend::rooms::Rooms;
use quietcore_backend::setting::BackendSetting;
use quietcore_host::Source;
use quietcore_host::conditions::reservation_of;
use quietcore_load::LoadError;
use quietcore_process::exchange::Exchange;
use quietcore_record::isolation::Row;
use quietcore_record::reason::NotInForce;
use quietcore_record::record::{Platform, Record, ReservationInForce, TimeReality};
use quietcore_run::HeldSettings;
use quietcore_run::loads::Loads;
use quietcore_settings::{ChangeError, Controls, LiveSettings, ReservedGroup};
use quietcore_site::{ContainerRuntime, Control};
use quietcore_units::Nanos;

use crate::activity::Activity;
use crate::beside::neighbours::Neighbours;
use crate::collect::Collector;
use crate::explain::Explaining;
use crate::findings::{Findings, PartitionFindings};
use crate::observer::Observer;
use crate::probe::ProbeError;
use crate::run::{PartitionRun, Run};
use crate::troubles::{Heard, Listener};
use crate::world::{Process, World};
use checkpoint::Checkpointing;
use watch::{Watch, note_at_end};

/// Time between two looks at the exchange.
pub(crate) const POLL: Duration = Duration::from_millis(100);
/// Looks at the exchange for each reading of a task's settings, after its first one.
pub(crate) const READ_BACK_EVERY: u32 = 2;
/// Looks at the exchange for each look at the loads.
pub(crate) const LOADS_EVERY: u32 = 10;
/// Time beyond the planned end after which a run counts as hung.
const OVERTIME_MAX: Nanos = Nanos::from_secs(30);
/// Longest time until a partition releases its first cycle, beside its warm-up: an emulated guest
/// takes a minute to start.
pub(crate) const BEGIN_MAX: Nanos = Nanos::from_secs(120);

/// The machine, as all runs of a campaign have it.
#[derive(Clone, Copy, Debug)]
pub struct Machine<'a> {
    /// Time, and the processes of partitions: [`Live`](crate::Live), but in a simulation.
    pub world: &'a dyn World,
    /// The program `quietcore-runtime`.
    pub runtime: &'a Path,
    /// Facts about the machine that stand beside every number.
    pub conditions: &'a BTreeMap<String, String>,
    /// Kernel, firmware, processor and versions.
    pub platform: &'a Platform,
    /// Finding about the time of this machine: real, or emulated.
    pub time: &'a TimeReality,
    /// Reason why this machine's time is not real; `None` where it is.
    pub emulated: Option<&'a str>,
    /// Reason why the time of guests is not real; `None` where the processor runs them.
    pub guests_interpreted: Option<&'a str>,
    /// `true` while `/dev/cpu_dma_latency` is held.
    pub dma_latency_held: bool,
    /// Folder in which containers have their folders; `None` where no partition of a run is one.
    pub container_folder: Option<&'a Path>,
    /// The machine's settings; `None` where this user may not change them.
    pub controls: Option<&'a Controls<LiveSettings>>,
    /// Returns the present time in RFC 3339; called at the start of each run.
    pub time_of_day: fn() -> String,
}

/// The records of a run, and whether it came to its end.
#[derive(Debug)]
pub struct Measured {
    /// A record for each task.
    pub records: Vec<Record>,
    /// `true` if the run was ended before its time.
    pub interrupted: bool,
}

/// The reasons why a run yielded nothing.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The loads could not be brought up.
    #[error("the load could not be started")]
    Load(#[from] LoadError),
    /// A partition could not be brought up, or it died.
    #[error(transparent)]
    Partition(#[from] PartitionError),
    /// The program's `initialize` crashed or did not return.
    #[error("the program of partition `{partition}` did not start: {how}")]
    NotStarted {
        /// Name of the partition in the site file.
        partition: String,
        /// The fault, with its place in the source.
        how: String,
    },
    /// The machine's settings can't be journalled, or a reservation can't be made; nothing was
    /// changed.
    #[error(transparent)]
    Settings(#[from] ChangeError),
    /// Its leading task released no cycle in time.
    #[error(
        "partition `{partition}` has not begun its first cycle within {waited}; it was stopped"
    )]
    NotBegun {
        /// Name of the partition in the site file.
        partition: String,
        /// Time waited, its warm-up included.
        waited: Nanos,
    },
    /// A neighbour did not begin to work.
    #[error("{neighbour} did not start: {because}")]
    Neighbour {
        /// Name of the neighbour.
        neighbour: String,
        /// The reason, as the end of a sentence.
        because: String,
    },
    /// A neighbour that worked does not do as it is told.
    #[error("{neighbour} failed: {because}")]
    NeighbourFailed {
        /// Name of the neighbour.
        neighbour: String,
        /// The reason, as the end of a sentence.
        because: String,
    },
    /// It took far longer than planned.
    #[error("the partition did not end within {overtime} beyond its time; it was stopped")]
    Hung {
        /// Time waited beyond the planned end.
        overtime: Nanos,
    },
    /// It was told to stop before it had measured anything.
    #[error("stopped before anything was measured")]
    Stopped,
    /// A probe measured nothing.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// The run came to its end, and no cycle was counted.
    #[error("no cycle was counted")]
    Empty,
}

/// Measures one run. Blocks until the run has ended or failed, or `stop` is set; in each case the
/// partitions and the loads have ended when it returns.
///
/// # Errors
/// Returns [`MeasureError`] when there is nothing to make a record of.
pub fn measure(
    run: &Run,
    machine: &Machine<'_>,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Measured, MeasureError> {
    measure_kept(run, machine, observer, stop, None)
}

/// Does the same, and keeps what is measured in checkpoints until the run has ended.
pub(crate) fn measure_kept(
    run: &Run,
    machine: &Machine<'_>,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
    checkpoints: Option<&mut Checkpointing>,
) -> Result<Measured, MeasureError> {
    observer.begin(run);
    let mut findings = Findings::begin(run, machine);
    let holder = format!("campaign-{}", std::process::id());
    let mut settings = HeldSettings::change(&run.settings, &holder, machine.controls, POLL)?;
    let rooms = rooms_of(run, machine, &holder, settings.group())?;
    findings.container_runtime = rooms.container_runtime();
    let mut loads = start_loads(run, machine.runtime, settings.group().as_ref(), observer)?;
    let mut beside = Neighbours::start(run, machine, (&holder, settings.group()), observer, stop)?;
    let mut activity = Activity::begin();
    let mut explaining = Explaining::prepare(run);
    let mut partitions = start_all(run, machine, &mut explaining, &rooms)?;
    explaining.begin(&partitions);
    let exchanges: Vec<_> = partitions.iter().map(|partition| partition.exchange()).collect();
    let mut listeners = listeners(run, &exchanges);
    let mut watch = Watch {
        run,
        machine,
        checkpoints,
        clock: machine.world.clock(),
        loads: &mut loads,
        neighbours: &mut beside,
        listeners: &mut listeners,
        activity: &mut activity,
        findings: &mut findings,
        settings: &mut settings,
        observer,
        stop,
    };
    let watched = watch.watch(&mut partitions);
    // Before the loads end, and before the wait for the partitions.
    findings.loads.add(loads.measure());
    let explained = explaining.end();
    note_at_end(&partitions, machine, &mut findings);
    for partition in &mut partitions {
        partition.stop()?;
    }
    findings.neighbours = beside.stop(machine.world.clock());
    loads.stop()?;
    let (found, left) = settings.put_back();
    let is_row = Row::of_profile(&run.profile).is_some();
    let may = machine.controls.is_some();
    findings.not_changed = not_changed(&run.settings.controls, is_row, may, &found.absent);
    findings.settings = found;
    left.iter().for_each(|left| observer.step(left));
    let interrupted = watched?;
    findings.explained(explained);
    activity.end();
    for (index, listener) in listeners.iter_mut().enumerate() {
        hear(run, index, listener, &mut findings.partitions[index].heard, observer);
    }
    note_words(run, &mut partitions, &mut findings, observer);
    let mut records = Vec::new();
    for (index, partition) in partitions.iter_mut().enumerate() {
        let collector =
            Collector { run, findings: &findings, activity: &activity, machine, goes_on: false };
        records.extend(collector.records(index, partition.region()));
    }
    if yielded_nothing(&records, &findings) {
        return Err(if interrupted { MeasureError::Stopped } else { MeasureError::Empty });
    }
    observer.end(run, &records);
    Ok(Measured { records, interrupted })
}

/// Reads the events of a program, and tells the observer its first faults, which may come with the
/// last events. Returns `true` if it has failed since the last call.
fn hear(
    run: &Run,
    index: usize,
    listener: &mut Listener<'_>,
    heard: &mut Heard,
    observer: &mut dyn Observer,
) -> bool {
    let was_sound = heard.faults.is_empty();
    listener.hear(heard);
    let has_failed = was_sound && !heard.faults.is_empty();
    if has_failed {
        let faults: Vec<String> = heard.faults.listed().iter().map(ToString::to_string).collect();
        observer.fault(run, &run.partitions[index].name, &faults.join("; "));
    }
    has_failed
}

/// Returns `true` if there is nothing to judge: neither a cycle, nor a fault that explains why.
fn yielded_nothing(records: &[Record], findings: &Findings) -> bool {
    let faults = |found: &PartitionFindings| !found.heard.faults.is_empty();
    records.iter().all(|record| record.release.count() == 0)
        && !findings.partitions.iter().any(faults)
}

/// Notes what the processes wrote about themselves and how much their programs printed, and tells
/// the observer of the latter.
fn note_words(
    run: &Run,
    partitions: &mut [Box<dyn Process>],
    findings: &mut Findings,
    observer: &mut dyn Observer,
) {
    let found = partitions.iter_mut().zip(&mut findings.partitions);
    for ((partition, found), PartitionRun { name, .. }) in found.zip(&run.partitions) {
        found.remarks = partition.take_remarks();
        found.printed = partition.printed();
        if found.printed.is_empty() {
            continue;
        }
        let lines = partition.take_printed().lines;
        let first = lines.iter().find(|line| !line.is_empty());
        let first = first.map_or_else(String::new, |line| format!("; the first: {line}"));
        observer.step(&format!(
            "{name}: its program printed {}, which a real-time program should not: each line is a \
             system call within its cycle{first}",
            found.printed
        ));
    }
}

/// Returns the listener of each partition's events.
fn listeners<'e>(run: &'e Run, exchanges: &'e [Arc<Exchange>]) -> Vec<Listener<'e>> {
    let exchanged = run.partitions.iter().zip(exchanges);
    exchanged
        .map(|(partition, exchange)| Listener::new(&partition.work, exchange.region()))
        .collect()
}

/// Starts the partitions of a run, in their order.
fn start_all(
    run: &Run,
    machine: &Machine<'_>,
    explaining: &mut Explaining,
    rooms: &Rooms,
) -> Result<Vec<Box<dyn Process>>, PartitionError> {
    let partitions = run.partitions.iter().enumerate();
    partitions
        .map(|(index, partition)| start(partition, index, machine, explaining, rooms))
        .collect()
}

/// Starts a partition; `index` is its place in the run.
fn start(
    partition: &PartitionRun,
    index: usize,
    machine: &Machine<'_>,
    explaining: &mut Explaining,
    rooms: &Rooms,
) -> Result<Box<dyn Process>, PartitionError> {
    let room = rooms.of(&partition.name, &partition.setting, partition.share);
    let room = room.confined(partition.confines);
    let (mut job, shape) = partition.work.job();
    let files = explaining.lay(index, &mut job);
    machine.world.start(machine.runtime, &job, &shape, files, &room)
}

/// Prepares the rooms in which the partitions of the run are started.
fn rooms_of(
    run: &Run,
    machine: &Machine<'_>,
    holder: &str,
    group: Option<ReservedGroup>,
) -> Result<Rooms, PartitionError> {
    let settings = run.partitions.iter().map(|partition| &partition.setting);
    prepare_rooms(settings, machine, (run.container_runtime, holder), group)
}

/// Prepares rooms for partitions with these settings, with the runtime of those in containers and
/// the holder whose containers they are.
pub(crate) fn prepare_rooms<'s>(
    settings: impl IntoIterator<Item = &'s BackendSetting>,
    machine: &Machine<'_>,
    (runtime, holder): (Option<ContainerRuntime>, &str),
    group: Option<ReservedGroup>,
) -> Result<Rooms, PartitionError> {
    let folder = machine.container_folder.map(Path::to_owned);
    Ok(Rooms::prepare(settings.into_iter(), holder, folder, runtime, group)?)
}

/// Lists the controls that were asked for and changed nothing: this user may not change them, or
/// the machine has nothing of the kind. The latter is listed only for a row of the isolation matrix
/// (`is_row`), which stands for its controls; in any other run, what is not there needs no change.
pub(crate) fn not_changed(
    asked: &[Control],
    is_row: bool,
    may: bool,
    absent: &[Control],
) -> Vec<NotInForce> {
    let asked = asked.iter();
    if !may {
        let controls = asked.map(ToString::to_string);
        return controls.map(|control| NotInForce::ControlTakesRoot { control }).collect();
    }
    if !is_row {
        return Vec::new();
    }
    let without_effect = asked.filter(|control| absent.contains(control)).map(ToString::to_string);
    without_effect.map(|control| NotInForce::ControlAbsent { control }).collect()
}

fn start_loads(
    run: &Run,
    runtime: &Path,
    group: Option<&ReservedGroup>,
    observer: &mut dyn Observer,
) -> Result<Loads, LoadError> {
    let workers: u32 = run.loads.iter().map(|load| load.workers).sum();
    if workers > 0 {
        observer.step(&format!("starting {workers} load workers"));
    }
    Loads::start(runtime, &run.loads, (group, run.settings.cpus))
}

/// Returns the reservation of a partition that runs, with its share of cache and bandwidth; `None`
/// where it could not be read back.
pub(crate) fn reservation_in_force(partition: &dyn Process) -> Option<ReservationInForce> {
    let mut reservation = reservation_of(&Source::live(), partition.process_id());
    if let Some(share) = partition.share() {
        let reservation = reservation.get_or_insert_default();
        reservation.cache_mask = share.cache_mask();
        reservation.bandwidth_percent = share.bandwidth_percent();
    }
    reservation
}

#[cfg(test)]
mod tests;
