//! Containers: what runs them, and how much they may have.

use std::fmt;

use quietcore_units::ByteSize;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Backend, Site, Vcr};

/// What a partition's own process needs beside the memory that is reserved: its code and the
/// libraries', its stacks, and what the control group counts as its of the kernel's.
const OWN_MEMORY: ByteSize = ByteSize::new(32 << 20);

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
    /// The most memory that a container with this reservation may have; `None` without limit.
    pub fn container_memory(&self) -> Option<ByteSize> {
        let memory = self.memory?;
        Some(ByteSize::new(memory.get().saturating_add(OWN_MEMORY.get())))
    }
}

impl Site {
    /// What runs its containers; `None` leaves the choice to the machine.
    pub fn container_runtime(&self) -> Option<ContainerRuntime> {
        self.container_runtime
    }

    /// How many of its partitions are containers.
    pub fn containers(&self) -> usize {
        self.partitions.iter().filter(|it| it.backend == Backend::Container).count()
    }
}
