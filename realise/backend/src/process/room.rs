//! The room of a partition's process: its place, and what it has there for itself.

use std::path::PathBuf;

use quietcore_host::running_partitions::PartitionOwner;
use quietcore_settings::{HeldShare, MemoryShare, ResctrlError, ReservedGroup};
use quietcore_units::CpuSet;

use super::PartitionError;
use crate::rooms::Rooms;
use crate::setting::BackendSetting;
use crate::surroundings::Surroundings;

/// The place of a partition's process, and what it has there for itself.
#[derive(Clone, Debug, Default)]
pub struct Room {
    partition: String,
    setting: BackendSetting,
    /// Group of CPUs and container runtime that it shares with the rooms of other partitions.
    common: Rooms,
    share: MemoryShare,
    /// CPUs that its tasks may move among where none is pinned; `None` means all of its host's.
    confines: Option<CpuSet>,
    /// Owner of the partition, shown to others on the machine.
    owner: Option<PartitionOwner>,
}

impl Room {
    /// Places it among the host's processes, on CPUs that others may have too.
    pub fn among_others() -> Self {
        Self::default()
    }

    /// Makes the room of a partition, with its share of the last-level cache and of the memory's
    /// bandwidth.
    pub(crate) fn new(
        partition: &str,
        setting: BackendSetting,
        common: Rooms,
        share: MemoryShare,
    ) -> Self {
        Self {
            partition: partition.to_owned(),
            setting,
            common,
            share,
            confines: None,
            owner: None,
        }
    }

    /// Lets a process that pins none of its tasks run on these CPUs alone.
    #[must_use]
    pub fn confined(mut self, cpus: Option<CpuSet>) -> Self {
        self.confines = cpus;
        self
    }

    /// Adds the owner, by whom others on the machine know the site that is up.
    #[must_use]
    pub fn of(mut self, owner: PartitionOwner) -> Self {
        self.owner = Some(owner);
        self
    }

    /// Returns the name of its partition; empty where it has none.
    pub(crate) fn partition(&self) -> &str {
        &self.partition
    }

    /// Returns the setting of the backend that realises it.
    pub fn setting(&self) -> &BackendSetting {
        &self.setting
    }

    /// Returns what it has in common with the rooms of other partitions.
    pub(crate) fn common(&self) -> &Rooms {
        &self.common
    }

    /// Returns the file through which a process enters the group that has its CPUs for itself.
    pub(super) fn entrance(&self) -> Option<PathBuf> {
        self.common.group().map(ReservedGroup::entrance)
    }

    /// Returns the CPUs that it is confined to; `None` where it isn't.
    pub(super) const fn confines(&self) -> Option<CpuSet> {
        self.confines
    }

    /// Makes the surroundings of a process that is to be started here.
    pub(super) fn surround(&self) -> Result<Box<dyn Surroundings>, PartitionError> {
        self.setting.surround(self)
    }

    /// Returns the arguments that name the owner.
    pub(super) fn owner_arguments(&self) -> Vec<String> {
        self.owner.iter().flat_map(PartitionOwner::arguments).collect()
    }

    /// Reserves the share of cache and bandwidth, if there is one.
    pub(super) fn hold_share(&self) -> Result<Option<HeldShare>, ResctrlError> {
        let share = (!self.share.is_empty()).then_some(self.share);
        share.map(|share| HeldShare::hold(&self.partition, share)).transpose()
    }
}
