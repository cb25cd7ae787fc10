//! Where a partition's process runs, and what it has there for itself.

use std::path::PathBuf;

use quietcore_host::controls::{HeldShare, MemoryShare, ResctrlError};
use quietcore_host::running_partitions::PartitionOwner;

use crate::container::ContainerSetting;

/// Where a partition's process runs, and what it has there for itself.
#[derive(Clone, Debug)]
pub struct Room {
    pub(super) place: Place,
    /// After which its group is named, and what that has.
    share: Option<(String, MemoryShare)>,
    /// Whose it is, as others on the machine see it.
    owner: Option<PartitionOwner>,
}

/// Where a partition's process runs.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// Among the host's processes.
    Host {
        /// The file through which it enters the group that has its CPUs for itself.
        entrance: Option<PathBuf>,
    },
    /// In a container of its own.
    Container(Box<ContainerSetting>),
}

impl Room {
    /// Among the host's processes, on CPUs that others may have too.
    pub fn among_others() -> Self {
        Self { place: Place::Host { entrance: None }, share: None, owner: None }
    }

    /// Among the host's processes, in the group of this entrance, which has its CPUs for itself.
    pub fn behind(entrance: PathBuf) -> Self {
        Self { place: Place::Host { entrance: Some(entrance) }, share: None, owner: None }
    }

    /// In a container of its own.
    pub fn container(setting: ContainerSetting) -> Self {
        Self { place: Place::Container(Box::new(setting)), share: None, owner: None }
    }

    /// With a share of what CPUs share on their way to the memory, under the partition's name.
    #[must_use]
    pub fn with_share(mut self, partition: &str, share: MemoryShare) -> Self {
        self.share = (!share.is_empty()).then(|| (partition.to_owned(), share));
        self
    }

    /// In a site that is up, which others on the machine are to see.
    #[must_use]
    pub fn of(mut self, owner: PartitionOwner) -> Self {
        self.owner = Some(owner);
        self
    }

    /// Returns the arguments that say whose it is.
    pub(super) fn owner_arguments(&self) -> Vec<String> {
        self.owner.iter().flat_map(PartitionOwner::arguments).collect()
    }

    /// Reserves its share.
    pub(super) fn hold_share(&self) -> Result<Option<HeldShare>, ResctrlError> {
        let share = self.share.as_ref();
        share.map(|(partition, share)| HeldShare::hold(partition, *share)).transpose()
    }
}
