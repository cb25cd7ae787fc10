//! The objects that every device with CoE has, and those that follow from its process data.
//!
//! | index | object |
//! |---|---|
//! | `0x1000` | device type |
//! | `0x1001` | error register |
//! | `0x1008` `0x1009` `0x100A` | name, hardware and software version |
//! | `0x1018` | identity |
//! | `0x1600` … `0x1A00` … | mapping of each PDO |
//! | `0x1C00` | uses of the SyncManagers |
//! | `0x1C12` `0x1C13` | PDOs assigned to outputs and inputs; the number is that of the SyncManager |
//! | any | the mapped objects themselves |

use std::borrow::Cow;
use std::collections::BTreeMap;

use quietcore_units::DataType;

use crate::blueprint::{Blueprint, Pdo, PdoEntry};
use crate::coe::dictionary::{Dictionary, Object, ObjectAccess, ObjectCode, ObjectEntry};

/// Places in the mapping of a flexible PDO.
const FLEXIBLE_ENTRIES: usize = 16;
/// Places in the assignment of PDOs: subindices 1 to 254.
const ASSIGNED_MAX: usize = 254;
const VERSION: &str = "1";

/// The object dictionary of a device of this making; what the blueprint lists itself counts. A
/// record has the values that PDOs map beside those that the blueprint lists.
pub(crate) fn dictionary(blueprint: &Blueprint) -> Dictionary {
    if blueprint.mailbox.is_none() {
        return Dictionary::default();
    }
    let mut objects = identification(blueprint);
    objects.extend(blueprint.pdos.iter().map(mapping));
    objects.push(sync_manager_uses(blueprint));
    objects.push(assignment(blueprint, true));
    objects.push(assignment(blueprint, false));
    let mapped = mapped(blueprint);
    let with_mapped = |listed: &Object| {
        let same = mapped.iter().find(|one| one.index == listed.index);
        same.map_or_else(|| listed.clone(), |mapped| listed.beside(mapped))
    };
    let listed: Vec<_> = blueprint.objects.iter().map(with_mapped).collect();
    objects.extend(mapped);
    objects.extend(listed);
    Dictionary::new(objects)
}

fn identification(blueprint: &Blueprint) -> Vec<Object> {
    let number = |index, name, data_type, value| {
        let entry = ObjectEntry::number(0, name, data_type, ObjectAccess::READ, value);
        Object::variable(index, entry)
    };
    let text = |index, name, value| {
        Object::variable(index, ObjectEntry::text(0, name, ObjectAccess::READ, value))
    };
    let identity = blueprint.identity;
    let part = |subindex, name, value: u32| {
        ObjectEntry::number(subindex, name, DataType::U32, ObjectAccess::READ, u64::from(value))
    };
    let parts = vec![
        part(1, "Vendor ID", identity.vendor),
        part(2, "Product code", identity.product),
        part(3, "Revision", identity.revision),
        part(4, "Serial number", identity.serial),
    ];
    vec![
        number(0x1000, "Device type", DataType::U32, 0),
        number(0x1001, "Error register", DataType::U8, 0),
        text(0x1008, "Device name", &*blueprint.order),
        text(0x1009, "Hardware version", VERSION),
        text(0x100A, "Software version", VERSION),
        Object::record(0x1018, "Identity", parts),
    ]
}

/// The mapping object of a PDO.
fn mapping(pdo: &Pdo) -> Object {
    let access = if pdo.flexible { ObjectAccess::SETUP } else { ObjectAccess::READ };
    let places =
        if pdo.flexible { pdo.entries.len().max(FLEXIBLE_ENTRIES) } else { pdo.entries.len() };
    let entries = (0..places)
        .map(|place| {
            let value = pdo.entries.get(place).map_or(0, mapping_value);
            let subindex = place as u8 + 1;
            ObjectEntry::number(subindex, "SubIndex", DataType::U32, access, value)
        })
        .collect();
    let name = pdo.name.clone();
    let mut object = Object::with_count(pdo.index, name, ObjectCode::Record, access, entries);
    object.entries[0].value = vec![pdo.entries.len() as u8];
    object
}

fn mapping_value(entry: &PdoEntry) -> u64 {
    u64::from(entry.index) << 16 | u64::from(entry.subindex) << 8 | u64::from(entry.bits)
}

fn sync_manager_uses(blueprint: &Blueprint) -> Object {
    let entries = blueprint
        .sync_managers
        .iter()
        .enumerate()
        .map(|(place, plan)| {
            let (subindex, usage) = (place as u8 + 1, plan.usage as u64);
            ObjectEntry::number(subindex, "SubIndex", DataType::U8, ObjectAccess::READ, usage)
        })
        .collect();
    let name = "Sync manager type";
    Object::with_count(0x1C00, name, ObjectCode::Array, ObjectAccess::READ, entries)
}

/// The object that assigns PDOs of one direction to their SyncManager.
fn assignment(blueprint: &Blueprint, received: bool) -> Object {
    let pdos = || blueprint.pdos.iter().filter(move |pdo| pdo.is_received == received);
    let assigned: Vec<u16> =
        pdos().filter(|pdo| pdo.sync_manager.is_some()).map(|pdo| pdo.index).collect();
    // Without a SyncManager there is nothing to be assigned.
    let has_carrier = !blueprint.layout(received).carriers.is_empty();
    let places = if has_carrier { pdos().count().min(ASSIGNED_MAX) } else { 0 };
    let entries = (0..places)
        .map(|place| {
            let value = assigned.get(place).copied().map_or(0, u64::from);
            let subindex = place as u8 + 1;
            ObjectEntry::number(subindex, "SubIndex", DataType::U16, ObjectAccess::SETUP, value)
        })
        .collect();
    let name = if received { "RxPDO assign" } else { "TxPDO assign" };
    let index = blueprint.assignment(received);
    let mut object =
        Object::with_count(index, name, ObjectCode::Array, ObjectAccess::SETUP, entries);
    object.entries[0].value = vec![assigned.len() as u8];
    object
}

/// The mapped objects, entries with one index together. An entry that several PDOs have is one.
fn mapped(blueprint: &Blueprint) -> Vec<Object> {
    let mut objects = BTreeMap::new();
    for pdo in &blueprint.pdos {
        let access = if pdo.is_received { ObjectAccess::OUTPUT } else { ObjectAccess::INPUT };
        for entry in &pdo.entries {
            let Some(data_type) = entry.data_type else {
                continue;
            };
            let (subindex, name) = (entry.subindex, entry.name.clone());
            let value = ObjectEntry::number(subindex, name, data_type, access, 0);
            let (_, values) =
                objects.entry(entry.index).or_insert_with(|| (&pdo.name, BTreeMap::new()));
            values.entry(subindex).or_insert(value);
        }
    }
    let object = |(index, (pdo, mut values)): (u16, (&Cow<'_, str>, BTreeMap<u8, _>))| {
        let first = values.remove(&0);
        match first.filter(|_| values.is_empty()) {
            Some(only) => Object::variable(index, only),
            None => Object::record(index, pdo.to_string(), values.into_values().collect()),
        }
    };
    objects.into_iter().map(object).collect()
}
