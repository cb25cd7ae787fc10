//! Everything about this machine that decides real-time behaviour, read once, as plain data.
//!
//! Facts borrow nothing and know no judgement: [`crate::doctor`] judges them, an evidence folder
//! stores them, and a test writes them down. Each value is a [`Reading`], so that "not there", "not
//! readable" and "read and empty" stay three different things.
//!
//! | part | from |
//! |------|------|
//! | [`Kernel`] | `/proc/version`, `/proc/cmdline`, the kernel's configuration |
//! | [`Cpu`], [`Power`], [`Caches`] | `/sys/devices/system`, CPUID, resctrl |
//! | [`Clock`] | `/sys/devices/system/clocksource`, CPU flags, a calibration |
//! | [`Scheduler`], [`Cgroups`], [`Limits`] | `/proc/sys/kernel`, `/proc/self`, attempts |
//! | [`Memory`], [`Interrupts`] | `/proc/meminfo`, `/sys/kernel/mm`, `/proc/irq` |
//! | [`Virtualization`], [`Firmware`] | CPUID, `/sys/class/dmi`, `/dev/kvm`, MSR 0x34 |
//! | [`Network`], [`Tracing`], [`Activity`] | `/sys/class/net`, tracefs, `/proc` |

mod activity;
mod cgroup;
mod firmware;
mod interrupts;
mod kernel;
mod memory;
mod network;
mod processor;
mod scheduler;
mod tracing;
mod virtualization;

use serde::{Deserialize, Serialize};

use crate::attempts::{Attempts, Live, Quick};
use crate::reading::Reading;
use crate::source::Source;
use processor::{cache, clock, cpu, power};

pub use activity::{Activity, Steal};
pub use cgroup::{
    CgroupArrangement, CgroupMount, CgroupPlaceError, Cgroups, Containers, ENTERED, GROUP_PREFIX,
    OTHERS_GROUP,
};
pub use firmware::Firmware;
pub use interrupts::{Interrupt, Interrupts};
pub use kernel::{CommandLine, Kernel, Preemption, PreemptionModel};
pub use memory::{HugePages, Memory};
pub use network::{Card, Interface, Network};
pub use processor::cache::{CacheDomain, Caches, CpuidAllocation, Resctrl, ResctrlLevel};
pub use processor::cache_ground::CacheGround;
pub(crate) use processor::clock::why_not_real;
pub use processor::clock::{Clock, TscFlags};
pub use processor::cpu::{CoreType, Cpu, LogicalCpu, Node};
pub use processor::power::{Frequency, IdleState, Power, Throttling};
pub use scheduler::{Limit, Limits, Scheduler};
pub use tracing::Tracing;
pub use virtualization::{Kvm, Virtualization, Xen};

/// The facts of one machine at one time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The kernel, how it was built and started.
    pub kernel: Kernel,
    /// The processors and their memory nodes.
    pub cpu: Cpu,
    /// Idle states, frequencies and throttling.
    pub power: Power,
    /// Caches and their partitioning.
    pub caches: Caches,
    /// Clocks, and whether their time is real.
    pub clock: Clock,
    /// The settings of the scheduler and its grants.
    pub scheduler: Scheduler,
    /// Control groups of both versions.
    pub cgroups: Cgroups,
    /// Container runtimes and what they need.
    #[serde(default)]
    pub containers: Containers,
    /// Rights and limits of this process.
    pub limits: Limits,
    /// Memory and its management.
    pub memory: Memory,
    /// Interrupts and where they may fire.
    pub interrupts: Interrupts,
    /// The hypervisor below this kernel, and its own means to hold guests.
    pub virtualization: Virtualization,
    /// BIOS, board, microcode, system management interrupts.
    pub firmware: Firmware,
    /// Network interfaces and their drivers.
    pub network: Network,
    /// Tracers and their permissions.
    pub tracing: Tracing,
    /// The load of the machine at this moment.
    pub activity: Activity,
}

impl Facts {
    /// Reads this machine. Takes up to 4 s, most of it where a guest under KVM is slow; otherwise
    /// about half a second. Changes nothing; a cgroup made for an attempt is removed again.
    pub fn read() -> Self {
        Self::read_from(&Source::live(), &Live)
    }

    /// Reads this machine without what takes time: nothing is measured and no guest is tried. It
    /// is enough for [`machine`](Self::machine), and no grounds for a judgement.
    pub fn read_quickly() -> Self {
        Self::read_from(&Source::live(), &Quick)
    }

    /// Reads the machine that `source` and `attempts` show.
    pub fn read_from(source: &Source, attempts: &impl Attempts) -> Self {
        // The calibrations come before the scans of /proc, which warm nothing but disturb.
        let clock = clock::read(source, attempts);
        let cgroups = Cgroups::read(source);
        Self {
            kernel: kernel::read(source),
            cpu: cpu::read(source, attempts),
            power: power::read(source),
            caches: cache::read(source, attempts),
            scheduler: scheduler::read(source, attempts, &cgroups),
            limits: scheduler::read_limits(source, attempts),
            memory: memory::read(source),
            interrupts: interrupts::read(source),
            virtualization: virtualization::read(source, attempts),
            firmware: firmware::read(source),
            network: network::read(source, attempts),
            tracing: tracing::read(source),
            activity: activity::read(source, attempts),
            containers: Containers::read(source, &cgroups),
            clock,
            cgroups,
        }
    }
}

/// The hypervisor below this kernel; absent on the bare machine.
pub(crate) fn hypervisor(source: &Source, attempts: &impl Attempts) -> Reading<String> {
    virtualization::any_hypervisor(source, attempts)
}

/// Each cache of a machine, once.
pub(crate) fn cache_domains(source: &Source) -> Vec<CacheDomain> {
    cache::domains(source)
}

/// The value behind `name` in lines of `name: value`, as the kernel writes them. The name counts
/// whole: `model` does not answer for `model name`.
fn field<'text>(text: &'text str, name: &str) -> Option<&'text str> {
    text.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        (found.trim() == name).then(|| value.trim())
    })
}

/// The same from a file, as a reading.
fn field_of(text: &Reading<String>, name: &str) -> Reading<String> {
    text.clone().and_then(|text| {
        field(&text, name).map_or(Reading::Absent, |value| Reading::Read(value.to_owned()))
    })
}

#[cfg(test)]
mod tests;
