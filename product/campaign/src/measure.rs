//! One run on the machine: loads and partitions are brought up, watched, and brought down again.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use quietcore_backend::process::{ExitCounts, Partition, PartitionError, Room};
use quietcore_backend::rooms::Rooms;
use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::TaskState;
use quietcore_host::Source;
use quietcore_host::conditions::{interrupts_on, reservation_of};
use quietcore_load::LoadError;
use quietcore_process::exchange::Exchange;
use quietcore_record::isolation::Row;
use quietcore_record::reason::NotInForce;
use quietcore_record::record::{Platform, Record, ReservationInForce, TimeReality};
use quietcore_run::HeldSettings;
use quietcore_run::loads::Loads;
use quietcore_settings::{ChangeError, Controls, LiveSettings, ReservedGroup};
use quietcore_site::Control;
use quietcore_units::Nanos;

use crate::activity::Activity;
use crate::collect::Collector;
use crate::explain::Explaining;
use crate::findings::{ExitsLook, Findings, PartitionFindings, PlatformSeen};
use crate::observer::{Observer, Progress};
use crate::probe::ProbeError;
use crate::run::{PartitionRun, Run};
use crate::troubles::{Heard, Listener};
use crate::work::PartitionWork;

/// Time between two looks at the exchange.
pub(crate) const POLL: Duration = Duration::from_millis(100);
/// Looks at the exchange for each reading of a task's settings, after its first one.
pub(crate) const READ_BACK_EVERY: u32 = 2;
/// Looks at the exchange for each look at the loads.
pub(crate) const LOADS_EVERY: u32 = 10;
/// Time beyond the planned end after which a run counts as hung.
const OVERTIME_MAX: Nanos = Nanos::from_secs(30);

