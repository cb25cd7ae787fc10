//! A device of an ESI file, made to be simulated.
//!
//! The simulation has a controller like the ET1100, an EEPROM and registers made from the file, and
//! the file's PDOs, so that a MainDevice brings it to OP as it would the device. It does nothing by
//! itself: what it receives moves the plant behind it, what it sends is that plant's, and zero
//! without one. In its mailbox it speaks CoE and no other protocol. Its objects are those that
//! identify it, those of PDOs, and those that the file wants written (`InitCmd`).

use std::collections::{BTreeMap, BTreeSet};

use quietcore_esi::{
    ChoiceError, Device, FmmuUse, Identity, InitCommand, NumberKind, ProcessData, Registers,
};
use quietcore_segment::SubDevice;
use quietcore_segment::blueprint::{
    Blueprint, ClockMaking, Controller, MailboxPlace, Pdo, PdoEntry, SyncManagerPlan,
    SyncManagerUse, Timing,
};
use quietcore_segment::coe::dictionary::Object;
use quietcore_units::DataType;

/// Most SyncManagers and FMMUs of a controller (ETG.1000.4).
const UNITS_MAX: usize = 16;
/// First address of the memory of process data, and that of digital outputs.
const RAM: u32 = 0x1000;
const DIGITAL_OUTPUTS: u16 = 0x0F00;
/// First address behind the latter.
const DIGITAL_OUTPUTS_END: u32 = 0x0F04;
/// The smallest mailbox of CoE (ETG.1000.6, 5.6.2): headers and four bytes.
const MAILBOX_BYTES_MIN: u16 = 16;
/// Most KiB of that memory.
const RAM_KIB_MAX: u32 = 60;
/// Most bytes of inputs, or of outputs: their bits are counted in a `u16`.
const PROCESS_DATA_BYTES_MAX: u32 = 8_191;
/// Most bytes of all values that the file wants written.
const WRITTEN_BYTES_MAX: usize = 1 << 20;
/// Most entries of all PDOs. Terminals of many channels and formats have some 6 000.
const ENTRIES_MAX: usize = 10_000;
/// Most entries of one PDO: subindices 1 to 254 of its object.
const ENTRIES_OF_PDO_MAX: usize = 254;

