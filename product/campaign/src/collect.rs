//! The way from an exchange, and what was found around it, to records. Pure.

use std::time::Duration;

use quietcore_backend::process::asked::{Asked, not_locked};
use quietcore_backend::process::on_one_line;
use quietcore_exchange::{Counters as Counted, Region, TaskState, TaskStatistics, TornRead};
use quietcore_load::{Achieved, WorkerFault};
use quietcore_process::exchange::Exchange;
use quietcore_record::histogram::Histogram;
use quietcore_record::ledger::Ledgers;
use quietcore_record::reason::{Inconsistency, NotReal, Reason, RunProblem, TaskEnd};
use quietcore_record::record::check::self_check;
use quietcore_record::record::{
    AffinityInForce, Conditions, Counters, LoadAchieved, Measured, Platform, PolicyInForce,
    ProgramBuild, RECORD_SCHEMA, Record, Scan, Spike, Timeline,
};
use quietcore_run::SETTINGS_EVERY;
use quietcore_units::Nanos;

use crate::activity::Activity;
use crate::beside::neighbours::NeighbourFound;
use crate::findings::{Findings, PartitionFindings, StatesSeen};
use crate::measure::{LOADS_EVERY, Machine, POLL, READ_BACK_EVERY};
use crate::run::{PartitionRun, Run};
use crate::work::{PartitionWork, TaskRun};

/// Attempts at reading a partition that runs, at one look.
const CHECKPOINT_TRIES: u32 = 10;

/// Key of the conditions for the build of the program that was measured.
pub(crate) const PROGRAM_BUILD: &str = "program_build";

/// Key of the conditions for the settings of the machine that were changed.
pub(crate) const CONTROLS: &str = "controls";
/// Key of the conditions for the partition's share of the last-level cache and of the memory
/// bandwidth.
const SHARE: &str = "memory_share";
/// Key of the conditions for the intervals at which a run is looked at.
const WATCH: &str = "watch";
/// Key of the conditions for the longest time in which nobody looked at the run.
const WATCH_GAP: &str = "watch_gap";
/// The longest time between two looks at a run that is evidence; one is due every [`POLL`].
const WATCH_GAP_MAX: Nanos = Nanos::from_secs(1);
/// Key of the conditions for how much the partition's program printed.
const PRINTED: &str = "printed";
/// Key of the conditions for the runtime of the partition's container.
const CONTAINER: &str = "container";

/// The sources of a run's records, but for the exchange.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Collector<'a> {
    pub(crate) run: &'a Run,
    pub(crate) findings: &'a Findings,
    pub(crate) activity: &'a Activity,
    pub(crate) machine: &'a Machine<'a>,
    /// `true` if the run goes on.
    pub(crate) goes_on: bool,
}

