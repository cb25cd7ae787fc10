//! Controls: what of the machine may be changed so that a reservation holds.
//!
//! A site names those it wants in `[host]`. Each is changed when the site comes up, read back, and
//! put back when it comes down.

use std::fmt;

use quietcore_units::CpuSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something of the machine that can be changed for a site.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// Interrupts of devices are kept off the partitions' CPUs.
    Interrupts,
    /// Threads of the kernel that can be moved are kept off the partitions' CPUs.
    KernelThreads,
    /// Work of the kernel that is bound to no CPU is kept off the partitions' CPUs.
    Workqueues,
    /// The kernel's search for hung CPUs leaves out the partitions' CPUs.
    Watchdog,
    /// Timers expire on the CPU that set them, and are not moved to one that is busy.
    Timers,
    /// The kernel gathers its statistics of memory every 10 s instead of every second.
    Statistics,
    /// Pages are not moved between the memories of processors, which would cause page faults.
    NumaBalancing,
    /// The partitions' CPUs run at their highest frequency.
    Governor,
    /// The partitions' CPUs use no idle state whose wake-up takes longer than 10 µs.
    IdleStates,
    /// The scheduler moves no load to the partitions' CPUs. Under version 2 of cgroups nothing else
    /// can run there at all.
    LoadBalance,
    /// Other programs are kept off the partitions' CPUs.
    Programs,
    /// The memory of guests is in pages of 2 MiB, which the kernel sets aside for them.
    HugePages,
    /// CPUs that share a core with a partition's are taken offline.
    Siblings,
    /// Real-time threads are not stopped when they use all of their CPU. A thread that never sleeps
    /// then keeps everything else off its CPU.
    Throttling,
}

impl Control {
    /// All of them, in the order in which they are applied.
    pub const ALL: [Self; 14] = [
        Self::Interrupts,
        Self::KernelThreads,
        Self::Workqueues,
        Self::Watchdog,
        Self::Timers,
        Self::Statistics,
        Self::NumaBalancing,
        Self::Governor,
        Self::IdleStates,
        Self::LoadBalance,
        Self::Programs,
        Self::HugePages,
        Self::Siblings,
        Self::Throttling,
    ];

    /// Those that `standard` stands for: none of them takes something from other programs.
    pub const STANDARD: [Self; 9] = [
        Self::Interrupts,
        Self::KernelThreads,
        Self::Workqueues,
        Self::Watchdog,
        Self::Timers,
        Self::Statistics,
        Self::NumaBalancing,
        Self::Governor,
        Self::IdleStates,
    ];

    /// The word in the site file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Interrupts => "interrupts",
            Self::KernelThreads => "kernel-threads",
            Self::Workqueues => "workqueues",
            Self::Watchdog => "watchdog",
            Self::Timers => "timers",
            Self::Statistics => "statistics",
            Self::NumaBalancing => "numa-balancing",
            Self::Governor => "governor",
            Self::IdleStates => "idle-states",
            Self::LoadBalance => "load-balance",
            Self::Programs => "programs",
            Self::HugePages => "huge-pages",
            Self::Siblings => "siblings",
            Self::Throttling => "throttling",
        }
    }

    /// Describes the change as a step of a plan.
    pub fn step(self, cpus: &CpuSet) -> String {
        let on = if cpus.len() == 1 { format!("CPU {cpus}") } else { format!("CPUs {cpus}") };
        match self {
            Self::Interrupts => format!("keep interrupts of devices off {on}"),
            Self::KernelThreads => format!("keep threads of the kernel off {on}"),
            Self::Workqueues => format!("keep the kernel's unbound work off {on}"),
            Self::Watchdog => format!("leave {on} out of the kernel's watchdog"),
            Self::Timers => "let timers expire on the CPU that set them".to_owned(),
            Self::Statistics => "gather statistics of memory every 10 s only".to_owned(),
            Self::NumaBalancing => "move no pages between memories of processors".to_owned(),
            Self::Governor => format!("run {on} at the highest frequency"),
            Self::IdleStates => format!("use no idle state of {on} that takes over 10 µs to leave"),
            Self::LoadBalance => format!("take {on} out of load balancing"),
            Self::Programs => format!("keep other programs off {on}"),
            Self::HugePages => "set aside pages of 2 MiB for the memory of guests".to_owned(),
            Self::Siblings => format!("take CPUs offline that share a core with {on}"),
            Self::Throttling => {
                "do not stop real-time threads that use all of their CPU".to_owned()
            }
        }
    }
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_control_has_a_word_of_its_own_and_says_what_is_done() {
        let mut words: Vec<_> = Control::ALL.iter().map(|control| control.name()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Control::ALL.len());
        assert!(Control::STANDARD.iter().all(|control| Control::ALL.contains(control)));
        let cpus = "1-3".parse().unwrap();
        for control in Control::ALL {
            let json = serde_json::to_string(&control).unwrap();
            assert_eq!(json, format!("\"{control}\""));
            assert!(!control.step(&cpus).is_empty());
        }
        assert_eq!(Control::Interrupts.step(&cpus), "keep interrupts of devices off CPUs 1-3");
    }
}
