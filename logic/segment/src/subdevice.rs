//! One SubDevice: an EtherCAT controller with an application behind it.

use crate::device::{self, UnknownDevice};

/// The application layer state (ETG.1000.6, 6.4.1), as the low bits of register 0x0130.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum AlState {
    /// No communication but registers.
    Init = 1,
    /// Mailbox.
    PreOp = 2,
    /// Firmware update.
    Boot = 3,
    /// Mailbox and inputs; outputs stay safe.
    SafeOp = 4,
    /// Mailbox, inputs and outputs.
    Op = 8,
}

/// One simulated SubDevice.
pub struct SubDevice {
    name: &'static str,
}

impl SubDevice {
    /// The built-in device of this name, powered up.
    ///
    /// # Errors
    ///
    /// [`UnknownDevice`] with the names that there are.
    pub fn by_name(name: &str) -> Result<Self, UnknownDevice> {
        Ok(Self { name: device::describe(name)?.name })
    }

    /// The device's name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The AL state.
    pub fn state(&self) -> AlState {
        AlState::Init
    }
}
