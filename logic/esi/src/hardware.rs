//! The part of a description that a simulation of the device needs: its controller and its mailbox.

use roxmltree::Node;

use crate::read::{bytes, child, children, text_of};
use crate::text::{number, truth};

/// The controller of a device and its mailbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hardware {
    /// The kinds of its four ports, a letter each: `Y` MII, `K` E-bus, blank for none; empty where
    /// the file does not have them.
    pub physics: String,
    /// Uses of its FMMUs.
    pub fmmus: Vec<FmmuUse>,
    /// Registers of its SyncManagers, in the order of [`Device::sync_managers`].
    ///
    /// [`Device::sync_managers`]: crate::Device::sync_managers
    pub sync_managers: Vec<Registers>,
    /// `true` if it has a mailbox.
    pub has_mailbox: bool,
    /// CANopen over EtherCAT in its mailbox; `None` without.
    pub canopen: Option<Canopen>,
    /// `true` if the controller answers for the device, which has no processor (its EEPROM, byte 1,
    /// bit 0); `None` where the file does not say it.
    pub is_emulated: Option<bool>,
    /// `true` if it has a distributed clock.
    pub has_clock: bool,
}

/// Registers of a SyncManager at power-up, where the file has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    /// First address in the memory.
    pub start: Option<u16>,
    /// Size in bytes, `DefaultSize` of the file.
    pub bytes: Option<u16>,
    /// Value of the control register.
    pub control: Option<u8>,
    /// Value of the activate register.
    pub enable: Option<u8>,
}

/// The use of an FMMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FmmuUse {
    /// Process data to the device.
    Outputs,
    /// Process data from the device.
    Inputs,
    /// The bit that says that the mailbox is full.
    MailboxStatus,
    /// Another use, or none.
    Other,
}

/// The services of CANopen over EtherCAT that a device offers beside SDOs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Canopen {
    /// All subindices of an object in one transfer.
    pub complete_access: bool,
    /// The entries of PDOs may be chosen.
    pub configures_pdos: bool,
}

impl Hardware {
    pub(crate) fn of(device: Node<'_, '_>) -> Self {
        let mailbox = child(device, "Mailbox");
        let canopen = mailbox.and_then(|it| child(it, "CoE")).map(|it| Canopen {
            complete_access: truth(it.attribute("CompleteAccess")),
            configures_pdos: truth(it.attribute("PdoConfig")),
        });
        let eeprom = child(device, "Eeprom");
        let configuration = eeprom.and_then(|it| text_of(it, "ConfigData")).and_then(bytes);
        let is_emulated = configuration.and_then(|it| Some(it.get(1)? & 1 != 0));
        Self {
            physics: device.attribute("Physics").unwrap_or_default().chars().take(4).collect(),
            fmmus: children(device, "Fmmu").map(fmmu).collect(),
            sync_managers: children(device, "Sm").map(registers).collect(),
            has_mailbox: mailbox.is_some(),
            canopen,
            is_emulated,
            has_clock: child(device, "Dc").is_some(),
        }
    }
}

fn fmmu(node: Node<'_, '_>) -> FmmuUse {
    match node.text().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
        "outputs" => FmmuUse::Outputs,
        "inputs" => FmmuUse::Inputs,
        "mboxstate" => FmmuUse::MailboxStatus,
        _ => FmmuUse::Other,
    }
}

fn registers(node: Node<'_, '_>) -> Registers {
    let of = |name: &str| node.attribute(name).and_then(number);
    let byte = |name: &str| of(name).and_then(|it| u8::try_from(it).ok());
    Registers {
        start: of("StartAddress").and_then(|it| it.try_into().ok()),
        bytes: of("DefaultSize").and_then(|it| it.try_into().ok()),
        control: byte("ControlByte"),
        enable: byte("Enable"),
    }
}
