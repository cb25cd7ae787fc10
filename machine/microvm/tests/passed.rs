//! A guest drives a PCI device that was passed through to it: QEMU's `edu`, in a virtual machine of
//! the lab with an IOMMU (kind `iommu`). Skipped where there is no such device.

#![deny(unsafe_code)]

#[expect(dead_code, reason = "other tests use what this one does not")]
mod bare;

use std::fs;
use std::path::{Path, PathBuf};

use quietcore_boot::Place;
use quietcore_microvm::exits::{Exits, Reason};
use quietcore_microvm::options::Options;
use quietcore_microvm::processor::Stopped;
use quietcore_microvm::vfio::{PassThrough, Passed, PciAddress};
use vm_memory::{Bytes as _, GuestAddress};

/// What `edu` says it is: QEMU's own number, and the device's.
const VENDOR: &str = "0x1234";
const DEVICE: &str = "0x11e8";
/// Where the guest has its tables.
const TABLE_POINTERS: u64 = 0x31_0000;
const SEGMENTS: u32 = 0x31_1000;
const GATES: u32 = 0x32_0000;

/// The device of this machine, if there is one; says so where not.
#[track_caller]
fn edu() -> Option<PciAddress> {
    let says = |folder: &Path, name: &str| {
        fs::read_to_string(folder.join(name)).unwrap_or_default().trim().to_owned()
    };
    let devices = fs::read_dir("/sys/bus/pci/devices").into_iter().flatten();
    let devices: Vec<PathBuf> = devices.filter_map(|it| Some(it.ok()?.path())).collect();
    let found = devices
        .iter()
        .find(|folder| says(folder, "vendor") == VENDOR && says(folder, "device") == DEVICE);
    let Some(found) = found else {
        quietcore_skip::skip!("no device `edu` behind an IOMMU; the lab's kind `iommu` has one");
        return None;
    };
    let name = found.file_name().expect("it has a name").to_string_lossy();
    Some(name.parse().expect("the kernel writes addresses"))
}

fn bind(address: PciAddress) {
    let devices = Path::new("/sys/bus/pci");
    let place = devices.join(format!("devices/{address}/driver_override"));
    fs::write(place, "vfio-pci").expect("root may");
    fs::write(devices.join("drivers_probe"), address.to_string()).expect("root may");
}

/// Flat segments, and room for gates: what the guest loads its tables from.
fn write_tables(machine: &quietcore_microvm::machine::Machine) {
    let memory = machine.memory().mapping();
    let segments: [u64; 3] = [0, 0x00CF_9B00_0000_FFFF, 0x00CF_9300_0000_FFFF];
    let bytes: Vec<u8> = segments.iter().flat_map(|it| it.to_le_bytes()).collect();
    memory.write_slice(&bytes, GuestAddress(SEGMENTS.into())).expect("it is memory");
    for (place, limit, table) in
        [(TABLE_POINTERS, 23_u16, SEGMENTS), (TABLE_POINTERS + 16, 0x7FF, GATES)]
    {
        let mut pointer = limit.to_le_bytes().to_vec();
        pointer.extend(table.to_le_bytes());
        memory.write_slice(&pointer, GuestAddress(place)).expect("it is memory");
    }
}

/// Goal: a device is the guest's, wholly: registers, interrupts, memory; and nothing but the
/// guest's is the device's.
/// Method: a guest of a few instructions drives it, twice, so that the second one finds a device
/// that was given back; the numbers of its steps are in `bare`.
#[test]
fn a_guest_drives_a_device_of_its_own() {
    let Some(address) = edu() else { return };
    let asked = PassThrough { address, first_vector: 0x40, vectors: 1, needs_reset: true };
    let options = Options::default();
    let Some(machine) = bare::machine(bare::driving_edu(), &options) else { return };
    let refused = Passed::open(&machine, &asked).expect_err("it has no driver yet").to_string();
    assert!(refused.contains("give it to vfio-pci: `echo vfio-pci"), "{refused}");
    bind(address);
    for round in 0..2 {
        let machine = bare::machine(bare::driving_edu(), &options).expect("there was one");
        write_tables(&machine);
        let too_many = PassThrough { vectors: 9, ..asked.clone() };
        if round == 1 {
            let refused = Passed::open(&machine, &too_many).expect_err("it has one").to_string();
            assert!(refused.contains("raises 1 interrupts by message"), "{refused}");
        }
        let passed = Passed::open(&machine, &asked).expect("it is passed through");
        let is = passed.descriptor();
        assert_eq!((is.vendor, is.device, is.first_vector, is.vectors), (0x1234, 0x11E8, 0x40, 1));
        assert_eq!(is.bars[0], Place { address: 0xC000_0000, bytes: 1 << 20 });
        let exits = Exits::default();
        let mut processor = bare::processor(&machine);
        let stopped = processor.run(&bare::Everything::default(), &exits).expect("it runs");
        assert_eq!(stopped, Stopped::Ended(0), "round {round}");
        assert_eq!(bare::count(&machine), 1, "its interrupt came once");
        assert_eq!(exits.total(), exits.of(Reason::PortWrite).0, "registers cost no exit");
        drop(processor);
        drop(machine);
        passed.close();
    }
}
