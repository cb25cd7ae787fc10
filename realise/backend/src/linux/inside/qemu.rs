//! QEMU as a guest sees it: shared memory is that of devices on the guest's bus, ports are devices,
//! and a port of the machine ends it.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_boot::devices::{IVSHMEM, MEMORY_REGISTER, function_of};
use quietcore_boot::port;
use quietcore_process::memory::DeviceMemory;

use super::platform::{Platform, Ports};
use crate::linux::names::{ORDERS, PRINTED, REMARKS};

/// The mode in which the kernel is to map the memory that host and guest share.
const CACHED: &str = "write-back";
/// Longest wait for a port after its driver was loaded.
const PORT_PATIENCE: Duration = Duration::from_secs(10);
/// Pause between two looks for it.
const PORT_LOOK: Duration = Duration::from_millis(5);

/// The host of a guest of QEMU, of which nothing has to be kept.
#[derive(Debug)]
pub(super) struct Qemu;

impl Platform for Qemu {
    fn ports(&mut self) -> Result<Ports, String> {
        allow_caching();
        let [orders, printed, remarks] = [ORDERS, PRINTED, REMARKS].map(port);
        Ok(Ports {
            orders: Box::new(orders?),
            printed: printed?.into(),
            remarks: remarks?.into(),
            pumps: Vec::new(),
        })
    }

    fn shared(&mut self, number: usize) -> Result<(File, DeviceMemory), String> {
        Ok((all_memory()?, memory(number)?))
    }

    fn slowness(&self, memory: &DeviceMemory) -> Option<String> {
        caching_of(memory).filter(|mode| mode != CACHED)
    }

    fn tell_end(&mut self, status: u8) {
        if let Ok(ports) = OpenOptions::new().write(true).open("/dev/port") {
            // Nothing comes after it where it is understood.
            let _ = ports.write_all_at(&[status], port::END.into());
        }
    }
}

/// Finds the memory of the device with this number ([`quietcore_boot::devices`]), and has the
/// device answer at its addresses.
fn memory(number: usize) -> Result<DeviceMemory, String> {
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
    (first != 0).then_some(DeviceMemory::Stretch { address: first, bytes })
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// Returns how the kernel has mapped the memory of a device, in its words, such as `write-back`;
/// `None` where it does not tell. The memory is mapped already.
fn caching_of(memory: &DeviceMemory) -> Option<String> {
    let DeviceMemory::Stretch { address, .. } = memory else { return None };
    let list = fs::read_to_string("/sys/kernel/debug/x86/pat_memtype_list").ok()?;
    caching_in(&list, *address)
}

/// Finds the range in the kernel's list of all that have a caching mode of their own:
/// `PAT: [mem 0xFIRST-0xEND] MODE`.
fn caching_in(list: &str, address: u64) -> Option<String> {
    list.lines().find_map(|line| {
        let (range, mode) = line.split_once("[mem ")?.1.split_once("] ")?;
        let (first, end) = range.split_once('-')?;
        let holds = hexadecimal(first)? <= address && address < hexadecimal(end)?;
        holds.then(|| mode.trim().to_owned())
    })
}

/// Opens all memory of the machine, in which devices have theirs. The kernel gives out what is no
/// memory of its own.
fn all_memory() -> Result<File, String> {
    let opened = OpenOptions::new().read(true).write(true).open("/dev/mem");
    opened.map_err(|error| format!("/dev/mem: {error}"))
}

/// Lets devices' memory be cached: firmware says of all addresses of devices that they can't be, by
/// the processor's memory type ranges, while the memory behind ours is the host's. A driver asks
/// for what it needs by the page tables, which still hold.
fn allow_caching() {
    const FILE: &str = "/proc/mtrr";
    // A processor may have none of these ranges.
    let ranges = fs::read_to_string(FILE).unwrap_or_default();
    for number in uncachable(&ranges) {
        if let Err(error) = fs::write(FILE, format!("disable={number}\n")) {
            eprintln!("quietcore: shared memory is not cached: {error}");
        }
    }
}

/// Returns the numbers of the ranges that can't be cached.
fn uncachable(ranges: &str) -> Vec<u32> {
    let number = |line: &str| {
        let (name, rest) = line.split_once(':')?;
        rest.trim_end().ends_with("uncachable").then(|| name.strip_prefix("reg")?.parse().ok())?
    };
    ranges.lines().filter_map(number).collect()
}

/// Opens the port of this name, once its driver has found it.
fn port(name: &str) -> Result<File, String> {
    let end = Instant::now() + PORT_PATIENCE;
    loop {
        if let Some(path) = place_of_port(name) {
            let opened = OpenOptions::new().read(true).write(true).open(&path);
            return opened.map_err(|error| format!("port `{name}`: {error}"));
        }
        if Instant::now() > end {
            return Err(format!("there is no port `{name}`"));
        }
        thread::sleep(PORT_LOOK);
    }
}

fn place_of_port(name: &str) -> Option<PathBuf> {
    let ports = fs::read_dir("/sys/class/virtio-ports").ok()?;
    let found = ports.flatten().find(|port| {
        fs::read_to_string(port.path().join("name")).is_ok_and(|found| found.trim() == name)
    })?;
    let place = Path::new("/dev").join(found.file_name());
    place.exists().then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_of_a_mapping_is_found_in_the_kernels_list() {
        let list = "PAT memtype list:\n\
                    PAT: [mem 0x00000000fe800000-0x00000000fea00000] uncached-minus\n\
                    PAT: [mem 0x00000000febff000-0x00000000fec00000] write-back\n";
        let of = |address| caching_in(list, address);
        assert_eq!(of(0xfe80_0000).as_deref(), Some("uncached-minus"));
        assert_eq!(of(0xfebf_f000).as_deref(), Some("write-back"));
        assert_eq!(of(0xfea0_0000), None, "the end is behind the range");
        assert_eq!(caching_in("nonsense\nPAT: [mem x-y] z\n", 1), None);
    }

    #[test]
    fn the_range_is_that_of_the_memorys_register() {
        let resources = "0x00000000febff000 0x00000000febff0ff 0x0000000000040200\n\
                         0x0000000000000000 0x0000000000000000 0x0000000000000000\n\
                         0x00000000fe800000 0x00000000fe9fffff 0x000000000014220c\n";
        let device = DeviceMemory::Stretch { address: 0xfe80_0000, bytes: 2 << 20 };
        assert_eq!(range(resources), Some(device));
        for wrong in ["", "\n\n0x0 0x0 0x0", "\n\nx y", "\n\n0x2000 0x1000 0x0"] {
            assert_eq!(range(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn only_ranges_that_cannot_be_cached_are_found() {
        let ranges = "reg00: base=0x0c0000000 ( 3072MB), size= 1024MB, count=1: uncachable\n\
                      reg01: base=0x000000000 (    0MB), size= 1024MB, count=1: write-back\n\
                      reg12: base=0x0fe000000 ( 4064MB), size=    1MB, count=1: uncachable\n";
        assert_eq!(uncachable(ranges), [0, 12]);
        assert_eq!(uncachable("nonsense\nregx: uncachable\n"), [0; 0]);
    }
}
