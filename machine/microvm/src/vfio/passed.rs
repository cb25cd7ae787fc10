//! The device itself: opened, reset, given to a guest.
// UNSAFETY: gives a device the guest's memory, asks it to reset, and maps its registers.
#![expect(unsafe_code, reason = "a device reads and writes memory by itself")]

use std::fmt;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::path::Path;
use std::sync::Arc;

use kvm_bindings::{kvm_create_device, kvm_device_type_KVM_DEV_TYPE_VFIO};
use quietcore_boot::{BARS, PassedDevice, places};
use vfio_bindings::bindings::vfio::{
    VFIO_PCI_BAR0_REGION_INDEX, VFIO_PCI_CONFIG_REGION_INDEX, VFIO_PCI_MSI_IRQ_INDEX,
    VFIO_PCI_MSIX_IRQ_INDEX, VFIO_REGION_INFO_FLAG_MMAP,
};
use vfio_ioctls::{VfioContainer, VfioDevice, VfioDeviceFd, VfioError, VfioOps, VfioRegionInfoCap};
use vm_memory::mmap::{MmapRegionBuilder, MmapRegionError};
use vm_memory::{FileOffset, MmapRegion};
use vmm_sys_util::eventfd::EventFd;

use crate::machine::{Machine, MachineError};
use crate::vfio::configuration::{self, Configuration};
use crate::vfio::layout::{Bar, Layout, NoRoom, Window, lay_out};
use crate::vfio::sight::{PciAddress, Sight, SightError};

/// The request to reset a device: `_IO(';', 100 + 11)` of Linux' `vfio.h`.
const RESET: libc::c_ulong = 0x3B6F;
/// What a slot of registers is called in errors.
const NAME: &str = "registers of a device";

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassThrough {
    /// The device.
    pub address: PciAddress,
    /// The vector of its first interrupt in the guest; the others follow.
    pub first_vector: u8,
    /// How many interrupts it may raise, each of another cause; 0 for a device that is polled.
    pub vectors: u8,
    /// Whether it must be possible to reset it, so that no guest finds what another one left.
    pub needs_reset: bool,
}

/// Why a device is not passed through.
#[derive(Debug, thiserror::Error)]
pub enum PassedError {
    /// It can be seen from outside.
    #[error(transparent)]
    Sight(#[from] SightError),
    /// VFIO refuses a step.
    #[error("device {address} can't be passed through ({what}): {because}")]
    Refused {
        /// The device.
        address: PciAddress,
        /// Which step.
        what: &'static str,
        /// Why not.
        because: VfioError,
    },
    /// It can't be reset.
    #[error(
        "device {address} can't be reset ({because}), so a guest would find what another one left; \
         a device in a slot of its own can, or accept it without"
    )]
    NoReset {
        /// The device.
        address: PciAddress,
        /// What the operating system says.
        because: io::Error,
    },
    /// What it says of itself is not that of a device.
    #[error("what device {0} says of itself is not that of a PCI device; is it switched off?")]
    NotPci(PciAddress),
    /// It raises no such interrupts.
    #[error(
        "device {address} raises {has} interrupts by message (MSI, MSI-X), and {asked} are asked \
         for from vector {first} on; interrupt lines are not passed through"
    )]
    Interrupts {
        /// The device.
        address: PciAddress,
        /// How many it raises.
        has: u32,
        /// How many were asked for.
        asked: u8,
        /// The first vector.
        first: u8,
    },
    /// Its registers have no room.
    #[error(transparent)]
    NoRoom(#[from] NoRoom),
    /// Its registers can't be mapped.
    #[error("the registers of device {address} can't be mapped: {because}")]
    Map {
        /// The device.
        address: PciAddress,
        /// Why not.
        because: MmapRegionError,
    },
    /// The operating system refused a step.
    #[error("device {address} can't be passed through ({what}): {because}")]
    System {
        /// The device.
        address: PciAddress,
        /// Which step.
        what: &'static str,
        /// What it says.
        because: io::Error,
    },
    /// The machine refuses it.
    #[error(transparent)]
    Machine(#[from] MachineError),
}

/// A device that belongs to a guest. Where the value is let go of without [`close`](Self::close),
/// the device stays the guest's until the process ends: undoing it takes files and calls that a
/// process in the sandbox has no more.
pub struct Passed {
    device: ManuallyDrop<VfioDevice>,
    address: PciAddress,
    descriptor: PassedDevice,
    messages: Option<u32>,
    /// The event files behind its interrupts.
    _lines: Vec<EventFd>,
}

impl fmt::Debug for Passed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, descriptor, .. } = self;
        f.debug_struct("Passed").field("address", address).field("is", descriptor).finish()
    }
}

