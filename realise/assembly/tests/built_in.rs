//! The ESI file of the built-in SubDevices, compared with the SubDevices.

use quietcore_esi::{NumberKind, PlacedEntry, read};
use quietcore_segment::{Entry, describe, device::NAMES};
use quietcore_units::DataType;

const FILE: &str = include_str!("../../../examples/esi/quietcore.xml");

fn kind(data_type: DataType) -> NumberKind {
    match data_type {
        DataType::Bool => NumberKind::Bool,
        DataType::F32 | DataType::F64 => NumberKind::Float,
        _ if data_type.is_signed() => NumberKind::Signed,
        _ => NumberKind::Unsigned,
    }
}

/// An entry as both sides describe it: object, place, size, kind and name.
type Seen = (u16, u8, u32, u32, Option<NumberKind>, String);

fn of_file(entries: &[PlacedEntry]) -> Vec<Seen> {
    let seen = |PlacedEntry { entry, bit, .. }: &PlacedEntry| {
        let name = entry.name.to_lowercase().replace(' ', "_");
        (entry.index, entry.subindex, *bit, entry.bits, entry.kind, name)
    };
    entries.iter().map(seen).collect()
}

fn of_device(entries: &[Entry]) -> Vec<Seen> {
    let seen = |entry: &Entry| {
        let (bit, bits) = (entry.bit_offset.into(), entry.data_type.bits() as u32);
        let kind = Some(kind(entry.data_type));
        (entry.index, entry.subindex, bit, bits, kind, entry.name.to_string())
    };
    entries.iter().map(seen).collect()
}

/// Goal: what is read from an ESI file is what a device does.
/// Method: the ESI file of the simulated SubDevices, whose layouts other main devices have seen.
#[test]
fn the_esi_file_of_the_built_in_subdevices_is_what_they_are() {
    let esi = read(FILE.as_bytes()).unwrap();
    assert_eq!(esi.left_out, []);
    assert_eq!(esi.devices.len(), NAMES.len());
    for (device, name) in esi.devices.iter().zip(NAMES) {
        let built_in = describe(name).unwrap();
        let identity = device.identity;
        assert_eq!(
            (identity.vendor, identity.product, identity.revision),
            (built_in.identity.vendor, built_in.identity.product, built_in.identity.revision)
        );
        let data = device.process_data(None).unwrap();
        assert_eq!(of_file(&data.inputs), of_device(&built_in.inputs), "{name}");
        assert_eq!(of_file(&data.outputs), of_device(&built_in.outputs), "{name}");
        let bytes = (data.input_bytes, data.output_bytes);
        assert_eq!(bytes, (built_in.input_bytes.into(), built_in.output_bytes.into()), "{name}");
    }
    let drive = esi.devices.last().unwrap();
    assert!(drive.operation_modes[0].has_sync0() && !drive.operation_modes[0].has_sync1());
    assert!(!drive.operation_modes[1].has_sync0());
    assert!(drive.assigns_pdos && !drive.is_modular);
}
