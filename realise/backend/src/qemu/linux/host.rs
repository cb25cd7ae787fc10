//! The surroundings of a partition in a Linux guest of QEMU.

use std::borrow::Cow;

use super::super::host::{Host, Machine};
use crate::job::Job;
use crate::linux::{LinuxJob, LinuxSetting};
use crate::process::{PartitionError, Room};
use crate::surroundings::{Start, Surroundings};

/// Returns the surroundings of a process that is to be started in a room.
pub(crate) fn surround(setting: LinuxSetting, room: &Room) -> Box<dyn Surroundings> {
    Host::around(setting, room)
}

impl Machine for LinuxSetting {
    /// A page: the guest's kernel maps no larger ones.
    const DEVICE_BYTES_MIN: usize = 4096;

    fn enter(&self, _: &mut Start<'_>, job: &mut Cow<'_, Job>) -> Result<(), PartitionError> {
        let inside = LinuxJob::new(self.clone(), job.as_ref().clone());
        *job = Cow::Owned(Job::Linux(Box::new(inside)));
        Ok(())
    }
}
