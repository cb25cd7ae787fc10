//! The registers of a virtio device in memory (virtio 1.2, 4.2.2), as a state machine.
//!
//! | offset | register | |
//! |---|---|---|
//! | 0x000, 004, 008, 00C | magic, version 2, device 1 (network), vendor | read |
//! | 0x010, 014 | features of the device, which half of them | read, write |
//! | 0x020, 024 | features that the driver takes, which half | write |
//! | 0x030 | the queue that the next ones are about | write |
//! | 0x034, 038, 044 | the most entries, entries, whether it is ready | read, write, both |
//! | 0x050 | the bell: the number of a queue | write |
//! | 0x060, 064 | interrupts that are on, off with those | read, write |
//! | 0x070 | status; 0 resets | both |
//! | 0x080, 090, 0A0 | addresses of descriptors, available and used ring; 4 bytes on, their high half | write |
//! | 0x0FC | generation of the configuration: it never changes | read |
//! | 0x100 | configuration: the address of the interface, and that its link is up | read |
//!
//! Only whole words count below 0x100; anything else is ignored, and reads as ones.

use virtio_queue::{Queue, QueueT as _};
use vm_memory::GuestMemoryMmap;

use super::QUEUE_ENTRIES_MAX;

/// The queue of frames for the guest.
pub(super) const RECEIVE: usize = 0;
/// The queue of frames from it.
pub(super) const TRANSMIT: usize = 1;
const QUEUES: usize = 2;

const MAGIC: u32 = u32::from_le_bytes(*b"virt");
const VERSION: u32 = 2;
const NETWORK: u32 = 1;
const VENDOR: u32 = u32::from_le_bytes(*b"quie");

/// The device is of version 1 of the standard (6.1), and says its address (5.1.3).
const FEATURE_VERSION_1: u64 = 1 << 32;
const FEATURE_ADDRESS: u64 = 1 << 5;
const FEATURES: u64 = FEATURE_VERSION_1 | FEATURE_ADDRESS;

/// Bits of the status (2.1).
const ACKNOWLEDGED: u32 = 1;
const DRIVER: u32 = 2;
const DRIVER_OK: u32 = 4;
const FEATURES_OK: u32 = 8;
const NEEDS_RESET: u32 = 64;
const FAILED: u32 = 128;

/// Bits of the interrupts (4.2.2): a queue, the configuration.
const INTERRUPT_QUEUE: u32 = 1;
const INTERRUPT_CONFIGURATION: u32 = 2;

const CONFIGURATION: u64 = 0x100;

/// The action that a write of the driver asks of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DriverRequest {
    /// Nothing that others must do.
    Nothing,
    /// The device begins to work.
    Begin,
    /// It stops, and is as it was when it was new.
    Reset,
    /// A queue has something for it.
    Bell,
}

/// The registers as the driver has written them.
#[derive(Debug)]
pub(super) struct Registers {
    pub(super) queues: [Queue; QUEUES],
    address: [u8; 6],
    status: u32,
    device_half: u32,
    driver_half: u32,
    driver_features: u64,
    selected: u32,
    interrupts: u32,
}

impl Registers {
    /// Those of a device that was just made, whose interface has this address.
    pub(super) fn new(address: [u8; 6]) -> Self {
        let queue = || Queue::new(QUEUE_ENTRIES_MAX).expect("a power of two");
        Self {
            queues: [queue(), queue()],
            address,
            status: 0,
            device_half: 0,
            driver_half: 0,
            driver_features: 0,
            selected: 0,
            interrupts: 0,
        }
    }

    /// Returns `true` if the driver is there, and the device has work to do.
    pub(super) fn is_live(&self) -> bool {
        self.status & (DRIVER_OK | NEEDS_RESET | FAILED) == DRIVER_OK
    }

    /// Gives up until the driver resets the device.
    pub(super) fn fail(&mut self) {
        self.status |= NEEDS_RESET;
        self.interrupts |= INTERRUPT_CONFIGURATION;
    }

    /// Has the interrupt of the queues on.
    pub(super) fn interrupt(&mut self) {
        self.interrupts |= INTERRUPT_QUEUE;
    }

