//! `[[partition.program.task]]`: what releases each step function, and within which times.

use quietcore_units::{Nanos, ReleaseRule};

use crate::check::program::{at_most, budget, priority};
use crate::check::unique;
use crate::raw::{Policy, RawProgram, RawTask, TaskKind};
use crate::reading::collector::Collector;
use crate::reading::place::Path;
use crate::site::{Release, Scheduling, Task, WATCHDOG_FREEWHEELING};
use crate::words::exact;

/// The name of the one task of a program without tasks in the file.
const ONLY_TASK: &str = "main";
/// The kernel's default limits on periods of `SCHED_DEADLINE` (`sched_deadline_period_min_us` and
/// `sched_deadline_period_max_us`).
const DEADLINE_PERIODS: (Nanos, Nanos) = (Nanos::from_micros(100), Nanos::from_micros(4_194_304));

/// A task before its priority is known.
pub(super) struct Timed {
    /// The key of the task in the file.
    pub(super) path: Path,
    /// Its place among the tasks.
    pub(super) position: usize,
    pub(super) name: String,
    pub(super) release: Release,
    /// The priority as written; `None` if it is to be chosen.
    pub(super) priority: Option<u32>,
    rate: u32,
    deadline: Option<Nanos>,
    wcet: Option<Nanos>,
    watchdog: Nanos,
    sensitivity: u32,
    implied: bool,
}

impl Timed {
    /// Less is faster. Of equals the cyclic one comes first, and freewheeling tasks come last.
    pub(super) const fn speed(&self) -> (bool, u64, bool) {
        let freewheeling = matches!(self.release.rule, ReleaseRule::Freewheeling { .. });
        (freewheeling, self.release.rule.interval().get(), !self.is_cyclic())
    }

    pub(super) const fn deadline(&self) -> Option<Nanos> {
        self.deadline
    }

    pub(super) const fn wcet(&self) -> Option<Nanos> {
        self.wcet
    }

    pub(super) const fn is_cyclic(&self) -> bool {
        self.release.rule.period().is_some()
    }
}

