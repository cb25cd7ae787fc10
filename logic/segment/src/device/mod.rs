//! The devices that can be had by name.
//!
//! | name | process data | physical signals |
//! |---|---|---|
//! | `coupler` | none | none |
//! | `digital-input-8` | 8 bits in | `input_1` … `input_8` |
//! | `digital-output-8` | 8 bits out | `output_1` … `output_8` |
//! | `analog-input-4` | 4 × i16 in | `input_1` … `input_4`, ±10 V |
//! | `analog-output-4` | 4 × i16 out | `output_1` … `output_4`, ±10 V |
//! | `servo-drive` | CiA 402, 16 bytes out, 16 bytes in | setpoints and switches of its loops; position, velocity, torque |
//!
//! The digital ones and the coupler have no processor and no mailbox; the others speak CoE.

mod analog;
mod cia402;
mod coupler;
mod digital;
mod entries;
mod objects;
mod servo_drive;

use crate::application::Application;
use crate::blueprint::Blueprint;
use crate::coe::dictionary::Dictionary;
use crate::describe::{self, Description, Identity};
use crate::subdevice::SubDevice;

pub use cia402::{DriveState, command};
pub(crate) use entries::Entries;

/// The vendor number of all built-in devices: not assigned to anyone, so no real device has it.
pub const VENDOR: u32 = 0x0000_0B1C;
/// The revision of all built-in devices.
const REVISION: u32 = 0x0001_0000;

/// The names of all built-in devices. A device's product code is its place here, from one.
pub const NAMES: [&str; 6] = [
    "coupler",
    "digital-input-8",
    "digital-output-8",
    "analog-input-4",
    "analog-output-4",
    "servo-drive",
];

/// There is no built-in device of this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no device `{name}`; there are {}", NAMES.join(", "))]
pub struct UnknownDevice {
    /// The name that was asked for.
    pub name: String,
}

/// Describes the device of this name.
///
/// # Errors
///
/// [`UnknownDevice`] with the names that there are.
pub fn describe(name: &str) -> Result<Description, UnknownDevice> {
    let (blueprint, application) = parts(name)?;
    Ok(describe::of(&blueprint, application.signals()))
}

/// The making of the device of this name, to be varied.
///
/// # Errors
///
/// [`UnknownDevice`] with the names that there are.
pub fn blueprint(name: &str) -> Result<Blueprint, UnknownDevice> {
    Ok(parts(name)?.0)
}

/// Builds the device of this name.
pub(crate) fn build(name: &str) -> Result<SubDevice, UnknownDevice> {
    let (blueprint, application) = parts(name)?;
    Ok(SubDevice::new(blueprint, application))
}

fn parts(name: &str) -> Result<(Blueprint, Box<dyn Application>), UnknownDevice> {
    match name {
        "coupler" => Ok(coupler::parts(identity(1))),
        "digital-input-8" => Ok(digital::input_parts(identity(2))),
        "digital-output-8" => Ok(digital::output_parts(identity(3))),
        "analog-input-4" => Ok(analog::input_parts(identity(4))),
        "analog-output-4" => Ok(analog::output_parts(identity(5))),
        "servo-drive" => Ok(servo_drive::parts(identity(6))),
        _ => Err(UnknownDevice { name: name.to_owned() }),
    }
}

fn identity(product: u32) -> Identity {
    Identity { vendor: VENDOR, product, revision: REVISION, serial: 0 }
}

/// The object dictionary of a device of this making.
pub(crate) fn dictionary(blueprint: &Blueprint) -> Dictionary {
    objects::dictionary(blueprint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_device() {
        for (place, name) in NAMES.into_iter().enumerate() {
            let description = describe(name).unwrap();
            assert_eq!(description.name, name);
            assert_eq!(description.identity.product, place as u32 + 1);
        }
        let error = describe("toaster").unwrap_err().to_string();
        assert!(error.contains("`toaster`") && error.contains("servo-drive"), "{error}");
    }

    #[test]
    fn pdos_are_numbered_by_their_direction() {
        for name in NAMES {
            for pdo in blueprint(name).unwrap().pdos {
                let first = if pdo.is_received { 0x1600 } else { 0x1A00 };
                assert!((first..first + 0x200).contains(&pdo.index), "{name}: {:#x}", pdo.index);
            }
        }
    }

    #[test]
    fn an_actuator_that_does_not_exist_is_zero() {
        for name in NAMES {
            let device = build(name).unwrap();
            for signal in [device.signals().len(), usize::MAX] {
                assert_eq!(device.actuator(signal), 0.0, "{name}: {signal}");
            }
        }
    }

    #[test]
    fn entries_lie_inside_the_process_data_and_do_not_overlap() {
        for name in NAMES {
            let description = describe(name).unwrap();
            for (entries, bytes) in [
                (&description.inputs, description.input_bytes),
                (&description.outputs, description.output_bytes),
            ] {
                let mut end = 0;
                for entry in entries {
                    assert!(entry.bit_offset >= end, "{name}: {}", entry.name);
                    end = entry.bit_offset + entry.data_type.bits();
                }
                assert!(end <= bytes * 8, "{name}");
            }
        }
    }
}
