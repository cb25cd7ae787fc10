//! The devices of a guest: who answers at which port and address.
//!
//! A [`Device`] sees offsets within its own place and nothing else. Where there is none, a read
//! gives ones, a write is nothing, and both are counted: a guest that asks for what is not there is
//! no error of ours.
//!
//! | module | what |
//! |---|---|
//! | [`console`] | what the guest says, taken from it without waiting |
//! | [`serial`] | the serial line of a PC, with that console behind it, for Linux |

pub mod console;
pub mod serial;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::bus::{After, Bus};
use crate::slot::SLOTS_END;

/// One device. Nothing it is asked or told can be trusted, but that offsets are within its place.
pub trait Device: Send + Sync {
    /// The guest wrote `data` at an offset. A string of writes to a port comes as one.
    fn write(&self, offset: u64, data: &[u8]) -> After;

    /// The guest reads at an offset. `data` is all ones before.
    fn read(&self, offset: u64, data: &mut [u8]);
}

/// Why a device can't be there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The place is none.
    #[error("`{name}` with {count:#x} places from {first:#x} on: there are no such places")]
    Nowhere {
        /// The device that was to be there.
        name: &'static str,
        /// Its first port or address.
        first: u64,
        /// Number of ports or addresses.
        count: u64,
    },
    /// Another device is there.
    #[error("`{name}` at {first:#x} overlaps `{other}`")]
    Taken {
        /// The device that was to be there.
        name: &'static str,
        /// Its first port or address.
        first: u64,
        /// The device that is there.
        other: &'static str,
    },
}

/// All devices of a guest.
#[derive(Default)]
pub struct Devices {
    ports: Vec<DeviceRange>,
    addresses: Vec<DeviceRange>,
    strays: AtomicU64,
}

struct DeviceRange {
    name: &'static str,
    first: u64,
    /// The first that is not its own.
    end: u64,
    device: Arc<dyn Device>,
}

impl Devices {
    /// With a device at `count` ports from `first` on. `name` is what it is called in errors.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn at_ports(
        mut self,
        name: &'static str,
        first: u16,
        count: u16,
        device: Arc<dyn Device>,
    ) -> Result<Self, DeviceError> {
        let end = u64::from(u16::MAX) + 1;
        add(&mut self.ports, end, name, (first.into(), count.into()), device)?;
        Ok(self)
    }

    /// With a device at `bytes` addresses from `first` on.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn at_addresses(
        mut self,
        name: &'static str,
        first: u64,
        bytes: u64,
        device: Arc<dyn Device>,
    ) -> Result<Self, DeviceError> {
        add(&mut self.addresses, SLOTS_END, name, (first, bytes), device)?;
        Ok(self)
    }

    /// Counts accesses of the guest to ports and addresses without a device.
    pub fn strays(&self) -> u64 {
        self.strays.load(Relaxed)
    }

    /// The device at a place, and the offset there. An access of `bytes` is wholly in it, or it is
    /// nobody's.
    fn find(
        &self,
        places: &[DeviceRange],
        at: u64,
        bytes: usize,
    ) -> Option<(Arc<dyn Device>, u64)> {
        let place = places.iter().find(|place| (place.first..place.end).contains(&at));
        let found = place.filter(|place| bytes as u64 <= place.end - at);
        if found.is_none() {
            self.strays.fetch_add(1, Relaxed);
        }
        found.map(|place| (place.device.clone(), at - place.first))
    }
}

fn add(
    places: &mut Vec<DeviceRange>,
    last: u64,
    name: &'static str,
    (first, count): (u64, u64),
    device: Arc<dyn Device>,
) -> Result<(), DeviceError> {
    let end = first.checked_add(count).filter(|end| *end <= last && count > 0);
    let end = end.ok_or(DeviceError::Nowhere { name, first, count })?;
    if let Some(other) = places.iter().find(|other| first < other.end && other.first < end) {
        return Err(DeviceError::Taken { name, first, other: other.name });
    }
    places.push(DeviceRange { name, first, end, device });
    Ok(())
}

impl Bus for Devices {
    fn write_port(&self, port: u16, data: &[u8]) -> After {
        // A string of writes goes to one port, however long it is.
        match self.find(&self.ports, port.into(), 1) {
            Some((device, offset)) => device.write(offset, data),
            None => After::GoOn,
        }
    }

    fn read_port(&self, port: u16, data: &mut [u8]) {
        if let Some((device, offset)) = self.find(&self.ports, port.into(), 1) {
            device.read(offset, data);
        }
    }

    fn write_address(&self, address: u64, data: &[u8]) -> After {
        match self.find(&self.addresses, address, data.len()) {
            Some((device, offset)) => device.write(offset, data),
            None => After::GoOn,
        }
    }

    fn read_address(&self, address: u64, data: &mut [u8]) {
        if let Some((device, offset)) = self.find(&self.addresses, address, data.len()) {
            device.read(offset, data);
        }
    }
}

/// A port by which the guest ends, with the byte that it writes as its status.
#[derive(Clone, Copy, Debug, Default)]
pub struct EndPort;

impl Device for EndPort {
    fn write(&self, _: u64, data: &[u8]) -> After {
        data.first().map_or(After::GoOn, |status| After::End(u32::from(*status)))
    }

    fn read(&self, _: u64, _: &mut [u8]) {}
}

#[cfg(test)]
mod tests;