impl Collector<'_> {
    /// Makes a record of each task of a partition that runs, as all were at one moment between two
    /// cycles; `None` where its cycles leave no time for that, at this look.
    pub(crate) fn checkpoint(&self, index: usize, exchange: &Exchange) -> Option<Vec<Record>> {
        let region = exchange.region();
        let pulses =
            || region.tasks().map(TaskStatistics::pulse).collect::<Result<Vec<_>, _>>().ok();
        let mut bytes = Vec::new();
        let is_whole = (0..CHECKPOINT_TRIES).any(|_| {
            let before = pulses();
            let is_read = exchange.read_all(&mut bytes).is_ok();
            is_read && before.is_some() && pulses() == before
        });
        let copy = Exchange::of_bytes(is_whole.then_some(&bytes)?).ok()?;
        Some(self.records(index, copy.region()))
    }

    /// Makes a record of each task of partition `index` of the run.
    pub(crate) fn records(&self, index: usize, region: Region<'_>) -> Vec<Record> {
        let partition = &self.run.partitions[index];
        let found = &self.findings.partitions[index];
        let planned = partition.work.tasks();
        // The leading task ends the other tasks of a program, which does not interrupt them.
        let lead = region.task(0).map(|task| task.state());
        let cut_short = !found.ended_in_time
            && found.heard.faults.is_empty()
            && match partition.work {
                PartitionWork::Latency(_) => None,
                PartitionWork::Program(_) => lead,
            } == Some(TaskState::Stopped);
        let tasks = region.tasks().zip(&planned).zip(&found.states);
        tasks
            .enumerate()
            .map(|(number, ((task, planned), states))| {
                let mut record = record(self.run, partition, planned, task, self.activity);
                if planned.terms.is_some() {
                    record.interrupted = cut_short;
                }
                record.interrupted |= self.goes_on;
                record.conditions = self.conditions(partition, planned, found, states);
                record.conditions.duration_ns = match planned.period {
                    Some(period) => record.release.count().saturating_mul(period.get()),
                    None => partition.work.duration().get(),
                };
                let is_emulated = partition.setting.emulation().is_some();
                let asked = Asked { policy: planned.policy, cpu: planned.cpu, is_emulated };
                record.degraded = self.degraded(asked, partition, task, states);
                if let Some(scan) = record.scan_mut() {
                    scan.faults = found.heard.faults.listed();
                    let all = found.heard.kernel.iter();
                    let own = all.filter(|errors| {
                        number == 0 || errors.task.as_deref() == Some(&planned.label)
                    });
                    scan.kernel_errors = own.cloned().collect();
                    if number == 0 && partition.work.has_fieldbus() {
                        scan.counters.lost_frames = Some(region.fieldbus().lost_frames);
                    }
                }
                record.stretches =
                    found.courses.get(number).and_then(|it| it.stretches(&record.release));
                record.ledgers = match (self.run.explain, partition.setting.unexplained()) {
                    (Some(limit), Some(because)) => {
                        let above = record.release.count_above(limit.get());
                        Some(Ledgers::unexplained(limit.get(), above, because))
                    }
                    _ => found.explained.tasks.get(number).cloned(),
                };
                record.invalid_because.extend(self.invalid(task, states));
                if let Some(interpreted) = partition.setting.emulation() {
                    let interpreted = interpreted.to_owned();
                    record.invalid_because.push(NotReal::Guests { interpreted }.into());
                }
                let shared = self.findings.others.on(&partition.work.pinned_cpus());
                record.invalid_because.extend(shared.map(Reason::from));
                record.invalid_because.extend(untold(found).into_iter().map(Reason::from));
                let wrong = self_check(&record, partition.work.injected());
                record.invalid_because.extend(wrong);
                record
            })
            .collect()
    }

    fn conditions(
        &self,
        partition: &PartitionRun,
        task: &TaskRun,
        found: &PartitionFindings,
        states: &StatesSeen,
    ) -> Conditions {
        let state = states.first.as_ref();
        let mut activity = self.activity.summary();
        if !found.remarks.is_empty() {
            activity.insert("remarks".to_owned(), on_one_line(&found.remarks));
        }
        if !found.printed.is_empty() {
            activity.insert(PRINTED.to_owned(), found.printed.to_string());
        }
        if !found.explained.conditions.is_empty() {
            activity.insert("tracing".to_owned(), found.explained.conditions.clone());
        }
        if let Some(exits) = found.exits.words() {
            activity.insert("guest_exits".to_owned(), exits);
        }
        if let Some(state) = state {
            activity.insert("memory_locked".to_owned(), state.locked.to_string());
        }
        activity.insert(WATCH_GAP.to_owned(), gap_words(self.findings.watch_gap));
        let mut machine = self.machine.conditions.clone();
        machine.insert(WATCH.to_owned(), watch_words());
        let controls = &self.findings.settings.controls;
        if !controls.is_empty() {
            machine.insert(CONTROLS.to_owned(), controls.clone());
        }
        if let Some(runtime) = &self.findings.container_runtime
            && partition.setting.declaration().in_container()
        {
            machine.insert(CONTAINER.to_owned(), runtime.clone());
        }
        if let Some(share) = &found.share {
            machine.insert(SHARE.to_owned(), share.clone());
        }
        if let PartitionWork::Program(run) = &partition.work {
            let build = &run.assembly.first.build;
            machine.insert("program".to_owned(), run.model.clone());
            machine.insert(PROGRAM_BUILD.to_owned(), build.hash.clone());
            machine.insert("compiler".to_owned(), build.compiler.clone());
            if !run.unused.is_empty() {
                machine.insert("cpus_unused".to_owned(), run.unused.to_string());
            }
        }
        Conditions {
            started_at: self.findings.started_at.clone(),
            duration_ns: 0,
            mode: task.mode.clone(),
            policy: PolicyInForce::read_back(state.map(|state| state.policy)),
            affinity: AffinityInForce::read_back(state.map(|state| state.affinity)),
            dma_latency_held: self.machine.dma_latency_held,
            time: self.machine.time.clone(),
            machine,
            platform: Some(Box::new(self.platform(partition, found))),
            loads: self.findings.loads.achieved.iter().map(load_achieved).collect(),
            neighbours: self.findings.neighbours.iter().map(NeighbourFound::achieved).collect(),
            activity,
            site_sha256: self.run.site_sha256.clone(),
            quietcore_version: env!("CARGO_PKG_VERSION").to_owned(),
            earlier_part: None,
            injection: partition.work.injected().map(Into::into),
        }
    }

    /// Returns the machine's platform, completed by what the partition got of it.
    fn platform(&self, partition: &PartitionRun, found: &PartitionFindings) -> Platform {
        let mut platform = self.machine.platform.clone();
        if let Some(seen) = &found.platform {
            platform.interrupts.clone_from(&seen.interrupts);
            platform.reservation.clone_from(&seen.reservation);
        }
        if let PartitionWork::Program(run) = &partition.work {
            let build = &run.assembly.first.build;
            platform.program = Some(ProgramBuild {
                sources_sha256: build.hash.clone(),
                module_sha256: found.module_sha256.clone(),
                compiler: build.compiler.clone(),
            });
        }
        platform.guest = partition.setting.guest_image().cloned();
        if partition.setting.declaration().in_container() {
            platform.versions.container_runtime.clone_from(&self.findings.container_runtime);
        }
        platform
    }

    /// Lists what was asked for a task, or for the machine, and was not in force.
    fn degraded(
        &self,
        asked: Asked,
        partition: &PartitionRun,
        task: &TaskStatistics,
        states: &StatesSeen,
    ) -> Vec<Reason> {
        let mut degraded = asked.refused(task);
        degraded.extend(self.findings.settings.troubles.iter().cloned());
        degraded.extend(self.findings.not_changed.iter().cloned());
        if let Some(first) = &states.first {
            degraded.extend(asked.not_in_force(task, first));
            // Of an emulated guest nothing is locked, which is said already.
            let memory = partition.work.memory().filter(|_| !asked.is_emulated);
            degraded.extend(not_locked(memory, first));
        }
        degraded.into_iter().map(Reason::from).collect()
    }

    /// Lists the reasons why the numbers of a task can't be trusted, beside what their own check
    /// finds.
    fn invalid(&self, task: &TaskStatistics, states: &StatesSeen) -> Vec<Reason> {
        let mut reasons: Vec<Reason> = Vec::new();
        if let Some(emulated) = self.machine.emulated {
            reasons.push(NotReal::Machine { evidence: emulated.to_owned() }.into());
        }
        reasons.extend(not_ended(task).filter(|_| !self.goes_on).map(Reason::from));
        let count = task.release().totals().count;
        match (&states.first, &states.drift) {
            (Some(first), Some(then)) => {
                let (first, then) = (first.clone().into(), then.clone().into());
                reasons.push(RunProblem::SettingsDrifted { first, then }.into());
            }
            (None, _) if count > 0 => reasons.push(RunProblem::SettingsUnknown.into()),
            _ => {}
        }
        match task.counters() {
            Ok(counters) if counters.cycles == count => {}
            Ok(_) => reasons.push(Inconsistency::CounterMismatch.into()),
            Err(TornRead) => reasons.push(RunProblem::TaskCutOff.into()),
        }
        if let [first, more @ ..] = &self.findings.settings.drifts[..] {
            let (first, more) = (first.clone(), more.len());
            reasons.push(RunProblem::MachineDrifted { first, more }.into());
        }
        reasons.extend(unwatched(self.findings.watch_gap).map(Reason::from));
        let weak = self.findings.loads.achieved.iter().filter(|load| !load.is_complete());
        reasons.extend(weak.map(|load| {
            let kind = load.kind.name().to_owned();
            RunProblem::LoadIncomplete { kind, problems: problems(&load.faults) }.into()
        }));
        let neighbours = self.findings.neighbours.iter().filter_map(NeighbourFound::problem);
        reasons.extend(neighbours.map(Reason::from));
        reasons
    }
}

