//! The setting of a partition's backend, in one value from the site file to each start of its
//! process.
//!
//! This is a trait, as `Surroundings` is: each backend keeps here what it was asked for, and all
//! others ask the declaration of the backend. Another backend has an arm in each function of
//! [`BackendSetting`] that makes one, and all else of it in its own module.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use quietcore_microvm::colour::{PoolError, Unassignable};
use quietcore_record::record::GuestImage;
use quietcore_site::{Accelerator, Backend, BackendDeclaration, GUEST_MEMORY_DEFAULT, Partition};
use quietcore_units::{ByteSize, CpuSet};

use crate::container::ContainerWish;
use crate::fieldbus::FieldbusJob;
use crate::kvm::GuestSetting;
use crate::linux::{LinuxSetting, LinuxSettingError};
use crate::process::{PartitionError, ProcessSetting, Room};
use crate::qemu::QemuSetting;
use crate::qemu::disk::DiskSetting;
use crate::surroundings::Surroundings;
use crate::xen::XenSetting;

/// Everything that a backend is given for a partition, beside its job and its exchange.
#[derive(Clone, Debug)]
pub struct BackendSetting(Arc<dyn Setting>);

/// The setting of a partition in one backend.
pub(crate) trait Setting: fmt::Debug + Send + Sync {
    /// Returns the backend that the setting is for, whose declaration others ask.
    fn backend(&self) -> Backend;

    /// Returns what the backend declares for such a partition.
    fn declaration(&self) -> &'static BackendDeclaration {
        self.backend().declaration()
    }

    /// Returns the surroundings of a process that is to be started in a room.
    ///
    /// # Errors
    /// When the backend can't have what it shares with the process.
    fn surround(&self, room: &Room) -> Result<Box<dyn Surroundings>, PartitionError>;

    /// Returns what emulates the processor of the partition, as the end of a sentence; `None` where
    /// its instructions are run by this machine's.
    fn emulation(&self) -> Option<&'static str> {
        None
    }

    /// Returns the image that the partition's guest starts from; `None` where it has none of its
    /// own.
    fn guest_image(&self) -> Option<&GuestImage> {
        None
    }

    /// Returns why nobody explains late releases of such a partition; `None` where they can be.
    fn unexplained(&self) -> Option<&'static str> {
        None
    }

    /// Returns the same for a partition whose tasks may run on any CPU.
    fn unpinned(self: Arc<Self>) -> Arc<dyn Setting>;
}

/// The needs of a probe that runs in the place of a partition's program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProbeNeeds {
    /// The CPUs that it may use; `None` means all.
    pub cpus: Option<CpuSet>,
    /// The most memory that it may have; `None` without limit.
    pub memory: Option<ByteSize>,
    /// `true` if any of its threads is a real-time one.
    pub is_real_time: bool,
    /// `true` if it sends frames through an interface of the host.
    pub uses_network: bool,
}

