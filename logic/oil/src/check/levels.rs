//! Priorities of tasks, made levels.

use quietcore_osek::configuration::ACTIVATIONS_MAX;

use crate::application::Application;
use crate::check::names::Names;
use crate::problem::Collector;
use crate::schema::Kind;

/// The most urgent level of a task.
const LEVEL_MAX: usize = 254;

/// The level of each task, from 1: the least that keep the order of the priorities.
pub(super) fn levels(
    application: &Application,
    names: &Names,
    collector: &mut Collector,
) -> Vec<u8> {
    let tasks = &application.tasks;
    let mut priorities: Vec<_> = tasks.iter().map(|task| task.priority.value).collect();
    priorities.sort_unstable();
    priorities.dedup();
    if priorities.len() > LEVEL_MAX
        && let Some(highest) = priorities.last()
        && let Some(task) = tasks.iter().find(|task| task.priority.value == *highest)
    {
        let message = format!(
            "the tasks have {} different priorities; {LEVEL_MAX} are the most",
            priorities.len()
        );
        collector.refuse_word(&task.priority.word, message);
    }
    if tasks.is_empty() && !names.have_lost(Kind::Task) {
        let message = "the application has no task; write `TASK name { PRIORITY = 1; };`";
        collector.refuse_word(&application.cpu, message);
    }
    let mut activations = 0;
    for task in tasks {
        let before = activations;
        activations += usize::from(task.activations.value);
        if before <= ACTIVATIONS_MAX && activations > ACTIVATIONS_MAX {
            let message = format!(
                "with those of `{}` there are {activations} activations of all tasks; \
                 {ACTIVATIONS_MAX} are the most",
                task.name.text
            );
            collector.refuse_word(&task.activations.word, message);
        }
    }
    let level = |priority| priorities.partition_point(|other| *other < priority) + 1;
    let levels = tasks.iter().map(|task| level(task.priority.value));
    levels.map(|level| u8::try_from(level).unwrap_or(u8::MAX)).collect()
}
