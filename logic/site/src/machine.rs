//! What a plan must know of a machine.

use quietcore_units::{ByteSize, CpuSet};

/// The facts that decide what a machine can do: plain data, gathered by others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// CPUs that are online.
    pub online: CpuSet,
    /// CPUs that the kernel keeps free of ordinary tasks (`isolcpus` or an isolated cpuset).
    pub isolated: CpuSet,
    /// Memory that programs can still have.
    pub memory_available: ByteSize,
    /// What this user may lock; `None` means without limit.
    pub memory_lock_limit: Option<ByteSize>,
    /// Ways of the last-level cache that can be assigned; `None` without cache allocation (CAT).
    pub cache_ways: Option<u32>,
    /// How many colours pages may have in the last-level cache at most; or why they have none.
    /// Which of them are real is measured when a partition starts.
    pub page_colours: Result<u32, String>,
    /// How many processes this user may still start; `None` means without limit.
    pub processes_left: Option<u32>,
    /// Whether this user is root.
    pub root: bool,
    /// Whether a thread really gets `SCHED_FIFO` here.
    pub fifo: bool,
    /// Whether a thread really gets `SCHED_DEADLINE` here.
    pub deadline: bool,
    /// Whether the kernel stops real-time threads that take nearly all of their CPU
    /// (`sched_rt_runtime_us` other than -1). Then no thread under `SCHED_DEADLINE` may be pinned,
    /// except in a cpuset of its own, and none that never sleeps keeps its CPU.
    pub throttles: bool,
    /// Whether `/dev/cpu_dma_latency` can be opened for writing.
    pub dma_latency: bool,
    /// Whether `/dev/kvm` can be opened.
    pub kvm: bool,
}
