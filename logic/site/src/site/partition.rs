//! A checked partition: its backend and its reservation.

mod disk;

use quietcore_record::class::Class;
use quietcore_units::{BitCount, BitRate, ByteSize, CpuId, CpuSet, Scheduling, ThreadRequest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::backend::{Backend, BackendDeclaration, MemoryForm};
use crate::site::{Criticality, Monitor, Program, Shedding};

pub(crate) use disk::SHUTDOWN_DEFAULT;
pub use disk::{DiskDevices, DiskGuest, Firmware};

/// The priority of a probe where the program has a deadline.
const PRIORITY_OF_PROBES: u8 = 90;

/// A reservation, the backend that realises it, and the program in it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Partition {
    /// The name, unique in the site and safe as a file name.
    pub name: String,
    /// The class against which its timing is judged.
    pub class: Class,
    /// The backend that realises it.
    pub backend: Backend,
    /// Its rank among the partitions.
    pub criticality: Criticality,
    /// The resources reserved for it.
    pub vcr: Vcr,
    /// The way in which its guest's instructions are run, where the backend leaves a choice.
    pub accelerator: Accelerator,
    /// The system in its guest; our own kernel where the backend has no guests, too.
    pub system: GuestSystem,
    /// The program and its timing.
    pub program: Program,
    /// The lateness that it is watched for.
    pub monitor: Monitor,
}

/// The way in which instructions of a guest are run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Accelerator {
    /// By the processor, under the kernel's KVM.
    #[default]
    Kvm,
    /// By QEMU, which emulates the processor: for a machine without KVM. The program does what it
    /// does elsewhere; its times mean nothing, and no verdict passes.
    Tcg,
}

/// The system in a guest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum GuestSystem {
    /// Our own OSEK kernel, with the program in one image.
    #[default]
    Osek,
    /// Linux, from an image.
    Linux {
        /// The image's folder as written, relative to the site file.
        image: String,
    },
    /// Any operating system, from its disk.
    Disk(Box<DiskGuest>),
}

impl Partition {
    /// Returns what its backend can and needs for the system in its guest.
    pub fn declaration(&self) -> &'static BackendDeclaration {
        match self.system {
            GuestSystem::Osek => self.backend.declaration(),
            GuestSystem::Linux { .. } => self.backend.declaration_with_linux(),
            GuestSystem::Disk(_) => self.backend.declaration_from_disk(),
        }
    }

    /// Returns the guest that starts from its disk; `None` of another partition.
    pub fn disk(&self) -> Option<&DiskGuest> {
        match &self.system {
            GuestSystem::Disk(disk) => Some(disk),
            GuestSystem::Osek | GuestSystem::Linux { .. } => None,
        }
    }

    /// Returns `true` if a campaign measures it: a program, or the probe in its place. A system of
    /// somebody else's has neither.
    pub fn is_measured(&self) -> bool {
        self.disk().is_none()
    }

    /// Returns `true` if this partition's monitor may shed another one.
    pub fn may_shed(&self, other: &Self) -> bool {
        let has_program = other.program.model.is_some();
        self.monitor.sheds()
            && has_program
            && other.criticality < self.criticality
            && other.monitor.when_shed != Shedding::Never
    }

    /// The CPUs that what runs in it is pinned to: for a program the first one, on which all its
    /// tasks run; without one all, each with a probe of its own.
    pub fn cpus_in_use(&self) -> CpuSet {
        let count = if self.program.model.is_some() { 1 } else { self.vcr.cpus.len() };
        self.vcr.cpus.iter().take(count).collect()
    }

    /// The most memory that is taken for it where the site file names its memory: a process takes
    /// some beside its heap.
    pub(crate) fn memory_most(&self) -> Option<ByteSize> {
        match self.declaration().memory {
            MemoryForm::Heap => self.vcr.memory_max(),
            MemoryForm::Own { .. } => self.vcr.memory,
        }
    }

    /// The CPU on which a program runs, and a probe that a campaign names; no partition is without.
    pub fn first_cpu(&self) -> Option<CpuId> {
        self.vcr.cpus.iter().next()
    }

    /// Asks for the thread of a probe on that CPU, scheduled as the program is. One under a
    /// deadline can't be pinned, and has a priority in its place.
    pub fn measuring_thread(&self) -> ThreadRequest {
        let scheduling = match self.program.scheduling {
            Scheduling::Deadline { .. } => Scheduling::fifo(PRIORITY_OF_PROBES),
            scheduling => scheduling,
        };
        ThreadRequest::measuring(scheduling, self.first_cpu())
    }

    /// The CPUs that are reserved for it and that nothing of it runs on.
    pub fn cpus_unused(&self) -> CpuSet {
        self.vcr.cpus.without(&self.cpus_in_use())
    }
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
    /// The most of the memory's bandwidth, 1 to 100.
    pub memory_bandwidth_percent: Option<u32>,
    /// A part of the network's bandwidth.
    pub network: Option<Network>,
}

impl Vcr {
    /// The ways of the last-level cache that it asks for.
    pub fn cache_ways(&self) -> Option<u32> {
        match self.cache {
            Some(Cache::Ways(ways)) => Some(ways),
            Some(Cache::Colours(_)) | None => None,
        }
    }
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
    /// Sustained rate at which it may send.
    pub rate: BitRate,
    /// Amount that may pass at once after a pause.
    pub burst: Option<BitCount>,
}

/// The limit of what a partition sends on the interface that it drives.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// Name of the partition.
    pub partition: String,
    /// The network interface of its fieldbus.
    pub interface: String,
    /// Its part of the bandwidth.
    pub share: Network,
}

/// A network card that a partition's guest drives itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GivenCard {
    /// Name of the partition.
    pub partition: String,
    /// Name of its fieldbus.
    pub fieldbus: String,
    /// PCI address of the card, with the domain.
    pub address: String,
}

impl GivenCard {
    /// The card of a partition's fieldbus.
    pub fn new(partition: &str, fieldbus: &str, address: &str) -> Self {
        let [partition, fieldbus, address] = [partition, fieldbus, address].map(str::to_owned);
        Self { partition, fieldbus, address }
    }
}

impl Traffic {
    /// The share of a partition on an interface.
    pub fn new(partition: &str, interface: &str, share: Network) -> Self {
        Self { partition: partition.to_owned(), interface: interface.to_owned(), share }
    }
}

impl Network {
    /// A sustained rate, and what may pass at once after a pause.
    pub const fn new(rate: BitRate, burst: Option<BitCount>) -> Self {
        Self { rate, burst }
    }
}
