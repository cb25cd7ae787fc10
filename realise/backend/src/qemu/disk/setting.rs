//! The setting of a guest that starts from its disk, from the site file to the process that starts
//! QEMU, for which it is the job.

use std::path::{Path, PathBuf};

use quietcore_site::{Accelerator, Backend, DiskDevices, Firmware, MemoryForm, Partition};
use quietcore_units::{ByteSize, CpuId, Nanos, Scheduling};
use serde::{Deserialize, Serialize};

use super::image::{DiskImage, ImageFault, ImageFormat};

/// Name of the file of a guest's UEFI variables, in the folder of the partition's state.
const VARIABLES: &str = "uefi-variables.fd";

/// The machine of a guest that starts from its disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskSetting {
    /// Absolute path of the image.
    pub image: PathBuf,
    /// The format that QEMU is told.
    pub format: ImageFormat,
    /// The firmware that starts it.
    pub firmware: Firmware,
    /// The devices that it has.
    pub devices: DiskDevices,
    /// The guest's own memory.
    pub memory: ByteSize,
    /// The way in which its instructions are run.
    pub accelerator: Accelerator,
    /// The host's CPU of each of its processors.
    pub cpus: Vec<u32>,
    /// The policy of the threads that run them.
    pub policy: Scheduling,
    /// The tap interface of the host that its network card is connected to.
    pub tap: Option<String>,
    /// The time that it gets to shut down.
    pub shutdown: Nanos,
    /// Path of the socket on which VNC shows its screen, where it has one.
    pub vnc: Option<PathBuf>,
    /// Path of the file of its UEFI variables.
    pub variables: PathBuf,
}

/// Why a partition can't have the disk that its guest starts from.
#[derive(Debug, thiserror::Error)]
#[error("`{}` is not the disk of partition `{partition}`", path.display())]
pub struct DiskSettingError {
    /// Name of the partition.
    pub partition: String,
    /// Path of the image.
    pub path: PathBuf,
    /// The fault of the image.
    #[source]
    pub source: ImageFault,
}

/// The folders of a guest that starts from its disk.
#[derive(Clone, Copy, Debug)]
pub struct DiskFolders<'a> {
    /// The folder of the site file, to which its image is relative.
    pub site: &'a Path,
    /// The folder of the running site, for sockets.
    pub run: &'a Path,
    /// The folder of what survives of the partition.
    pub state: &'a Path,
}

impl DiskSetting {
    /// Returns the setting of a partition; `None` where it is no such guest.
    ///
    /// # Errors
    /// [`DiskSettingError`] when its image can't be used.
    pub fn of(
        partition: &Partition,
        folders: DiskFolders<'_>,
    ) -> Result<Option<Self>, DiskSettingError> {
        let Some(disk) = partition.disk() else { return Ok(None) };
        let path = folders.site.join(&disk.image);
        let image = match DiskImage::look(&path) {
            Ok(image) => image,
            Err(source) => {
                return Err(DiskSettingError { partition: partition.name.clone(), path, source });
            }
        };
        let default = match &Backend::Qemu.declaration_from_disk().memory {
            MemoryForm::Own { default, .. } => *default,
            MemoryForm::Heap => ByteSize::new(0),
        };
        Ok(Some(Self {
            image: image.path,
            format: image.format,
            firmware: disk.firmware,
            devices: disk.devices,
            memory: partition.vcr.memory.unwrap_or(default),
            accelerator: partition.accelerator,
            cpus: partition.vcr.cpus.iter().map(CpuId::get).collect(),
            policy: partition.program.scheduling,
            tap: disk.tap.clone(),
            shutdown: disk.shutdown,
            vnc: disk.vnc.then(|| folders.run.join(format!("{}.vnc", partition.name))),
            variables: folders.state.join(VARIABLES),
        }))
    }
}
