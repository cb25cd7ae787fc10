//! The network device on the PCI bus (virtio 1.2, 4.1), where a host can't put its registers at an
//! address of its choice.
//!
//! The structures of its registers are in the memory of one base register, which firmware has
//! placed; it is mapped at [`NETWORK_PLACE`]. A device that has them elsewhere is not opened.
//!
//! The doorbells are rung here: the library asks the device for the place of a doorbell each time,
//! and the guest leaves its processor for each of its two questions.
// UNSAFETY: registers of a device are reached.
#![expect(unsafe_code, reason = "registers of a device are beyond what Rust knows")]

use core::ptr;

use quietcore_boot::devices::{NETWORK, VIRTIO_NET};
use virtio_drivers::transport::pci::bus::{
    ConfigurationAccess, DeviceFunction, PCI_CAP_ID_VNDR, PciRoot,
};
use virtio_drivers::transport::pci::{
    PciTransport, VIRTIO_PCI_CAP_COMMON_CFG, VIRTIO_PCI_CAP_DEVICE_CFG, VIRTIO_PCI_CAP_ISR_CFG,
    VIRTIO_PCI_CAP_NOTIFY_CFG,
};

use super::NetError;
use super::hal::{Identity, map_registers};
use crate::devices::pci::Function;
use crate::devices::{NETWORK_BYTES, NETWORK_PLACE, UNCACHED};
use crate::pages::{PAGE_BYTES, map_first};

/// Number of queues that have doorbells: one in each direction.
const QUEUES: u16 = 2;

/// Offsets of words in the first structure (4.1.4.3): which queue the others are about, and the
/// place of its doorbell.
const QUEUE_SELECT: u64 = 0x16;
const QUEUE_NOTIFY_OFFSET: u64 = 0x1E;

/// Offset, in the capability of the doorbells, of the word by which such a place is multiplied.
const MULTIPLIER: u8 = 16;

/// The doorbells of a device.
pub(super) struct Bells {
    /// Their addresses, by the number of the queue.
    places: [u64; QUEUES as usize],
}

impl Bells {
    /// Rings for a queue.
    pub(super) fn ring(&mut self, queue: u16) {
        let place = self.places[usize::from(queue)];
        // SAFETY: the register of the device that says so.
        unsafe { register(place).write_volatile(queue) };
    }
}

/// Returns the network device of the bus and its doorbells.
///
/// # Errors
/// [`NetError`].
pub(super) fn find() -> Result<(PciTransport, Bells), NetError> {
    let function = Function::find(NETWORK, 0, VIRTIO_NET).ok_or(NetError::Absent)?;
    let kinds = [
        VIRTIO_PCI_CAP_COMMON_CFG,
        VIRTIO_PCI_CAP_NOTIFY_CFG,
        VIRTIO_PCI_CAP_ISR_CFG,
        VIRTIO_PCI_CAP_DEVICE_CFG,
    ];
    let parts = kinds.map(|kind| Part::find(function, kind));
    let [Some(common), Some(bells), Some(interrupt), Some(device)] = parts else {
        return Err(NetError::Registers);
    };
    let base = common.base;
    let are_mapped = [&common, &bells, &interrupt, &device]
        .iter()
        .all(|part| part.base == base && part.offset.saturating_add(part.bytes) <= NETWORK_BYTES);
    let memory = function.memory(base).filter(|it| it.is_multiple_of(PAGE_BYTES as u64));
    let memory = memory.filter(|_| are_mapped).ok_or(NetError::Registers)?;
    for offset in (0..NETWORK_BYTES).step_by(PAGE_BYTES) {
        // SAFETY: these pages are nothing else, and the device's registers are there.
        unsafe { map_first(NETWORK_PLACE + offset, memory + offset, UNCACHED) };
    }
    map_registers(memory);
    let bells = doorbells(function, &common, &bells).ok_or(NetError::Registers)?;
    let mut root = PciRoot::new(Space(function));
    let place = DeviceFunction { bus: 0, device: NETWORK, function: 0 };
    let transport = PciTransport::new::<Identity, _>(&mut root, place);
    Ok((transport.map_err(|_| NetError::Registers)?, bells))
}

/// Asks the device for the places of its doorbells; `None` if they are not where it has those.
fn doorbells(function: Function, common: &Part, bells: &Part) -> Option<Bells> {
    let multiplier = u64::from(function.read(bells.at.checked_add(MULTIPLIER)?));
    let mut places = [0; QUEUES as usize];
    for (queue, place) in (0..QUEUES).zip(&mut places) {
        // SAFETY: registers of the device, which are mapped; they are nobody else's yet.
        let number = unsafe {
            register(NETWORK_PLACE + common.offset + QUEUE_SELECT).write_volatile(queue);
            register(NETWORK_PLACE + common.offset + QUEUE_NOTIFY_OFFSET).read_volatile()
        };
        let offset = u64::from(number).checked_mul(multiplier)?;
        let is_there = offset.is_multiple_of(2) && offset.saturating_add(2) <= bells.bytes;
        *place = is_there.then_some(NETWORK_PLACE + bells.offset + offset)?;
    }
    Some(Bells { places })
}

fn register(place: u64) -> *mut u16 {
    ptr::with_exposed_provenance_mut(place as usize)
}

/// A structure of the device's registers.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Place of its capability in configuration space.
    at: u8,
    /// The base register in whose memory it is.
    base: u8,
    /// Its offset there, and its size.
    offset: u64,
    bytes: u64,
}

impl Part {
    /// Returns the first structure of a kind (4.1.4).
    fn find(function: Function, kind: u8) -> Option<Self> {
        let is_one = |word: u32| word as u8 == PCI_CAP_ID_VNDR && (word >> 24) as u8 == kind;
        let (at, _) = function.capabilities().find(|(_, word)| is_one(*word))?;
        let word = |offset: u8| at.checked_add(offset).map(|at| function.read(at));
        let base = (word(4)? as u8).min(5);
        Some(Self { at, base, offset: word(8)?.into(), bytes: word(12)?.into() })
    }
}

/// The configuration space of one function, for the library.
struct Space(Function);

impl ConfigurationAccess for Space {
    fn read_word(&self, _: DeviceFunction, at: u8) -> u32 {
        self.0.read(at)
    }

    fn write_word(&mut self, _: DeviceFunction, at: u8, word: u32) {
        self.0.write(at, word);
    }

    unsafe fn unsafe_clone(&self) -> Self {
        Self(self.0)
    }
}
