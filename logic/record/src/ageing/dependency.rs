//! The conditions that a verdict depends on, by name.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A condition that a verdict depends on.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Dependency {
    /// The kernel's release, as `uname -r`.
    Kernel,
    /// The kernel's build, where its release is the same.
    KernelBuild,
    /// The kernel's model of preemption, which can be changed while it runs.
    Preemption,
    /// Parameters on the kernel's command line.
    CommandLine,
    /// The version of the processor's microcode, as the kernel loaded it.
    Microcode,
    /// Maker and version of the BIOS.
    Firmware,
    /// The processor's model; another one is another machine.
    Processor,
    /// The cores with a CPU online.
    Cores,
    /// The caches and the CPUs that share them.
    Caches,
    /// The hypervisor below the kernel.
    Hypervisor,
    /// Interrupts that may arrive on the partition's CPUs.
    Interrupts,
    /// The reservation of the partition, as the kernel has it.
    Reservation,
    /// The program that was measured.
    Program,
    /// The version of Quietcore.
    Quietcore,
    /// The container runtime with its version, for a partition in a container.
    ContainerRuntime,
    /// The kernel of the guest that the partition ran in, with its model of preemption.
    GuestKernel,
    /// The image of that guest, where its kernel is the same.
    GuestImage,
    /// The kernel's clock source.
    ClockSource,
    /// The governors of the CPUs' frequencies.
    Governor,
    /// Idle states that are enabled.
    IdleStates,
    /// The share of time that real-time threads may use.
    RealTimeThrottling,
    /// The machine's amount of memory.
    Memory,
}

impl Dependency {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 22] = [
        Self::Kernel,
        Self::KernelBuild,
        Self::Preemption,
        Self::CommandLine,
        Self::Microcode,
        Self::Firmware,
        Self::Processor,
        Self::Cores,
        Self::Caches,
        Self::Hypervisor,
        Self::Interrupts,
        Self::Reservation,
        Self::Program,
        Self::Quietcore,
        Self::ContainerRuntime,
        Self::GuestKernel,
        Self::GuestImage,
        Self::ClockSource,
        Self::Governor,
        Self::IdleStates,
        Self::RealTimeThrottling,
        Self::Memory,
    ];

    /// Returns `true` where a change makes a verdict expire. The other conditions are settings that
    /// sites and machines change and put back, and the amount of memory: they are told, because
    /// they explain a change of the figures.
    pub const fn expires(self) -> bool {
        !matches!(
            self,
            Self::ClockSource
                | Self::Governor
                | Self::IdleStates
                | Self::RealTimeThrottling
                | Self::Memory
        )
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::KernelBuild => "kernel build",
            Self::Preemption => "preemption",
            Self::CommandLine => "command line",
            Self::Microcode => "microcode",
            Self::Firmware => "firmware",
            Self::Processor => "processor",
            Self::Cores => "cores",
            Self::Caches => "caches",
            Self::Hypervisor => "hypervisor",
            Self::Interrupts => "interrupts on its CPUs",
            Self::Reservation => "reservation",
            Self::Program => "program",
            Self::Quietcore => "Quietcore",
            Self::ContainerRuntime => "container runtime",
            Self::GuestKernel => "the guest's kernel",
            Self::GuestImage => "the guest's image",
            Self::ClockSource => "clock source",
            Self::Governor => "governor",
            Self::IdleStates => "idle states",
            Self::RealTimeThrottling => "real-time throttling",
            Self::Memory => "memory",
        }
    }
}

impl fmt::Display for Dependency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}
