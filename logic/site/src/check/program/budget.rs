//! Checks a partition's budget, which decides the policy of its program: run time that the kernel
//! gives in each period, and no more (SCHED_DEADLINE).

use quietcore_units::Nanos;

use super::task::Timed;
use crate::raw::{Policy, RawEarlyWake, RawProgram, RawTask, TaskKind};
use crate::reading::collector::Collector;
use crate::reading::place::Path;
use crate::site::Scheduling;
use crate::words::exact;

/// Less run time the kernel does not give (`sched_setattr`, 1024 ns), and with less a cycle is
/// never done.
const RUN_TIME_MIN: Nanos = Nanos::from_micros(10);

/// The policy of a program that names none, in a partition with this budget: `deadline`, unless a
/// priority is written or a task has no period. Those can't be held to a budget, which the plan
/// says.
pub(super) fn policy(raw: &RawProgram, budget: Option<u32>) -> Policy {
    let is_held_to_it = |task: &RawTask| {
        task.priority.is_none() && task.kind.unwrap_or_default() == TaskKind::Cyclic
    };
    let tasks = raw.task.as_deref().unwrap_or_default();
    let by_budget = budget.is_some() && raw.priority.is_none() && tasks.iter().all(is_held_to_it);
    raw.policy.unwrap_or(if by_budget { Policy::Deadline } else { Policy::Fifo })
}

/// Reports what spins away more than the budget.
pub(super) fn spins(
    raw: &RawProgram,
    share_percent: u32,
    budget: u32,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) {
    let mode = raw.early_wake.unwrap_or(RawEarlyWake::Off);
    let problem = match mode {
        RawEarlyWake::Spin => format!("it never sleeps, and the budget is {budget} %"),
        RawEarlyWake::Adaptive if share_percent >= budget => {
            format!("waking early takes up to {share_percent} %, and the budget is {budget} %")
        }
        _ => return,
    };
    collector.refuse(
        &path.key("early_wake"),
        problem,
        "choose `off`, or an `early_wake_share` far below the budget",
    );
}

/// The run time of each task: an equal part of the budget.
pub(super) fn parts(
    tasks: &[Timed],
    budget: u32,
    collector: &mut Collector<'_, '_>,
) -> Vec<Option<Scheduling>> {
    let count = tasks.len().max(1) as u64;
    tasks.iter().map(|task| part(task, u64::from(budget), count, collector)).collect()
}

fn part(
    task: &Timed,
    budget: u64,
    count: u64,
    collector: &mut Collector<'_, '_>,
) -> Option<Scheduling> {
    let period = task.release.rule.period()?;
    let run_time = Nanos::new(period.get().saturating_mul(budget) / (100 * count));
    let beyond = task.wcet().filter(|wcet| *wcet > run_time);
    if let Some(wcet) = beyond {
        collector.refuse(
            &task.path.key("wcet"),
            format!(
                "the budget gives the task {} in each period, less than {}",
                exact(run_time),
                exact(wcet)
            ),
            "raise the `budget`, or choose `policy = \"deadline\"`, which gives each task its \
             `wcet`",
        );
    } else if run_time < RUN_TIME_MIN {
        collector.refuse(
            &task.path.key("period"),
            format!("the budget gives the task only {} in each period", exact(run_time)),
            format!("raise the `budget` or the period; at least {} is needed", exact(RUN_TIME_MIN)),
        );
    }
    Some(Scheduling::Deadline { run_time, deadline: task.deadline().unwrap_or(period), period })
}

/// Reports tasks whose run times, as they are written, are more than the budget.
pub(super) fn exceeded(
    scheduled: &[Option<Scheduling>],
    budget: u32,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) {
    let part = |scheduling: &Scheduling| match scheduling {
        Scheduling::Deadline { run_time, period, .. } => {
            run_time.get() as f64 / period.get().max(1) as f64
        }
        Scheduling::Fifo { .. } | Scheduling::Other => 0.0,
    };
    let percent = scheduled.iter().flatten().map(part).sum::<f64>() * 100.0;
    if percent > f64::from(budget) + 1e-6 {
        collector.refuse(
            path,
            format!("its tasks reserve {percent:.1} % of the CPU, and the budget is {budget} %"),
            "raise the `budget`, or let each `wcet` be less",
        );
    }
}
