//! From an exchange and what was found around it to records. Pure.

use std::collections::BTreeMap;

use quietcore_exchange::{Counters as Counted, Region, Setting, TaskState, TaskStatistics};
use quietcore_load::Achieved;
use quietcore_probe::job::Wake;
use quietcore_process::setting::Policy;
use quietcore_record::check::self_check;
use quietcore_record::histogram::Histogram;
use quietcore_record::record::{
    Conditions, Counters, LoadAchieved, RECORD_SCHEMA, Record, Spike, Timeline,
};
use quietcore_units::Nanos;

use crate::activity::Activity;
use crate::measure::{Machine, StatesSeen};
use crate::run::Run;

/// What was found out during a run, beside the exchange.
#[derive(Debug)]
pub(crate) struct Findings {
    pub(crate) started_at: String,
    pub(crate) states: Vec<StatesSeen>,
    pub(crate) loads: Vec<Achieved>,
    pub(crate) remarks: String,
}

/// Makes a record of each task.
pub(crate) fn records(
    run: &Run,
    region: Region<'_>,
    findings: &Findings,
    activity: &Activity,
    machine: &Machine<'_>,
) -> Vec<Record> {
    region
        .tasks()
        .zip(&run.job.cpus)
        .zip(&findings.states)
        .enumerate()
        .map(|(index, ((task, cpu), states))| {
            let place = match cpu {
                Some(cpu) => format!("cpu{cpu}"),
                None => format!("task{index}"),
            };
            let mut record = record(run, task, activity);
            record.name = format!("{}.{place}", run.name());
            record.cpu = *cpu;
            record.conditions = conditions(run, findings, states, activity, machine);
            record.conditions.duration_ns = record.release.count() * run.job.period.get();
            record.degraded = degraded(run, task);
            record.invalid_because = invalid(run, task, findings, states, machine);
            let wrong = self_check(&record, run.injected());
            record.invalid_because.extend(wrong);
            record
        })
        .collect()
}

fn record(run: &Run, task: &TaskStatistics, activity: &Activity) -> Record {
    let counted = task.counters_at_rest();
    let wakeup = match run.job.wake {
        Wake::Sleep => None,
        Wake::Early(_) | Wake::Adaptive { .. } => Some(Histogram::from_exchange(task.wakeup())),
    };
    Record {
        schema: RECORD_SCHEMA.to_owned(),
        name: String::new(),
        probe: "latency".to_owned(),
        partition: run.partition.clone(),
        profile: run.profile.clone(),
        reserved: run.reserved,
        cpu: None,
        period_ns: Some(run.job.period.get()),
        release: Histogram::from_exchange(task.release()),
        wakeup,
        counters: counters(run, task, &counted),
        spikes: spikes(task, activity),
        timeline: timeline(task),
        conditions: Conditions::default(),
        interrupted: task.state() == TaskState::Stopped,
        degraded: Vec::new(),
        invalid_because: Vec::new(),
    }
}

fn counters(run: &Run, task: &TaskStatistics, counted: &Counted) -> Counters {
    Counters {
        planned_cycles: run.job.cycles,
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

fn conditions(
    run: &Run,
    findings: &Findings,
    states: &StatesSeen,
    activity: &Activity,
    machine: &Machine<'_>,
) -> Conditions {
    let state = states.first.as_ref();
    let unknown = || "not read back".to_owned();
    let mut around: BTreeMap<String, String> = activity.summary();
    if !findings.remarks.is_empty() {
        around.insert("remarks".to_owned(), findings.remarks.clone());
    }
    if let Some(state) = state {
        around.insert("memory_locked".to_owned(), state.locked.to_string());
    }
    Conditions {
        started_at: findings.started_at.clone(),
        duration_ns: 0,
        mode: run.mode(),
        policy: state.map_or_else(unknown, |state| state.policy_text()),
        affinity: state.map_or_else(unknown, |state| state.affinity.to_string()),
        dma_latency_held: machine.dma_latency_held,
        machine: machine.conditions.clone(),
        loads: findings.loads.iter().map(load_achieved).collect(),
        activity: around,
        site_sha256: run.site_sha256.clone(),
        quietcore_version: env!("CARGO_PKG_VERSION").to_owned(),
        injected: run
            .job
            .injection
            .map(|injection| format!("{} at release {}", injection.delay, injection.release)),
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
fn degraded(run: &Run, task: &TaskStatistics) -> Vec<String> {
    Setting::ALL
        .into_iter()
        .filter(|setting| task.refused(*setting))
        .map(|setting| match setting {
            Setting::Affinity if matches!(run.job.policy, Policy::Deadline { .. }) => {
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

/// Why the numbers of a run can't be trusted, beside what their own check finds.
fn invalid(
    run: &Run,
    task: &TaskStatistics,
    findings: &Findings,
    states: &StatesSeen,
    machine: &Machine<'_>,
) -> Vec<String> {
    let mut because = Vec::new();
    if let Some(emulated) = machine.emulated {
        because.push(format!("timing not valid: this machine's time is emulated ({emulated})"));
    }
    if task.state() == TaskState::Failed {
        because.push(format!("the task failed with error {}", task.error_number()));
    }
    match (&states.first, &states.drift) {
        (Some(first), Some(drift)) => because.push(format!(
            "the settings drifted during the run: {} became {}",
            first.policy_text(),
            drift
        )),
        (None, _) if task.release().totals().count > 0 && run.duration() > SHORT_RUN => {
            because.push("the settings in force could not be read back".to_owned());
        }
        _ => {}
    }
    let cycles = task.counters_at_rest().cycles;
    if cycles != task.release().totals().count {
        because.push("the counters and the histogram disagree".to_owned());
    }
    because.extend(findings.loads.iter().filter(|load| !load.is_complete()).map(|load| {
        let faults: Vec<String> =
            load.faults.iter().map(|fault| format!("{:?}", fault.problem)).collect();
        format!("the load `{}` did not run as asked: {}", load.kind.name(), faults.join(", "))
    }));
    because
}

/// A run that is shorter may be over before its settings are read back.
const SHORT_RUN: Nanos = Nanos::from_secs(1);
