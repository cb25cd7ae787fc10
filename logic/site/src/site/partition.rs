//! A checked partition: reservation, backend, program and timing.

use std::fmt;

use quietcore_record::class::Class;
use quietcore_units::{BitCount, BitRate, ByteSize, CpuSet, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::exact;

/// What realises a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// A process of the host, pinned and with locked memory.
    #[default]
    Process,
    /// A container.
    Container,
    /// A guest of the microVM, under KVM.
    Kvm,
    /// A guest under QEMU.
    Qemu,
    /// A guest under Xen.
    Xen,
}

impl Backend {
    /// The word in the site file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Container => "container",
            Self::Kvm => "kvm",
            Self::Qemu => "qemu",
            Self::Xen => "xen",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A reservation, the backend that realises it, and the program in it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Partition {
    /// The name, unique in the site and safe as a file name.
    pub name: String,
    /// The class against which its timing is judged.
    pub class: Class,
    /// What realises it.
    pub backend: Backend,
    /// The resources reserved for it.
    pub vcr: Vcr,
    /// The program and its timing.
    pub program: Program,
}

/// The virtual computational resource of a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Vcr {
    /// The CPUs; never empty, and of this partition alone unless there is a `budget_percent`.
    pub cpus: CpuSet,
    /// The share of each of the CPUs, 1 to 100.
    pub budget_percent: Option<u32>,
    /// Memory to be locked and written beforehand; `None` means as much as the program needs.
    pub memory: Option<ByteSize>,
    /// A part of the last-level cache.
    pub cache: Option<Cache>,
    /// A part of the network's bandwidth.
    pub network: Option<Network>,
}

/// A part of the last-level cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cache {
    /// This many ways, 1 to 64.
    Ways(u32),
    /// These page colours, ascending; never empty.
    Colours(Vec<u32>),
}

/// A part of the network's bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Network {
    /// The sustained rate.
    pub rate: BitRate,
    /// What may pass at once after a pause.
    pub burst: Option<BitCount>,
}

/// The control program of a partition and its timing.
///
/// `wcet ≤ deadline ≤ period`, and a fixed early wake is shorter than the period.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Program {
    /// The folder of generated C as written, relative to the site file; `None` means that the
    /// partition is only measured by the probe.
    pub model: Option<String>,
    /// The time between two releases, 20 µs to 10 s.
    pub period: Nanos,
    /// The latest completion after the release.
    pub deadline: Nanos,
    /// A bound on the execution time from analysis.
    pub wcet: Option<Nanos>,
    /// Under which policy it runs.
    pub scheduling: Scheduling,
    /// How it is woken.
    pub early_wake: EarlyWake,
}

/// The kernel's scheduling policy with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "policy", rename_all = "kebab-case")]
pub enum Scheduling {
    /// `SCHED_FIFO`.
    Fifo {
        /// 1 to 99; 99 is the highest.
        priority: u32,
    },
    /// `SCHED_DEADLINE`.
    Deadline {
        /// The reserved run time in each period: the program's WCET.
        run_time: Nanos,
        /// Within which it is given.
        deadline: Nanos,
        /// How often.
        period: Nanos,
    },
    /// `SCHED_OTHER`.
    Other,
}

impl fmt::Display for Scheduling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fifo { priority } => write!(f, "SCHED_FIFO {priority}"),
            Self::Deadline { run_time, deadline, period } => {
                let (run_time, deadline) = (exact(*run_time), exact(*deadline));
                write!(f, "SCHED_DEADLINE {run_time} within {deadline} every {}", exact(*period))
            }
            Self::Other => f.write_str("SCHED_OTHER"),
        }
    }
}

/// When a program stops sleeping before its release and spins to the exact instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "mode", rename_all = "kebab-case")]
pub enum EarlyWake {
    /// It sleeps to the release itself.
    Off,
    /// This long before.
    Fixed {
        /// The margin, shorter than the period.
        margin: Nanos,
    },
    /// As long before as the latency seen so far suggests.
    Adaptive {
        /// The share of the CPU that spinning may take, 1 to 90 %.
        share_percent: u32,
    },
}

impl fmt::Display for EarlyWake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("no early wake"),
            Self::Fixed { margin } => write!(f, "woken {} early", exact(*margin)),
            Self::Adaptive { share_percent } => {
                write!(f, "woken early by a learned margin of at most {share_percent} % of the CPU")
            }
        }
    }
}
