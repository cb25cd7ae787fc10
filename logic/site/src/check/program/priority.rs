//! Priorities: rate-monotonic where none is written, and never by accident the same.

use crate::check::program::task::Timed;
use crate::raw::{Policy, RawProgram};
use crate::reading::collector::Collector;
use crate::reading::place::Path;
use crate::words::exact;

const PRIORITY_DEFAULT: u32 = 90;
const PRIORITY_MAX: u32 = 99;

/// A priority of a policy that knows none.
pub(super) fn refuse(policy: Policy, path: &Path, collector: &mut Collector<'_, '_>) {
    let policy = if policy == Policy::Other { "other" } else { "deadline" };
    collector.refuse_key(
        path,
        format!("policy `{policy}` knows no priority"),
        "take it out, or choose `policy = \"fifo\"`",
    );
}

pub(super) fn remark_highest(
    priority: Option<u32>,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) {
    if priority == Some(PRIORITY_MAX) {
        collector.remark(
            path,
            "at priority 99 the program competes with the kernel's own migration and watchdog \
             threads; 98 is enough to be above all else",
        );
    }
}

/// The priority of each task, in the order of the file.
pub(super) fn assign(
    raw: &RawProgram,
    tasks: &[Timed],
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<Vec<u32>> {
    if raw.priority.is_none() && collector.has(&path.key("priority")) {
        return None;
    }
    let mut ranked: Vec<&Timed> = tasks.iter().collect();
    // Stable, so that equally fast ones stay in the order of the file.
    ranked.sort_by_key(|task| task.speed());
    let mut priorities: Vec<u32> = Vec::new();
    for task in &ranked {
        let below = priorities.iter().min().map(|lowest| lowest - 1);
        let priority = task.priority.or(below).unwrap_or(raw.priority.unwrap_or(PRIORITY_DEFAULT));
        if priority == 0 {
            collector.refuse(
                &task.path.key("priority"),
                format!("task `{}` would come below priority 1, that of a faster one", task.name),
                "give the faster ones a higher `priority`, or this one its own",
            );
            return None;
        }
        priorities.push(priority);
    }
    for (index, slower) in ranked.iter().enumerate() {
        for (faster, priority) in ranked[..index].iter().zip(&priorities) {
            compare(faster, slower, (*priority, priorities[index]), collector);
        }
    }
    let place = |task: &Timed| ranked.iter().position(|one| one.position == task.position);
    tasks.iter().map(|task| Some(priorities[place(task)?])).collect()
}

/// Two tasks of which the second one is as fast as the first one or slower.
fn compare(
    faster: &Timed,
    slower: &Timed,
    priorities: (u32, u32),
    collector: &mut Collector<'_, '_>,
) {
    let given = (faster.priority.is_some(), slower.priority.is_some());
    let path = slower.path.key("priority");
    if given == (false, false) && faster.speed() == slower.speed() {
        collector.refuse(
            &path,
            format!(
                "task `{}` is as fast as `{}`, so nothing says which one goes first",
                slower.name, faster.name
            ),
            "give both a `priority`",
        );
    } else if given != (true, true) && priorities.0 == priorities.1 {
        collector.refuse(
            &path,
            format!(
                "tasks `{}` and `{}` both have priority {}",
                faster.name, slower.name, priorities.0
            ),
            "choose another one, or give it to both if that is meant",
        );
    } else if priorities.1 > priorities.0 && faster.is_cyclic() && slower.is_cyclic() {
        collector.remark(
            &path,
            format!(
                "task `{}` ({}) goes before the faster `{}` ({})",
                slower.name,
                exact(slower.release.rule.interval()),
                faster.name,
                exact(faster.release.rule.interval())
            ),
        );
    }
}