/// Checks the tasks of a program, or makes the one that a program without tasks has.
pub(super) fn check(
    raw: &RawProgram,
    period: Option<Nanos>,
    (policy, budget): (Policy, Option<u32>),
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<Vec<Task>> {
    let below = path.key("task");
    let timed: Vec<_> = match &raw.task {
        None if collector.has(&below) => return None,
        None => {
            let only = only(raw);
            let rule = ReleaseRule::Cyclic { period: period?, offset: Nanos::ZERO };
            let release = Release { rule, trigger: None };
            let only = timed(&only, release, raw, 0, path, collector);
            vec![only.map(|only| Timed { implied: true, ..only })]
        }
        Some(tasks) => {
            belongs_to_tasks(path, collector);
            let named = tasks.iter().enumerate();
            let named = named.map(|(at, task)| (below.index(at), task.name.as_deref()));
            unique("task", named, collector);
            let mut found = Vec::new();
            for (index, task) in tasks.iter().enumerate() {
                let path = below.index(index);
                let release = release(task, period, &path, collector);
                found.push(
                    release.and_then(|release| timed(task, release, raw, index, &path, collector)),
                );
            }
            together(&found, tasks, period, path, collector);
            found
        }
    };
    let timed: Vec<Timed> = timed.into_iter().collect::<Option<_>>()?;
    rates(&timed, collector);
    schedule(raw, timed, (policy, budget), path, collector)
}

/// The one task of a program that names none.
fn only(raw: &RawProgram) -> RawTask {
    RawTask {
        name: Some(ONLY_TASK.to_owned()),
        priority: raw.priority,
        deadline: raw.deadline,
        wcet: raw.wcet,
        watchdog: raw.watchdog,
        ..RawTask::default()
    }
}

/// Reports times of the program that only one of its tasks can have.
fn belongs_to_tasks(path: &Path, collector: &mut Collector<'_, '_>) {
    for key in ["deadline", "wcet", "watchdog"].map(|key| path.key(key)) {
        if collector.has(&key) {
            collector.refuse_key(
                &key,
                "the program has tasks, and each has such a time of its own",
                "write it in the `[[partition.program.task]]` that is meant",
            );
        }
    }
}

/// Checks the release of a task; reports keys that its kind does not have.
fn release(
    raw: &RawTask,
    period: Option<Nanos>,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<Release> {
    if raw.kind.is_none() && collector.has(&path.key("kind")) {
        return None;
    }
    let kind = raw.kind.unwrap_or_default();
    let (word, without): (_, &[&str]) = match kind {
        TaskKind::Cyclic => ("a cyclic task", &["trigger", "gap"]),
        TaskKind::Event => ("an event task", &["period", "offset"]),
        TaskKind::Status => ("a status task", &["period", "offset"]),
        TaskKind::Freewheeling => {
            ("a freewheeling task", &["period", "offset", "trigger", "deadline"])
        }
    };
    for key in without {
        let path = path.key(key);
        if collector.has(&path) {
            let problem = format!("{word} has no `{key}`");
            collector.refuse_key(&path, problem, "take it out, or choose another `kind`");
        }
    }
    match kind {
        TaskKind::Cyclic => {
            let own = path.key("period");
            if raw.period.is_none() && collector.has(&own) {
                return None;
            }
            let period = raw.period.or(period)?;
            let offset = offset(raw, period, path, collector);
            Some(Release { rule: ReleaseRule::Cyclic { period, offset }, trigger: None })
        }
        TaskKind::Event | TaskKind::Status => {
            let needed = "write for example `trigger = \"servo_Y.referenced\"`";
            let trigger = given(raw.trigger.clone(), "trigger", needed, word, path, collector);
            if raw.gap.is_none() && collector.has(&path.key("gap")) {
                return None;
            }
            let (trigger, gap) = (trigger?, raw.gap.or(period)?);
            let rule = match kind {
                TaskKind::Event => ReleaseRule::Event { gap },
                _ => ReleaseRule::Status { gap },
            };
            Some(Release { rule, trigger: Some(trigger) })
        }
        TaskKind::Freewheeling => {
            let needed = "write for example `gap = \"5 ms\"`";
            let gap = given(raw.gap, "gap", needed, word, path, collector)?;
            Some(Release { rule: ReleaseRule::Freewheeling { gap }, trigger: None })
        }
    }
}

/// A value that this kind of task must have.
fn given<T>(
    value: Option<T>,
    key: &str,
    remedy: &str,
    word: &str,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<T> {
    let path = path.key(key);
    if value.is_none() && !collector.has(&path) {
        collector.refuse(&path, format!("{word} needs a `{key}`"), remedy);
    }
    value
}

fn offset(raw: &RawTask, period: Nanos, path: &Path, collector: &mut Collector<'_, '_>) -> Nanos {
    let offset = raw.offset.unwrap_or_default();
    if offset >= period {
        collector.refuse(
            &path.key("offset"),
            format!("{} is not less than the period of {}", exact(offset), exact(period)),
            "choose less than the period",
        );
    }
    offset
}

/// The times of one task. `path` leads to the table that has them: the task's, or the program's.
fn timed(
    raw: &RawTask,
    release: Release,
    program: &RawProgram,
    position: usize,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<Timed> {
    let limit_name = if release.rule.period().is_some() { "period" } else { "gap" };
    let interval = release.rule.interval();
    let deadline = match release.rule {
        ReleaseRule::Freewheeling { .. } => None,
        _ => Some(raw.deadline.unwrap_or(interval)),
    };
    at_most(&path.key("deadline"), deadline, Some(interval), limit_name, collector);
    at_most(&path.key("wcet"), raw.wcet, deadline, "deadline", collector);
    let watchdog = raw.watchdog.unwrap_or(deadline.unwrap_or(WATCHDOG_FREEWHEELING));
    if let (Some(written), Some(wcet)) = (raw.watchdog, raw.wcet)
        && written < wcet
    {
        collector.refuse(
            &path.key("watchdog"),
            format!("{} is less than the wcet of {}", exact(written), exact(wcet)),
            "use the wcet at least: a cycle within its bound is no fault",
        );
    }
    Some(Timed {
        path: path.clone(),
        position,
        name: raw.name.clone()?,
        release,
        priority: raw.priority,
        rate: rate(raw, position, path, collector)?,
        deadline,
        wcet: raw.wcet,
        watchdog,
        sensitivity: raw.sensitivity.or(program.sensitivity).unwrap_or(1),
        implied: false,
    })
}

fn rate(raw: &RawTask, position: usize, path: &Path, collector: &Collector<'_, '_>) -> Option<u32> {
    if raw.rate.is_none() && collector.has(&path.key("rate")) {
        return None;
    }
    Some(raw.rate.unwrap_or(position as u32))
}

/// Reports what one task can't know of the others: a trigger that nothing looks at, and a period of
/// the program that is not that of its fastest task.
fn together(
    found: &[Option<Timed>],
    raw: &[RawTask],
    period: Option<Nanos>,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) {
    let cyclic = raw.iter().any(|task| task.kind.unwrap_or_default() == TaskKind::Cyclic);
    let mut fastest: Option<Nanos> = None;
    for task in found.iter().flatten() {
        if task.release.trigger.is_some() && !cyclic {
            collector.refuse(
                &task.path.key("trigger"),
                "no cyclic task is there to look at the trigger",
                "add a cyclic task",
            );
        }
        if let (Some(own), Some(period)) = (task.release.rule.period(), period) {
            fastest = Some(fastest.map_or(own, |other| other.min(own)));
            if own < period {
                collector.refuse(
                    &task.path.key("period"),
                    format!(
                        "{} is less than {}, the period of the program, which is that of its \
                         fastest task",
                        exact(own),
                        exact(period)
                    ),
                    "write it as `period` in `[partition.program]` too, or leave that out",
                );
            }
        }
    }
    let whole = found.iter().all(Option::is_some);
    if let (Some(fastest), Some(period), true) = (fastest, period, whole)
        && fastest > period
    {
        let fastest = exact(fastest);
        collector.refuse(
            &path.key("period"),
            format!("the fastest cyclic task has a period of {fastest}"),
            format!("write `{fastest}`, or leave it out"),
        );
    }
}

/// Reports step functions with two tasks or none, and remarks periods that no generated program
/// has.
fn rates(tasks: &[Timed], collector: &mut Collector<'_, '_>) {
    for (index, task) in tasks.iter().enumerate() {
        let path = task.path.key("rate");
        if let Some(other) = tasks[..index].iter().find(|other| other.rate == task.rate) {
            collector.refuse(
                &path,
                format!("step function {} is run by task `{}` already", task.rate, other.name),
                "give each step function one task",
            );
        } else if task.rate as usize >= tasks.len() {
            let count = tasks.len();
            let last = count - 1;
            collector.refuse(
                &path,
                format!("{count} tasks run step functions 0 to {last}, so {} is none", task.rate),
                format!("write 0 to {last}; each step function has one task"),
            );
        }
    }
    let base = tasks.iter().find(|task| task.rate == 0).and_then(|task| task.release.rule.period());
    let Some(base) = base else { return };
    for task in tasks {
        if let Some(period) = task.release.rule.period()
            && !period.get().is_multiple_of(base.get())
        {
            collector.remark(
                &task.path.key("period"),
                format!(
                    "{} is no multiple of {}, the period of step function 0; a generated program \
                     counts on it",
                    exact(period),
                    exact(base)
                ),
            );
        }
    }
}

/// Gives each task its policy with the parameters.
fn schedule(
    raw: &RawProgram,
    tasks: Vec<Timed>,
    (policy, budget): (Policy, Option<u32>),
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<Vec<Task>> {
    let schedules: Vec<Option<Scheduling>> = match policy {
        Policy::Fifo => {
            let priorities = priority::assign(raw, &tasks, path, collector)?;
            priorities.into_iter().map(|priority| Some(Scheduling::Fifo { priority })).collect()
        }
        Policy::Other => tasks.iter().map(|_| Some(Scheduling::Other)).collect(),
        Policy::Deadline => match budget.filter(|_| raw.policy.is_none()) {
            Some(budget) => budget::parts(&tasks, budget, collector),
            None => tasks.iter().map(|task| reserved(task, collector)).collect(),
        },
    };
    if let Some(budget) = budget {
        budget::exceeded(&schedules, budget, path, collector);
    }
    for task in tasks.iter().filter(|_| raw.task.is_some()) {
        let path = task.path.key("priority");
        priority::remark_highest(task.priority, &path, collector);
        if policy != Policy::Fifo && collector.has(&path) {
            priority::refuse(policy, &path, collector);
        }
    }
    let scheduled = tasks.into_iter().zip(schedules).map(|(task, scheduling)| {
        Some(Task {
            name: task.name,
            rate: task.rate,
            release: task.release,
            scheduling: scheduling?,
            deadline: task.deadline,
            wcet: task.wcet,
            watchdog: task.watchdog,
            sensitivity: task.sensitivity,
            implied: task.implied,
        })
    });
    scheduled.collect()
}

/// The reservation of a task under `SCHED_DEADLINE`.
fn reserved(task: &Timed, collector: &mut Collector<'_, '_>) -> Option<Scheduling> {
    let Some(period) = task.release.rule.period() else {
        collector.refuse(
            &task.path.key("kind"),
            "policy `deadline` reserves time in each period, and only a cyclic task has one",
            "let the task be cyclic, or choose `policy = \"fifo\"`",
        );
        return None;
    };
    let wcet = task.path.key("wcet");
    if !collector.has(&wcet) {
        collector.refuse(
            &wcet,
            "policy `deadline` reserves this run time, so it must be given",
            "write for example `wcet = \"120 us\"`",
        );
    }
    if !(DEADLINE_PERIODS.0..=DEADLINE_PERIODS.1).contains(&period) {
        collector.remark(
            &task.path.key("period"),
            "unless told otherwise the kernel refuses SCHED_DEADLINE with a period below 100 us \
             or above 4.19 s",
        );
    }
    let deadline = task.deadline.unwrap_or(period);
    Some(Scheduling::Deadline { run_time: task.wcet?, deadline, period })
}
