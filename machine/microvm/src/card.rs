//! A network card of the host's that the guest drives itself, by VFIO.
//!
//! ```text
//! open ─► container, group, device ─► registers ─► KVM maps them for the guest: no exit
//! give ─► the guest's own memory ─► IOMMU            the card reaches that memory and no other
//! ```
//!
//! The driver `vfio-pci` has the card before. The guest's addresses are the card's. The card is
//! reset when it is opened, and the kernel resets it again and takes the memory from it when the
//! files are closed, however the process ends. Interrupts are never switched on.
//!
//! Numbers and layouts are those of `linux/vfio.h`.
// UNSAFETY: requests to the kernel, with addresses of this process's memory.
#![expect(unsafe_code, reason = "the kernel's interface is made of requests to files")]

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, RawFd};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use quietcore_boot::places::CARD;
use quietcore_wire::intel::REGISTER_BYTES;
use vm_memory::{GuestAddress, GuestMemoryBackend as _};

use crate::machine::{Machine, MachineError};
use crate::memory::Memory;
use crate::slot::{Access, Shared, SharedError};

/// Numbers of requests: `_IO(';', 100 + n)`.
const CHECK_EXTENSION: u64 = 0x3B65;
const SET_IOMMU: u64 = 0x3B66;
const GROUP_STATUS: u64 = 0x3B67;
const SET_CONTAINER: u64 = 0x3B68;
const DEVICE_FILE: u64 = 0x3B6A;
const REGION_INFO: u64 = 0x3B6C;
const DEVICE_RESET: u64 = 0x3B6F;
const MAP_MEMORY: u64 = 0x3B71;

/// The kind of IOMMU that all of a PC are (`VFIO_TYPE1v2_IOMMU`).
const TYPE_1: i32 = 3;
/// Flag of a group of which no driver of the host's has a device any more.
const VIABLE: u32 = 1;
/// Flags of memory that a device may read and write.
const READ_AND_WRITE: u32 = 0b11;
/// Flag of a region that can be mapped.
const CAN_BE_MAPPED: u32 = 1 << 2;
/// Numbers of regions: the registers, and configuration space.
const REGISTERS: u32 = 0;
const CONFIGURATION: u32 = 7;
/// The command in configuration space, and its bits: the card answers, and writes to memory.
const COMMAND: u64 = 4;
const ANSWERS_AND_WRITES: u16 = 0b110;

