//! From an exchange and what was found around it to records. Pure.

use quietcore_exchange::{
    Counters as Counted, Region, Setting, TaskState, TaskStatistics, TornRead,
};
use quietcore_load::Achieved;
use quietcore_probe::job::Wake;
use quietcore_process::readback::ThreadState;
use quietcore_process::setting::Policy;
use quietcore_record::histogram::Histogram;
use quietcore_record::record::check::self_check;
use quietcore_record::record::{
    Conditions, Counters, LoadAchieved, RECORD_SCHEMA, Record, Spike, Timeline,
};
use quietcore_units::{CpuId, CpuSet, Nanos};

use crate::activity::Activity;
use crate::findings::{Findings, PartitionFindings, StatesSeen};
use crate::measure::Machine;
use crate::run::{PartitionRun, Run};

/// Everything that the records of a run are made from, but for the exchange.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Collector<'a> {
    pub(crate) run: &'a Run,
    pub(crate) findings: &'a Findings,
    pub(crate) activity: &'a Activity,
    pub(crate) machine: &'a Machine<'a>,
}

impl Collector<'_> {
    /// Makes a record of each task of partition `index` of the run.
    pub(crate) fn records(&self, index: usize, region: Region<'_>) -> Vec<Record> {
        let partition = &self.run.partitions[index];
        let found = &self.findings.partitions[index];
        let tasks = region.tasks().zip(&partition.job.cpus).zip(&found.states);
        tasks
            .enumerate()
            .map(|(number, ((task, cpu), states))| {
                let place = match cpu {
                    Some(cpu) => format!("cpu{cpu}"),
                    None => format!("task{number}"),
                };
                let mut record = record(self.run, partition, task, self.activity);
                record.name = format!("{}.{}.{place}", partition.name, self.run.profile);
                record.cpu = *cpu;
                record.conditions = self.conditions(partition, found, states);
                record.conditions.duration_ns =
                    record.release.count().saturating_mul(partition.job.period.get());
                record.degraded = degraded(partition, task);
                if let Some(first) = &states.first {
                    record.degraded.extend(not_as_asked(partition, task, *cpu, first));
                }
                record.invalid_because.extend(self.invalid(task, states));
                let wrong = self_check(&record, partition.injected());
                record.invalid_because.extend(wrong);
                record
            })
            .collect()
    }

    fn conditions(
        &self,
        partition: &PartitionRun,
        found: &PartitionFindings,
        states: &StatesSeen,
    ) -> Conditions {
        let state = states.first.as_ref();
        let unknown = || "not read back".to_owned();
        let mut activity = self.activity.summary();
        if !found.remarks.is_empty() {
            activity.insert("remarks".to_owned(), found.remarks.clone());
        }
        if let Some(state) = state {
            activity.insert("memory_locked".to_owned(), state.locked.to_string());
        }
        let injection = partition.job.injection;
        Conditions {
            started_at: self.findings.started_at.clone(),
            duration_ns: 0,
            mode: partition.mode(),
            policy: state.map_or_else(unknown, ThreadState::policy_text),
            affinity: state.map_or_else(unknown, |state| state.affinity.to_string()),
            dma_latency_held: self.machine.dma_latency_held,
            machine: self.machine.conditions.clone(),
            loads: self.findings.loads.achieved.iter().map(load_achieved).collect(),
            activity,
            site_sha256: self.run.site_sha256.clone(),
            quietcore_version: env!("CARGO_PKG_VERSION").to_owned(),
            injected: injection
                .map(|injection| format!("{} at release {}", injection.delay, injection.release)),
        }
    }

    /// Why the numbers of a task can't be trusted, beside what their own check finds.
    fn invalid(&self, task: &TaskStatistics, states: &StatesSeen) -> Vec<String> {
        let mut because = Vec::new();
        if let Some(emulated) = self.machine.emulated {
            because.push(format!("timing not valid: this machine's time is emulated ({emulated})"));
        }
        match task.state() {
            TaskState::Finished | TaskState::Stopped => {}
            TaskState::Failed => {
                because.push(format!("the task failed with error {}", task.error_number()));
            }
            other => because.push(format!("the task did not come to its end ({other:?})")),
        }
        let count = task.release().totals().count;
        match (&states.first, &states.drift) {
            (Some(first), Some(drift)) => because.push(format!(
                "the settings drifted during the run: {} became {}",
                first.policy_text(),
                drift
            )),
            (None, _) if count > 0 => {
                because.push("the settings in force could not be read back".to_owned());
            }
            _ => {}
        }
        match task.counters() {
            Ok(counters) if counters.cycles == count => {}
            Ok(_) => because.push("the counters and the histogram disagree".to_owned()),
            Err(TornRead) => because.push("the task was ended in the middle of a cycle".to_owned()),
        }
        let weak = self.findings.loads.achieved.iter().filter(|load| !load.is_complete());
        because.extend(weak.map(|load| {
            let faults: Vec<String> =
                load.faults.iter().map(|fault| format!("{:?}", fault.problem)).collect();
            format!("the load `{}` did not run as asked: {}", load.kind.name(), faults.join(", "))
        }));
        because
    }
}

