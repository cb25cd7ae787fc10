//! An OSEK program in a partition: what the site file says of it, held against its OIL file.
//!
//! | site file | OIL file |
//! |---|---|
//! | `period` | `NANOSECONDSPERTICK` of the hardware counters |
//! | one cyclic task, or none | the kernel, which that task drives |
//! | `deadlines` | tasks by their names |

use quietcore_program::Build;
use quietcore_program::interface::KernelInterface;
use quietcore_scan::process::job::KernelTask;
use quietcore_site::{Partition, Task};
use quietcore_units::Nanos;

use crate::assemble::AssemblyError;
use crate::names::Names;

/// The task that drives a kernel, where the site file does not name it.
const CYCLE: &str = "cycle";

/// The tasks of the program's kernel; none where it is no OSEK program. `tasks` are those of the
/// site file, the leading one first; one that it does not name gets its name here.
pub(super) fn tasks(
    partition: &Partition,
    build: &Build,
    tasks: &mut [Task],
) -> Result<Vec<KernelTask>, AssemblyError> {
    let Some(kernel) = &build.interface.kernel else { return Ok(Vec::new()) };
    for task in tasks.iter_mut().filter(|task| task.implied) {
        CYCLE.clone_into(&mut task.name);
    }
    if let Some(same) = tasks.iter().find(|task| kernel.tasks.contains(&task.name)) {
        return Err(AssemblyError::SameName {
            partition: partition.name.clone(),
            oil: kernel.oil.clone(),
            name: same.name.clone(),
        });
    }
    let deadlines = &partition.program.deadlines;
    let task =
        |name: &String| KernelTask { name: name.clone(), deadline: deadlines.get(name).copied() };
    Ok(kernel.tasks.iter().map(task).collect())
}

impl Names<'_> {
    /// Checks the parts of the site file on OSEK programs, or those written although the program is
    /// none.
    pub(super) fn kernel(&mut self) {
        let partition = self.partition();
        let key = |key: &str| format!("partition.{}.program.{key}", partition.name);
        let program = &partition.program;
        let Some(kernel) = &self.build().interface.kernel else {
            if !program.deadlines.is_empty() {
                let what = "the program has no OIL file, and so no tasks of its own; give its \
                            tasks their deadlines in `[[partition.program.task]]`";
                self.problem(&key("deadlines"), what.to_owned());
            }
            if program.mode.is_some() {
                let what = "the program has no OIL file, and so no application modes; take it out";
                self.problem(&key("mode"), what.to_owned());
            }
            return;
        };
        let oil = oil_file(partition, kernel);
        if let Some(second) = program.tasks.get(1) {
            let what = format!(
                "one task drives the kernel, and `{}` is a second one; take it out, and let \
                 `{oil}` describe the tasks",
                second.name
            );
            self.problem(&key(&format!("task.{}", second.name)), what);
        } else if program.tasks.iter().any(|task| task.release.rule.period().is_none()) {
            let what = format!("the kernel of `{oil}` is driven by a cyclic task");
            self.problem(&key(&format!("task.{}.kind", program.tasks[0].name)), what);
        }
        if let Some(counter) = &kernel.counter
            && counter.tick_ns != program.period.get()
        {
            let (period, tick) = (exact(program.period), exact(Nanos::new(counter.tick_ns)));
            let what = format!(
                "{period} is not the tick of counter `{}` in `{oil}`, which is {tick}; write \
                 `period = \"{tick}\"`, or `NANOSECONDSPERTICK = {}` there",
                counter.name,
                program.period.get()
            );
            self.problem(&key("period"), what);
        }
        for name in program.deadlines.keys().filter(|name| !kernel.tasks.contains(name)) {
            let what = format!(
                "`{oil}` has no task `{name}`; it has {}",
                kernel.tasks.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
            );
            self.problem(&key(&format!("deadlines.{name}")), what);
        }
    }
}

/// The OIL file as the site file would name it.
fn oil_file(partition: &Partition, kernel: &KernelInterface) -> String {
    let model = partition.program.model.as_deref().unwrap_or_default();
    format!("{}/{}", model.trim_end_matches('/'), kernel.oil)
}

/// A duration as the site file would write it, and not rounded.
fn exact(duration: Nanos) -> String {
    let nanos = duration.get();
    match nanos {
        _ if nanos.is_multiple_of(1_000_000) => format!("{} ms", nanos / 1_000_000),
        _ if nanos.is_multiple_of(1_000) => format!("{} us", nanos / 1_000),
        _ => format!("{nanos} ns"),
    }
}