/// Tells at what intervals a run is looked at: a change that is undone between two looks is not
/// seen.
fn watch_words() -> String {
    let every = |time: Duration| format!("every {} ms", time.as_millis());
    format!(
        "tasks {}, loads {}, settings of the machine {}; a change that was undone between two \
         looks is not seen",
        every(POLL * READ_BACK_EVERY),
        every(POLL * LOADS_EVERY),
        every(SETTINGS_EVERY)
    )
}

/// Tells how long nobody looked at a run. This is no fact about the machine, because it differs
/// from run to run.
fn gap_words(longest: Nanos) -> String {
    format!("the longest time between two looks was {longest}")
}

/// Returns why a run that nobody watched for `longest` is no evidence; `None` if that is short
/// enough.
fn unwatched(longest: Nanos) -> Option<RunProblem> {
    (longest > WATCH_GAP_MAX).then(|| RunProblem::Unwatched { gap_ns: longest.get() })
}

/// Returns the state in which a task ended or stuck; `None` if it finished or was told to stop.
fn not_ended(task: &TaskStatistics) -> Option<RunProblem> {
    let state = match task.state() {
        TaskState::Finished | TaskState::Stopped => return None,
        TaskState::Failed => {
            return Some(RunProblem::TaskFailed { error: task.error_number() });
        }
        TaskState::Unused => TaskEnd::NotBegun,
        TaskState::Starting => TaskEnd::Starting,
        TaskState::Running => TaskEnd::Running,
        TaskState::Unknown(number) => TaskEnd::Unknown(number),
    };
    Some(RunProblem::TaskNotEnded { state })
}

