//! The rooms of partitions that run at the same time, and what these have in common: the group that
//! has the partitions' CPUs for itself, and what runs containers.

use std::path::{Path, PathBuf};

use quietcore_settings::{MemoryShare, ReservedGroup};
use quietcore_site::{ContainerRuntime, HostRequirement};

use crate::container::{ContainerError, Containers, clear};
use crate::process::Room;
use crate::setting::BackendSetting;
use crate::xen;

/// The leftovers of owners that were killed: removed, or still there where that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleared {
    /// Names of the containers, or domains, that were removed.
    pub gone: Vec<String>,
    /// One message for each that could not be removed.
    pub left: Vec<String>,
}

/// Removes what killed owners have left: in the folder of containers, where these partitions have
/// one, and of domains, where one of them is a domain. Returns what can't be removed, a sentence
/// each.
pub fn sweep<'s>(
    folder: Option<&Path>,
    mut settings: impl Iterator<Item = &'s BackendSetting>,
) -> Vec<String> {
    let containers = folder.map(clear).unwrap_or_default();
    let is_domain = |it: &BackendSetting| it.declaration().requires == HostRequirement::Xen;
    let domains = if settings.any(is_domain) { xen::clear() } else { Cleared::default() };
    [containers.left, domains.left].concat()
}

/// The rooms of one holder's partitions. The default is a machine without any group that has CPUs
/// for itself, and without containers.
#[derive(Clone, Debug, Default)]
pub struct Rooms {
    containers: Option<Containers>,
    group: Option<ReservedGroup>,
}

impl Rooms {
    /// Finds out how the partitions with these settings are run here, for a holder whose containers
    /// have their folders in `folder` and a runtime that is `wanted`, or the first that works.
    ///
    /// # Errors
    /// [`ContainerError`] when nothing can run those that are containers.
    ///
    /// # Panics
    /// When there are containers and no folder for theirs.
    pub fn prepare<'s>(
        settings: impl Iterator<Item = &'s BackendSetting>,
        holder: &str,
        folder: Option<PathBuf>,
        wanted: Option<ContainerRuntime>,
        group: Option<ReservedGroup>,
    ) -> Result<Self, ContainerError> {
        let count = settings.filter(|setting| setting.declaration().in_container()).count();
        assert!(count == 0 || folder.is_some(), "containers have a folder");
        let prepare = |folder| Containers::prepare(folder, holder, count, wanted, group.as_ref());
        let containers = folder.filter(|_| count > 0).map(prepare).transpose()?;
        Ok(Self { containers, group })
    }

    /// Returns the rooms of processes among the host's, in a group that has their CPUs for itself.
    pub fn within(group: Option<ReservedGroup>) -> Self {
        Self { containers: None, group }
    }

    /// Returns the room of a partition, with its share of cache and memory bandwidth.
    pub fn of(&self, partition: &str, setting: &BackendSetting, share: MemoryShare) -> Room {
        Room::new(partition, setting.clone(), self.clone(), share)
    }

    /// The container runtime with its version; `None` where there are no containers.
    pub fn container_runtime(&self) -> Option<String> {
        self.containers.as_ref().map(Containers::runtime)
    }

    pub(crate) fn group(&self) -> Option<&ReservedGroup> {
        self.group.as_ref()
    }

    /// Returns what its containers have in common; `None` where there are none.
    pub fn containers(&self) -> Option<&Containers> {
        self.containers.as_ref()
    }
}
