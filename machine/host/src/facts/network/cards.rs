//! Network cards on the PCI bus, as far as they can be given to a guest.

use quietcore_boot::CardFamily;
use quietcore_site::Obstacle;
use serde::{Deserialize, Serialize};

use crate::reading::Reading;
use crate::source::Source;

const DEVICES: &str = "/sys/bus/pci/devices";
/// Class of Ethernet controllers, and that of bridges, in the upper bits of the kernel's number.
const ETHERNET: u32 = 0x0200;
const BRIDGE: u32 = 0x06;
/// Driver by which a program of the host's, such as QEMU, has a device.
const PASSING: &str = "vfio-pci";
/// The flag of an interface that is up.
const IS_UP: u32 = 1;

/// A network card on the PCI bus, and what decides whether a guest can have it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// PCI address with the domain.
    pub address: String,
    /// Vendor and device number, as the first word of the configuration space has them.
    pub kind: u32,
    /// Name of the driver that has it; absent where none has.
    pub driver: Reading<String>,
    /// Number of its IOMMU group; absent without an IOMMU.
    pub group: Reading<String>,
    /// Addresses of the other devices in the group, without bridges.
    pub companions: Vec<String>,
    /// Names of its network interfaces that are up.
    pub up: Vec<String>,
}

/// Returns the network cards in the order of their addresses, and whether the driver is there by
/// which they are given away.
pub(super) fn read(source: &Source) -> (Vec<Card>, bool) {
    let devices = source.entries(DEVICES);
    let mut addresses: Vec<String> = devices.get().into_iter().flatten().cloned().collect();
    addresses.sort_unstable();
    let is_card = |address: &String| class(source, address).is_some_and(|it| it >> 8 == ETHERNET);
    let cards = addresses.iter().filter(|address| is_card(address));
    let cards = cards.map(|address| card(source, address)).collect();
    (cards, source.exists(&format!("/sys/bus/pci/drivers/{PASSING}")) == Reading::Read(true))
}

fn card(source: &Source, address: &str) -> Card {
    let at = |file: &str| format!("{DEVICES}/{address}/{file}");
    let number = |file: &str| hexadecimal(source, &at(file)).unwrap_or(0xFFFF) & 0xFFFF;
    let members = source.entries(&at("iommu_group/devices"));
    let members = members.get().into_iter().flatten();
    let is_other = |other: &&String| {
        let is_bridge = class(source, other).is_some_and(|class| class >> 16 == BRIDGE);
        *other != address && !is_bridge
    };
    let interfaces = source.entries(&at("net"));
    let is_up = |name: &&String| {
        let flags = hexadecimal(source, &format!("{}/{name}/flags", super::INTERFACES));
        flags.is_some_and(|flags| flags & IS_UP != 0)
    };
    Card {
        address: address.to_owned(),
        kind: number("device") << 16 | number("vendor"),
        driver: source.link_name(&at("driver")),
        group: source.link_name(&at("iommu_group")),
        companions: members.filter(is_other).cloned().collect(),
        up: interfaces.get().into_iter().flatten().filter(is_up).cloned().collect(),
    }
}

fn class(source: &Source, address: &str) -> Option<u32> {
    hexadecimal(source, &format!("{DEVICES}/{address}/class"))
}

fn hexadecimal(source: &Source, path: &str) -> Option<u32> {
    let text = source.text(path);
    u32::from_str_radix(text.get()?.trim().strip_prefix("0x")?, 16).ok()
}

impl Card {
    /// Returns `true` if the guest's kernel can drive it.
    pub(crate) fn is_known(&self) -> bool {
        CardFamily::of(self.kind).is_some()
    }

