//! The setting of a partition under QEMU, from the site file to the partition's process.

use quietcore_site::{Accelerator, GUEST_MEMORY_DEFAULT, Partition};
use quietcore_units::ByteSize;
use serde::{Deserialize, Serialize};

/// Machine of a guest under QEMU, beside its program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QemuSetting {
    /// The guest's own memory.
    pub memory: ByteSize,
    /// The way in which its instructions are run.
    pub accelerator: Accelerator,
}

/// The interior of a process that has a guest under QEMU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct QemuInterior {
    pub(super) setting: QemuSetting,
    /// Descriptor of the memory file in which new builds are delivered.
    pub(super) delivery: i32,
}

impl QemuInterior {
    /// Gives its file another number.
    pub(crate) fn renumber(&mut self, new: &mut dyn FnMut(i32) -> i32) {
        self.delivery = new(self.delivery);
    }
}

impl QemuSetting {
    /// Returns the setting of a partition.
    pub(crate) fn of(partition: &Partition) -> Self {
        let memory = partition.vcr.memory.unwrap_or(GUEST_MEMORY_DEFAULT);
        Self { memory, accelerator: partition.accelerator }
    }
}
