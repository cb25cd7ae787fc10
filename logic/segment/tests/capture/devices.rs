//! The real devices of the captures, described as far as the captures show them.
//!
//! | device | controller | clock | processor | process data |
//! |---|---|---|---|---|
//! | EK1100 | 3 FMMUs, 4 SyncManagers | yes | no | none |
//! | EL2828 | 8 FMMUs, 8 SyncManagers | no | no | 1 byte out |
//! | EL2889 | 3 FMMUs, 4 SyncManagers | yes | no | 2 bytes out |
//! | EK1914 | 3 FMMUs, 4 SyncManagers | no | yes | 8 bytes out, 8 in |
//! | EL3004 | 8 FMMUs, 8 SyncManagers | no | yes | 16 bytes in |
//!
//! Their EEPROMs are put together from all reads of all captures.

use super::Capture;
use quietcore_segment::blueprint::{
    Blueprint, ClockMaking, Controller, MailboxPlace, Pdo, PdoEntry, SyncManagerPlan,
    SyncManagerUse, Timing,
};
use quietcore_segment::coe::dictionary::{Object, ObjectAccess, ObjectEntry};
use quietcore_segment::{Application, Identity, Situation, SubDevice};
use quietcore_units::{DataType, Nanos};
use std::collections::BTreeMap;

const EK1100: u32 = 0x044C_2C52;
const EL2828: u32 = 0x0B0C_3052;
const EL2889: u32 = 0x0B49_3052;
const EK1914: u32 = 0x077A_2C52;
const EL3004: u32 = 0x0BBC_3052;

/// Bytes of an EEPROM by their place.
type Content = BTreeMap<usize, u8>;

/// Nothing is connected to these devices.
struct Idle;

impl Application for Idle {
    fn consume(&mut self, _: Situation, _: &[u8]) {}

    fn produce(&mut self, _: Situation, _: &mut [u8]) {}
}

/// The devices of a capture, in their order; `all` captures tell what their EEPROMs hold.
pub(crate) fn devices_of(capture: &Capture, all: &[Capture]) -> Vec<SubDevice> {
    let mut known: BTreeMap<u32, Content> = BTreeMap::new();
    for capture in all {
        for content in contents(capture).into_values() {
            known.entry(product(&content)).or_default().extend(content);
        }
    }
    contents(capture)
        .into_values()
        .map(|content| {
            let product = product(&content);
            let blueprint = blueprint(product, sii(&known[&product]));
            SubDevice::new(blueprint, Box::new(Idle))
        })
        .collect()
}

/// Returns what was read of the EEPROM of each station address, before anything was written.
fn contents(capture: &Capture) -> BTreeMap<u16, Content> {
    let mut asked: BTreeMap<u16, usize> = BTreeMap::new();
    let mut found: BTreeMap<u16, Content> = BTreeMap::new();
    for exchange in &capture.exchanges {
        let (sent, returned) = (&exchange.sent, &exchange.returned);
        match exchange.register() {
            0x0502 if exchange.is_write() && sent.data[1] == 1 => {
                let word = u32::from_le_bytes(sent.data[2..6].try_into().expect("four bytes"));
                asked.insert(exchange.address(), word as usize * 2);
            }
            0x0508 if exchange.is_write() => break,
            0x0508 if exchange.is_read() => {
                let start = asked[&exchange.address()];
                let content = found.entry(exchange.address()).or_default();
                content
                    .extend(returned.data.iter().enumerate().map(|(at, byte)| (start + at, *byte)));
            }
            _ => {}
        }
    }
    found
}

/// The product code, SII word 0x0A.
fn product(content: &Content) -> u32 {
    u32::from_le_bytes([0x14, 0x15, 0x16, 0x17].map(|at| content[&at]))
}

/// A whole EEPROM: what was never read is zero in the head and ones behind it.
fn sii(content: &Content) -> Vec<u8> {
    let size = content.keys().next_back().expect("something was read") + 1;
    let mut sii = vec![0xFF; size.next_multiple_of(128)];
    sii[..0x80].fill(0);
    for (at, byte) in content {
        sii[*at] = *byte;
    }
    sii[14] = checksum(&sii[..14]);
    sii
}

/// CRC-8 with polynomial 0x07, started with ones.
fn checksum(bytes: &[u8]) -> u8 {
    let mut crc = 0xFF_u8;
    for byte in bytes {
        crc ^= byte;
        for _ in 0..8 {
            crc = (crc << 1) ^ if crc & 0x80 == 0 { 0 } else { 0x07 };
        }
    }
    crc
}

/// As measured in the captures: a read of the EEPROM is seen busy until 682 µs and free from 702 µs
/// on; after a write the memory is busy until 3.0 ms and free from 3.6 ms on.
fn timing() -> Timing {
    Timing {
        eeprom_read: Nanos::from_micros(690),
        eeprom_write: Nanos::from_micros(3_200),
        state_change: Nanos::ZERO,
        mailbox: Nanos::ZERO,
    }
}

fn controller(large: bool, clock: bool) -> Controller {
    let count = if large { 8 } else { 3 };
    Controller {
        kind: if large { 0x11 } else { 0x12 },
        fmmus: count,
        sync_managers: if large { 8 } else { 4 },
        ram_kib: 8,
        features: if large { 0x01FC } else { 0x00FC },
        clock: clock.then_some(ClockMaking { drift_ppb: 0, start_ns: 0 }),
        eeprom_status: if large { 0x50 } else { 0x40 },
        shows_writing: large,
        ..Controller::like_et1100()
    }
}

