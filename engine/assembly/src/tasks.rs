//! The tasks of a program, from the site file's words to the process's.

use quietcore_probe::job::Wake;
use quietcore_process::setting::Policy;
use quietcore_scan::process::job::{TaskJob, TaskKind};
use quietcore_scan::schedule::Overrun;
use quietcore_site::{EarlyWake, Program, Release, Scheduling, Task};
use quietcore_units::Nanos;

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
        overrun: match program.overrun {
            quietcore_site::Overrun::Skip => Overrun::Skip,
            quietcore_site::Overrun::CatchUp => Overrun::CatchUp,
            quietcore_site::Overrun::Stop => Overrun::Stop,
        },
        policy: policy(task.scheduling),
        wake: match task.release {
            Release::Cyclic { .. } => wake(program.early_wake),
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

fn policy(scheduling: Scheduling) -> Policy {
    match scheduling {
        Scheduling::Fifo { priority } => {
            Policy::Fifo(u8::try_from(priority).expect("priorities are checked to be below 100"))
        }
        Scheduling::Deadline { run_time, period, .. } => {
            Policy::Deadline { budget: run_time, period }
        }
        Scheduling::Other => Policy::Other,
    }
}

fn wake(early_wake: EarlyWake) -> Wake {
    match early_wake {
        EarlyWake::Off => Wake::Sleep,
        EarlyWake::Fixed { margin } => Wake::Early(margin),
        EarlyWake::Spin => Wake::Spin,
        EarlyWake::Adaptive { share_percent } => Wake::Adaptive {
            share_percent: u8::try_from(share_percent).expect("shares are checked to be below 100"),
        },
    }
}
