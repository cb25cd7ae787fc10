//! The parts of a servo drive: controller, PDOs, objects.

use std::borrow::Cow;

use quietcore_units::DataType;

use super::{
    FOLLOWING_ERROR, FOLLOWING_TIME_MS, NM_PER_COUNT, RATED_TORQUE, ServoDrive, TORQUE_MAX,
};
use crate::application::Application;
use crate::blueprint::{Blueprint, ClockMaking, Controller, Pdo, PdoEntry, Timing};
use crate::coe::dictionary::{Object, ObjectAccess, ObjectEntry};
use crate::describe::Identity;
use crate::device::analog::{MAILBOX, sync_managers};

/// Bits of object 0x6502 for the three modes.
const MODES_OFFERED: u64 = 0x0380;
const INCREMENT: &str = "1/1048576 revolution";
const SPEED: &str = "1/1048576 revolution/s";
const TORQUE: &str = "0.1 % of the rated torque";

const fn entry(
    name: &'static str,
    index: u16,
    data_type: DataType,
    unit: &'static str,
) -> PdoEntry {
    PdoEntry {
        index,
        subindex: 0,
        bits: data_type.bits() as u8,
        data_type: Some(data_type),
        name: Cow::Borrowed(name),
        unit: Cow::Borrowed(unit),
    }
}

const GAP: PdoEntry = PdoEntry {
    index: 0,
    subindex: 0,
    bits: 8,
    data_type: None,
    name: Cow::Borrowed(""),
    unit: Cow::Borrowed(""),
};

fn pdos() -> Vec<Pdo> {
    let outputs = vec![
        entry("controlword", 0x6040, DataType::U16, ""),
        entry("modes_of_operation", 0x6060, DataType::I8, ""),
        GAP,
        entry("target_position", 0x607A, DataType::I32, INCREMENT),
        entry("target_velocity", 0x60FF, DataType::I32, SPEED),
        entry("target_torque", 0x6071, DataType::I16, TORQUE),
        entry("torque_offset", 0x60B2, DataType::I16, TORQUE),
    ];
    let inputs = vec![
        entry("statusword", 0x6041, DataType::U16, ""),
        entry("modes_of_operation_display", 0x6061, DataType::I8, ""),
        GAP,
        entry("position_actual_value", 0x6064, DataType::I32, INCREMENT),
        entry("velocity_actual_value", 0x606C, DataType::I32, SPEED),
        entry("torque_actual_value", 0x6077, DataType::I16, TORQUE),
        entry("error_code", 0x603F, DataType::U16, ""),
    ];
    let pdo = |index, name, sync_manager, entries| Pdo {
        index,
        is_received: index < 0x1A00,
        name: Cow::Borrowed(name),
        sync_manager: Some(sync_manager),
        flexible: true,
        entries,
    };
    vec![pdo(0x1600, "drive outputs", 2, outputs), pdo(0x1A00, "drive inputs", 3, inputs)]
}

fn objects() -> Vec<Object> {
    let number = |index, name, data_type, access, value| {
        Object::variable(index, ObjectEntry::number(0, name, data_type, access, value))
    };
    let read = ObjectAccess::READ;
    let write = ObjectAccess::READ_WRITE;
    let part =
        |subindex, name, value| ObjectEntry::number(subindex, name, DataType::U32, read, value);
    let resolution = vec![part(1, "Encoder increments", 1 << 20), part(2, "Motor revolutions", 1)];
    vec![
        // 0x0192 is profile 402, type 2 a servo drive.
        number(0x1000, "Device type", DataType::U32, read, 0x0002_0192),
        number(0x605A, "Quick stop option code", DataType::I16, read, 6),
        number(0x6065, "Following error window", DataType::U32, write, u64::from(FOLLOWING_ERROR)),
        number(
            0x6066,
            "Following error time out",
            DataType::U16,
            write,
            u64::from(FOLLOWING_TIME_MS),
        ),
        number(0x6072, "Max torque", DataType::U16, write, (TORQUE_MAX / NM_PER_COUNT) as u64),
        number(0x6076, "Motor rated torque", DataType::U32, read, (RATED_TORQUE * 1e3) as u64),
        number(0x6502, "Supported drive modes", DataType::U32, read, MODES_OFFERED),
        Object::record(0x608F, "Position encoder resolution", resolution),
    ]
}

/// Its making and its application.
pub(in crate::device) fn parts(identity: Identity) -> (Blueprint, Box<dyn Application>) {
    let controller = Controller {
        clock: Some(ClockMaking { drift_ppb: 12_000, start_ns: 1_000_000 }),
        ..Controller::like_et1100()
    };
    let blueprint = Blueprint {
        name: "servo-drive".into(),
        order: "QC-SERVO".into(),
        identity,
        controller,
        device_emulation: false,
        mailbox: Some(MAILBOX),
        sync_managers: sync_managers(MAILBOX, 16, 16),
        fmmu_usage: vec![1, 2, 3],
        pdos: pdos(),
        objects: objects(),
        timing: Timing::default(),
        sii: None,
    };
    (blueprint, Box::new(ServoDrive::new()))
}
