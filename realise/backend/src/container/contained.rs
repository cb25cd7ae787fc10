//! Surroundings of a partition whose process runs in a container.

use std::borrow::Cow;
use std::io;
use std::process::{Child, Command};
use std::sync::Arc;

use quietcore_site::Backend;

use super::{ContainerError, ContainerSetting, ContainerWish, Inside, Quarters, renumbered, words};
use crate::job::Job;
use crate::process::{PartitionError, Room};
use crate::setting::Setting;
use crate::surroundings::{Start, Surroundings};

impl Setting for ContainerWish {
    fn backend(&self) -> Backend {
        Backend::Container
    }

    fn unpinned(self: Arc<Self>) -> Arc<dyn Setting> {
        Arc::new(Self { cpus: None, ..(*self).clone() })
    }

    fn surround(&self, room: &Room) -> Result<Box<dyn Surroundings>, PartitionError> {
        let containers = room.common().containers();
        let containers = containers.expect("its rooms were prepared for containers");
        let setting = containers.of_partition(room.partition(), self.clone());
        Ok(Box::new(Contained { setting, quarters: None, inside: None }))
    }
}

/// A partition's process in a container. The host's child is the container's shim.
#[derive(Debug)]
struct Contained {
    setting: ContainerSetting,
    quarters: Option<Quarters>,
    inside: Option<Inside>,
}

impl Surroundings for Contained {
    fn prepare(
        &mut self,
        start: Start<'_>,
        job: &mut Cow<'_, Job>,
        command: &mut Command,
    ) -> Result<(), PartitionError> {
        let Start { program, files, owner, .. } = start;
        job.to_mut().renumber(&mut |here| renumbered(&files, here));
        self.quarters = Some(Quarters::furnish(&self.setting, (program, owner), files, command)?);
        Ok(())
    }

    /// Its own group is made where its CPUs are.
    fn wait_until_started(&mut self, _child: &Child) -> Result<(), PartitionError> {
        self.inside = self.quarters.as_mut().map(Quarters::wait).transpose()?;
        Ok(())
    }

    fn not_started(&self, error: PartitionError, remarks: &str) -> PartitionError {
        match error {
            PartitionError::Container(ContainerError::NotStarted { runtime, .. }) => {
                ContainerError::NotStarted { runtime, remarks: words(remarks) }.into()
            }
            other => other,
        }
    }

    fn process_id(&self) -> Option<u32> {
        self.inside.as_ref().map(Inside::process_id)
    }

    /// Kills the container's process, after which its shim removes the rest; kills the shim while
    /// there is no such process.
    fn kill(&self, child: &mut Child, attempt: u32) -> io::Result<()> {
        match &self.inside {
            Some(inside) => {
                inside.kill(attempt);
                Ok(())
            }
            None => child.kill(),
        }
    }

    /// Kills the container's first process, with which all others in the container end.
    fn end_rest(&self) {
        self.inside.iter().for_each(|inside| inside.kill(0));
    }
}