impl Passed {
    /// Passes a device through to the guest of this machine, which does not run yet.
    ///
    /// # Errors
    /// [`PassedError`]; the machine is to be thrown away then, and the device is as before.
    pub fn open(machine: &Machine, asked: &PassThrough) -> Result<Self, PassedError> {
        let address = asked.address;
        let refused = |what| move |because| PassedError::Refused { address, what, because };
        let sight = Sight::of(Path::new("/"), address)?;
        let container = VfioContainer::new(Some(Arc::new(device_of_kvm(machine)?)));
        let container = Arc::new(container.map_err(refused("opening its container"))?);
        let operations: Arc<dyn VfioOps> = container.clone();
        let device = VfioDevice::new(&sight.folder, operations, true);
        let device = device.map_err(refused("opening it"))?;
        // Until it all stands, an error undoes it.
        let made = set_up(machine, asked, &container, &device);
        let (descriptor, messages, lines) = made?;
        let device = ManuallyDrop::new(device);
        Ok(Self { device, address, descriptor, messages, _lines: lines })
    }

    /// What the guest is told of it.
    pub fn descriptor(&self) -> PassedDevice {
        self.descriptor
    }

    /// Resets it once more, and has it answer again.
    ///
    /// # Errors
    /// [`PassedError::NoReset`].
    pub fn reset(&self) -> Result<(), PassedError> {
        let because = reset(&self.device);
        because.map_err(|because| PassedError::NoReset { address: self.address, because })?;
        switch_on(&self.device);
        Ok(())
    }

    /// Takes the device away from its guest, whose machine is no more, and leaves it reset.
    pub fn close(self) {
        if let Some(index) = self.messages {
            // Where that fails, closing the device does it.
            let _ = self.device.disable_irq(index);
        }
        drop(ManuallyDrop::into_inner(self.device));
    }
}

/// What [`Passed`] is made of.
type Made = (PassedDevice, Option<u32>, Vec<EventFd>);

fn set_up(
    machine: &Machine,
    asked: &PassThrough,
    container: &VfioContainer,
    device: &VfioDevice,
) -> Result<Made, PassedError> {
    let address = asked.address;
    match reset(device) {
        Err(because) if asked.needs_reset => {
            return Err(PassedError::NoReset { address, because });
        }
        _ => {}
    }
    let mut bytes = [0; configuration::BYTES];
    device.region_read(VFIO_PCI_CONFIG_REGION_INDEX, &mut bytes, 0);
    let is = Configuration::parse(&bytes).ok_or(PassedError::NotPci(address))?;
    let slots = machine.slots();
    let room = places::PASSED..=places::PASSED_END;
    let taken = slots.iter().map(|slot| slot.end).filter(|end| room.contains(end));
    let from = taken.fold(places::PASSED, u64::max);
    let layout = lay_out(from, &bars_of(device, &is), &is.kept)?;
    let (messages, lines) = interrupts(machine, asked, device)?;
    // SAFETY: the guest's memory is reached through copies and atomics by everybody, and its pages
    // stay while the device may reach them, whatever becomes of the mapping: the kernel holds them.
    unsafe { container.vfio_map_guest_memory(machine.memory().mapping()) }.map_err(|because| {
        PassedError::Refused { address, what: "giving it the guest's memory", because }
    })?;
    switch_on(device);
    for window in &layout.windows {
        let mapping = map(device, address, window)?;
        machine.give_registers(NAME, window.place, mapping)?;
    }
    let Layout { bars, .. } = layout;
    let (vendor, number) = (is.vendor.into(), is.device.into());
    let (first_vector, vectors) = (asked.first_vector.into(), asked.vectors.into());
    let descriptor = PassedDevice { vendor, device: number, bars, first_vector, vectors };
    Ok((descriptor, messages, lines))
}