/// The error of a setting that a backend can't have here.
#[derive(Debug, thiserror::Error)]
pub enum SettingError {
    /// The partition asks for page colours, and there are none.
    #[error("partition `{partition}` can't have page colours")]
    Colours {
        /// Name of the partition.
        partition: String,
        /// Error of the pool of pages.
        #[source]
        source: PoolError,
    },
    /// The partition asks for page colours that it can't have.
    #[error(transparent)]
    Colour(#[from] Unassignable),
    /// Its Linux guest has no image.
    #[error(transparent)]
    Linux(#[from] LinuxSettingError),
}

impl ProbeNeeds {
    /// Returns those of a partition of a site.
    pub fn of(partition: &Partition) -> Self {
        Self {
            cpus: Some(partition.vcr.cpus),
            memory: partition.vcr.memory_max(),
            is_real_time: partition.program.is_real_time(),
            uses_network: false,
        }
    }
}

impl BackendSetting {
    /// Returns the setting of a partition with a program and the fieldbus that it drives; `builds`
    /// is the folder of its builds, `site_folder` that of the site file. Page colours are measured,
    /// once in a process.
    ///
    /// # Errors
    /// [`SettingError`] when it asks for page colours that can't be had, or names no image.
    pub fn of(
        partition: &Partition,
        fieldbus: Option<&FieldbusJob>,
        builds: Option<&Path>,
        site_folder: &Path,
    ) -> Result<Self, SettingError> {
        if let Some(linux) = LinuxSetting::of(partition, site_folder)? {
            return Ok(Self::new(linux));
        }
        Ok(match partition.backend {
            Backend::Process => Self::default(),
            Backend::Container => Self::new(ContainerWish::of(partition, fieldbus, builds)),
            Backend::Kvm => Self::new(GuestSetting::of(partition)?),
            Backend::Qemu => Self::new(QemuSetting::of(partition)),
            Backend::Xen => Self::new(XenSetting::of(partition)),
        })
    }

    /// Returns the setting of a guest that starts from its disk.
    pub fn of_disk(disk: DiskSetting) -> Self {
        Self::new(disk)
    }

    /// Returns the setting of a partition that runs the probe; that of a process where the backend
    /// doesn't run it.
    pub fn of_probe(backend: Backend, needs: ProbeNeeds) -> Self {
        match backend {
            Backend::Container => Self::new(ContainerWish::of_probe(needs)),
            Backend::Process | Backend::Kvm | Backend::Qemu | Backend::Xen => Self::default(),
        }
    }

    /// Returns the setting of a process that carries out a measurement, or of the guest that does:
    /// of QEMU with an accelerator, or a domain whose processor runs on the CPUs that are needed.
    /// Guests of our own monitor are that process's, and need no setting.
    pub fn of_measurement(backend: Backend, accelerator: Accelerator, needs: ProbeNeeds) -> Self {
        let memory = GUEST_MEMORY_DEFAULT;
        match backend {
            Backend::Container => Self::new(ContainerWish::of_probe(needs)),
            Backend::Qemu => Self::new(QemuSetting { memory, accelerator }),
            Backend::Xen => Self::new(XenSetting { memory, cpus: needs.cpus }),
            Backend::Process | Backend::Kvm => Self::default(),
        }
    }

    /// Returns the setting of a partition of a site that runs the probe.
    ///
    /// # Errors
    /// [`SettingError`] when it names no image.
    pub fn of_probe_in(partition: &Partition, site_folder: &Path) -> Result<Self, SettingError> {
        let linux = LinuxSetting::of(partition, site_folder)?;
        let usual = || Self::of_probe(partition.backend, ProbeNeeds::of(partition));
        Ok(linux.map_or_else(usual, Self::new))
    }

    pub(crate) fn new(setting: impl Setting + 'static) -> Self {
        Self(Arc::new(setting))
    }

    /// Returns the same for a partition whose tasks may run on any CPU.
    #[must_use]
    pub fn unpinned(self) -> Self {
        Self(self.0.unpinned())
    }

    /// Returns what emulates the processor of the partition, as the end of a sentence; the times
    /// measured in it are not real then.
    pub fn emulation(&self) -> Option<&'static str> {
        self.0.emulation()
    }

    /// Returns the image that the partition's guest starts from; `None` where it has none of its
    /// own.
    pub fn guest_image(&self) -> Option<&GuestImage> {
        self.0.guest_image()
    }

    /// Returns why nobody explains late releases of the partition; `None` where they can be.
    pub fn unexplained(&self) -> Option<&'static str> {
        self.0.unexplained()
    }

    /// Returns what the backend declares.
    pub fn declaration(&self) -> &'static BackendDeclaration {
        self.0.declaration()
    }

    pub(crate) fn surround(&self, room: &Room) -> Result<Box<dyn Surroundings>, PartitionError> {
        self.0.surround(room)
    }
}

impl Default for BackendSetting {
    fn default() -> Self {
        Self::new(ProcessSetting)
    }
}

#[cfg(test)]
mod tests {
    use quietcore_record::class::catalogue;

    use super::*;

    fn partition(backend: Backend) -> Partition {
        let text = format!(
            "[site]\nname = \"s\"\n[[partition]]\nname = \"axis\"\nbackend = \"{backend}\"\n\
             class = \"motion-control\"\n[partition.vcr]\ncpus = [1]\n[partition.program]\n\
             model = \"m\"\n"
        );
        let site = quietcore_site::read("site.toml", text.as_bytes(), &catalogue());
        site.unwrap_or_else(|problems| panic!("{problems}")).partitions()[0].clone()
    }

    #[test]
    fn a_setting_is_of_the_backend_that_the_partition_names() {
        for backend in Backend::ALL {
            let partition = partition(backend);
            let setting = BackendSetting::of(&partition, None, None, Path::new(".")).unwrap();
            assert_eq!(setting.declaration().word, backend.name());
            assert_eq!(setting.unpinned().declaration().word, backend.name());
            let probe = BackendSetting::of_probe(backend, ProbeNeeds::of(&partition));
            let expected =
                if backend.declaration().runs_probe { backend } else { Backend::OF_PROBES };
            assert_eq!(probe.declaration().word, expected.name());
        }
    }

    #[test]
    fn a_container_whose_tasks_may_move_has_all_cpus() {
        let setting =
            BackendSetting::of(&partition(Backend::Container), None, None, Path::new(".")).unwrap();
        assert!(format!("{setting:?}").contains("cpus: Some("), "{setting:?}");
        let setting = setting.unpinned();
        assert!(format!("{setting:?}").contains("cpus: None"), "{setting:?}");
    }
}