/// Lists the distinct problems of workers, each with its count: the workers of one kind often share
/// one.
fn problems(faults: &[WorkerFault]) -> Vec<String> {
    let mut told: Vec<(String, usize)> = Vec::new();
    for fault in faults {
        let words = fault.problem.to_string();
        match told.iter_mut().find(|(known, _)| *known == words) {
            Some((_, count)) => *count += 1,
            None => told.push((words, 1)),
        }
    }
    let told = told.into_iter().map(|(words, count)| match count {
        1 => words,
        count => format!("{words} ({count} workers)"),
    });
    told.collect()
}

/// Lists the events around a program that make its numbers no evidence, although it ran on.
fn untold(found: &PartitionFindings) -> Vec<RunProblem> {
    let mut reasons = Vec::new();
    if !found.heard.fieldbus.is_empty() {
        let problems = found.heard.fieldbus.words();
        reasons.push(RunProblem::FieldbusIncomplete { problems });
    }
    if let Some(drift) = &found.share_drift {
        reasons.push(RunProblem::ShareDrifted { drift: drift.clone() });
    }
    if found.heard.lost > 0 {
        reasons.push(RunProblem::EventsLost { count: found.heard.lost });
    }
    reasons
}

fn record(
    run: &Run,
    partition: &PartitionRun,
    planned: &TaskRun,
    task: &TaskStatistics,
    activity: &Activity,
) -> Record {
    let counted = task.counters().unwrap_or_default();
    let mut damages: Vec<RunProblem> = Vec::new();
    let mut copy = |quantity: &str, shared| {
        Histogram::from_exchange(shared).unwrap_or_else(|error| {
            let (quantity, damage) = (quantity.to_owned(), error.to_string());
            damages.push(RunProblem::ExchangeDamaged { quantity, damage });
            Histogram::new()
        })
    };
    let release = copy("release latency", task.release());
    let wakeup = planned.wakes_early.then(|| copy("wake-up latency", task.wakeup()));
    let scan = planned.terms.and_then(|terms| {
        let scan = Scan::from_exchange(task, terms);
        scan.map_err(|error| damages.push(error.into())).ok()
    });
    Record {
        schema: RECORD_SCHEMA.to_owned(),
        name: format!("{}.{}.{}", partition.name, run.profile, planned.label),
        probe: partition.work.probe().to_owned(),
        partition: partition.name.clone(),
        profile: run.profile.clone(),
        reserved: run.reserved,
        cpu: planned.cpu,
        period_ns: planned.period.map(Nanos::get),
        release,
        wakeup,
        measured: Measured::releases(scan),
        trial: None,
        counters: counters(planned.planned_cycles, task, &counted),
        spikes: spikes(task, activity),
        ledgers: None,
        timeline: timeline(task),
        stretches: None,
        conditions: Conditions::default(),
        interrupted: task.state() == TaskState::Stopped,
        degraded: Vec::new(),
        invalid_because: damages.into_iter().map(Reason::from).collect(),
    }
}

