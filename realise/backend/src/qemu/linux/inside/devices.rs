//! The devices of shared memory on the guest's bus.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use quietcore_boot::devices::{IVSHMEM, MEMORY_REGISTER, function_of};
use quietcore_process::memory::DeviceMemory;

/// Finds the memory of the device with this number ([`quietcore_boot::devices`]), and has the
/// device answer at its addresses.
pub(super) fn memory(number: usize) -> Result<DeviceMemory, String> {
    let (device, function) = function_of(number).ok_or("there are no more devices")?;
    let folder = PathBuf::from(format!("/sys/bus/pci/devices/0000:00:{device:02x}.{function}"));
    let missing = || format!("{}: there is no memory of the host", folder.display());
    let identity = |name: &str| hexadecimal(fs::read_to_string(folder.join(name)).ok()?.trim());
    let is_ours = identity("vendor")
        .zip(identity("device"))
        .is_some_and(|(vendor, device)| device << 16 | vendor == u64::from(IVSHMEM));
    if !is_ours {
        return Err(missing());
    }
    enable(&folder)?;
    let resources = fs::read_to_string(folder.join("resource"));
    resources.ok().as_deref().and_then(range).ok_or_else(missing)
}

fn enable(folder: &Path) -> Result<(), String> {
    let enabled = fs::write(folder.join("enable"), "1\n");
    enabled.map_err(|error| format!("{}: {error}", folder.display()))
}

/// Returns the range of the memory's base address register in a device's `resource`: a line for
/// each register, with first and last address.
fn range(resources: &str) -> Option<DeviceMemory> {
    let line = resources.lines().nth(MEMORY_REGISTER.into())?;
    let mut numbers = line.split_whitespace().map(hexadecimal);
    let (first, last) = (numbers.next()??, numbers.next()??);
    let bytes = last.checked_sub(first)?.checked_add(1)?;
    (first != 0).then_some(DeviceMemory { address: first, bytes })
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// Opens all memory of the machine, in which devices have theirs. The kernel gives out what is no
/// memory of its own.
pub(super) fn all_memory() -> Result<File, String> {
    let opened = OpenOptions::new().read(true).write(true).open("/dev/mem");
    opened.map_err(|error| format!("/dev/mem: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_is_that_of_the_memorys_register() {
        let resources = "0x00000000febff000 0x00000000febff0ff 0x0000000000040200\n\
                         0x0000000000000000 0x0000000000000000 0x0000000000000000\n\
                         0x00000000fe800000 0x00000000fe9fffff 0x000000000014220c\n";
        let device = DeviceMemory { address: 0xfe80_0000, bytes: 2 << 20 };
        assert_eq!(range(resources), Some(device));
        for wrong in ["", "\n\n0x0 0x0 0x0", "\n\nx y", "\n\n0x2000 0x1000 0x0"] {
            assert_eq!(range(wrong), None, "{wrong:?}");
        }
    }
}
