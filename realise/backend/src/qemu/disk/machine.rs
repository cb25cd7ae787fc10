//! The machine of a guest from its disk: QEMU's command line.
//!
//! It has a disk, a serial line, and what the site file asks for: a screen, a network card. There
//! is no balloon that would take memory back, no USB, and nothing that changes while it runs.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Command;

use command_fds::CommandFdExt as _;
use quietcore_site::{DiskDevices, Firmware};
use serde_json::{Value, json};

use super::super::emulator::Base;
use super::DiskSetting;
use super::firmware::Ovmf;

/// The first half of the hardware address of its network card, which is QEMU's own.
const ADDRESS: [u8; 3] = [0x52, 0x54, 0x00];

/// Returns the command that starts QEMU with such a machine. `locks` says that its memory is to be
/// locked.
///
/// # Errors
/// When something that the machine needs can't be had; in words.
pub(super) fn command(
    setting: &DiskSetting,
    monitor: OwnedFd,
    locks: bool,
) -> Result<Command, String> {
    let base = Base {
        accelerator: setting.accelerator,
        processors: setting.cpus.len(),
        memory: setting.memory,
        locks,
        monitor: &monitor,
    };
    let mut command = base.machine()?;
    add_firmware(&mut command, setting)?;
    let disk = file_node("disk", setting.format.word(), &setting.image, false)?;
    command.args(["-blockdev", &disk]);
    let device = match setting.devices {
        DiskDevices::Virtio => "virtio-blk-pci,drive=disk,bootindex=0",
        DiskDevices::Plain => {
            command.args(["-device", "ahci,id=sata"]);
            "ide-hd,drive=disk,bus=sata.0,bootindex=0"
        }
    };
    command.args(["-device", device]);
    match &setting.vnc {
        Some(socket) => {
            command.args(["-vnc", &format!("unix:{}", option(socket)?), "-device", "VGA"]);
        }
        // What boot loaders write to a screen goes to the serial line.
        None => drop(command.args(["-machine", "graphics=off"])),
    }
    if let Some(tap) = &setting.tap {
        let tap = tap.replace(',', ",,");
        let netdev = format!("tap,id=net,ifname={tap},script=no,downscript=no");
        let card = match setting.devices {
            DiskDevices::Virtio => "virtio-net-pci",
            DiskDevices::Plain => "e1000e",
        };
        let address = address_of(&setting.image);
        command.args(["-netdev", &netdev]);
        command.args(["-device", &format!("{card},netdev=net,mac={address},romfile=")]);
    }
    command.preserved_fds(vec![monitor]);
    Ok(command)
}

/// Adds UEFI's program and variables. A BIOS is QEMU's own.
fn add_firmware(command: &mut Command, setting: &DiskSetting) -> Result<(), String> {
    if setting.firmware == Firmware::Bios {
        return Ok(());
    }
    let ovmf = Ovmf::find().ok_or("there is no OVMF; install it, such as Debian's `ovmf`")?;
    let variables = &setting.variables;
    ovmf.make_variables(variables)
        .map_err(|error| format!("`{}` can't be made: {error}", variables.display()))?;
    command.args(["-blockdev", &file_node("program", "raw", &ovmf.program, true)?]);
    command.args(["-blockdev", &file_node("variables", "raw", variables, false)?]);
    command.args(["-machine", "pflash0=program,pflash1=variables"]);
    Ok(())
}

/// Returns a node of QEMU's, as JSON, in which no character of a path means anything.
fn file_node(name: &str, format: &str, path: &Path, is_read: bool) -> Result<String, String> {
    let path = path.to_str().ok_or_else(|| not_text(path))?;
    let file = json!({ "driver": "file", "filename": path, "read-only": is_read });
    let mut node =
        json!({ "driver": format, "node-name": name, "read-only": is_read, "file": file });
    if format == "qcow2" {
        // Whoever writes the image chooses no other file; its header was looked at before.
        node["backing"] = Value::Null;
    }
    Ok(node.to_string())
}

/// Returns a path as a part of an option, where a comma begins the next part.
fn option(path: &Path) -> Result<String, String> {
    path.to_str().map(|path| path.replace(',', ",,")).ok_or_else(|| not_text(path))
}

fn not_text(path: &Path) -> String {
    format!("`{}` is no text, and QEMU takes none else", path.display())
}

/// Returns the hardware address of a guest's network card, which stays the same for the same image.
fn address_of(image: &Path) -> String {
    // FNV-1a: it need not be safe, only another one for another image.
    let bytes = image.as_os_str().as_encoded_bytes().iter();
    let hash = bytes
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    let [_, own @ ..] = hash.to_be_bytes();
    let all = ADDRESS.into_iter().chain(own).map(|byte| format!("{byte:02x}"));
    all.collect::<Vec<_>>().join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_means_nothing_but_itself() {
        let node = file_node("disk", "qcow2", Path::new("/a,b\"c\\.img"), false).unwrap();
        let node: Value = serde_json::from_str(&node).unwrap();
        assert_eq!(node["file"]["filename"], "/a,b\"c\\.img");
        assert_eq!((&node["backing"], &node["driver"]), (&Value::Null, &json!("qcow2")));
        assert_eq!(option(Path::new("/a,b")).unwrap(), "/a,,b");
    }

    #[test]
    fn a_network_card_has_its_own_address() {
        let (first, second) = (address_of(Path::new("/a.img")), address_of(Path::new("/b.img")));
        assert_eq!(first, address_of(Path::new("/a.img")));
        assert!(first != second && first.starts_with("52:54:00:") && first.len() == 17, "{first}");
    }
}
