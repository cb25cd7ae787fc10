//! One run on the machine: loads and partitions up, watched, and down again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use quietcore_backend::container::Containers;
use quietcore_backend::process::{Partition, PartitionError, Room};
use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::TaskState;
use quietcore_host::controls::{ChangeError, Changed, Controls, LiveSettings, ReservedGroup};
use quietcore_load::{LoadError, LoadRequest, LoadSet};
use quietcore_process::exchange::Exchange;
use quietcore_record::isolation::Row;
use quietcore_record::reason::NotInForce;
use quietcore_record::record::Record;
use quietcore_site::Control;
use quietcore_units::Nanos;

use crate::activity::Activity;
use crate::collect::Collector;
use crate::explain::Explaining;
use crate::findings::{ExitsLook, Findings, PartitionFindings};
use crate::observer::{Observer, Progress};
use crate::run::{PartitionRun, Run};
use crate::troubles::{Heard, Listener};
use crate::work::Work;

/// Time between two looks at the exchange.
pub(crate) const POLL: Duration = Duration::from_millis(100);
/// Looks at the exchange between two looks at the kernel, once it has been looked at.
pub(crate) const READ_BACK_EVERY: u32 = 2;
/// Looks between two looks at the loads.
pub(crate) const LOADS_EVERY: u32 = 10;
/// Looks between two looks at the machine's settings.
pub(crate) const SETTINGS_EVERY: u32 = 50;
/// How long all workers of the loads may take until they work.
const LOAD_START_MAX: Nanos = Nanos::from_secs(10);
/// Time beyond the planned end after which a run counts as hung.
const OVERTIME_MAX: Nanos = Nanos::from_secs(30);

/// What the runs of a campaign have in common.
#[derive(Clone, Copy, Debug)]
pub struct Machine<'a> {
    /// The program `quietcore-runtime`.
    pub runtime: &'a Path,
    /// Facts that travel with every number.
    pub conditions: &'a BTreeMap<String, String>,
    /// Why this machine's time isn't real; `None` where it is.
    pub emulated: Option<&'a str>,
    /// Whether `/dev/cpu_dma_latency` is held.
    pub dma_latency_held: bool,
    /// Where containers have their folders; `None` where no partition of a run is one.
    pub container_folder: Option<&'a Path>,
    /// The machine's settings; `None` where this user may not change them.
    pub controls: Option<&'a Controls<LiveSettings>>,
    /// Start of the run, RFC 3339; asked for at each run.
    pub time_of_day: fn() -> String,
}

/// What a run yielded.
#[derive(Debug)]
pub struct Measured {
    /// A record for each task.
    pub records: Vec<Record>,
    /// Whether it was ended before its time.
    pub interrupted: bool,
}

