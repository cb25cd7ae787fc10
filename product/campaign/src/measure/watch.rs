//! The watch over a run: what its partitions, loads and settings do, ten times a second.

use std::sync::atomic::{AtomicBool, Ordering};

use quietcore_backend::process::{ExitCounts, PartitionError};
use quietcore_clock::Clock;
use quietcore_exchange::TaskState;
use quietcore_host::Source;
use quietcore_host::conditions::interrupts_on;
use quietcore_run::HeldSettings;
use quietcore_run::loads::Loads;
use quietcore_units::Nanos;

use super::checkpoint::Checkpointing;
use super::patience::Patience;
use super::{
    LOADS_EVERY, Machine, MeasureError, POLL, READ_BACK_EVERY, hear, reservation_in_force,
};
use crate::activity::Activity;
use crate::beside::neighbours::Neighbours;
use crate::collect::Collector;
use crate::findings::{ExitsLook, Findings, PartitionFindings, PlatformSeen};
use crate::observer::{Observer, Progress};
use crate::run::Run;
use crate::troubles::Listener;
use crate::work::PartitionWork;
use crate::world::{Process, sleep};

/// The parts of a run that are looked at while it is on.
pub(super) struct Watch<'a, 'b> {
    pub(super) run: &'a Run,
    pub(super) machine: &'a Machine<'a>,
    pub(super) checkpoints: Option<&'a mut Checkpointing>,
    pub(super) clock: &'a dyn Clock,
    pub(super) loads: &'a mut Loads,
    pub(super) neighbours: &'a mut Neighbours,
    pub(super) listeners: &'a mut [Listener<'b>],
    pub(super) activity: &'a mut Activity,
    pub(super) findings: &'a mut Findings,
    pub(super) settings: &'a mut HeldSettings,
    pub(super) observer: &'a mut dyn Observer,
    pub(super) stop: &'a AtomicBool,
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
    pub(super) fn watch(
        &mut self,
        partitions: &mut [Box<dyn Process>],
    ) -> Result<bool, MeasureError> {
        let mut patience = Patience::new(self.run, self.clock.now());
        let mut interrupted = false;
        let mut looks: u32 = 0;
        let mut looked = self.clock.now();
        loop {
            let now = self.clock.now();
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
                partitions.iter().for_each(|partition| partition.request_stop());
                interrupted = true;
                patience.cut_short(self.clock.now());
            }
            patience.look(self.run, partitions, self.clock.now())?;
            let due = looks.is_multiple_of(READ_BACK_EVERY);
            for (index, partition) in partitions.iter().enumerate() {
                read_back(&**partition, &mut self.findings.partitions[index], due);
                note_exits(&**partition, &mut self.findings.partitions[index]);
                let courses = &mut self.findings.partitions[index].courses;
                for (task, course) in partition.region().tasks().zip(courses) {
                    course.look(self.clock, task);
                }
                self.listen(index, &**partition);
                self.end_in_time(index, &**partition);
            }
            if self.settings.poll().drifting.is_some() {
                note_shares(partitions, self.findings);
            }
            if looks % LOADS_EVERY == LOADS_EVERY - 1 {
                self.findings.loads.add(self.loads.measure());
                self.neighbours.look(self.clock.now());
                self.findings.others.look(self.machine.world, &processes_of(partitions));
            }
            self.activity.sample();
            // Last, because it reads many files once: nothing that is due waits for it.
            for (index, partition) in partitions.iter().enumerate() {
                note_platform(&**partition, self.run, index, self.findings);
            }
            self.keep(partitions);
            looks = looks.wrapping_add(1);
            sleep(self.clock, POLL);
        }
    }

    /// Keeps what was measured so far, where a checkpoint is due and every partition has begun.
    fn keep(&mut self, partitions: &[Box<dyn Process>]) {
        let now = self.clock.now();
        let Some(checkpoints) = self.checkpoints.as_mut().filter(|it| it.is_due(now)) else {
            return;
        };
        let collector = Collector {
            run: self.run,
            findings: self.findings,
            activity: self.activity,
            machine: self.machine,
            goes_on: true,
        };
        let mut records = Vec::new();
        for (index, partition) in partitions.iter().enumerate() {
            let Some(own) = collector.checkpoint(index, &partition.exchange()) else { return };
            records.extend(own);
        }
        if records.iter().all(|record| record.release.count() > 0) {
            checkpoints.keep(records, now);
        }
    }

    /// Reads the events of a program, and stops the partition at its first fault: in fault it runs
    /// no step, so there is nothing to go on for.
    fn listen(&mut self, index: usize, partition: &dyn Process) {
        let heard = &mut self.findings.partitions[index].heard;
        if hear(self.run, index, &mut self.listeners[index], heard, self.observer) {
            partition.request_stop();
        }
    }

    /// Stops a program whose length is a time, once that time has passed.
    fn end_in_time(&mut self, index: usize, partition: &dyn Process) {
        let PartitionWork::Program(program) = &self.run.partitions[index].work else { return };
        let found = &mut self.findings.partitions[index];
        if program.cycles.is_some() || found.ended_in_time {
            return;
        }
        if let Some(lead) = partition.region().task(0)
            && lead.state() == TaskState::Running
            && self.clock.now() >= Nanos::new(lead.first_release_ns()) + program.measured
        {
            found.ended_in_time = true;
            partition.request_stop();
        }
    }
}

/// Notes the settings in force for each task that is measuring: at its first look, then when `due`.
fn read_back(partition: &dyn Process, found: &mut PartitionFindings, due: bool) {
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
fn note_platform(partition: &dyn Process, run: &Run, index: usize, findings: &mut Findings) {
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

/// Notes all that is looked at once more before the partitions end.
pub(super) fn note_at_end(
    partitions: &[Box<dyn Process>],
    machine: &Machine<'_>,
    findings: &mut Findings,
) {
    note_shares(partitions, findings);
    findings.others.look_now(machine.world, &processes_of(partitions));
}

/// Returns the numbers of the processes that are measured.
fn processes_of(partitions: &[Box<dyn Process>]) -> Vec<u32> {
    partitions.iter().map(|partition| partition.process_id()).collect()
}

/// Notes the share of the last-level cache and of the memory bandwidth that each partition has, and
/// whether it still holds.
fn note_shares(partitions: &[Box<dyn Process>], findings: &mut Findings) {
    for (partition, found) in partitions.iter().zip(&mut findings.partitions) {
        let Some(share) = partition.share() else { continue };
        found.share.get_or_insert_with(|| share.to_string());
        if let Err(error) = share.check() {
            found.share_drift.get_or_insert_with(|| error.into());
        }
    }
}

/// Notes how often the processor of a guest has left it, once its leading task runs.
fn note_exits(partition: &dyn Process, found: &mut PartitionFindings) {
    let Some(exits) = partition.exit_counts() else { return };
    let leading = partition.region().task(0);
    let Some(leading) = leading.filter(|task| task.state() == TaskState::Running) else { return };
    let Ok(counters) = leading.counters() else { return };
    let ExitCounts { to_process, all } = exits;
    found.exits.note(ExitsLook { cycles: counters.cycles, to_process, all });
}

fn progress(run: &Run, partitions: &[Box<dyn Process>]) -> Progress {
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
