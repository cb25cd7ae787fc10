//! The blueprint of a SubDevice: controller, mailbox, process data, objects, timing.

use std::borrow::Cow;

use quietcore_units::{DataType, Nanos};
use serde::{Deserialize, Serialize};

use crate::coe::dictionary::Object;
use crate::describe::Identity;

/// The features of the controller chip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Controller {
    /// Type (0x0000), such as 0x11 for an ET1100.
    pub kind: u8,
    /// Revision (0x0001).
    pub revision: u8,
    /// Build (0x0002).
    pub build: u16,
    /// Number of FMMUs, up to 16.
    pub fmmus: u8,
    /// Number of SyncManagers, up to 16.
    pub sync_managers: u8,
    /// RAM from 0x1000 on, in KiB, up to 60.
    pub ram_kib: u8,
    /// Kind of the four ports, two bits each (0x0007): 0 none, 2 E-bus, 3 MII.
    pub ports: u8,
    /// Features (0x0008): bit 2 clock, bit 3 64-bit clock, bit 8 enhanced SYNC.
    pub features: u16,
    /// The clock and how it runs; `None` if there really is none.
    pub clock: Option<ClockMaking>,
    /// Constant low bits of the DL status (0x0110): bit 0 EEPROM loaded, bit 1 PDI watchdog well.
    pub dl_status: u8,
    /// Constant low bits of the SII status (0x0502): bit 6 for reads of 8 bytes.
    pub eeprom_status: u8,
    /// `true` if the status of its SyncManagers shows writes in progress.
    pub shows_writing: bool,
}

/// The deviations of one clock: no two run alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockMaking {
    /// Error of its oscillator, in parts per billion, up to half of 10⁹; 20 000 is usual.
    pub drift_ppb: i32,
    /// Its local time at power-up, in nanoseconds.
    pub start_ns: u64,
}

impl Controller {
    /// A chip like the ET1100: 8 FMMUs, 8 SyncManagers, 8 KiB, 64-bit clock, reads of 8 bytes.
    pub fn like_et1100() -> Self {
        Self {
            kind: 0x11,
            revision: 0,
            build: 3,
            fmmus: 8,
            sync_managers: 8,
            ram_kib: 8,
            ports: 0x0F,
            features: 0x01CC,
            clock: Some(ClockMaking { drift_ppb: 0, start_ns: 0 }),
            dl_status: 0x03,
            eeprom_status: 0x40,
            shows_writing: true,
        }
    }

    /// A chip for simple terminals: 4 FMMUs, 4 SyncManagers, 4 KiB, no clock, reads of 4 bytes.
    pub fn for_terminals() -> Self {
        Self {
            kind: 0x12,
            build: 1,
            fmmus: 4,
            sync_managers: 4,
            ram_kib: 4,
            ports: 0x0A,
            features: 0,
            clock: None,
            eeprom_status: 0,
            ..Self::like_et1100()
        }
    }
}

/// Addresses and sizes of the mailboxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailboxPlace {
    /// Start of the mailbox that the MainDevice writes.
    pub receive: u16,
    /// Its size, in bytes.
    pub receive_bytes: u16,
    /// Start of the mailbox that the MainDevice reads.
    pub send: u16,
    /// Its size, in bytes.
    pub send_bytes: u16,
    /// `true` if complete access is offered.
    pub complete_access: bool,
}

/// The use of a SyncManager, as the SII and object 0x1C00 tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum SyncManagerUse {
    /// Mailbox to the device.
    MailboxReceive = 1,
    /// Mailbox from the device.
    MailboxSend = 2,
    /// Process data to the device.
    Outputs = 3,
    /// Process data from the device.
    Inputs = 4,
}

/// One SyncManager as the SII describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyncManagerPlan {
    /// Start in the RAM.
    pub start: u16,
    /// Size in bytes at power-up.
    pub length: u16,
    /// Value of the control register.
    pub control: u8,
    /// Value of the activate register.
    pub enable: u8,
    /// The use that the SII tells.
    pub usage: SyncManagerUse,
}

/// One entry of a PDO. A gap has index 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PdoEntry {
    /// Object index; 0 for a gap.
    pub index: u16,
    /// Subindex of the object, 0 for a gap.
    pub subindex: u8,
    /// Size of the entry in bits.
    pub bits: u8,
    /// Type; `None` for a gap.
    pub data_type: Option<DataType>,
    /// Name; empty for a gap.
    pub name: Cow<'static, str>,
    /// The meaning of one count, such as `0.1 %`; empty for plain numbers.
    pub unit: Cow<'static, str>,
}

/// A PDO: entries that are transferred together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pdo {
    /// Its object; with CoE one of 0x1600 to 0x17FF if the device receives it, and of 0x1A00 to
    /// 0x1BFF if it sends it.
    pub index: u16,
    /// `true` for an RxPDO: the device receives it.
    pub is_received: bool,
    /// Name in the SII and in object dictionaries.
    pub name: Cow<'static, str>,
    /// The SyncManager to which it is assigned at power-up; `None` when to none.
    pub sync_manager: Option<u8>,
    /// `true` if its mapping may be changed through SDOs.
    pub flexible: bool,
    /// Its entries in order.
    pub entries: Vec<PdoEntry>,
}

