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

/// Returns how the kernel has mapped the memory of a device, in its words, such as `write-back`;
/// `None` where it does not tell. The memory is mapped already.
pub(super) fn caching_of(memory: &DeviceMemory) -> Option<String> {
    let list = fs::read_to_string("/sys/kernel/debug/x86/pat_memtype_list").ok()?;
    caching_in(&list, memory)
}

/// Finds the range in the kernel's list of all that have a caching mode of their own:
/// `PAT: [mem 0xFIRST-0xEND] MODE`.
fn caching_in(list: &str, memory: &DeviceMemory) -> Option<String> {
    list.lines().find_map(|line| {
        let (range, mode) = line.split_once("[mem ")?.1.split_once("] ")?;
        let (first, end) = range.split_once('-')?;
        let holds = hexadecimal(first)? <= memory.address && memory.address < hexadecimal(end)?;
        holds.then(|| mode.trim().to_owned())
    })
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
    fn the_mode_of_a_mapping_is_found_in_the_kernels_list() {
        let list = "PAT memtype list:\n\
                    PAT: [mem 0x00000000fe800000-0x00000000fea00000] uncached-minus\n\
                    PAT: [mem 0x00000000febff000-0x00000000fec00000] write-back\n";
        let of = |address| caching_in(list, &DeviceMemory { address, bytes: 4096 });
        assert_eq!(of(0xfe80_0000).as_deref(), Some("uncached-minus"));
        assert_eq!(of(0xfebf_f000).as_deref(), Some("write-back"));
        assert_eq!(of(0xfea0_0000), None, "the end is behind the range");
        assert_eq!(
            caching_in("nonsense\nPAT: [mem x-y] z\n", &DeviceMemory { address: 1, bytes: 1 }),
            None
        );
    }

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
