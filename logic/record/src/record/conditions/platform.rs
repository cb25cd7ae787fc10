//! The platform that a verdict depends on: machine, reservation, builds and versions.
//!
//! All of it is read from the machine, and what could not be read, or what there is none of, is
//! absent. The whole of a machine's facts, with the reasons why some could not be read, stands in
//! the evidence folder's `doctor.json`.

use std::fmt;

use quietcore_units::{ByteSize, CpuSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The platform that a verdict depends on, beside the conditions that a run is asked to have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Platform {
    /// Build and command line of the kernel.
    pub kernel: KernelBuild,
    /// Versions of BIOS and microcode.
    pub firmware: FirmwareVersions,
    /// The processor's cores and caches.
    pub topology: Topology,
    /// The device interrupts that may arrive on the partition's CPUs; absent where they could not
    /// be read, its tasks are free to move, or its leading task was never seen running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupts: Option<Vec<InterruptPlacement>>,
    /// The reservation of the partition's process, as the kernel has it; absent where it could not
    /// be read back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservation: Option<ReservationInForce>,
    /// The build of the program that was measured; absent where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<ProgramBuild>,
    /// The image of the guest that the partition ran in; absent where it ran in none, or its guest
    /// has our own kernel, which is a part of Quietcore.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest: Option<GuestImage>,
    /// The versions of all in the path.
    pub versions: Versions,
    /// The node of a cluster that it was measured on; absent on a single machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The bound on the difference between this node's clock and that of the others, in ns; absent
    /// on a single machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_bound_ns: Option<u64>,
}

/// The running kernel, as it tells of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelBuild {
    /// The release, as `uname -r`.
    pub release: Option<String>,
    /// The version with compiler and configuration, as `/proc/version`.
    pub version: Option<String>,
    /// The command line that it was booted with.
    pub command_line: Option<String>,
}

/// Versions of BIOS and microcode.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FirmwareVersions {
    /// Maker of the machine.
    pub system_vendor: Option<String>,
    /// The maker's name of the machine.
    pub product: Option<String>,
    /// The version of the BIOS.
    pub bios_version: Option<String>,
    /// The date of the BIOS.
    pub bios_date: Option<String>,
    /// The version of the processor's microcode.
    pub microcode: Option<String>,
}

/// The processor's cores and caches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Topology {
    /// The cores that have a CPU online.
    pub cores: Vec<Core>,
    /// Each cache once, the first level first.
    pub caches: Vec<Cache>,
}

/// A core with its CPUs, which are siblings of one another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Core {
    /// The package that it is in.
    pub package: Option<i64>,
    /// Set of its CPUs.
    #[schemars(with = "String")]
    pub cpus: CpuSet,
}

/// A cache with the CPUs that share it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cache {
    /// 1 is the nearest.
    pub level: Option<u32>,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: Option<String>,
    /// Size of the cache in bytes.
    pub size_bytes: Option<u64>,
    /// The CPUs that share it.
    #[schemars(with = "String")]
    pub cpus: CpuSet,
}

/// A device interrupt that may arrive on a CPU of the partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InterruptPlacement {
    /// Number of the interrupt in the kernel.
    pub number: u32,
    /// The handlers' names; empty where they could not be read.
    pub name: String,
    /// The CPUs on which it is delivered, or may be where that is not known.
    #[schemars(with = "String")]
    pub cpus: CpuSet,
}

/// A limit as the kernel has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The kernel was read, and has none.
    Unlimited,
    /// A limit of this value.
    At(u64),
}

/// The reservation of a process, as its control groups and those above them have it. What is absent
/// could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReservationInForce {
    /// The CPU time that it may use in each period, in µs: the tightest of its group and those
    /// above.
    pub cpu_quota_us: Option<Limit>,
    /// That period, in µs; absent without a limit, too.
    pub cpu_period_us: Option<u64>,
    /// The CPUs of its cpuset.
    #[schemars(with = "Option<String>")]
    pub cpus: Option<CpuSet>,
    /// The most memory that it may have, in bytes: the tightest of its group and those above.
    pub memory_bytes: Option<Limit>,
    /// The ways of the last-level cache that it may fill, as a mask of bits; absent where none are
    /// reserved for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_mask: Option<u64>,
    /// The most of the memory's bandwidth that it may use, in per cent; absent for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth_percent: Option<u64>,
}

/// The build of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramBuild {
    /// SHA-256 of all that went into it: sources, headers, compiler, options.
    pub sources_sha256: String,
    /// SHA-256 of its module, or of its image for a guest; absent where it could not be read.
    pub module_sha256: Option<String>,
    /// The compiler that made it, with its version.
    pub compiler: String,
}

/// The image of a Linux guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GuestImage {
    /// Path of its folder, from the root.
    pub folder: String,
    /// SHA-256 of its description, which has the sums of its files and of its bill of materials.
    pub sha256: String,
    /// The kernel's words about itself: release, builder, version with its flavour.
    pub kernel: String,
}

/// The versions of what lies between the program and the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Versions {
    /// This program and its runtime, which are built together.
    pub quietcore: String,
    /// The container runtime; absent without a container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container_runtime: Option<String>,
    /// The hypervisor below the kernel; absent on a machine without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hypervisor: Option<String>,
}

impl GuestImage {
    /// Returns the kernel's release, and its model of preemption as it was built: `PREEMPT_RT` is
    /// the real-time kernel, `PREEMPT_DYNAMIC` one that chooses when it starts.
    pub fn kernel_in_short(&self) -> String {
        let release = self.kernel.split_whitespace().next().unwrap_or("not known");
        // The builder stands in brackets, and may be called anything.
        let version = self.kernel.split_once('#').map_or("", |(_, version)| version);
        let model = version.split_whitespace().find(|word| word.starts_with("PREEMPT"));
        format!("{release} {}", model.unwrap_or("without a model of preemption in its version"))
    }
}

impl fmt::Display for FirmwareVersions {
    /// Writes the maker, the machine and the BIOS, as far as they are known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bios = self.bios_version.as_ref().map(|version| format!("BIOS {version}"));
        let known = [&self.system_vendor, &self.product, &bios, &self.bios_date];
        let known: Vec<&str> = known.into_iter().filter_map(|it| it.as_deref()).collect();
        if known.is_empty() { f.write_str("not known") } else { f.write_str(&known.join(", ")) }
    }
}

impl fmt::Display for InterruptPlacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.number, self.name)
    }
}

impl fmt::Display for ReservationInForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.cpu_quota_us, self.cpu_period_us) {
            (Some(Limit::At(quota)), Some(period)) => {
                write!(f, "{quota} of {period} µs of CPU time")?;
            }
            (Some(Limit::At(quota)), None) => write!(f, "{quota} µs of CPU time a period")?,
            (Some(Limit::Unlimited), _) => f.write_str("CPU time without a limit")?,
            (None, _) => f.write_str("CPU time not read back")?,
        }
        if let Some(cpus) = self.cpus.filter(|cpus| !cpus.is_empty()) {
            write!(f, ", cpuset {cpus}")?;
        }
        match self.memory_bytes {
            Some(Limit::At(bytes)) => write!(f, ", {} of memory", ByteSize::new(bytes))?,
            Some(Limit::Unlimited) => f.write_str(", memory without a limit")?,
            None => f.write_str(", memory not read back")?,
        }
        if let Some(mask) = self.cache_mask {
            write!(f, ", cache ways {mask:x}")?;
        }
        self.bandwidth_percent
            .map_or(Ok(()), |percent| write!(f, ", {percent} % of the memory's bandwidth"))
    }
}
