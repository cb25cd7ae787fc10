//! A SubDevice as its vendor describes it.

use crate::hardware::Hardware;

/// The identity by which a device is recognised on the wire (its SII, words 0x08 to 0x0D).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    /// Vendor, as assigned by the EtherCAT Technology Group.
    pub vendor: u32,
    /// Product code of the vendor.
    pub product: u32,
    /// Revision of the product; 0 where the file says none.
    pub revision: u32,
}

/// One device of an ESI file, as far as its process data and its start-up need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Vendor, product code and revision.
    pub identity: Identity,
    /// Its type, such as `EL3104`; what a cabinet's drawing names.
    pub type_name: String,
    /// Its SyncManagers, in their order.
    pub sync_managers: Vec<SyncManager>,
    /// Its PDOs in the order of the file, assigned or not.
    pub pdos: Vec<Pdo>,
    /// `true` if the MainDevice may choose its PDOs (CoE objects 0x1C10 and following).
    pub assigns_pdos: bool,
    /// Objects to be written in PRE-OP, in order.
    pub init_commands: Vec<InitCommand>,
    /// Its modes of synchronisation, the default first; empty without distributed clocks.
    pub operation_modes: Vec<OperationMode>,
    /// `true` if modules in slots decide about its process data (ETG.5001).
    pub is_modular: bool,
    /// `true` if a PDO or its SyncManager is called virtual.
    pub has_virtual_pdos: bool,
    /// Its controller and its mailbox, which only a simulation needs.
    pub hardware: Hardware,
}

impl Device {
    /// Returns `true` if two descriptions lead to the same process data and the same start-up.
    pub fn is_used_as(&self, other: &Self) -> bool {
        let used = |it: &Self| (it.assigns_pdos, it.is_modular, it.has_virtual_pdos);
        used(self) == used(other)
            && self.sync_managers == other.sync_managers
            && self.pdos == other.pdos
            && self.init_commands == other.init_commands
            && self.operation_modes == other.operation_modes
    }
}

/// A SyncManager, in the order of its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncManager {
    /// Mailbox or process data, and which way.
    pub usage: SyncManagerUse,
    /// `true` if its control register says that the MainDevice writes; `None` where the file does
    /// not have the register.
    pub is_written: Option<bool>,
}

/// The use of a SyncManager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncManagerUse {
    /// Mailbox to the device.
    MailboxOut,
    /// Mailbox from the device.
    MailboxIn,
    /// Process data to the device.
    Outputs,
    /// Process data from the device.
    Inputs,
}

/// A PDO: entries that are transferred together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pdo {
    /// Index of the object that describes it, such as 0x1A00.
    pub index: u16,
    /// Its name in English where the file has that; empty where it has none.
    pub name: String,
    /// `true` for a TxPDO: the device sends it, and the program reads it.
    pub is_input: bool,
    /// The SyncManager that it is assigned to by default; `None` for one that must be chosen.
    pub sync_manager: Option<u8>,
    /// `true` if it can't be left out.
    pub is_mandatory: bool,
    /// Indices of the PDOs that can't be chosen together with it.
    pub excludes: Vec<u16>,
    /// Its entries, in order.
    pub entries: Vec<Entry>,
}

/// An entry of a PDO.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Index of the object; 0 for padding.
    pub index: u16,
    /// Subindex of the object.
    pub subindex: u8,
    /// Size in bits; 1 to 64 for numbers.
    pub bits: u32,
    /// Its name; empty for padding.
    pub name: String,
    /// Its type as the file writes it, such as `DINT`; empty where it has none.
    pub type_name: String,
    /// The kind of number that it is; `None` for texts, arrays, and what has more than 64 bits.
    pub kind: Option<NumberKind>,
}

impl Entry {
    /// Returns `true` if it only fills bits up.
    pub fn is_padding(&self) -> bool {
        self.index == 0
    }
}

/// The kind of number that an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberKind {
    /// One bit, 0 or 1.
    Bool,
    /// Without a sign, 1 to 64 bits; also bits side by side.
    Unsigned,
    /// In two's complement, 2 to 64 bits.
    Signed,
    /// IEEE 754, of 32 or 64 bits.
    Float,
}

/// An object that the device wants written before it leaves PRE-OP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitCommand {
    /// `true` if it is written as PRE-OP is reached, before PDOs are assigned.
    pub is_early: bool,
    /// Index of the object.
    pub index: u16,
    /// Subindex of the object.
    pub subindex: u8,
    /// `true` if the whole object is written at once, from `subindex` on.
    pub complete: bool,
    /// The value as it goes over the wire.
    pub data: Vec<u8>,
}

/// A mode of synchronisation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationMode {
    /// Its name, such as `DC`.
    pub name: String,
    /// The value of the registers 0x0980 and 0x0981; 0 for none by clocks.
    pub assign_activate: u16,
    /// `true` if SYNC0 shall have another period than the cycle, or a shift.
    pub has_own_times: bool,
    /// `true` if the mode assigns PDOs of its own.
    pub has_own_pdos: bool,
}

impl OperationMode {
    /// Returns `true` if the device waits for the signal SYNC0 of its clock (register 0x0981, bits
    /// 0 and 1: the cyclic unit, and SYNC0).
    pub fn has_sync0(&self) -> bool {
        self.assign_activate & 0x0300 == 0x0300
    }

    /// Returns `true` if the device waits for SYNC1 as well (register 0x0981, bit 2).
    pub fn has_sync1(&self) -> bool {
        self.assign_activate & 0x0400 != 0
    }
}
