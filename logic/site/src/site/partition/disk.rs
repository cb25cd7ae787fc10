//! A guest that starts from its disk: any operating system, which runs no program of the site.

use quietcore_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time that a guest gets to shut down, unless the site file says otherwise.
pub(crate) const SHUTDOWN_DEFAULT: Nanos = Nanos::from_secs(30);

/// The machine of a guest that starts from its disk, beside its processors and its memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiskGuest {
    /// The image's file as written, relative to the site file.
    pub image: String,
    /// The firmware that starts it.
    pub firmware: Firmware,
    /// The devices that it has.
    pub devices: DiskDevices,
    /// `true` if it has a screen, which VNC shows.
    pub vnc: bool,
    /// The tap interface of the host that its network card is connected to.
    pub tap: Option<String>,
    /// The time that it gets to shut down; 1 s to 10 min.
    pub shutdown: Nanos,
}

impl DiskGuest {
    /// Returns `true` if its image is called as images of the format qcow2 are. The image itself
    /// decides where it is read.
    pub fn has_qcow2_name(&self) -> bool {
        self.image.ends_with(".qcow2")
    }
}

/// The firmware that starts a guest from its disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Firmware {
    /// A BIOS (SeaBIOS), which runs the boot sector of the disk.
    #[default]
    Bios,
    /// UEFI (OVMF), which runs a file of the disk's EFI system partition; Debian's package `ovmf`
    /// has it.
    Uefi,
}

/// The devices of a guest that starts from its disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DiskDevices {
    /// Those of virtio, which cost the least: Linux has drivers for them.
    #[default]
    Virtio,
    /// Those of real machines (AHCI, e1000e, VGA), for any other system.
    Plain,
}