impl Pdo {
    /// Returns the size of all its entries in bits.
    pub fn bits(&self) -> u16 {
        self.entries.iter().map(|entry| u16::from(entry.bits)).sum()
    }

    fn is_carried_by(&self, manager: usize) -> bool {
        self.sync_manager.is_some_and(|it| usize::from(it) == manager)
    }
}

/// Delays of the device in what is not done at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// A read of the SII.
    pub eeprom_read: Nanos,
    /// The memory's own time after a write of the SII.
    pub eeprom_write: Nanos,
    /// A change of the AL state.
    pub state_change: Nanos,
    /// From a complete mailbox request to its answer.
    pub mailbox: Nanos,
}

impl Default for Timing {
    /// Faster than real devices, so that a segment of 200 is up in seconds: 50 µs a read (real ones
    /// take 0.7 ms), 3 ms a write, 100 µs for state changes and mailboxes.
    fn default() -> Self {
        Self {
            eeprom_read: Nanos::from_micros(50),
            eeprom_write: Nanos::from_millis(3),
            state_change: Nanos::from_micros(100),
            mailbox: Nanos::from_micros(100),
        }
    }
}

/// Everything about one kind of SubDevice but its application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Blueprint {
    /// Name of the kind, such as `servo-drive`.
    pub name: Cow<'static, str>,
    /// Order code, as MainDevices show it.
    pub order: Cow<'static, str>,
    /// Vendor, product code, revision and serial number.
    pub identity: Identity,
    /// The features of the controller chip.
    pub controller: Controller,
    /// No processor: the AL status copies the AL control.
    pub device_emulation: bool,
    /// Mailbox; `None` for devices without CoE.
    pub mailbox: Option<MailboxPlace>,
    /// The SyncManagers in their order, mailboxes first. With a mailbox, which lets PDOs be
    /// assigned, there is one for each direction of process data at most.
    pub sync_managers: Vec<SyncManagerPlan>,
    /// Purpose of the FMMUs in the SII: 1 outputs, 2 inputs, 3 mailbox status.
    pub fmmu_usage: Vec<u8>,
    /// All PDOs; the assigned ones of a direction in the order of their SyncManagers.
    pub pdos: Vec<Pdo>,
    /// Objects beside those that follow from the rest.
    pub objects: Vec<Object>,
    /// Delays of the device.
    pub timing: Timing,
    /// SII content, where it shall not be made from the rest.
    pub sii: Option<Vec<u8>>,
}

/// The process data of one direction, as they are assigned at power-up.
#[derive(Debug, Default)]
pub(crate) struct Layout<'b> {
    /// Entries with their first bits.
    pub(crate) entries: Vec<(u16, &'b PdoEntry)>,
    /// The SyncManagers that carry them.
    pub(crate) carriers: Vec<Carrier>,
    /// The size of all.
    pub(crate) bits: u16,
}

/// A SyncManager with the part of the process data that it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Carrier {
    /// Number of the SyncManager.
    pub(crate) manager: usize,
    /// Place of its first byte in the process data of the direction.
    pub(crate) first: usize,
    /// Bytes that are assigned to it at power-up.
    pub(crate) bytes: u16,
}

impl Blueprint {
    /// The process data of one direction. Each SyncManager begins with a whole byte.
    pub(crate) fn layout(&self, received: bool) -> Layout<'_> {
        let usage = if received { SyncManagerUse::Outputs } else { SyncManagerUse::Inputs };
        let mut layout = Layout::default();
        let managers = self.sync_managers.iter().enumerate();
        for (manager, _) in managers.filter(|(_, plan)| plan.usage == usage) {
            let first = layout.bits.div_ceil(8);
            layout.bits = first * 8;
            let is_ours = |pdo: &&Pdo| pdo.is_received == received && pdo.is_carried_by(manager);
            for entry in self.pdos.iter().filter(is_ours).flat_map(|pdo| &pdo.entries) {
                layout.entries.push((layout.bits, entry));
                layout.bits += u16::from(entry.bits);
            }
            let bytes = layout.bits.div_ceil(8) - first;
            layout.carriers.push(Carrier { manager, first: usize::from(first), bytes });
        }
        layout
    }

    /// The object by which the PDOs of one direction are assigned: 0x1C10 and the number of their
    /// SyncManager. Where there is none it is 2 for outputs and 3 for inputs, or the other of both
    /// if the other direction has that one.
    pub(crate) fn assignment(&self, received: bool) -> u16 {
        let carrier = |received| self.layout(received).carriers.first().map(|it| it.manager as u16);
        let (usual, other) = if received { (2, 3) } else { (3, 2) };
        let without = if carrier(!received) == Some(usual) { other } else { usual };
        0x1C10 + carrier(received).unwrap_or(without)
    }
}
