//! The machine of a Linux guest: its processors, its memory, its ports, and the memory that it
//! shares with the host.

use std::fs::File;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::process::Command;

use command_fds::CommandFdExt as _;
use quietcore_boot::devices::{CONTROL, EXCHANGE, FIRST_CHANNEL};
use quietcore_site::Accelerator;

use super::super::emulator::{Base, add_network, add_shared};
use crate::linux::LinuxSetting;
use crate::linux::names::{ORDERS, PRINTED, REMARKS};

/// Words to the kernel: it writes to its console where something is wrong, and does not wait after
/// a panic, which ends the machine. It has no use for IPv6, by which it would send frames of its
/// own on the interface of a fieldbus. What follows `--` is for the first process.
const KERNEL_WORDS: &str =
    "console=ttyS0 quiet loglevel=4 panic=-1 ipv6.disable=1 rdinit=/init -- guest";

/// The ports between host and guest, by name.
pub(super) const PORTS: [&str; 3] = [ORDERS, PRINTED, REMARKS];

/// The files of a guest's machine.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) control: File,
    pub(super) exchange: File,
    pub(super) channels: Vec<File>,
    /// QEMU's end of the guest's network, where it has one.
    pub(super) network: Option<OwnedFd>,
    /// QEMU's ends of the [`PORTS`], in their order.
    pub(super) ports: [OwnedFd; PORTS.len()],
    /// QEMU's end of its monitor.
    pub(super) monitor: OwnedFd,
    /// The way in which the guest's instructions are run.
    pub(super) accelerator: Accelerator,
    /// `true` if QEMU's memory and the guest's are to be locked.
    pub(super) locks: bool,
}

/// Returns the command that starts QEMU with such a machine.
///
/// # Errors
/// When a file can't be a device; in words.
pub(super) fn command(setting: &LinuxSetting, parts: Parts) -> Result<Command, String> {
    let Parts { control, exchange, channels, network, ports, monitor, accelerator, locks } = parts;
    let base = Base {
        accelerator,
        processors: setting.cpus.len(),
        memory: setting.memory,
        locks,
        monitor: &monitor,
    };
    let mut command = base.command()?;
    command.arg("-kernel").arg(&setting.kernel).arg("-initrd").arg(&setting.initramfs);
    command.args(["-append", KERNEL_WORDS]);
    command.args(["-device", "virtio-serial-pci,disable-legacy=on,addr=2"]);
    for (name, port) in PORTS.iter().zip(&ports) {
        let number = port.as_raw_fd();
        command.args(["-chardev", &format!("socket,id={name},fd={number}")]);
        command.args(["-device", &format!("virtserialport,chardev={name},name={name}")]);
    }
    let numbered = [(&control, CONTROL), (&exchange, EXCHANGE)];
    for (file, number) in numbered.into_iter().chain(channels.iter().zip(FIRST_CHANNEL..)) {
        add_shared(&mut command, file, number)?;
    }
    if let Some(network) = &network {
        add_network(&mut command, network, "");
    }
    let files = [control, exchange].into_iter().chain(channels).map(OwnedFd::from);
    command.preserved_fds(files.chain(ports).chain([monitor]).chain(network).collect());
    Ok(command)
}