/// KVM's own knowledge of the device: whether its DMA goes past the caches.
fn device_of_kvm(machine: &Machine) -> Result<VfioDeviceFd, PassedError> {
    let mut asked = kvm_create_device { type_: kvm_device_type_KVM_DEV_TYPE_VFIO, fd: 0, flags: 0 };
    let made = machine.vm().create_device(&mut asked);
    let refused = |because| MachineError::Refused { what: "to know of a device", because };
    Ok(VfioDeviceFd::new_from_kvm(made.map_err(refused)?))
}

fn reset(device: &VfioDevice) -> io::Result<()> {
    // SAFETY: the request takes no argument, and what it changes is the device alone.
    let result = unsafe { libc::ioctl(device.as_raw_fd(), RESET) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Has the device answer to its registers and do DMA.
fn switch_on(device: &VfioDevice) {
    let mut command = [0; 2];
    device.region_read(VFIO_PCI_CONFIG_REGION_INDEX, &mut command, configuration::COMMAND);
    let command = u16::from_le_bytes(command) | configuration::MEMORY_AND_TRANSFERS;
    let command = command.to_le_bytes();
    device.region_write(VFIO_PCI_CONFIG_REGION_INDEX, &command, configuration::COMMAND);
}

fn bars_of(device: &VfioDevice, is: &Configuration) -> [Bar; BARS] {
    std::array::from_fn(|number| {
        let index = VFIO_PCI_BAR0_REGION_INDEX + number as u32;
        let is_mapped = device.get_region_flags(index) & VFIO_REGION_INFO_FLAG_MMAP != 0;
        if !is_mapped || is.are_ports[number] {
            return Bar::default();
        }
        let sparse = device.get_region_caps(index).into_iter().find_map(|it| match it {
            VfioRegionInfoCap::SparseMmap(sparse) => Some(sparse.areas),
            _ => None,
        });
        let areas = sparse.unwrap_or_default();
        let only = areas.iter().map(|area| area.offset..area.offset.saturating_add(area.size));
        Bar { bytes: device.get_region_size(index), only: only.collect() }
    })
}

/// Leads the interrupts to vectors, by messages of the kind that has enough of them.
fn interrupts(
    machine: &Machine,
    asked: &PassThrough,
    device: &VfioDevice,
) -> Result<(Option<u32>, Vec<EventFd>), PassedError> {
    let PassThrough { address, first_vector, vectors, .. } = *asked;
    if vectors == 0 {
        return Ok((None, Vec::new()));
    }
    let has = |index: u32| device.get_irq_info(index).map_or(0, |info| info.count);
    let kinds = [VFIO_PCI_MSIX_IRQ_INDEX, VFIO_PCI_MSI_IRQ_INDEX];
    let most = kinds.iter().map(|index| has(*index)).max().unwrap_or(0);
    let kind = kinds.into_iter().find(|index| has(*index) >= u32::from(vectors));
    let last = first_vector.checked_add(vectors - 1).filter(|_| first_vector >= 32);
    let (Some(kind), Some(last)) = (kind, last) else {
        return Err(PassedError::Interrupts {
            address,
            has: most,
            asked: vectors,
            first: first_vector,
        });
    };
    let lines = (first_vector..=last).map(|vector| machine.line(vector));
    let lines = lines.collect::<Result<Vec<EventFd>, _>>()?;
    let enabled = device.enable_irq(kind, lines.iter().collect());
    enabled.map_err(|because| PassedError::Refused { address, what: "its interrupts", because })?;
    Ok((Some(kind), lines))
}

fn map(
    device: &VfioDevice,
    address: PciAddress,
    window: &Window,
) -> Result<MmapRegion, PassedError> {
    // SAFETY: the file is open as long as the device is.
    let file = unsafe { BorrowedFd::borrow_raw(device.as_raw_fd()) };
    let told = |because| PassedError::System { address, what: "opening it again", because };
    let file = file.try_clone_to_owned().map_err(told)?.into();
    let offset = device.get_region_offset(VFIO_PCI_BAR0_REGION_INDEX + window.bar as u32);
    MmapRegionBuilder::new(usize::try_from(window.bytes).expect("an address has 64 bits"))
        .with_file_offset(FileOffset::new(file, offset + window.offset))
        .with_mmap_prot(libc::PROT_READ | libc::PROT_WRITE)
        .with_mmap_flags(libc::MAP_SHARED)
        .build()
        .map_err(|because| PassedError::Map { address, because })
}
