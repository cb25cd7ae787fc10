//! The tasks of a program, from the site file's words to the process's.

use quietcore_scan::process::job::TaskJob;
use quietcore_site::{Program, Task};
use quietcore_units::{Nanos, ReleaseRule, Wake};

/// The tasks, the leading one first: the cyclic task with the shortest period, or where there is
/// none the first freewheeling one.
pub(super) fn order(program: &Program) -> Vec<&Task> {
    let mut tasks: Vec<&Task> = program.tasks.iter().collect();
    let leads = |task: &&Task| match task.release.rule {
        ReleaseRule::Cyclic { period, .. } => (0, period),
        ReleaseRule::Freewheeling { .. } => (1, Nanos::ZERO),
        ReleaseRule::Event { .. } | ReleaseRule::Status { .. } => (2, Nanos::ZERO),
    };
    if let Some(first) = (0..tasks.len()).min_by_key(|index| leads(&tasks[*index])) {
        tasks[..=first].rotate_right(1);
    }
    tasks
}

pub(super) fn job(program: &Program, task: &Task) -> TaskJob {
    TaskJob {
        name: task.name.clone(),
        rate: task.rate,
        release: task.release.rule,
        // A freewheeling task has no deadline to miss.
        deadline: task.deadline.unwrap_or(Nanos::MAX),
        watchdog: task.watchdog,
        sensitivity: task.sensitivity,
        overrun: program.overrun,
        policy: task.scheduling,
        wake: match task.release.rule {
            ReleaseRule::Cyclic { .. } => program.early_wake,
            // Nothing is due at an instant that could be spun to.
            _ => Wake::Sleep,
        },
    }
}
