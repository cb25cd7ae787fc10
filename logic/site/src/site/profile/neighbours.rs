//! Neighbours of a profile: further partitions that run loads while the site's own are measured.
//!
//! queiroz2023 (section 5.1 and table 2) has three virtual machines: the first with the measured
//! task, the second and third with the load of its third profile each. The first alone has
//! processors and memory of its own; the other two float over what it leaves. "Core affinity" in
//! `tp6` is that of the measured task to a processor of its machine, so that neighbours are the
//! same in `tp5` and `tp6`.
//!
//! A neighbour is of the kind of the site's first partition, as far as that can run loads:
//!
//! | backend | neighbour |
//! |---------|-----------|
//! | `process` | a process that starts the workers |
//! | `container` | a container in which such a process starts them |
//! | `kvm`, `qemu` | a Linux guest of QEMU: our own kernel runs control programs, and no load |

use std::fmt;

use quietcore_units::{ByteSize, CpuSet};

use super::{Load, LoadKind};
use crate::backend::Backend;
use crate::machine::{Machine, Obstacle};
use crate::site::{Accelerator, ContainerRuntime};

/// The most neighbours of a profile.
pub const NEIGHBOURS_MAX: u32 = 16;
/// The most load workers in one neighbour: a container may have 256 processes and threads, and a
/// worker is two.
pub const NEIGHBOUR_WORKERS_MAX: u32 = 100;
/// Memory of a Linux guest for its kernel and the image's files, beside its loads.
const GUEST_OWN_MEMORY: u64 = 256 << 20;
/// Sizes of guests are multiples of this.
const GUEST_MEMORY_STEP: u64 = 16 << 20;

/// Partitions that run loads beside those of the site.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Neighbours {
    /// Number of neighbours, 1 to [`NEIGHBOURS_MAX`].
    pub count: u32,
    /// `true` if each has CPUs of its own; `false` if all float over the CPUs that no partition
    /// has.
    pub own_cpus: bool,
    /// The loads in each of them, whose places mean nothing; never empty, and at most
    /// [`NEIGHBOUR_WORKERS_MAX`] workers in all.
    pub loads: Vec<Load>,
}

/// The kind of a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeighbourForm {
    /// A process among the host's.
    Process,
    /// A process in a container of its own.
    Container,
    /// A Linux guest of QEMU.
    LinuxGuest,
}

/// The places of neighbours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeighbourPlaces {
    /// The CPUs that each may use.
    pub cpus: Vec<CpuSet>,
    /// Processors of each that is a guest.
    pub processors: usize,
}

impl Neighbours {
    /// Makes neighbours of checked parts.
    pub(crate) const fn new(count: u32, own_cpus: bool, loads: Vec<Load>) -> Self {
        Self { count, own_cpus, loads }
    }

    /// Divides the CPUs that no partition has; `None` if they are too few.
    pub fn places(&self, others: CpuSet) -> Option<NeighbourPlaces> {
        let count = self.count as usize;
        let cpus: Vec<CpuSet> = if self.own_cpus {
            let all: Vec<_> = others.iter().collect();
            // The first ones get one more where the division leaves a rest.
            let bounds = |index: usize| (all.len() * index).div_ceil(count);
            (0..count).map(|at| all[bounds(at)..bounds(at + 1)].iter().copied().collect()).collect()
        } else {
            vec![others; count]
        };
        let processors = (others.len() / count).max(1);
        cpus.iter().all(|cpus| !cpus.is_empty()).then_some(NeighbourPlaces { cpus, processors })
    }

    /// Returns the names of the neighbours, in their order.
    pub fn names(&self) -> Vec<String> {
        (1..=self.count).map(|number| format!("neighbour-{number}")).collect()
    }

    /// Returns the number of load workers in each.
    pub fn workers(&self) -> u32 {
        self.loads.iter().map(|load| load.workers).sum()
    }

    /// Returns the memory that the loads of one fill.
    pub fn filled(&self) -> ByteSize {
        ByteSize::new(self.loads.iter().map(Load::filled).fold(0, u64::saturating_add))
    }

    /// Returns the memory of a guest that is a neighbour: its loads may fill 8 tenths.
    pub fn guest_memory(&self) -> ByteSize {
        NeighbourForm::guest_memory(self.filled())
    }
}

impl NeighbourForm {
    /// All forms, in the order of help and reference.
    pub const ALL: [Self; 3] = [Self::Process, Self::Container, Self::LinuxGuest];

