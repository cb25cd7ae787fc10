//! What the kernel says of a PCI device before it is opened, and why it can't be passed through.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The driver that passes devices through.
const DRIVER: &str = "vfio-pci";
/// Drivers whose devices may be in a group with one that is passed through: they do no DMA. (Those
/// without a driver may, too.)
const HARMLESS: [&str; 3] = [DRIVER, "pci-stub", "pcieport"];
/// The class of bridges, in the highest byte of three.
const BRIDGE: &str = "0x06";

/// The address of a PCI device: `0000:01:00.0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PciAddress {
    domain: u32,
    bus: u8,
    slot: u8,
    function: u8,
}

/// A text is no address of a PCI device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no address of a PCI device; `lspci -D` shows them, such as `0000:01:00.0`")]
pub struct NoAddress(String);

impl FromStr for PciAddress {
    type Err = NoAddress;

    fn from_str(text: &str) -> Result<Self, NoAddress> {
        let parse = || {
            let (place, function) = text.rsplit_once('.')?;
            let mut parts = place.rsplit(':');
            let number = |part: &str, digits: usize| {
                let are_digits = part.len() <= digits
                    && !part.is_empty()
                    && part.bytes().all(|byte| byte.is_ascii_hexdigit());
                are_digits.then(|| u32::from_str_radix(part, 16).ok()).flatten()
            };
            let (slot, bus) = (number(parts.next()?, 2)?, number(parts.next()?, 2)?);
            let domain = parts.next().map_or(Some(0), |part| number(part, 8))?;
            let function = number(function, 1)?;
            let is_whole = parts.next().is_none() && slot < 32 && function < 8;
            let bus = u8::try_from(bus).ok()?;
            let (slot, function) = (u8::try_from(slot).ok()?, u8::try_from(function).ok()?);
            is_whole.then_some(Self { domain, bus, slot, function })
        };
        parse().ok_or_else(|| NoAddress(text.to_owned()))
    }
}

impl fmt::Display for PciAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { domain, bus, slot, function } = self;
        write!(f, "{domain:04x}:{bus:02x}:{slot:02x}.{function}")
    }
}

/// Why a device can't be passed through.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SightError {
    /// There is no such device.
    #[error("there is no PCI device {0}; `lspci -D` shows those that there are")]
    NoDevice(PciAddress),
    /// Nothing keeps it out of memory that is not the guest's.
    #[error(
        "no IOMMU keeps device {0} within the memory of its guest; switch it on in the firmware \
         (VT-d, AMD-Vi) and on the kernel's command line (`intel_iommu=on`)"
    )]
    NoIommu(PciAddress),
    /// Another driver has it.
    #[error(
        "device {address} belongs to {}; give it to vfio-pci: `echo vfio-pci \
         >/sys/bus/pci/devices/{address}/driver_override`, `echo {address} \
         >/sys/bus/pci/devices/{address}/driver/unbind` where it has a driver, `echo {address} \
         >/sys/bus/pci/drivers_probe`",
        whose(driver.as_deref())
    )]
    Driven {
        /// The device.
        address: PciAddress,
        /// Whose it is; `None` where it is nobody's.
        driver: Option<String>,
    },
    /// It can't be told apart from others.
    #[error(
        "device {address} is in IOMMU group {group} with {}, which this kernel can't keep apart \
         from it; give them to vfio-pci too, or put the device into another slot",
        others.join(", ")
    )]
    NotAlone {
        /// The device.
        address: PciAddress,
        /// The group.
        group: u32,
        /// The others, with their drivers.
        others: Vec<String>,
    },
    /// It is no device, but a way to some.
    #[error("{0} is a bridge, and no device that could be passed through")]
    Bridge(PciAddress),
}

fn whose(driver: Option<&str>) -> String {
    driver.map_or_else(|| "no driver".to_owned(), |driver| format!("driver `{driver}`"))
}

/// A device that can be opened, as far as can be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sight {
    /// Its folder in sysfs.
    pub folder: PathBuf,
    /// Its IOMMU group.
    pub group: u32,
}

impl Sight {
    /// Looks at a device. `root` is `/`, or a copy of the kernel's trees.
    ///
    /// # Errors
    /// [`SightError`]: the first thing that is in the way.
    pub fn of(root: &Path, address: PciAddress) -> Result<Self, SightError> {
        let devices = root.join("sys/bus/pci/devices");
        let folder = devices.join(address.to_string());
        if !folder.exists() {
            return Err(SightError::NoDevice(address));
        }
        if is_bridge(&folder) {
            return Err(SightError::Bridge(address));
        }
        let group = last_name(&folder.join("iommu_group"));
        let group: u32 =
            group.and_then(|name| name.parse().ok()).ok_or(SightError::NoIommu(address))?;
        let driver = last_name(&folder.join("driver"));
        if driver.as_deref() != Some(DRIVER) {
            return Err(SightError::Driven { address, driver });
        }
        let mut others = Vec::new();
        let members = fs::read_dir(folder.join("iommu_group/devices")).into_iter().flatten();
        for member in members.filter_map(Result::ok) {
            let name = member.file_name().to_string_lossy().into_owned();
            let driver = last_name(&devices.join(&name).join("driver"));
            let is_harmful = driver.as_deref().is_some_and(|driver| !HARMLESS.contains(&driver));
            if name != address.to_string() && is_harmful {
                others.push(format!("{name} ({})", whose(driver.as_deref())));
            }
        }
        others.sort();
        if others.is_empty() {
            return Ok(Self { folder, group });
        }
        Err(SightError::NotAlone { address, group, others })
    }
}

