//! A Linux guest as a partition's setting, whatever runs it.

use std::sync::Arc;

use quietcore_record::record::GuestImage;
use quietcore_site::{Backend, BackendDeclaration};

use super::{Hypervisor, LinuxSetting};
use crate::process::{PartitionError, Room};
use crate::setting::Setting;
use crate::surroundings::Surroundings;
use crate::{qemu, xen};

impl Setting for LinuxSetting {
    fn backend(&self) -> Backend {
        match self.hypervisor {
            Hypervisor::Qemu { .. } => Backend::Qemu,
            Hypervisor::Xen { .. } => Backend::Xen,
        }
    }

    fn declaration(&self) -> &'static BackendDeclaration {
        self.backend().declaration_with_linux()
    }

    fn emulation(&self) -> Option<&'static str> {
        match self.hypervisor {
            Hypervisor::Qemu { accelerator } => qemu::emulation(accelerator),
            Hypervisor::Xen { .. } => None,
        }
    }

    fn guest_image(&self) -> Option<&GuestImage> {
        Some(&self.image)
    }

    fn unexplained(&self) -> Option<&'static str> {
        Some(match self.hypervisor {
            Hypervisor::Qemu { .. } => qemu::UNEXPLAINED,
            Hypervisor::Xen { .. } => xen::UNEXPLAINED,
        })
    }

    /// For QEMU the job says that its tasks are pinned to nothing; a domain is made before that.
    fn unpinned(self: Arc<Self>) -> Arc<dyn Setting> {
        match self.hypervisor {
            Hypervisor::Qemu { .. } => self,
            Hypervisor::Xen { .. } => {
                let hypervisor = Hypervisor::Xen { is_pinned: false };
                Arc::new(Self { hypervisor, ..(*self).clone() })
            }
        }
    }

    fn surround(&self, room: &Room) -> Result<Box<dyn Surroundings>, PartitionError> {
        Ok(match self.hypervisor {
            Hypervisor::Qemu { .. } => qemu::linux::surround(self.clone(), room),
            Hypervisor::Xen { is_pinned } => xen::linux::surround(self.clone(), is_pinned, room),
        })
    }
}
