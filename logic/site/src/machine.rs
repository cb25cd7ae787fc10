//! The facts about a machine that a plan needs.

use quietcore_units::{ByteSize, CpuSet};

use crate::plan::cpu_words;
use crate::site::ContainerRuntime;

/// The facts that decide what a machine can do: plain data, gathered by others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// CPUs that are online.
    pub online: CpuSet,
    /// Those of them that threads of this process can be bound to: others are not in its control
    /// group.
    pub usable: CpuSet,
    /// Those that a partition can have in a control group that is made for it, as containers are
    /// given and controls make.
    pub own_group: CpuSet,
    /// `true` if the control `load-balance` makes such a group, as under version 2 of cgroups.
    pub load_balance_moves: bool,
    /// CPUs that the kernel keeps free of ordinary tasks (`isolcpus` or an isolated cpuset).
    pub isolated: CpuSet,
    /// Memory that programs can still have.
    pub memory_available: ByteSize,
    /// Memory that this user may lock; `None` means without limit.
    pub memory_lock_limit: Option<ByteSize>,
    /// Ways of the last-level cache that can be assigned; or why there are none.
    pub cache_ways: Result<CacheWays, Obstacle>,
    /// The least limit of the memory's bandwidth that a partition can have, in percent; or why
    /// there is none.
    pub memory_bandwidth: Result<u32, Obstacle>,
    /// Upper bound of the page colours of the last-level cache. The real number is measured when a
    /// partition starts.
    pub page_colours: Result<u32, PageColoursError>,
    /// Processes that this user may still start; `None` means without limit.
    pub processes_left: Option<u32>,
    /// `true` if this user is root.
    pub root: bool,
    /// `true` if a thread really gets `SCHED_FIFO` here.
    pub fifo: bool,
    /// `true` if a thread really gets `SCHED_DEADLINE` here.
    pub deadline: bool,
    /// `true` if the kernel stops real-time threads that take nearly all of their CPU
    /// (`sched_rt_runtime_us` other than -1). Then no thread under `SCHED_DEADLINE` may be pinned,
    /// except in a cpuset of its own, and none that never sleeps keeps its CPU.
    pub throttles: bool,
    /// The share that it leaves them, in millionths of a CPU, where it stops them.
    pub real_time_ppm: u32,
    /// `true` if `/dev/cpu_dma_latency` can be opened for writing.
    pub dma_latency: bool,
    /// `Ok` where the processor runs guests of ours; else what stands in the way.
    pub kvm: Result<(), Obstacle>,
    /// `Ok` where QEMU is installed; else what stands in the way.
    pub qemu: Result<(), Obstacle>,
    /// `Ok` where this kernel is dom0 of Xen and can start other domains; else what stands in the
    /// way.
    pub xen: Result<(), Obstacle>,
    /// The network cards on the PCI bus by their addresses, and what stands in the way of giving
    /// each to a guest.
    pub cards: Vec<(String, Result<(), Obstacle>)>,
    /// The container runtimes that are installed, and what stands in the way of each.
    pub containers: Vec<(ContainerRuntime, Result<(), Obstacle>)>,
    /// Real-time run time that new control groups can be given, in µs a second of each CPU; `None`
    /// where groups need none.
    pub container_real_time_us: Option<i64>,
}

impl Machine {
    /// Says which of these CPUs aren't online; `None` if all are.
    pub fn offline(&self, cpus: &CpuSet) -> Option<Obstacle> {
        let missing = cpus.without(&self.online);
        let is = if missing.len() == 1 { "is" } else { "are" };
        (!missing.is_empty()).then(|| Obstacle {
            what: format!("{} {is} not online on this machine", cpu_words(&missing)),
            remedy: format!("choose from {}", cpu_words(&self.usable)),
        })
    }

    /// Says why threads of this process can't be bound to all of these CPUs; `None` if they can.
    pub fn unusable(&self, cpus: &CpuSet) -> Option<Obstacle> {
        self.beyond(cpus, &self.usable)
    }

    /// Says which of these CPUs aren't among those that can be had; `None` if all are.
    pub(crate) fn beyond(&self, cpus: &CpuSet, usable: &CpuSet) -> Option<Obstacle> {
        let barred = cpus.without(usable);
        self.offline(cpus).or_else(|| {
            (!barred.is_empty()).then(|| Obstacle {
                what: format!(
                    "the control group that this runs in may use {} only, and not {}",
                    cpu_words(usable),
                    cpu_words(&barred)
                ),
                remedy: "choose from those, or start it in a control group that has them all \
                         (`AllowedCPUs=` of systemd, `--cpuset-cpus` of a container)"
                    .to_owned(),
            })
        })
    }
}

/// Ways of a cache that can be assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheWays {
    /// Number of ways of the cache.
    pub all: u32,
    /// The fewest that a partition can have.
    pub least: u32,
}

/// Pages have no colours that could divide the last-level cache.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PageColoursError {
    /// Addresses of a virtual machine say nothing about the cache of the host.
    #[error(
        "page colours need a kernel on the bare machine, and this one runs in a virtual machine \
         ({hypervisor}), whose physical addresses are none"
    )]
    VirtualMachine {
        /// The hypervisor by its own name, such as `xen`.
        hypervisor: String,
    },
    /// The processor doesn't say whether a hypervisor is below the kernel.
    #[error("whether physical addresses are real can't be told: {reason}")]
    HypervisorUnknown {
        /// The kernel's or the processor's answer.
        reason: String,
    },
    /// The kernel lists no cache.
    #[error("there is no last-level cache to divide")]
    NoCache,
    /// A way of the cache is no larger than a page.
    #[error("all pages are of one colour in the last-level cache here")]
    OneColour,
    /// The process may not read physical addresses.
    #[error("page colours need the right CAP_SYS_ADMIN, to see physical addresses")]
    NotPermitted,
}

/// Something that stands in the way, and how it is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// The obstacle, as the rest of a sentence.
    pub what: String,
    /// The remedy, as an imperative sentence.
    pub remedy: String,
}

impl Obstacle {
    /// The container runtime that is wanted, or any, is not installed.
    pub fn no_container_runtime(wanted: Option<ContainerRuntime>) -> Self {
        let what = match wanted {
            Some(wanted) => format!("`{wanted}` is not installed"),
            None => "neither `runc` nor `crun` is installed".to_owned(),
        };
        let package = wanted.unwrap_or(ContainerRuntime::Runc);
        let remedy = format!("install it, such as Debian's package `{package}`");
        Self { what, remedy }
    }
}

impl Machine {
    /// The container runtime that runs partitions: the one that is wanted, or the first that can.
    ///
    /// # Errors
    /// Why there is none.
    pub fn container_runtime(
        &self,
        wanted: Option<ContainerRuntime>,
    ) -> Result<ContainerRuntime, Obstacle> {
        let fits = |runtime: ContainerRuntime| wanted.is_none_or(|wanted| wanted == runtime);
        let mut fitting = self.containers.iter().filter(|(runtime, _)| fits(*runtime));
        let Some((first, why)) = fitting.clone().next() else {
            return Err(Obstacle::no_container_runtime(wanted));
        };
        match (fitting.find(|(_, usable)| usable.is_ok()), why) {
            (Some((runtime, _)), _) => Ok(*runtime),
            (None, Err(obstacle)) => Err(obstacle.clone()),
            (None, Ok(())) => Ok(*first),
        }
    }
}
