//! `[partition.program]`: period, policy, tasks, and what happens when it fails.

mod budget;
mod failure;
mod priority;
mod task;

pub(super) use failure::restart;

use quietcore_record::class::Class;
use quietcore_units::{Nanos, Wake};

use crate::raw::{Policy, RawEarlyWake, RawProgram, RawTask, TaskKind};
use crate::reading::collector::Collector;
use crate::reading::place::Path;
use crate::site::{Program, ProgramKind};
use crate::words::exact;

const SHARE_PERCENT_DEFAULT: u32 = 25;

/// Checks the program of a partition with this budget in percent. `None` where it is wrong and
/// reported.
pub(super) fn check(
    raw: &RawProgram,
    class: Option<&Class>,
    budget: Option<u32>,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<Program> {
    let period = period(raw, class, path, collector);
    let early_wake = early_wake(raw, period, path, collector);
    let policy = budget::policy(raw, budget);
    if let Some(budget) = budget.filter(|_| policy == Policy::Deadline) {
        let share_percent = raw.early_wake_share.unwrap_or(SHARE_PERCENT_DEFAULT);
        budget::spins(raw, share_percent, budget, path, collector);
    }
    policy_fits(raw, policy, path, collector);
    let tasks = task::check(raw, period, (policy, budget), path, collector);
    failure::needs_a_model(path, collector);
    of_its_kind(raw, path, collector);
    let on_fault = failure::on_fault(raw, path, collector);
    let retain = failure::retain(raw, path, collector);
    let restart = failure::restart(raw.restart.as_ref());
    let (period, tasks, (on_fault, substitutes)) = (period?, tasks?, on_fault?);
    let fastest = tasks.iter().find(|task| task.release.rule.period() == Some(period));
    let fastest = fastest.unwrap_or(&tasks[0]);
    Some(Program {
        model: raw.model.clone(),
        kind: raw.kind,
        model_name: raw.model_name.clone(),
        oil: raw.oil.clone(),
        mode: raw.mode.clone(),
        deadlines: raw.deadlines.clone().unwrap_or_default(),
        period,
        deadline: fastest.deadline.unwrap_or(period),
        wcet: fastest.wcet,
        scheduling: fastest.scheduling,
        early_wake,
        overrun: raw.overrun.unwrap_or_default(),
        on_fault,
        substitutes,
        retain: retain?,
        restart,
        tasks,
    })
}

/// Refuses keys that say something about the other kind of program.
fn of_its_kind(raw: &RawProgram, path: &Path, collector: &mut Collector<'_, '_>) {
    let (keys, other): (&[&str], &str) = match raw.kind {
        Some(ProgramKind::Generated) => (&["oil", "mode", "deadlines"], "osek"),
        Some(ProgramKind::Osek) => (&["model_name"], "generated"),
        None => return,
    };
    for key in keys.iter().map(|key| path.key(key)) {
        if collector.has(&key) {
            collector.refuse_key(
                &key,
                format!("it has an effect under `kind = \"{other}\"` only"),
                format!("take it out, or choose `{other}`"),
            );
        }
    }
}

/// The period as written, else that of the fastest cyclic task, else the cycle of the class.
fn period(
    raw: &RawProgram,
    class: Option<&Class>,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<Nanos> {
    let task_path = path.key("task");
    let path = path.key("period");
    if raw.period.is_none() && collector.has(&path) {
        return None;
    }
    let of_tasks = of_tasks(raw.task.as_deref(), &task_path, collector).ok()?;
    let cycle = class.and_then(|class| class.cycle_ns).map(Nanos::new);
    if let (Some(period), Some(cycle), Some(class)) = (raw.period.or(of_tasks), cycle, class)
        && period > cycle
    {
        collector.remark(
            &path,
            format!(
                "the class `{}` has a cycle of {}; releases every {} say little about it",
                class.name,
                exact(cycle),
                exact(period)
            ),
        );
    }
    let period = raw.period.or(of_tasks).or(cycle);
    if let (None, Some(class)) = (period, class) {
        collector.refuse(
            &path,
            format!("the class `{}` has no cycle, so the period must be given", class.name),
            "write for example `period = \"100 ms\"`",
        );
    }
    period
}

/// The shortest period of the cyclic tasks where all of them give one; an error where one can't be
/// read, so that nothing is known.
fn of_tasks(
    tasks: Option<&[RawTask]>,
    path: &Path,
    collector: &Collector<'_, '_>,
) -> Result<Option<Nanos>, ()> {
    let Some(tasks) = tasks else {
        return if collector.has(path) { Err(()) } else { Ok(None) };
    };
    let mut shortest: Option<Nanos> = None;
    let mut all_given = true;
    for (index, task) in tasks.iter().enumerate() {
        let path = path.index(index);
        if task.kind.is_none() && collector.has(&path.key("kind")) {
            return Err(());
        }
        if task.kind.unwrap_or_default() != TaskKind::Cyclic {
            continue;
        }
        match task.period {
            Some(period) => shortest = Some(shortest.map_or(period, |other| other.min(period))),
            None if collector.has(&path.key("period")) => return Err(()),
            None => all_given = false,
        }
    }
    Ok(shortest.filter(|_| all_given))
}

fn at_most(
    path: &Path,
    value: Option<Nanos>,
    limit: Option<Nanos>,
    limit_name: &str,
    collector: &mut Collector<'_, '_>,
) {
    if let (Some(value), Some(limit)) = (value, limit)
        && value > limit
        && collector.has(path)
    {
        collector.refuse(
            path,
            format!("{} is beyond the {limit_name} of {}", exact(value), exact(limit)),
            format!("use the {limit_name} at most"),
        );
    }
}

fn early_wake(
    raw: &RawProgram,
    period: Option<Nanos>,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Wake {
    let mode_path = path.key("early_wake");
    let mode = raw.early_wake.unwrap_or(RawEarlyWake::Off);
    let share_path = path.key("early_wake_share");
    let reported = raw.early_wake.is_none() && collector.has(&mode_path);
    if mode != RawEarlyWake::Adaptive && !reported && collector.has(&share_path) {
        collector.refuse_key(
            &share_path,
            "it has an effect under `early_wake = \"adaptive\"` only",
            "take it out, or choose `adaptive`",
        );
    }
    match mode {
        RawEarlyWake::Off => Wake::Sleep,
        RawEarlyWake::Spin => Wake::Spin,
        RawEarlyWake::Adaptive => {
            Wake::Adaptive { share_percent: raw.early_wake_share.unwrap_or(SHARE_PERCENT_DEFAULT) }
        }
        RawEarlyWake::Fixed(margin) => {
            if let Some(period) = period.filter(|period| margin >= *period) {
                collector.refuse(
                    &mode_path,
                    format!(
                        "waking {} early leaves nothing of the period of {}",
                        exact(margin),
                        exact(period)
                    ),
                    "choose less than the period, or `adaptive`",
                );
            }
            Wake::Early { margin }
        }
    }
}

fn policy_fits(raw: &RawProgram, policy: Policy, path: &Path, collector: &mut Collector<'_, '_>) {
    let priority = path.key("priority");
    priority::remark_highest(raw.priority, &priority, collector);
    if policy != Policy::Fifo && collector.has(&priority) {
        priority::refuse(policy, &priority, collector);
    }
}