fn is_bridge(folder: &Path) -> bool {
    fs::read_to_string(folder.join("class")).is_ok_and(|class| class.starts_with(BRIDGE))
}

/// The last part of what a link points to.
fn last_name(link: &Path) -> Option<String> {
    Some(fs::read_link(link).ok()?.file_name()?.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;

    use super::*;

    const ADDRESS: &str = "0000:01:00.0";

    /// A tree with devices: address, class, driver (or none), group (or none).
    fn tree(devices: &[(&str, &str, &str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let sys = folder.path().join("sys");
        for (address, class, driver, group) in devices {
            let device = sys.join("bus/pci/devices").join(address);
            fs::create_dir_all(&device).unwrap();
            fs::write(device.join("class"), class).unwrap();
            if !driver.is_empty() {
                symlink(format!("../../drivers/{driver}"), device.join("driver")).unwrap();
            }
            if !group.is_empty() {
                let members = sys.join("kernel/iommu_groups").join(group).join("devices");
                fs::create_dir_all(&members).unwrap();
                symlink(&device, members.join(address)).unwrap();
                let group = sys.join("kernel/iommu_groups").join(group);
                symlink(group, device.join("iommu_group")).unwrap();
            }
        }
        folder
    }

    fn look(devices: &[(&str, &str, &str, &str)]) -> Result<Sight, SightError> {
        Sight::of(tree(devices).path(), ADDRESS.parse().unwrap())
    }

    fn told(devices: &[(&str, &str, &str, &str)]) -> String {
        look(devices).unwrap_err().to_string()
    }

    #[test]
    fn a_device_of_vfio_in_a_group_of_its_own_is_fine() {
        assert_eq!(look(&[(ADDRESS, "0x00ff00", DRIVER, "7")]).unwrap().group, 7);
        // Those that do no DMA may be with it.
        let with = [
            (ADDRESS, "0x020000", DRIVER, "7"),
            ("0000:00:01.0", "0x060400", "pcieport", "7"),
            ("0000:01:00.1", "0x020000", "", "7"),
        ];
        assert_eq!(look(&with).unwrap().group, 7);
    }

    #[test]
    fn what_is_in_the_way_is_told_with_what_to_do() {
        assert!(told(&[]).contains("no PCI device 0000:01:00.0; `lspci"));
        assert!(told(&[(ADDRESS, "0x020000", DRIVER, "")]).contains("`intel_iommu=on`"));
        let driven = told(&[(ADDRESS, "0x020000", "e1000e", "7")]);
        assert!(
            driven.contains("belongs to driver `e1000e`; give it to vfio-pci: `echo vfio-pci ")
        );
        assert!(driven.contains(">/sys/bus/pci/devices/0000:01:00.0/driver_override`"), "{driven}");
        assert!(told(&[(ADDRESS, "0x020000", "", "7")]).contains("belongs to no driver"));
        assert!(told(&[(ADDRESS, "0x060400", "pcieport", "7")]).contains("is a bridge"));
        let together = told(&[
            (ADDRESS, "0x020000", DRIVER, "6"),
            ("0000:00:1f.3", "0x0c0500", "i801_smbus", "6"),
            ("0000:00:1f.2", "0x010601", "ahci", "6"),
        ]);
        assert!(
            together.contains(
                "in IOMMU group 6 with 0000:00:1f.2 (driver `ahci`), \
                 0000:00:1f.3 (driver `i801_smbus`), which"
            ),
            "{together}"
        );
    }

    #[test]
    fn addresses_are_read_and_written() {
        for (text, written) in [
            ("0000:01:00.0", "0000:01:00.0"),
            ("3:1f.7", "0000:03:1f.7"),
            ("10000:e1:00.0", "10000:e1:00.0"),
        ] {
            assert_eq!(text.parse::<PciAddress>().unwrap().to_string(), written);
        }
        for text in ["", "01:00", "01:20.0", "01:00.8", "1:2:3:4.5", "01:00.0/../x", "+1:00.0"] {
            assert!(text.parse::<PciAddress>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_an_address_or_none(text in "[0-9a-f:./+-]{0,20}\\PC{0,3}") {
            if let Ok(address) = text.parse::<PciAddress>() {
                prop_assert_eq!(address.to_string().parse(), Ok(address));
            }
        }
    }
}