fn record(
    run: &Run,
    partition: &PartitionRun,
    task: &TaskStatistics,
    activity: &Activity,
) -> Record {
    let counted = task.counters().unwrap_or_default();
    let mut contradictions = Vec::new();
    let mut copy = |name: &str, shared| {
        Histogram::from_exchange(shared).unwrap_or_else(|error| {
            contradictions.push(format!("the {name} latency in the exchange: {error}"));
            Histogram::new()
        })
    };
    let release = copy("release", task.release());
    let wakeup = match partition.job.wake {
        Wake::Sleep => None,
        Wake::Early(_) | Wake::Adaptive { .. } => Some(copy("wake-up", task.wakeup())),
    };
    Record {
        schema: RECORD_SCHEMA.to_owned(),
        name: String::new(),
        probe: "latency".to_owned(),
        partition: partition.name.clone(),
        profile: run.profile.clone(),
        reserved: run.reserved,
        cpu: None,
        period_ns: Some(partition.job.period.get()),
        release,
        wakeup,
        scan: None,
        counters: counters(partition, task, &counted),
        spikes: spikes(task, activity),
        timeline: timeline(task),
        conditions: Conditions::default(),
        interrupted: task.state() == TaskState::Stopped,
        degraded: Vec::new(),
        invalid_because: contradictions,
    }
}

fn counters(partition: &PartitionRun, task: &TaskStatistics, counted: &Counted) -> Counters {
    Counters {
        planned_cycles: partition.job.cycles,
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
                conditions: activity.around(Nanos::new(spike.due_ns), cpu),
            }
        })
        .collect()
}

fn timeline(task: &TaskStatistics) -> Timeline {
    Timeline {
        slot_cycles: task.slot_cycles(),
        slots: task
            .slots()
            .take_while(|slot| slot.count > 0)
            .map(|slot| (slot.count, slot.max_ns, slot.sum_ns))
            .collect(),
    }
}

fn load_achieved(achieved: &Achieved) -> LoadAchieved {
    LoadAchieved {
        kind: achieved.kind.name().to_owned(),
        workers: achieved.workers,
        working: achieved.workers_alive - achieved.workers_stalled.min(achieved.workers_alive),
        cpus: achieved.cpus.to_string(),
        operations_per_second: achieved.operations_per_second,
        unit: achieved.unit.to_string(),
        cpu_share: achieved.cpu_share,
    }
}

/// What the kernel refused, with what that costs and how it is granted.
fn degraded(partition: &PartitionRun, task: &TaskStatistics) -> Vec<String> {
    Setting::ALL
        .into_iter()
        .filter(|setting| task.refused(*setting))
        .map(|setting| match setting {
            Setting::Affinity if matches!(partition.job.policy, Policy::Deadline { .. }) => {
                "SCHED_DEADLINE threads can't be pinned outside an exclusive cpuset".to_owned()
            }
            Setting::Affinity => "the thread could not be pinned to its CPU".to_owned(),
            Setting::Policy => format!(
                "the kernel refused the real-time policy (error {}), so the task ran as \
                 SCHED_OTHER; run as root, or grant CAP_SYS_NICE or an rtprio limit",
                task.error_number()
            ),
            Setting::MemoryLock => "memory is not locked, so a page fault may delay a release; \
                                    run as root, or raise the memlock limit"
                .to_owned(),
            Setting::TimerSlack => "timers have the kernel's default slack of 50 µs".to_owned(),
        })
        .collect()
}

/// What the kernel granted and something else has taken back before it was read: applied is not
/// effective.
fn not_as_asked(
    partition: &PartitionRun,
    task: &TaskStatistics,
    cpu: Option<u32>,
    found: &ThreadState,
) -> Vec<String> {
    let mut words = Vec::new();
    let policy = match partition.job.policy {
        Policy::Fifo(priority) => format!("SCHED_FIFO {priority}"),
        Policy::Deadline { .. } => "SCHED_DEADLINE".to_owned(),
        Policy::Other => "SCHED_OTHER".to_owned(),
    };
    let in_force = found.policy_text();
    if in_force != policy && !task.refused(Setting::Policy) {
        words.push(format!("{policy} was granted and {in_force} is in force"));
    }
    if let Some(cpu) = cpu.and_then(CpuId::new)
        && found.affinity != CpuSet::from_iter([cpu])
        && !task.refused(Setting::Affinity)
    {
        words.push(format!("the thread was pinned to CPU {cpu} and may run on {}", found.affinity));
    }
    words
}

#[cfg(test)]
mod tests;
