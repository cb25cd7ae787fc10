//! Containers: what runs them, and how much they may have.

use std::fmt;

use quietcore_units::ByteSize;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Site, Vcr};

/// Memory of a partition's own process beside the memory that is reserved. At its begin: its code
/// and the libraries', and its exchange. Later: its stacks, builds, orders, and what its program
/// takes beyond its reservation.
pub const OWN_MEMORY: ByteSize = ByteSize::new(32 << 20);
/// One part in so many of a reservation is what the kernel keeps for it: its page tables take half
/// of that.
const KERNELS_PART: u64 = 256;

/// A program that runs containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContainerRuntime {
    /// `runc`, the reference implementation.
    Runc,
    /// `crun`, the smaller one, which starts sooner.
    Crun,
}

impl ContainerRuntime {
    /// All of them; the first that can is taken where none is named.
    pub const ALL: [Self; 2] = [Self::Runc, Self::Crun];

    /// The name of its program.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Runc => "runc",
            Self::Crun => "crun",
        }
    }
}

impl fmt::Display for ContainerRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The real-time run time of each of `count` containers of a site, where `left` is left for new
/// control groups: equal shares, and one as large stays for others. Both in the same unit.
pub fn real_time_share(left: i64, count: usize) -> i64 {
    left / i64::try_from(count).unwrap_or(i64::MAX).saturating_add(1)
}

impl Vcr {
    /// The most memory that a process or container with this reservation may have; `None` without
    /// limit.
    pub fn memory_max(&self) -> Option<ByteSize> {
        let memory = self.memory?.get();
        let beside = 2 * OWN_MEMORY.get() + memory / KERNELS_PART;
        Some(ByteSize::new(memory.saturating_add(beside)))
    }
}

impl Site {
    /// Returns the runtime of its containers; `None` leaves the choice to the machine.
    pub fn container_runtime(&self) -> Option<ContainerRuntime> {
        self.container_runtime
    }

    /// Counts the partitions that have a control group of their own, as containers do.
    pub fn containers(&self) -> usize {
        self.partitions.iter().filter(|it| it.declaration().has_control_group).count()
    }
}