/// A run that yielded nothing.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The loads could not be brought up.
    #[error("the load could not be started")]
    Load(#[from] LoadError),
    /// The partition could not be brought up, or it died.
    #[error(transparent)]
    Partition(#[from] PartitionError),
    /// The machine's settings can't be changed so that they could be put back.
    #[error(transparent)]
    Settings(#[from] ChangeError),
    /// It took far longer than planned.
    #[error("the partition did not end within {overtime} beyond its time; it was stopped")]
    Hung {
        /// How long was waited.
        overtime: Nanos,
    },
    /// It was told to stop before it had measured anything.
    #[error("stopped before anything was measured")]
    Stopped,
    /// It came to its end, and no cycle had been counted.
    #[error("no cycle was counted")]
    Empty,
}

/// Measures one run. Blocks until it has ended, `stop` is set, or it has failed; in each case the
/// partition and the loads have ended when it returns.
///
/// # Errors
/// [`MeasureError`] when there is nothing to make a record of.
pub fn measure(
    run: &Run,
    machine: &Machine<'_>,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Measured, MeasureError> {
    observer.begin(run);
    let mut findings = Findings::begin(run, machine);
    let holder = format!("campaign-{}", std::process::id());
    let mut settings = Changed::begin(&run.settings, &holder, machine.controls)?;
    let containers = prepare_containers(run, machine, &holder, settings.group().as_ref())?;
    findings.container_runtime = containers.as_ref().map(Containers::runtime);
    let entrance = settings.group().map(|group| group.entrance());
    let mut loads = start_loads(run, machine.runtime, entrance.as_ref(), observer)?;
    let mut activity = Activity::begin();
    let mut explaining = Explaining::prepare(run);
    let mut partitions = Vec::new();
    for (index, partition) in run.partitions.iter().enumerate() {
        let room = room(partition, containers.as_ref(), &settings);
        partitions.push(start(partition, index, machine, &mut explaining, &room)?);
    }
    explaining.begin(&partitions);
    let exchanges: Vec<_> = partitions.iter().map(Partition::exchange).collect();
    let mut listeners = listeners(run, &exchanges);
    let mut watch = Watch {
        run,
        loads: loads.as_mut(),
        listeners: &mut listeners,
        activity: &mut activity,
        findings: &mut findings,
        settings: &mut settings,
        observer,
        stop,
    };
    let watched = watch.watch(&mut partitions);
    // Measured before the loads end, and before the partitions' end is waited for.
    if let Some(loads) = &mut loads {
        findings.loads.add(loads.measure());
    }
    let explained = explaining.end();
    note_shares(&partitions, &mut findings);
    for partition in &mut partitions {
        partition.stop()?;
    }
    if let Some(loads) = loads {
        loads.stop()?;
    }
    let (found, left) = settings.end();
    findings.not_changed = not_changed(run, machine.controls.is_some(), &found.absent);
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

/// Hears what a program tells, and tells its first faults, which may come with the last events.
/// Returns whether it failed since it was heard before.
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
        observer.fault(run, &run.partitions[index].name, &heard.faults.words().join("; "));
    }
    has_failed
}

/// Whether there is nothing to judge: no cycle, and no fault that would be why.
fn yielded_nothing(records: &[Record], findings: &Findings) -> bool {
    let faults = |found: &PartitionFindings| !found.heard.faults.is_empty();
    records.iter().all(|record| record.release.count() == 0)
        && !findings.partitions.iter().any(faults)
}

/// Notes what the processes have said, and notes and tells how much their programs have printed.
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

/// Who hears what each partition tells.
fn listeners<'e>(run: &'e Run, exchanges: &'e [Arc<Exchange>]) -> Vec<Listener<'e>> {
    let exchanged = run.partitions.iter().zip(exchanges);
    exchanged
        .map(|(partition, exchange)| Listener::new(&partition.work, exchange.region()))
        .collect()
}

/// Starts a partition of the run, by its place there.
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

/// What the run's containers have in common; `None` where it has none.
fn prepare_containers(
    run: &Run,
    machine: &Machine<'_>,
    holder: &str,
    group: Option<&ReservedGroup>,
) -> Result<Option<Containers>, PartitionError> {
    let count = run.partitions.iter().filter(|partition| partition.container.is_some()).count();
    let Some(folder) = machine.container_folder.filter(|_| count > 0) else { return Ok(None) };
    let folder = folder.to_owned();
    Ok(Some(Containers::prepare(folder, holder, count, run.container_runtime, group)?))
}

/// Where the process of a partition runs.
fn room(partition: &PartitionRun, containers: Option<&Containers>, settings: &Changed) -> Room {
    let room = match partition.container.clone().zip(containers) {
        Some((wish, containers)) => Room::container(containers.of_partition(&partition.name, wish)),
        None => match settings.group() {
            Some(group) => Room::behind(group.entrance()),
            None => Room::among_others(),
        },
    };
    room.with_share(&partition.name, partition.share)
}

/// Why controls that are asked for have changed nothing: this user may not, or, where a row of the
/// isolation matrix stands for them, the machine has nothing of them. Anywhere else what is not
/// there needs no change.
fn not_changed(run: &Run, may: bool, absent: &[Control]) -> Vec<NotInForce> {
    let asked = run.settings.controls.iter();
    if !may {
        let controls = asked.map(ToString::to_string);
        return controls.map(|control| NotInForce::ControlTakesRoot { control }).collect();
    }
    if Row::of_profile(&run.profile).is_none() {
        return Vec::new();
    }
    let without_effect = asked.filter(|control| absent.contains(control)).map(ToString::to_string);
    without_effect.map(|control| NotInForce::ControlAbsent { control }).collect()
}

fn start_loads(
    run: &Run,
    runtime: &Path,
    entrance: Option<&PathBuf>,
    observer: &mut dyn Observer,
) -> Result<Option<LoadSet>, MeasureError> {
    if run.loads.is_empty() {
        return Ok(None);
    }
    let workers: u32 = run.loads.iter().map(|load| load.workers).sum();
    observer.step(&format!("starting {workers} load workers"));
    // Those on the partitions' CPUs have to be let onto them.
    let reserved = |load: &LoadRequest| {
        load.cpus.is_some_and(|cpus| cpus.without(&run.settings.cpus).is_empty())
    };
    let mut requests = run.loads.clone();
    for load in requests.iter_mut().filter(|load| reserved(load)) {
        load.entrance = entrance.cloned();
    }
    let mut loads = LoadSet::start(runtime, &requests)?;
    loads.wait_until_running(LOAD_START_MAX)?;
    Ok(Some(loads))
}

/// What is looked at while a run is on.
struct Watch<'a, 'b> {
    run: &'a Run,
    loads: Option<&'a mut LoadSet>,
    listeners: &'a mut [Listener<'b>],
    activity: &'a mut Activity,
    findings: &'a mut Findings,
    settings: &'a mut Changed,
    observer: &'a mut dyn Observer,
    stop: &'a AtomicBool,
}

