//! The tasks of a program, from the site file's words to the process's.

use quietcore_scan::process::job::{TaskJob, TaskKind};
use quietcore_site::{Program, Release, Task};
use quietcore_units::{Nanos, Wake};

/// The tasks, the leading one first: the cyclic task with the shortest period, or where there is
/// none the first freewheeling one.
pub(super) fn order(program: &Program) -> Vec<&Task> {
    let mut tasks: Vec<&Task> = program.tasks.iter().collect();
    let leads = |task: &&Task| match task.release {
        Release::Cyclic { period, .. } => (0, period),
        Release::Freewheeling { .. } => (1, Nanos::ZERO),
        Release::Event { .. } | Release::Status { .. } => (2, Nanos::ZERO),
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
        kind: kind(&task.release),
        // A freewheeling task has no deadline to miss.
        deadline: task.deadline.unwrap_or(Nanos::MAX),
        watchdog: task.watchdog,
        sensitivity: task.sensitivity,
        overrun: program.overrun,
        policy: task.scheduling,
        wake: match task.release {
            Release::Cyclic { .. } => program.early_wake,
            // Nothing is due at an instant that could be spun to.
            _ => Wake::Sleep,
        },
    }
}

fn kind(release: &Release) -> TaskKind {
    match *release {
        Release::Cyclic { period, offset } => TaskKind::Cyclic { period, offset },
        Release::Event { gap, .. } => TaskKind::Event { gap },
        Release::Status { gap, .. } => TaskKind::Status { gap },
        Release::Freewheeling { gap } => TaskKind::Freewheeling { gap },
    }
}
