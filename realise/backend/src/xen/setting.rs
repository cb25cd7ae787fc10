//! The setting of a partition under Xen, from the site file to the partition's process.

use quietcore_site::{GUEST_MEMORY_DEFAULT, Partition};
use quietcore_units::{ByteSize, CpuSet};
use quietcore_xen::DomainId;
use serde::{Deserialize, Serialize};

/// Machine of a domain, beside its program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct XenSetting {
    /// The domain's own memory.
    pub memory: ByteSize,
    /// CPUs that its processor may run on; `None` where that is any.
    pub cpus: Option<CpuSet>,
}

/// The interior of a process whose guest is a domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct XenInterior {
    pub(super) setting: XenSetting,
    /// Number of the domain, which waits for its first instruction.
    pub(super) domain: u16,
    /// Descriptor of the memory file in which new builds are delivered.
    pub(super) delivery: i32,
}

impl XenInterior {
    /// Gives its file another number.
    pub(crate) fn renumber(&mut self, new: &mut dyn FnMut(i32) -> i32) {
        self.delivery = new(self.delivery);
    }

    pub(super) fn domain(&self) -> DomainId {
        DomainId(self.domain)
    }
}

impl XenSetting {
    /// Returns the setting of a partition.
    pub(crate) fn of(partition: &Partition) -> Self {
        let memory = partition.vcr.memory.unwrap_or(GUEST_MEMORY_DEFAULT);
        Self { memory, cpus: Some(partition.vcr.cpus) }
    }
}