/// Why a guest has no network card.
#[derive(Debug, thiserror::Error)]
pub enum CardError {
    /// The card is behind no IOMMU, or is not there.
    #[error("the network card at {address} is in no group of an IOMMU")]
    NoGroup {
        /// PCI address of the card.
        address: String,
        /// The error of the operating system.
        #[source]
        because: io::Error,
    },
    /// A driver of the host's has a device of the group.
    #[error("a driver of the host's has the network card at {address}, or one of its group")]
    InUse {
        /// PCI address of the card.
        address: String,
    },
    /// Its registers are not where such cards have them.
    #[error("the registers of the network card at {address} can't be mapped")]
    Registers {
        /// PCI address of the card.
        address: String,
    },
    /// A step failed in the kernel.
    #[error("VFIO refuses {what}")]
    Refused {
        /// The step that failed.
        what: &'static str,
        /// The error of the operating system.
        #[source]
        because: io::Error,
    },
    /// Its registers can't be mapped by this process.
    #[error(transparent)]
    Map(#[from] SharedError),
    /// Its registers can't be given to the guest.
    #[error(transparent)]
    Machine(#[from] MachineError),
}

/// A card that this process has, for its guest. Dropping it resets the card.
#[derive(Debug)]
pub struct PassedCard {
    registers: Arc<Shared>,
    kind: u32,
    /// Closed in this order.
    _device: File,
    _group: File,
    container: File,
}

#[repr(C)]
#[derive(Default)]
struct Status {
    size: u32,
    flags: u32,
}

#[repr(C)]
#[derive(Default)]
struct RegionInfo {
    size: u32,
    flags: u32,
    index: u32,
    capabilities: u32,
    bytes: u64,
    offset: u64,
}

#[repr(C)]
struct MemoryMap {
    size: u32,
    flags: u32,
    here: u64,
    there: u64,
    bytes: u64,
}

impl PassedCard {
    /// Opens the card at a PCI address, and resets it.
    ///
    /// # Errors
    /// [`CardError`].
    pub fn open(address: &str) -> Result<Self, CardError> {
        let group = fs::read_link(format!("/sys/bus/pci/devices/{address}/iommu_group"));
        let group =
            group.map_err(|because| CardError::NoGroup { address: address.to_owned(), because })?;
        let number = group.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let container = open("opening its container", "/dev/vfio/vfio")?;
        request(&container, CHECK_EXTENSION, TYPE_1 as u64)
            .and_then(|has| if has == 1 { Ok(()) } else { Err(io::ErrorKind::Unsupported.into()) })
            .map_err(refused("an IOMMU of a PC"))?;
        let group = open("opening the group of the card", &format!("/dev/vfio/{number}"))?;
        let mut status = Status { size: size_of::<Status>() as u32, flags: 0 };
        request(&group, GROUP_STATUS, (&raw mut status) as u64)
            .map_err(refused("the status of the group"))?;
        if status.flags & VIABLE == 0 {
            return Err(CardError::InUse { address: address.to_owned() });
        }
        let file: RawFd = container.as_raw_fd();
        request(&group, SET_CONTAINER, (&raw const file) as u64)
            .map_err(refused("the group in a container"))?;
        request(&container, SET_IOMMU, TYPE_1 as u64).map_err(refused("the container's IOMMU"))?;
        let name = CString::new(address).map_err(|because| CardError::Refused {
            what: "the name of the card",
            because: because.into(),
        })?;
        let device = request(&group, DEVICE_FILE, name.as_ptr() as u64)
            .map_err(refused("the card's file"))?;
        // SAFETY: the kernel has just made this file, and nobody else has it.
        let device = unsafe { File::from_raw_fd(device) };
        // A card without a way to be reset is reset by its driver only.
        let _ = request(&device, DEVICE_RESET, 0);
        let registers = Arc::new(map_registers(&device, address)?);
        let kind = switch_on(&device).map_err(refused("the card's configuration"))?;
        Ok(Self { registers, kind, _device: device, _group: group, container })
    }

    /// Returns vendor and device number, as the first word of the configuration space has them.
    pub fn kind(&self) -> u32 {
        self.kind
    }

    /// Gives the card's registers to a guest at [`CARD`], and the guest's own memory to the card.
    ///
    /// # Errors
    /// [`CardError`].
    pub fn give(&self, machine: &Machine) -> Result<(), CardError> {
        self.reach(machine.memory())?;
        let registers = Arc::clone(&self.registers);
        Ok(machine.give("network card", CARD, registers, Access::ReadWrite)?)
    }

    /// Lets the card reach a guest's own memory, which the kernel keeps in place from then on.
    fn reach(&self, memory: &Memory) -> Result<(), CardError> {
        let here = memory.mapping().get_host_address(GuestAddress(0));
        let here = here.expect("a guest's memory begins at zero");
        let map = MemoryMap {
            size: size_of::<MemoryMap>() as u32,
            flags: READ_AND_WRITE,
            here: here.expose_provenance() as u64,
            there: 0,
            bytes: memory.size().get(),
        };
        request(&self.container, MAP_MEMORY, (&raw const map) as u64)
            .map(drop)
            .map_err(refused("the guest's memory for the card"))
    }
}

/// Maps the registers that the guest's driver uses.
fn map_registers(device: &File, address: &str) -> Result<Shared, CardError> {
    let info = region(device, REGISTERS).map_err(refused("the place of the registers"))?;
    if info.flags & CAN_BE_MAPPED == 0 || info.bytes < REGISTER_BYTES {
        return Err(CardError::Registers { address: address.to_owned() });
    }
    Ok(Shared::of_region(device, info.offset, REGISTER_BYTES)?)
}

/// Has the card answer at its addresses and reach memory. Returns what it is.
fn switch_on(device: &File) -> io::Result<u32> {
    let place = region(device, CONFIGURATION)?.offset;
    let mut kind = [0; 4];
    device.read_exact_at(&mut kind, place)?;
    let mut command = [0; 2];
    device.read_exact_at(&mut command, place + COMMAND)?;
    let command = u16::from_le_bytes(command) | ANSWERS_AND_WRITES;
    device.write_all_at(&command.to_le_bytes(), place + COMMAND)?;
    Ok(u32::from_le_bytes(kind))
}

fn region(device: &File, index: u32) -> io::Result<RegionInfo> {
    let size = size_of::<RegionInfo>() as u32;
    let mut info = RegionInfo { size, index, ..RegionInfo::default() };
    request(device, REGION_INFO, (&raw mut info) as u64)?;
    Ok(info)
}

fn open(what: &'static str, path: &str) -> Result<File, CardError> {
    OpenOptions::new().read(true).write(true).open(path).map_err(refused(what))
}

fn refused(what: &'static str) -> impl Fn(io::Error) -> CardError {
    move |because| CardError::Refused { what, because }
}

/// Makes a request to a file of VFIO's. `argument` is a number, or the address of what the request
/// takes, which lives until this returns.
fn request(file: &File, number: u64, argument: u64) -> io::Result<i32> {
    // SAFETY: the requests of this module take what they are given here, of the size that it says.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), number, argument) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_card_of_this_machine_has_no_group() {
        for address in ["ffff:ff:1f.7", "no such card"] {
            let error = PassedCard::open(address).unwrap_err();
            assert!(error.to_string().contains("is in no group of an IOMMU"), "{error}");
        }
    }

    #[test]
    fn a_request_to_another_file_is_refused_and_harms_nobody() {
        let file = File::open("/proc/self/exe").unwrap();
        assert!(region(&file, REGISTERS).is_err());
        let error = map_registers(&file, "0000:03:00.0").unwrap_err();
        assert!(matches!(error, CardError::Refused { .. }), "{error}");
    }
}