    /// Reads. What is not there is left as it is.
    pub(super) fn read(&self, offset: u64, data: &mut [u8]) {
        if offset >= CONFIGURATION {
            self.read_configuration(offset - CONFIGURATION, data);
            return;
        }
        let Ok(data) = <&mut [u8; 4]>::try_from(data) else { return };
        let queue = self.queues.get(self.selected as usize);
        let value = match offset {
            0x00 => MAGIC,
            0x04 => VERSION,
            0x08 => NETWORK,
            0x0C => VENDOR,
            0x10 => half(FEATURES, self.device_half),
            0x34 => queue.map_or(0, |queue| u32::from(queue.max_size())),
            0x44 => queue.map_or(0, |queue| u32::from(queue.ready())),
            0x60 => self.interrupts,
            0x70 => self.status,
            0xFC => 0,
            _ => return,
        };
        *data = value.to_le_bytes();
    }

    fn read_configuration(&self, offset: u64, data: &mut [u8]) {
        let mut configuration = [0; 8];
        configuration[..6].copy_from_slice(&self.address);
        // The link is up.
        configuration[6] = 1;
        for (place, byte) in (offset..).zip(data) {
            let known = usize::try_from(place).ok().and_then(|place| configuration.get(place));
            *byte = known.copied().unwrap_or(0);
        }
    }

    /// Writes. Says what the driver wants with it.
    pub(super) fn write(
        &mut self,
        offset: u64,
        data: &[u8],
        memory: &GuestMemoryMmap,
    ) -> DriverRequest {
        let Ok(data) = <[u8; 4]>::try_from(data) else { return DriverRequest::Nothing };
        let value = u32::from_le_bytes(data);
        match offset {
            0x14 => self.device_half = value,
            0x20 if self.status & (DRIVER | FEATURES_OK) == DRIVER => {
                set_half(&mut self.driver_features, self.driver_half, value);
            }
            0x24 => self.driver_half = value,
            0x30 => self.selected = value,
            0x44 => self.set_ready(value, memory),
            0x50 => {
                return if self.is_live() { DriverRequest::Bell } else { DriverRequest::Nothing };
            }
            0x64 => self.interrupts &= !value,
            0x70 => return self.set_status(value),
            _ => self.set_up_queue(offset, value),
        }
        DriverRequest::Nothing
    }

    fn set_up_queue(&mut self, offset: u64, value: u32) {
        let queue = self.queues.get_mut(self.selected as usize);
        let Some(queue) = queue.filter(|queue| !queue.ready()) else { return };
        match offset {
            // What is no size leaves the one that was; the driver sees that its queue is not ready.
            0x38 => queue.set_size(u16::try_from(value).unwrap_or(0)),
            0x80 => queue.set_desc_table_address(Some(value), None),
            0x84 => queue.set_desc_table_address(None, Some(value)),
            0x90 => queue.set_avail_ring_address(Some(value), None),
            0x94 => queue.set_avail_ring_address(None, Some(value)),
            0xA0 => queue.set_used_ring_address(Some(value), None),
            0xA4 => queue.set_used_ring_address(None, Some(value)),
            _ => {}
        }
    }

    fn set_ready(&mut self, value: u32, memory: &GuestMemoryMmap) {
        let Some(queue) = self.queues.get_mut(self.selected as usize) else { return };
        if value != 1 {
            queue.reset();
            // Half a device is none.
            if self.is_live() {
                self.fail();
            }
            return;
        }
        if self.status & FEATURES_OK == 0 || queue.ready() {
            return;
        }
        queue.set_ready(true);
        if !queue.is_valid(memory) {
            queue.reset();
            self.fail();
        }
    }

    fn set_status(&mut self, value: u32) -> DriverRequest {
        if value == 0 {
            *self = Self::new(self.address);
            return DriverRequest::Reset;
        }
        let was_live = self.is_live();
        let asked = value & (ACKNOWLEDGED | DRIVER | DRIVER_OK | FEATURES_OK | FAILED);
        let mut granted = asked;
        let takes_too_much = self.driver_features & !FEATURES != 0;
        if takes_too_much || self.driver_features & FEATURE_VERSION_1 == 0 {
            granted &= !FEATURES_OK;
        }
        self.status |= granted;
        if self.status & DRIVER_OK != 0 && !was_live {
            let is_ready = self.queues.iter().all(Queue::ready) && self.status & FEATURES_OK != 0;
            if !is_ready {
                self.fail();
            } else if self.is_live() {
                return DriverRequest::Begin;
            }
        }
        DriverRequest::Nothing
    }
}

fn half(features: u64, which: u32) -> u32 {
    match which {
        0 => features as u32,
        1 => (features >> 32) as u32,
        _ => 0,
    }
}

fn set_half(features: &mut u64, which: u32, value: u32) {
    match which {
        0 => *features = *features & !0xFFFF_FFFF | u64::from(value),
        1 => *features = *features & 0xFFFF_FFFF | u64::from(value) << 32,
        _ => {}
    }
}