/// The reason why a device of an ESI file can't be simulated, in words that follow its name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSimulated {
    /// The PDOs that it has by default give no process data.
    #[error("it has no process data by default: {0}")]
    Default(ChoiceError),
    /// A part of the file is missing that the simulation needs.
    #[error("its file does not have {0}")]
    Missing(&'static str),
    /// It has more of something than any controller, or than is simulated.
    #[error("it has more than {0}")]
    TooMany(&'static str),
    /// A SyncManager lies in registers, as virtual ones do.
    #[error("it exchanges registers in place of memory (a SyncManager at {start:#06x})")]
    Registers {
        /// First address of the SyncManager.
        start: u16,
    },
    /// Two SyncManagers have the same memory.
    #[error("its SyncManagers at {0:#06x} and {1:#06x} overlap")]
    Overlap(u16, u16),
    /// A PDO is none that a dictionary can have.
    #[error("PDO {index:#06x} {problem}")]
    Pdo {
        /// Index of the PDO.
        index: u16,
        /// The problem, in words that follow it.
        problem: &'static str,
    },
}

/// A device of this description, powered up.
///
/// # Errors
/// [`NotSimulated`]
pub fn subdevice(device: &Device) -> Result<SubDevice, NotSimulated> {
    let data = device.process_data(None).map_err(NotSimulated::Default)?;
    blueprint(device, &data).map(SubDevice::of_entries)
}

/// The making of a device that has these process data at power-up.
pub(crate) fn blueprint(device: &Device, data: &ProcessData) -> Result<Blueprint, NotSimulated> {
    let hardware = &device.hardware;
    if device.sync_managers.len() > UNITS_MAX || hardware.fmmus.len() > UNITS_MAX {
        return Err(NotSimulated::TooMany("16 SyncManagers or FMMUs"));
    }
    let written = device.init_commands.iter().map(|command| command.data.len());
    if written.sum::<usize>() > WRITTEN_BYTES_MAX {
        return Err(NotSimulated::TooMany("1 MiB of values to be written"));
    }
    let pdos = pdos(device, data)?;
    let sync_managers = sync_managers(device, &pdos)?;
    if let Some((first, second)) = overlap(&sync_managers) {
        return Err(NotSimulated::Overlap(first, second));
    }
    let Identity { vendor, product, revision } = device.identity;
    let ends = sync_managers.iter().map(|plan| u32::from(plan.start) + u32::from(plan.length));
    let ram_kib = ends.max().unwrap_or(0).saturating_sub(RAM).div_ceil(1024);
    if ram_kib > RAM_KIB_MAX {
        return Err(NotSimulated::TooMany("60 KiB of memory in its SyncManagers"));
    }
    Ok(Blueprint {
        name: device.type_name.clone().into(),
        order: device.type_name.clone().into(),
        identity: quietcore_segment::Identity { vendor, product, revision, serial: 0 },
        controller: controller(device, ram_kib as u8),
        device_emulation: !hardware.has_mailbox && hardware.is_emulated.unwrap_or(true),
        mailbox: mailbox(device, &sync_managers)?,
        sync_managers,
        fmmu_usage: hardware.fmmus.iter().map(fmmu_code).collect(),
        objects: written_objects(device, &pdos),
        pdos,
        timing: Timing::default(),
        sii: None,
    })
}

/// A controller like the ET1100, with a clock if the device has one.
fn controller(device: &Device, ram_kib: u8) -> Controller {
    let like = Controller::like_et1100();
    let has_clock = device.hardware.has_clock;
    // Two bits a port: 2 E-bus, 3 MII (register 0x0007).
    let port = |letter: char| match letter.to_ascii_uppercase() {
        'Y' | 'H' => 3,
        'K' | 'L' => 2,
        _ => 0,
    };
    let ports = device.hardware.physics.chars().take(4).map(port);
    let ports = (0..).zip(ports).fold(0_u8, |all, (at, port)| all | (port << (2 * at)));
    Controller {
        fmmus: like.fmmus.max(device.hardware.fmmus.len() as u8),
        sync_managers: like.sync_managers.max(device.sync_managers.len() as u8),
        ram_kib: like.ram_kib.max(ram_kib),
        ports: if ports == 0 { like.ports } else { ports },
        features: if has_clock { like.features } else { 0 },
        clock: has_clock.then_some(ClockMaking { drift_ppb: 0, start_ns: 0 }),
        ..like
    }
}

/// The code of an FMMU's use in the EEPROM (ETG.2010, category 40).
fn fmmu_code(fmmu: &FmmuUse) -> u8 {
    match fmmu {
        FmmuUse::Outputs => 1,
        FmmuUse::Inputs => 2,
        FmmuUse::MailboxStatus => 3,
        FmmuUse::Other => 0,
    }
}

fn mailbox(
    device: &Device,
    plans: &[SyncManagerPlan],
) -> Result<Option<MailboxPlace>, NotSimulated> {
    let Some(canopen) = device.hardware.canopen else { return Ok(None) };
    let of = |usage| plans.iter().find(move |plan| plan.usage == usage);
    let of = |usage| of(usage).filter(|plan| plan.length >= MAILBOX_BYTES_MIN);
    let both = of(SyncManagerUse::MailboxReceive).zip(of(SyncManagerUse::MailboxSend));
    let (receive, send) =
        both.ok_or(NotSimulated::Missing("two SyncManagers of 16 bytes for its mailbox"))?;
    let of_process_data = |usage| plans.iter().filter(|plan| plan.usage == usage).count();
    if [SyncManagerUse::Outputs, SyncManagerUse::Inputs]
        .map(of_process_data)
        .iter()
        .any(|it| *it > 1)
    {
        return Err(NotSimulated::TooMany("one SyncManager a direction beside its mailbox"));
    }
    Ok(Some(MailboxPlace {
        receive: receive.start,
        receive_bytes: receive.length,
        send: send.start,
        send_bytes: send.length,
        complete_access: canopen.complete_access,
    }))
}

/// The PDOs: first those that are assigned, with their SyncManagers, and then the others.
fn pdos(device: &Device, data: &ProcessData) -> Result<Vec<Pdo>, NotSimulated> {
    if data.input_bytes.max(data.output_bytes) > PROCESS_DATA_BYTES_MAX {
        return Err(NotSimulated::TooMany("8 191 bytes of inputs or of outputs"));
    }
    let carriers: BTreeMap<u16, u8> = data
        .assignments
        .iter()
        .flat_map(|it| it.pdos.iter().map(move |pdo| (*pdo, it.object as u8 & 0x0F)))
        .collect();
    let flexible = device.hardware.canopen.is_some_and(|it| it.configures_pdos);
    if device.pdos.iter().map(|pdo| pdo.entries.len()).sum::<usize>() > ENTRIES_MAX {
        return Err(NotSimulated::TooMany("10 000 entries"));
    }
    let indices: BTreeSet<u16> = device.pdos.iter().map(|pdo| pdo.index).collect();
    let mut known = BTreeSet::new();
    let pdo = |pdo: &quietcore_esi::Pdo| {
        let index = pdo.index;
        let range = if pdo.is_input { 0x1A00..0x1C00 } else { 0x1600..0x1800 };
        if device.hardware.canopen.is_some() && !range.contains(&index) {
            return Err(NotSimulated::Pdo {
                index,
                problem: "has an index of no PDO of its direction",
            });
        }
        if !known.insert(index) {
            return Err(NotSimulated::Pdo { index, problem: "is described twice" });
        }
        let is_pdo = |entry: &quietcore_esi::Entry| indices.contains(&entry.index);
        if device.hardware.canopen.is_some() && pdo.entries.iter().any(is_pdo) {
            return Err(NotSimulated::Pdo { index, problem: "has an entry that is a PDO itself" });
        }
        if pdo.entries.len() > ENTRIES_OF_PDO_MAX {
            return Err(NotSimulated::Pdo { index, problem: "has more than 254 entries" });
        }
        Ok(Pdo {
            index,
            is_received: !pdo.is_input,
            name: pdo.name.clone().into(),
            sync_manager: carriers.get(&index).copied(),
            flexible,
            entries: pdo.entries.iter().map(|it| entry(index, it)).collect::<Result<_, _>>()?,
        })
    };
    let mut pdos: Vec<_> = device.pdos.iter().map(pdo).collect::<Result<_, _>>()?;
    let assigned: Vec<u16> = data.assignments.iter().flat_map(|it| it.pdos.clone()).collect();
    let rank = |pdo: &Pdo| assigned.iter().position(|index| *index == pdo.index);
    pdos.sort_by_key(|pdo| rank(pdo).unwrap_or(assigned.len()));
    Ok(pdos)
}

fn entry(pdo: u16, entry: &quietcore_esi::Entry) -> Result<PdoEntry, NotSimulated> {
    let bits = u8::try_from(entry.bits);
    let problem = "has an entry of more than 255 bits";
    Ok(PdoEntry {
        index: entry.index,
        subindex: entry.subindex,
        bits: bits.map_err(|_| NotSimulated::Pdo { index: pdo, problem })?,
        data_type: data_type(entry).filter(|_| !entry.is_padding()),
        name: entry.name.clone().into(),
        unit: "".into(),
    })
}

/// The type of a value; `None` for sizes that no type has, of which the bits are kept all the same.
fn data_type(entry: &quietcore_esi::Entry) -> Option<DataType> {
    Some(match (entry.kind?, entry.bits) {
        (NumberKind::Bool, 1) => DataType::Bool,
        (NumberKind::Unsigned, 8) => DataType::U8,
        (NumberKind::Unsigned, 16) => DataType::U16,
        (NumberKind::Unsigned, 32) => DataType::U32,
        (NumberKind::Unsigned, 64) => DataType::U64,
        (NumberKind::Signed, 8) => DataType::I8,
        (NumberKind::Signed, 16) => DataType::I16,
        (NumberKind::Signed, 32) => DataType::I32,
        (NumberKind::Signed, 64) => DataType::I64,
        (NumberKind::Float, 32) => DataType::F32,
        (NumberKind::Float, 64) => DataType::F64,
        _ => return None,
    })
}

/// The SyncManagers at power-up: mailboxes as the file has them, the others as long as the PDOs
/// that are assigned to them.
fn sync_managers(device: &Device, pdos: &[Pdo]) -> Result<Vec<SyncManagerPlan>, NotSimulated> {
    if device.sync_managers.is_empty() && pdos.iter().any(|pdo| pdo.sync_manager.is_some()) {
        return Err(NotSimulated::Missing("its SyncManagers"));
    }
    let managers = device.sync_managers.iter().zip(&device.hardware.sync_managers);
    let plan = |(number, (manager, registers)): (u8, (&quietcore_esi::SyncManager, &Registers))| {
        let carried: Vec<_> = pdos.iter().filter(|pdo| pdo.sync_manager == Some(number)).collect();
        let usage = match (manager.usage, carried.first()) {
            (quietcore_esi::SyncManagerUse::MailboxOut, _) => SyncManagerUse::MailboxReceive,
            (quietcore_esi::SyncManagerUse::MailboxIn, _) => SyncManagerUse::MailboxSend,
            (_, Some(pdo)) if pdo.is_received => SyncManagerUse::Outputs,
            (_, Some(_)) => SyncManagerUse::Inputs,
            (quietcore_esi::SyncManagerUse::Outputs, None) => SyncManagerUse::Outputs,
            (quietcore_esi::SyncManagerUse::Inputs, None) => SyncManagerUse::Inputs,
        };
        let is_ours = |pdo: &&&Pdo| pdo.is_received == (usage == SyncManagerUse::Outputs);
        if let Some(pdo) = carried.iter().find(|pdo| !is_ours(pdo)) {
            let problem = "shares a SyncManager with the other direction";
            return Err(NotSimulated::Pdo { index: pdo.index, problem });
        }
        let is_mailbox =
            matches!(usage, SyncManagerUse::MailboxReceive | SyncManagerUse::MailboxSend);
        let entries = carried.iter().flat_map(|pdo| &pdo.entries);
        let bits: u32 = entries.map(|entry| u32::from(entry.bits)).sum();
        let length = if is_mailbox { registers.bytes } else { bits.div_ceil(8).try_into().ok() };
        let length = length.ok_or(NotSimulated::Missing("the size of a SyncManager"))?;
        let start = registers.start.ok_or(NotSimulated::Missing("the place of a SyncManager"))?;
        let end = u32::from(start) + u32::from(length);
        if start < DIGITAL_OUTPUTS {
            return Err(NotSimulated::Registers { start });
        } else if u32::from(start) < RAM && end > DIGITAL_OUTPUTS_END {
            return Err(NotSimulated::TooMany("4 bytes in the register of digital outputs"));
        }
        Ok(SyncManagerPlan {
            start,
            length,
            control: registers.control.unwrap_or(control(usage)),
            enable: registers.enable.unwrap_or(u8::from(length > 0)),
            usage,
        })
    };
    (0..).zip(managers).map(plan).collect()
}

/// The starts of two SyncManagers that have the same memory.
fn overlap(plans: &[SyncManagerPlan]) -> Option<(u16, u16)> {
    let mut used: Vec<_> = plans.iter().filter(|plan| plan.length > 0).collect();
    used.sort_by_key(|plan| plan.start);
    let meet = |pair: &&[&SyncManagerPlan]| pair[1].start - pair[0].start < pair[0].length;
    used.windows(2).find(meet).map(|pair| (pair[0].start, pair[1].start))
}

/// The usual control register of a SyncManager (ETG.1000.4, 6.7).
fn control(usage: SyncManagerUse) -> u8 {
    match usage {
        SyncManagerUse::MailboxReceive => 0x26,
        SyncManagerUse::MailboxSend => 0x22,
        SyncManagerUse::Outputs => 0x64,
        SyncManagerUse::Inputs => 0x20,
    }
}

/// The objects that the file wants written on the way to SAFE-OP, as far as PDOs do not have them.
fn written_objects(device: &Device, pdos: &[Pdo]) -> Vec<Object> {
    let of_pdos = pdos.iter().flat_map(|pdo| &pdo.entries);
    let of_pdos = of_pdos.filter(|entry| entry.data_type.is_some());
    let of_pdos: BTreeSet<_> = of_pdos.map(|entry| (entry.index, entry.subindex)).collect();
    let is_other = |command: &InitCommand| {
        let index = command.index;
        let is_known = matches!(index, 0x1000 | 0x1001 | 0x1008..=0x100A | 0x1018)
            || matches!(index, 0x1600..0x1C30);
        let mut in_pdos = of_pdos.iter().filter(|(object, _)| *object == index);
        !is_known && !in_pdos.any(|(_, subindex)| command.complete || *subindex == command.subindex)
    };
    let mut sizes: BTreeMap<u16, BTreeMap<u8, usize>> = BTreeMap::new();
    for command in device.init_commands.iter().filter(|it| is_other(it)) {
        // All at once: the count of subindices in two bytes, if it is among them, and the others.
        let (subindex, bytes) = match (command.complete, command.subindex) {
            (true, 0) => (1, command.data.len().saturating_sub(2)),
            (_, subindex) => (subindex, command.data.len()),
        };
        let of_object = sizes.entry(command.index).or_default();
        if bytes > 0 {
            let most = of_object.entry(subindex).or_default();
            *most = bytes.max(*most);
        }
    }
    sizes.iter().map(|(index, sizes)| Object::of_bytes(*index, sizes)).collect()
}
