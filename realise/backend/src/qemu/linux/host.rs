//! A Linux guest as a partition's setting, and its part of the [surroundings](Host).

use std::borrow::Cow;
use std::sync::Arc;

use quietcore_record::record::GuestImage;
use quietcore_site::{Backend, BackendDeclaration};

use super::super::host::{Host, Machine, UNEXPLAINED, emulation};
use super::{LinuxJob, LinuxSetting};
use crate::job::Job;
use crate::process::{PartitionError, Room};
use crate::setting::Setting;
use crate::surroundings::{Start, Surroundings};

impl Setting for LinuxSetting {
    fn backend(&self) -> Backend {
        Backend::Qemu
    }

    fn declaration(&self) -> &'static BackendDeclaration {
        Backend::Qemu.declaration_with_linux()
    }

    fn emulation(&self) -> Option<&'static str> {
        emulation(self.accelerator)
    }

    fn guest_image(&self) -> Option<&GuestImage> {
        Some(&self.image)
    }

    fn unexplained(&self) -> Option<&'static str> {
        Some(UNEXPLAINED)
    }

    /// The job says that its tasks are pinned to nothing.
    fn unpinned(self: Arc<Self>) -> Arc<dyn Setting> {
        self
    }

    fn surround(&self, room: &Room) -> Result<Box<dyn Surroundings>, PartitionError> {
        Ok(Host::around(self.clone(), room))
    }
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