    /// Returns the form of neighbours beside partitions of a backend.
    pub const fn beside(backend: Backend) -> Self {
        match backend {
            // Beside a domain of Xen they are processes of dom0.
            Backend::Process | Backend::Xen => Self::Process,
            Backend::Container => Self::Container,
            Backend::Kvm | Backend::Qemu => Self::LinuxGuest,
        }
    }

    /// Returns the backend that realises them.
    pub const fn backend(self) -> Backend {
        match self {
            Self::Process => Backend::Process,
            Self::Container => Backend::Container,
            Self::LinuxGuest => Backend::Qemu,
        }
    }

    /// Returns why a neighbour of this form can't run a load; `None` where it can.
    pub const fn lacks(self, kind: LoadKind) -> Option<&'static str> {
        match (self, kind) {
            (Self::Container | Self::LinuxGuest, LoadKind::Disk) => Some("it has no disk"),
            _ => None,
        }
    }

    /// Returns the memory of a guest whose loads fill so much: they may fill 8 tenths.
    pub fn guest_memory(filled: ByteSize) -> ByteSize {
        let needed = (filled.get() / 8).saturating_mul(10).saturating_add(GUEST_OWN_MEMORY);
        let whole = needed.checked_next_multiple_of(GUEST_MEMORY_STEP);
        ByteSize::new(whole.unwrap_or(u64::MAX))
    }

    /// Looks whether a machine can run neighbours of this form: guests with this accelerator,
    /// containers with the runtime that is `wanted`, or with any.
    ///
    /// # Errors
    /// What stands in the way.
    pub fn check(
        self,
        accelerator: Accelerator,
        wanted: Option<ContainerRuntime>,
        machine: &Machine,
    ) -> Result<(), Obstacle> {
        let requires = self.backend().declaration_with_linux().requires;
        requires.check(accelerator, wanted, machine)
    }
}

impl fmt::Display for NeighbourForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.backend().declaration_with_linux().noun)
    }
}

#[cfg(test)]
mod tests {
    use super::super::papers_load;
    use super::*;
    use crate::site::LoadPlace;

    fn neighbours(count: u32, own_cpus: bool) -> Neighbours {
        Neighbours::new(count, own_cpus, papers_load(LoadPlace::Anywhere))
    }

    fn words(places: &NeighbourPlaces) -> Vec<String> {
        places.cpus.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn cpus_are_shared_or_divided_among_neighbours() {
        let others: CpuSet = "2-5".parse().unwrap();
        let floating = neighbours(2, false).places(others).unwrap();
        assert_eq!((floating.cpus, floating.processors), (vec![others; 2], 2), "as in the paper");
        let own = neighbours(2, true).places("2-6".parse().unwrap()).unwrap();
        assert_eq!((words(&own), own.processors), (vec!["2-4".into(), "5,6".into()], 2));
        let three = neighbours(3, true).places("0,2,7".parse().unwrap()).unwrap();
        assert_eq!(words(&three), ["0", "2", "7"]);
        let one: CpuSet = "0".parse().unwrap();
        assert_eq!(neighbours(2, false).places(one).unwrap().processors, 1);
        assert_eq!(neighbours(2, true).places(one), None, "one CPU for two");
        assert_eq!(neighbours(2, false).places(CpuSet::EMPTY), None);
    }

    #[test]
    fn a_guest_has_room_for_the_papers_load() {
        let neighbours = neighbours(2, false);
        assert_eq!(neighbours.filled(), ByteSize::new(640_000_000));
        let memory = neighbours.guest_memory().get();
        let expected = 800_000_000 + GUEST_OWN_MEMORY..1100 << 20;
        assert!(expected.contains(&memory), "{memory}");
        let most = NeighbourForm::guest_memory(ByteSize::new(u64::MAX));
        assert_eq!(most.get(), u64::MAX, "no machine has as much, and each refuses it");
        assert_eq!((neighbours.workers(), neighbours.names()[1].as_str()), (20, "neighbour-2"));
    }

    #[test]
    fn what_needs_a_disk_stays_among_the_host_s_processes() {
        let without = |kind| {
            let all = NeighbourForm::ALL.into_iter();
            let lacking = all.filter(|form| form.lacks(kind).is_some());
            lacking.map(|form| form.backend().name()).collect::<Vec<_>>()
        };
        assert_eq!(without(LoadKind::Disk), ["container", "qemu"]);
        assert!(without(LoadKind::Network).is_empty());
        assert!(without(LoadKind::MemoryBandwidth).is_empty());
    }
}