/// Copies what was counted of a task, of which `planned_cycles` were asked for.
pub(crate) fn counters(planned_cycles: u64, task: &TaskStatistics, counted: &Counted) -> Counters {
    Counters {
        planned_cycles,
        missed_cycles: Some(counted.missed_cycles),
        longest_miss_run: Some(counted.longest_miss_run),
        early: counted.early,
        difference_sum_ns: Some(counted.difference_sum_ns),
        migrations: counted.migrations,
        spin_ns: counted.spin_ns,
        margin_ns: counted.margin_ns,
        own_cost_ns: task.own_cost_ns(),
    }
}

fn spikes(task: &TaskStatistics, activity: &Activity) -> Vec<Spike> {
    let first = task.first_release_ns();
    task.spikes()
        .map(|spike| {
            let cpu = u32::try_from(spike.cpu).unwrap_or(u32::MAX);
            Spike {
                release: spike.release,
                at_ns: spike.due_ns.saturating_sub(first),
                latency_ns: spike.latency_ns,
                wakeup_ns: spike.wakeup_ns,
                cpu,
                conditions: activity
                    .around(Nanos::new(spike.due_ns), cpu)
                    .into_iter()
                    .map(Into::into)
                    .collect(),
            }
        })
        .collect()
}

/// Copies the time line of a task, up to its first empty slot.
pub(crate) fn timeline(task: &TaskStatistics) -> Timeline {
    Timeline {
        slot_cycles: task.slot_cycles(),
        slots: task
            .slots()
            .take_while(|slot| slot.count > 0)
            .map(|slot| (slot.count, slot.max_ns, slot.sum_ns))
            .collect(),
    }
}

/// Converts what a load achieved to the form that records have.
pub(crate) fn load_achieved(achieved: &Achieved) -> LoadAchieved {
    LoadAchieved {
        kind: achieved.kind.name().to_owned(),
        workers: achieved.workers,
        working: achieved.workers_alive - achieved.workers_stalled.min(achieved.workers_alive),
        cpus: achieved.cpus,
        operations_per_second: achieved.operations_per_second,
        unit: achieved.unit.to_string(),
        bytes_per_second: achieved.bytes_per_second,
        cpu_share: achieved.cpu_share,
    }
}

#[cfg(test)]
mod tests;