/// The machine, as all runs of a campaign have it.
#[derive(Clone, Copy, Debug)]
pub struct Machine<'a> {
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
    observer.begin(run);
    let mut findings = Findings::begin(run, machine);
    let holder = format!("campaign-{}", std::process::id());
    let mut settings = HeldSettings::change(&run.settings, &holder, machine.controls, POLL)?;
    let rooms = prepare_rooms(run, machine, &holder, settings.group())?;
    findings.container_runtime = rooms.container_runtime();
    let mut loads = start_loads(run, machine.runtime, settings.group().as_ref(), observer)?;
    let mut activity = Activity::begin();
    let mut explaining = Explaining::prepare(run);
    let mut partitions = Vec::new();
    for (index, partition) in run.partitions.iter().enumerate() {
        let room = rooms.of(&partition.name, &partition.setting, partition.share);
        partitions.push(start(partition, index, machine, &mut explaining, &room)?);
    }
    explaining.begin(&partitions);
    let exchanges: Vec<_> = partitions.iter().map(Partition::exchange).collect();
    let mut listeners = listeners(run, &exchanges);
    let mut watch = Watch {
        run,
        loads: &mut loads,
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
    note_shares(&partitions, &mut findings);
    for partition in &mut partitions {
        partition.stop()?;
    }
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
        let collector = Collector { run, findings: &findings, activity: &activity, machine };
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
    partitions: &mut [Partition],
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

/// Starts a partition; `index` is its place in the run.
fn start(
    partition: &PartitionRun,
    index: usize,
    machine: &Machine<'_>,
    explaining: &mut Explaining,
    room: &Room,
) -> Result<Partition, PartitionError> {
    let (mut job, shape) = partition.work.job();
    let files = explaining.lay(index, &mut job);
    Partition::start_with(machine.runtime, &job, &shape, files, room)
}

/// Prepares the rooms in which the partitions of the run are started.
fn prepare_rooms(
    run: &Run,
    machine: &Machine<'_>,
    holder: &str,
    group: Option<ReservedGroup>,
) -> Result<Rooms, PartitionError> {
    let settings = run.partitions.iter().map(|partition| &partition.setting);
    let folder = machine.container_folder.map(Path::to_owned);
    Ok(Rooms::prepare(settings, holder, folder, run.container_runtime, group)?)
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

/// The parts of a run that are looked at while it is on.
struct Watch<'a, 'b> {
    run: &'a Run,
    loads: &'a mut Loads,
    listeners: &'a mut [Listener<'b>],
    activity: &'a mut Activity,
    findings: &'a mut Findings,
    settings: &'a mut HeldSettings,
    observer: &'a mut dyn Observer,
    stop: &'a AtomicBool,
}

impl Watch<'_, '_> {
    /// Returns why a partition has ended before its time, in the program's own words where that did
    /// not start.
    fn why_ended(&mut self, index: usize, error: PartitionError) -> MeasureError {
        let heard = &mut self.findings.partitions[index].heard;
        self.listeners[index].hear(heard);
        match heard.not_started.take() {
            Some(how) => {
                let partition = self.run.partitions[index].name.clone();
                MeasureError::NotStarted { partition, how }
            }
            None => error.into(),
        }
    }

    /// Watches the partitions until all have ended. Returns `true` if they were told to end early.
    fn watch(&mut self, partitions: &mut [Partition]) -> Result<bool, MeasureError> {
        let end = Monotonic.now() + self.run.duration() + OVERTIME_MAX;
        let mut interrupted = false;
        let mut looks: u32 = 0;
        let mut looked = Monotonic.now();
        loop {
            let now = Monotonic.now();
            self.findings.watch_gap = self.findings.watch_gap.max(now.saturating_sub(looked));
            looked = now;
            let mut running = false;
            for (index, partition) in partitions.iter_mut().enumerate() {
                let ended = partition.has_ended().map_err(|error| self.why_ended(index, error));
                running |= !ended?;
            }
            self.observer.progress(progress(self.run, partitions));
            if !running {
                return Ok(interrupted);
            }
            if self.stop.load(Ordering::Relaxed) && !interrupted {
                partitions.iter().for_each(Partition::request_stop);
                interrupted = true;
            }
            if Monotonic.now() > end {
                return Err(MeasureError::Hung { overtime: OVERTIME_MAX });
            }
            let due = looks.is_multiple_of(READ_BACK_EVERY);
            for (index, partition) in partitions.iter().enumerate() {
                read_back(partition, &mut self.findings.partitions[index], due);
                note_exits(partition, &mut self.findings.partitions[index]);
                self.listen(index, partition);
                self.end_in_time(index, partition);
            }
            if self.settings.poll().drifting.is_some() {
                note_shares(partitions, self.findings);
            }
            if looks % LOADS_EVERY == LOADS_EVERY - 1 {
                self.findings.loads.add(self.loads.measure());
            }
            self.activity.sample();
            // Last, because it reads many files once: nothing that is due waits for it.
            for (index, partition) in partitions.iter().enumerate() {
                note_platform(partition, self.run, index, self.findings);
            }
            looks = looks.wrapping_add(1);
            thread::sleep(POLL);
        }
    }

    /// Reads the events of a program, and stops the partition at its first fault: in fault it runs
    /// no step, so there is nothing to go on for.
    fn listen(&mut self, index: usize, partition: &Partition) {
        let heard = &mut self.findings.partitions[index].heard;
        if hear(self.run, index, &mut self.listeners[index], heard, self.observer) {
            partition.request_stop();
        }
    }

    /// Stops a program whose length is a time, once that time has passed.
    fn end_in_time(&mut self, index: usize, partition: &Partition) {
        let PartitionWork::Program(program) = &self.run.partitions[index].work else { return };
        let found = &mut self.findings.partitions[index];
        if program.cycles.is_some() || found.ended_in_time {
            return;
        }
        if let Some(lead) = partition.region().task(0)
            && lead.state() == TaskState::Running
            && Monotonic.now() >= Nanos::new(lead.first_release_ns()) + program.measured
        {
            found.ended_in_time = true;
            partition.request_stop();
        }
    }
}

/// Notes the settings in force for each task that is measuring: at its first look, then when `due`.
fn read_back(partition: &Partition, found: &mut PartitionFindings, due: bool) {
    for (task, seen) in partition.region().tasks().zip(&mut found.states) {
        // A task that does not run yet is still preparing itself, and one that was just read may
        // have ended meanwhile: neither is a drift.
        if (due || seen.first.is_none())
            && task.state() == TaskState::Running
            && let Ok(state) = partition.read_back(task)
            && task.state() == TaskState::Running
        {
            seen.note(state);
        }
    }
}

/// Notes once, while its leading task runs, what a partition got of the machine: its reservation,
/// and the interrupts that may arrive on its CPUs.
fn note_platform(partition: &Partition, run: &Run, index: usize, findings: &mut Findings) {
    let found = &mut findings.partitions[index];
    let lead = partition.region().task(0);
    let runs = lead.is_some_and(|lead| lead.state() == TaskState::Running);
    if found.platform.is_some() || !runs {
        return;
    }
    let cpus = run.partitions[index].work.pinned_cpus();
    let interrupts = if cpus.is_empty() { None } else { interrupts_on(&Source::live(), cpus) };
    found.platform =
        Some(PlatformSeen { interrupts, reservation: reservation_in_force(partition) });
}

/// Returns the reservation of a partition that runs, with its share of cache and bandwidth; `None`
/// where it could not be read back.
pub(crate) fn reservation_in_force(partition: &Partition) -> Option<ReservationInForce> {
    let mut reservation = reservation_of(&Source::live(), partition.process_id());
    if let Some(share) = partition.share() {
        let reservation = reservation.get_or_insert_default();
        reservation.cache_mask = share.cache_mask();
        reservation.bandwidth_percent = share.bandwidth_percent();
    }
    reservation
}

/// Notes the share of the last-level cache and of the memory bandwidth that each partition has, and
/// whether it still holds.
fn note_shares(partitions: &[Partition], findings: &mut Findings) {
    for (partition, found) in partitions.iter().zip(&mut findings.partitions) {
        let Some(share) = partition.share() else { continue };
        found.share.get_or_insert_with(|| share.to_string());
        if let Err(error) = share.check() {
            found.share_drift.get_or_insert_with(|| error.to_string());
        }
    }
}

/// Notes how often the processor of a guest has left it, once its leading task runs.
fn note_exits(partition: &Partition, found: &mut PartitionFindings) {
    let Some(exits) = partition.exit_counts() else { return };
    let leading = partition.region().task(0);
    let Some(leading) = leading.filter(|task| task.state() == TaskState::Running) else { return };
    let Ok(counters) = leading.counters() else { return };
    let ExitCounts { to_process, all } = exits;
    found.exits.note(ExitsLook { cycles: counters.cycles, to_process, all });
}

fn progress(run: &Run, partitions: &[Partition]) -> Progress {
    let mut sum = Progress { planned_cycles: run.cycles(), ..Progress::default() };
    for partition in partitions {
        for task in partition.region().tasks() {
            if task.state() == TaskState::Starting {
                continue;
            }
            let counters = task.counters().unwrap_or_default();
            sum.cycles += counters.cycles;
            sum.missed_cycles += counters.missed_cycles;
            sum.worst = sum.worst.max(Nanos::new(task.release().totals().max_ns));
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_the_matrix_does_not_hide_that_a_control_changed_nothing() {
        let asked = [Control::LoadBalance, Control::Governor];
        let absent = NotInForce::ControlAbsent { control: "load-balance".to_owned() };
        assert_eq!(not_changed(&asked, true, true, &asked[..1]), [absent]);
        assert_eq!(not_changed(&asked, true, true, &[]), []);
        assert_eq!(not_changed(&asked, true, false, &[]).len(), 2, "without root neither is");
        assert_eq!(not_changed(&asked, false, true, &asked[1..]), []);
        assert_eq!(not_changed(&asked, false, false, &[]).len(), 2);
    }
}
