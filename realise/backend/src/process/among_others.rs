//! The backend `process`: a partition's process is one among the host's.

use std::borrow::Cow;
use std::fs;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Arc;

use command_fds::CommandFdExt as _;
use quietcore_process::setting;
use quietcore_site::Backend;
use quietcore_units::CpuSet;

use super::descendants::Mark;
use super::{ExchangeName, PartitionError, Room};
use crate::job::Job;
use crate::setting::Setting;
use crate::surroundings::{Start, Surroundings};

/// The setting of a process, which has all that its host has.
#[derive(Debug)]
pub(crate) struct ProcessSetting;

impl Setting for ProcessSetting {
    fn backend(&self) -> Backend {
        Backend::Process
    }

    fn unpinned(self: Arc<Self>) -> Arc<dyn Setting> {
        self
    }

    fn surround(&self, room: &Room) -> Result<Box<dyn Surroundings>, PartitionError> {
        Ok(Box::new(AmongOthers::new(room)))
    }
}

/// A process among the host's, and the mark on everything that it forks.
#[derive(Debug)]
pub(crate) struct AmongOthers {
    mark: Mark,
    /// File through which it enters the group that has its CPUs for itself.
    entrance: Option<PathBuf>,
    /// CPUs that it is confined to.
    confines: Option<CpuSet>,
}

impl AmongOthers {
    pub(crate) fn new(room: &Room) -> Self {
        Self { mark: Mark::new(), entrance: room.entrance(), confines: room.confines() }
    }
}

impl Surroundings for AmongOthers {
    fn prepare(
        &mut self,
        start: Start<'_>,
        _job: &mut Cow<'_, Job>,
        command: &mut Command,
    ) -> Result<(), PartitionError> {
        self.mark.put_on(command);
        let name = |file: &OwnedFd| {
            ExchangeName { descriptor: file.as_raw_fd(), device: start.device }.to_string()
        };
        let exchange = start.files.last().map(name);
        command.preserved_fds(start.files);
        command.arg("partition").args(exchange).args(start.owner);
        Ok(())
    }

    fn wait_until_started(&mut self, child: &Child) -> Result<(), PartitionError> {
        if let Some(cpus) = self.confines {
            // It waits for its job with one thread, from which all later ones have their CPUs.
            setting::allow_other(child.id(), cpus)
                .map_err(|source| PartitionError::Confine { cpus: Box::new(cpus), source })?;
        }
        let Some(entrance) = &self.entrance else { return Ok(()) };
        fs::write(entrance, child.id().to_string()).map_err(|source| PartitionError::Enter {
            group: entrance.display().to_string(),
            source,
        })
    }

    fn end_rest(&self) {
        self.mark.end_all();
    }
}
