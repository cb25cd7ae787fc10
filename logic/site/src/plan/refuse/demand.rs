//! Run time that tasks ask for beyond what a CPU, or the kernel, gives.
//!
//! A task needs at least its `wcet` in each of its intervals. These sums don't answer whether all
//! deadlines are met below the limit.

use quietcore_units::CpuId;

use super::Refusals;
use crate::site::{Control, Partition, Scheduling, Task};
use crate::words::exact;

/// The error that sums of fractions may have, in percent.
const ROUNDING: f64 = 1e-6;

/// The share of its CPU that a task needs.
struct Demand<'t> {
    task: &'t Task,
    percent: f64,
}

impl Refusals<'_> {
    /// The tasks of one partition, which all run on one CPU.
    pub(super) fn demand(&mut self, partition: &Partition, key: &impl Fn(&str) -> String) {
        let Some(cpu) = partition.cpus_in_use().iter().next() else { return };
        let all: Vec<Demand<'_>> = partition.program.tasks.iter().filter_map(demand).collect();
        let is_real_time = |one: &&Demand<'_>| one.task.scheduling != Scheduling::Other;
        let real_time: Vec<&Demand<'_>> = all.iter().filter(is_real_time).collect();
        let needed = sum(all.iter());
        let needed_real_time = sum(real_time.iter().copied());
        let limit = self.real_time_percent();
        if needed > 100.0 + ROUNDING {
            let reason = beyond(&all.iter().collect::<Vec<_>>(), needed, cpu);
            self.refuse(
                &key("program"),
                format!("{reason}, and a CPU gives 100 %"),
                "let periods be longer or each `wcet` be less, or give some of it a partition and \
                 a CPU of its own",
            );
        } else if let Some(limit) = limit.filter(|limit| needed_real_time > limit + ROUNDING) {
            let reason = beyond(&real_time, needed_real_time, cpu);
            self.refuse(
                &key("program"),
                format!(
                    "{reason}, and the kernel stops real-time threads that take more than \
                     {limit:.1} % (sched_rt_runtime_us)"
                ),
                "let each `wcet` be less, or name the control `throttling` in `[host]`, which \
                 takes that limit away",
            );
        }
    }

    /// The share of a CPU, in percent, that the kernel leaves to real-time threads while the site
    /// runs; `None` without a limit.
    fn real_time_percent(&self) -> Option<f64> {
        let is_given_up = self.machine.root && self.site.controls().contains(&Control::Throttling);
        let limited = self.machine.throttles && !is_given_up;
        limited.then(|| f64::from(self.machine.real_time_ppm) / 10_000.0)
    }
}

/// Returns the demand of a task; `None` where nothing is known of it, or it takes whatever is left.
fn demand(task: &Task) -> Option<Demand<'_>> {
    task.release.rule.period()?;
    let (wcet, interval) =
        (task.wcet?.get() as f64, task.release.rule.interval().get().max(1) as f64);
    Some(Demand { task, percent: wcet / interval * 100.0 })
}

fn sum<'d>(all: impl Iterator<Item = &'d Demand<'d>>) -> f64 {
    all.map(|one| one.percent).sum()
}

fn beyond(all: &[&Demand<'_>], needed: f64, cpu: CpuId) -> String {
    let one = |it: &&Demand<'_>| {
        let (name, release) = (&it.task.name, &it.task.release);
        let wcet = it.task.wcet.map(exact).unwrap_or_default();
        format!("`{name}` {wcet} {release} ({:.1} %)", it.percent)
    };
    let all: Vec<String> = all.iter().map(one).collect();
    format!("by each `wcet` its tasks need {needed:.1} % of CPU {cpu}: {}", all.join(", "))
}