fn blueprint(product: u32, sii: Vec<u8>) -> Blueprint {
    let plain = Blueprint {
        name: "captured".into(),
        order: "".into(),
        identity: Identity { vendor: 2, product, revision: 0, serial: 0 },
        controller: controller(false, true),
        device_emulation: true,
        mailbox: None,
        sync_managers: Vec::new(),
        fmmu_usage: Vec::new(),
        pdos: Vec::new(),
        objects: Vec::new(),
        timing: timing(),
        sii: Some(sii),
    };
    match product {
        EK1100 => {
            Blueprint { controller: Controller { dl_status: 0x01, ..plain.controller }, ..plain }
        }
        EL2828 => Blueprint { controller: controller(true, false), ..outputs(plain, 1) },
        EL2889 => outputs(plain, 2),
        EK1914 => ek1914(plain),
        EL3004 => el3004(plain),
        _ => panic!("an unknown device, {product:#010x}"),
    }
}

/// Digital outputs, one SyncManager for each byte.
fn outputs(plain: Blueprint, bytes: u16) -> Blueprint {
    let plan = |start| SyncManagerPlan {
        start,
        length: 1,
        control: 0x44,
        enable: 9,
        usage: SyncManagerUse::Outputs,
    };
    let sync_managers = (0..bytes).map(|byte| plan(0x0F00 + byte)).collect();
    Blueprint { sync_managers, ..plain }
}

/// The entries of a PDO from object, subindex and bits.
fn pdo(index: u16, sync_manager: u8, entries: &[(u16, u8, u8)]) -> Pdo {
    let entries = entries
        .iter()
        .map(|(index, subindex, bits)| PdoEntry {
            index: *index,
            subindex: *subindex,
            bits: *bits,
            // The captures do not tell the types; nobody asks for them here.
            data_type: None,
            name: "".into(),
            unit: "".into(),
        })
        .collect();
    Pdo {
        index,
        is_received: index < 0x1A00,
        name: "".into(),
        sync_manager: Some(sync_manager),
        flexible: false,
        entries,
    }
}

fn manager(start: u16, length: u16, control: u8, usage: SyncManagerUse) -> SyncManagerPlan {
    SyncManagerPlan { start, length, control, enable: 1, usage }
}

fn ek1914(plain: Blueprint) -> Blueprint {
    let mailbox = MailboxPlace {
        receive: 0x1000,
        receive_bytes: 256,
        send: 0x1100,
        send_bytes: 256,
        complete_access: false,
    };
    let first = |object: u16| {
        [
            (object, 1, 8),
            (object + 1, 1, 1),
            (object + 1, 2, 1),
            (0, 0, 6),
            (object, 3, 16),
            (object, 2, 16),
        ]
    };
    let bits = |object: u16, count: u8| -> Vec<(u16, u8, u8)> {
        (1..=count).map(|bit| (object, bit, 1)).chain([(0, 0, 16 - count)]).collect()
    };
    let name = ObjectEntry::text(0, "Device name", ObjectAccess::READ, "EK1914");
    Blueprint {
        controller: controller(false, false),
        device_emulation: false,
        mailbox: Some(mailbox),
        sync_managers: vec![
            manager(0x1000, 256, 0x26, SyncManagerUse::MailboxReceive),
            manager(0x1100, 256, 0x22, SyncManagerUse::MailboxSend),
            manager(0x1200, 8, 0x24, SyncManagerUse::Outputs),
            manager(0x1900, 8, 0x20, SyncManagerUse::Inputs),
        ],
        pdos: vec![
            pdo(0x1600, 2, &first(0x7000)),
            pdo(0x1601, 2, &bits(0x7010, 6)),
            pdo(0x1A00, 3, &first(0x6000)),
            pdo(0x1A01, 3, &bits(0x6010, 4)),
        ],
        objects: vec![Object::variable(0x1008, name)],
        ..plain
    }
}

fn el3004(plain: Blueprint) -> Blueprint {
    let mailbox = MailboxPlace {
        receive: 0x1000,
        receive_bytes: 128,
        send: 0x1080,
        send_bytes: 128,
        complete_access: true,
    };
    let channel = |channel: u16| {
        let object = 0x6000 + 0x10 * channel;
        [
            (object, 1, 1),
            (object, 2, 1),
            (object, 3, 2),
            (object, 5, 2),
            (object, 7, 1),
            (0, 0, 1),
            (0, 0, 6),
            (object, 15, 1),
            (object, 16, 1),
            (object, 17, 16),
        ]
    };
    let version = ObjectEntry::text(0, "Software version", ObjectAccess::READ, "08");
    let code = ObjectEntry::number(0, "Code word", DataType::U32, ObjectAccess::READ_WRITE, 0);
    Blueprint {
        controller: controller(true, false),
        device_emulation: false,
        mailbox: Some(mailbox),
        sync_managers: vec![
            manager(0x1000, 128, 0x26, SyncManagerUse::MailboxReceive),
            manager(0x1080, 128, 0x22, SyncManagerUse::MailboxSend),
            manager(0x1100, 0, 0x04, SyncManagerUse::Outputs),
            manager(0x1180, 16, 0x20, SyncManagerUse::Inputs),
        ],
        pdos: (0..4).map(|number| pdo(0x1A00 + 2 * number, 3, &channel(number))).collect(),
        objects: vec![Object::variable(0x100A, version), Object::variable(0xF008, code)],
        ..plain
    }
}