impl Watch<'_, '_> {
    /// Watches the partitions until all have ended. Returns whether they were told to end early.
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
            for partition in partitions.iter_mut() {
                running |= !partition.has_ended()?;
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
            self.settings.follow_links();
            if looks % SETTINGS_EVERY == SETTINGS_EVERY - 1 {
                self.settings.look();
                note_shares(partitions, self.findings);
            }
            if let Some(loads) = &mut self.loads
                && looks % LOADS_EVERY == LOADS_EVERY - 1
            {
                self.findings.loads.add(loads.measure());
            }
            self.activity.sample();
            looks = looks.wrapping_add(1);
            thread::sleep(POLL);
        }
    }

    /// Hears what the program tells. In fault it runs no step, so there is nothing to go on for.
    fn listen(&mut self, index: usize, partition: &Partition) {
        let heard = &mut self.findings.partitions[index].heard;
        if hear(self.run, index, &mut self.listeners[index], heard, self.observer) {
            partition.request_stop();
        }
    }

    /// Ends a program whose length is a time when that has passed.
    fn end_in_time(&mut self, index: usize, partition: &Partition) {
        let Work::Program(program) = &self.run.partitions[index].work else { return };
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

/// Notes what is in force for each task that is measuring: at its first look, then where it is
/// `due`.
fn read_back(partition: &Partition, found: &mut PartitionFindings, due: bool) {
    for (task, seen) in partition.region().tasks().zip(&mut found.states) {
        // Before it runs a task is still preparing itself, and a moment later it may have ended:
        // both are no drift.
        if (due || seen.first.is_none())
            && task.state() == TaskState::Running
            && let Ok(state) = partition.read_back(task)
            && task.state() == TaskState::Running
        {
            seen.note(state);
        }
    }
}

/// Notes what each partition has of the last-level cache and of the memory's bandwidth.
fn note_shares(partitions: &[Partition], findings: &mut Findings) {
    for (partition, found) in partitions.iter().zip(&mut findings.partitions) {
        let Some(share) = partition.share() else { continue };
        found.share.get_or_insert_with(|| share.to_string());
        if let Err(error) = share.check() {
            found.share_drift.get_or_insert_with(|| error.to_string());
        }
    }
}

/// Notes how often a guest's processor has left it, once its leading task runs.
fn note_exits(partition: &Partition, found: &mut PartitionFindings) {
    let Some(guest) = partition.guest() else { return };
    let leading = partition.region().task(0);
    let Some(leading) = leading.filter(|task| task.state() == TaskState::Running) else { return };
    let Ok(counters) = leading.counters() else { return };
    let (to_process, all) = guest.exit_counts();
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
    use quietcore_host::controls::Wanted;

    use super::*;

    #[test]
    fn a_row_of_the_matrix_does_not_hide_that_a_control_changed_nothing() {
        let (balance, governor) = (Control::LoadBalance, Control::Governor);
        let mut run = Run {
            profile: "iso5".to_owned(),
            reserved: true,
            settings: Wanted { controls: vec![balance, governor], ..Wanted::default() },
            container_runtime: None,
            partitions: Vec::new(),
            loads: Vec::new(),
            explain: None,
            site_sha256: String::new(),
        };
        let absent = NotInForce::ControlAbsent { control: "load-balance".to_owned() };
        assert_eq!(not_changed(&run, true, &[balance]), [absent]);
        assert_eq!(not_changed(&run, true, &[]), []);
        assert_eq!(not_changed(&run, false, &[]).len(), 2, "without root neither is");
        run.profile = "tp2".to_owned();
        assert_eq!(not_changed(&run, true, &[governor]), []);
        assert_eq!(not_changed(&run, false, &[]).len(), 2);
    }
}