    /// Returns what stands in the way of giving it to a guest. `passes` says whether the driver for
    /// that is there.
    pub(crate) fn can_be_given(&self, passes: bool) -> Result<(), Obstacle> {
        let obstacle =
            |what: String, remedy: &str| Err(Obstacle { what, remedy: remedy.to_owned() });
        if !self.is_known() {
            let (vendor, device) = (self.kind & 0xFFFF, self.kind >> 16);
            let what = format!("the guest's kernel can't drive a {vendor:04x}:{device:04x}");
            return obstacle(what, "choose an Intel 82574L, I210 or I211");
        }
        if self.group.get().is_none() {
            return obstacle(
                "there is no IOMMU to keep it from the host's memory".to_owned(),
                "switch it on in the firmware, and on the kernel's command line (`intel_iommu=on`)",
            );
        }
        if let Some(other) = self.companions.first() {
            return obstacle(
                format!("the IOMMU can't tell it from the device at {other}"),
                "put the card into another slot, or choose another one",
            );
        }
        if !passes {
            let what = format!("the driver `{PASSING}` is not loaded");
            return obstacle(what, "`modprobe vfio-pci`");
        }
        match self.up.first() {
            Some(interface) => obstacle(
                format!("the host uses it as `{interface}`, which is up"),
                &format!("`ip link set {interface} down`, or choose another card"),
            ),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::*;

    /// Makes a device below a root, in a group of the IOMMU.
    fn device(root: &Path, address: &str, class: &str, kind: (&str, &str), group: Option<&str>) {
        let place = root.join("sys/bus/pci/devices").join(address);
        fs::create_dir_all(place.join("net/eth7")).unwrap();
        fs::write(place.join("class"), class).unwrap();
        fs::write(place.join("vendor"), kind.0).unwrap();
        fs::write(place.join("device"), kind.1).unwrap();
        let Some(group) = group else { return };
        let group = root.join("sys/kernel/iommu_groups").join(group);
        fs::create_dir_all(group.join("devices").join(address)).unwrap();
        symlink(&group, place.join("iommu_group")).unwrap();
    }

    fn obstacles(root: &Path) -> Vec<(String, Option<String>)> {
        let (cards, passes) = read(&Source::below(root));
        let why = |card: &Card| card.can_be_given(passes).err().map(|why| why.what);
        cards.iter().map(|card| (card.address.clone(), why(card))).collect()
    }

    #[test]
    fn a_card_is_given_only_alone_unused_and_behind_an_iommu() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let intel = ("0x8086\n", "0x1533\n");
        device(root, "0000:01:00.0", "0x020000\n", intel, Some("3"));
        device(root, "0000:02:00.0", "0x020000\n", ("0x10ec\n", "0x8168\n"), Some("4"));
        device(root, "0000:03:00.0", "0x020000\n", intel, None);
        device(root, "0000:04:00.0", "0x020000\n", intel, Some("5"));
        device(root, "0000:04:00.1", "0x010802\n", intel, Some("5"));
        device(root, "0000:00:1c.0", "0x060400\n", intel, Some("3"));
        let interface = root.join("sys/class/net/eth7");
        fs::create_dir_all(&interface).unwrap();
        fs::write(interface.join("flags"), "0x1002\n").unwrap();
        let found = obstacles(root);
        let place = |index: usize| found[index].0.as_str();
        assert_eq!([0, 1, 2, 3].map(place).join(" ").matches(":00.0").count(), 4);
        let why = |index: usize| found[index].1.clone().unwrap_or_default();
        assert_eq!(why(0), "the driver `vfio-pci` is not loaded");
        assert_eq!(why(1), "the guest's kernel can't drive a 10ec:8168");
        assert_eq!(why(2), "there is no IOMMU to keep it from the host's memory");
        assert_eq!(why(3), "the IOMMU can't tell it from the device at 0000:04:00.1");
        assert_eq!(found.len(), 4, "a disk and a bridge are no network cards");
        fs::create_dir_all(root.join("sys/bus/pci/drivers/vfio-pci")).unwrap();
        assert_eq!(obstacles(root)[0].1, None);
        fs::write(interface.join("flags"), "0x1003\n").unwrap();
        let why = obstacles(root)[0].1.clone().unwrap();
        assert_eq!(why, "the host uses it as `eth7`, which is up");
    }
}
