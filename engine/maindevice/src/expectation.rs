//! The line that the MainDevice expects on the wire, and its differences from the one that it
//! found.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

use crate::mailbox::Object;
use crate::subdevice::SubDevice;

/// The identity of a SubDevice (its SII, words 0x08 to 0x0F).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Vendor, as assigned by the EtherCAT Technology Group.
    pub vendor: u32,
    /// Product code of the vendor.
    pub product: u32,
    /// Revision; `None` for any.
    pub revision: Option<u32>,
    /// Serial number; `None` for any.
    pub serial: Option<u32>,
}

impl Identity {
    /// Returns `true` if a device with the identity `found` is what this one asks for.
    pub fn accepts(&self, found: &Self) -> bool {
        let same = |wanted: Option<u32>, found| wanted.is_none() || wanted == found;
        self.vendor == found.vendor
            && self.product == found.product
            && same(self.revision, found.revision)
            && same(self.serial, found.serial)
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "vendor {:#010x}, product {:#010x}", self.vendor, self.product)?;
        if let Some(revision) = self.revision {
            write!(f, ", revision {revision:#010x}")?;
        }
        match self.serial {
            Some(serial) if serial != 0 => write!(f, ", serial {serial}"),
            _ => Ok(()),
        }
    }
}

/// A value that is written to a SubDevice before it leaves PRE-OP, and again after it lost its
/// power.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartUp {
    /// The object that is written.
    pub object: Object,
    /// The value as it goes over the wire, at most [`SDO_BYTES_MAX`](crate::SDO_BYTES_MAX) bytes.
    pub data: Vec<u8>,
}

/// The event that synchronises a SubDevice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Synchronisation {
    /// The arrival of its outputs.
    #[default]
    Frame,
    /// The signal SYNC0 of its own clock, which is kept with all others.
    Sync0,
}

/// One SubDevice that is expected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    /// The name that the site gives it, for messages.
    pub name: String,
    /// The identity that it must have; `None` for any.
    pub identity: Option<Identity>,
    /// Bytes of inputs and outputs; `None` for any.
    pub process_data: Option<(usize, usize)>,
    /// Values to write before it leaves PRE-OP, in order.
    pub start_up: Vec<StartUp>,
    /// The event that synchronises it.
    pub synchronisation: Synchronisation,
}

/// The line that is expected on a wire, and its treatment by the MainDevice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// The SubDevices in the order in which frames pass; `None` to take what is there.
    pub subdevices: Option<Vec<Expected>>,
    /// The time between two cycles, which is also the period of SYNC0.
    pub cycle: Nanos,
    /// Shift of SYNC0 against the start of a cycle.
    pub sync0_shift: Nanos,
    /// Number of times that the time is distributed before the first cycle, so that the clocks
    /// agree, where a SubDevice is synchronised by SYNC0. Elsewhere no clock is waited for: the
    /// frames of the cycle distribute the time, too.
    pub static_sync_iterations: u32,
    /// Time in which all SubDevices must reach OP, in all.
    pub patience: Nanos,
}

impl Expectation {
    /// Takes whatever is there, at this cycle. No clock synchronises a SubDevice; where one does,
    /// [`with`](Self::with) it among those expected, the time is distributed 1000 times.
    pub fn anything(cycle: Nanos) -> Self {
        Self {
            subdevices: None,
            cycle,
            sync0_shift: Nanos::ZERO,
            static_sync_iterations: 1_000,
            patience: Nanos::from_secs(30),
        }
    }

    /// Expects these SubDevices, in this order.
    #[must_use]
    pub fn with(self, subdevices: Vec<Expected>) -> Self {
        Self { subdevices: Some(subdevices), ..self }
    }

    /// Returns `true` if the clock of a SubDevice synchronises it.
    pub(crate) fn has_sync0(&self) -> bool {
        let mut expected = self.subdevices.iter().flatten();
        expected.any(|one| one.synchronisation == Synchronisation::Sync0)
    }

    pub(crate) fn subdevice(&self, position: usize) -> Option<&Expected> {
        self.subdevices.as_ref()?.get(position)
    }

    /// Gives the SubDevices the names that the site has for them: those of their EEPROMs are all
    /// alike where the devices are.
    pub(crate) fn name(&self, subdevices: &mut [SubDevice]) {
        for subdevice in subdevices {
            let expected = self.subdevice(usize::from(subdevice.position));
            if let Some(expected) = expected.filter(|expected| !expected.name.is_empty()) {
                subdevice.name.clone_from(&expected.name);
            }
        }
    }
}

/// One way in which the wire is not as expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// A SubDevice is not there: the line ends before it.
    Missing {
        /// Position, from 0.
        position: u16,
        /// The name in the site.
        name: String,
    },
    /// A SubDevice is there that nobody expects.
    Unexpected {
        /// Position, from 0.
        position: u16,
        /// The name in its SII.
        found_name: String,
        /// The identity in its SII.
        found: Identity,
    },
    /// Another device is there.
    Identity {
        /// Position, from 0.
        position: u16,
        /// The name in the site.
        name: String,
        /// The identity that was expected.
        expected: Identity,
        /// The name in its SII.
        found_name: String,
        /// The identity in its SII.
        found: Identity,
        /// Position at which a device as expected was found instead, if there was one.
        instead_at: Option<u16>,
    },
    /// The device is right, its process data have another size.
    ProcessData {
        /// Position, from 0.
        position: u16,
        /// The name in the site.
        name: String,
        /// Bytes of inputs and outputs that were expected.
        expected: (usize, usize),
        /// Bytes that it has.
        found: (usize, usize),
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { position, name } => {
                write!(f, "SubDevice {position} (`{name}`) is missing: the line ends before it")
            }
            Self::Unexpected { position, found_name, found } => {
                write!(f, "SubDevice {position} is not expected; found `{found_name}`: {found}")
            }
            Self::Identity { position, name, expected, found_name, found, instead_at } => {
                write!(f, "SubDevice {position} (`{name}`) shall be {expected}; found ")?;
                write!(f, "`{found_name}`: {found}")?;
                match instead_at {
                    Some(other) => write!(f, "; one as expected is at position {other}"),
                    None => Ok(()),
                }
            }
            Self::ProcessData { position, name, expected, found } => write!(
                f,
                "SubDevice {position} (`{name}`) shall have {} bytes of inputs and {} of outputs; \
                 found {} and {}",
                expected.0, expected.1, found.0, found.1
            ),
        }
    }
}

/// The device at a position: the name and the identity in its SII.
pub(crate) type NamedIdentity = (String, Identity);

/// All differences between what is expected and what was found.
pub(crate) fn compare(expectation: &Expectation, found: &[NamedIdentity]) -> Vec<Difference> {
    let Some(expected) = &expectation.subdevices else { return Vec::new() };
    let mut differences = Vec::new();
    for (index, expected_here) in expected.iter().enumerate() {
        let position = index as u16;
        let name = expected_here.name.clone();
        let Some((found_name, identity)) = found.get(index) else {
            differences.push(Difference::Missing { position, name });
            continue;
        };
        let Some(wanted) = expected_here.identity.filter(|wanted| !wanted.accepts(identity)) else {
            continue;
        };
        let instead = found.iter().position(|(_, identity)| wanted.accepts(identity));
        differences.push(Difference::Identity {
            position,
            name,
            expected: wanted,
            found_name: found_name.clone(),
            found: *identity,
            instead_at: instead.map(|other| other as u16),
        });
    }
    for (index, (found_name, identity)) in found.iter().enumerate().skip(expected.len()) {
        differences.push(Difference::Unexpected {
            position: index as u16,
            found_name: found_name.clone(),
            found: *identity,
        });
    }
    differences
}

/// Lists the SubDevices whose process data have another size than expected.
pub(crate) fn compare_process_data(
    expectation: &Expectation,
    subdevices: &[SubDevice],
) -> Vec<Difference> {
    let differs = |subdevice: &SubDevice| {
        let expected_here = expectation.subdevice(usize::from(subdevice.position))?;
        let expected = expected_here.process_data?;
        let found = (subdevice.inputs.len(), subdevice.outputs.len());
        (found != expected).then(|| Difference::ProcessData {
            position: subdevice.position,
            name: expected_here.name.clone(),
            expected,
            found,
        })
    };
    subdevices.iter().filter_map(differs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString as _;

    fn identity(product: u32) -> Identity {
        Identity { vendor: 0xB1C, product, revision: Some(0x1_0000), serial: Some(0) }
    }

    fn expected(name: &str, product: u32) -> Expected {
        Expected {
            name: name.into(),
            identity: Some(Identity { revision: None, serial: None, ..identity(product) }),
            process_data: None,
            start_up: Vec::new(),
            synchronisation: Synchronisation::Frame,
        }
    }

    fn expectation(subdevices: Vec<Expected>) -> Expectation {
        Expectation::anything(Nanos::from_millis(1)).with(subdevices)
    }

    #[test]
    fn what_is_as_expected_makes_no_difference() {
        let expectation = expectation(alloc::vec![expected("coupler", 1), expected("axis", 6)]);
        let found = [("EK".into(), identity(1)), ("SD".into(), identity(6))];
        assert_eq!(compare(&expectation, &found), []);
        let anything = Expectation::anything(Nanos::from_millis(1));
        assert_eq!(compare(&anything, &found), []);
    }

    /// Goal: one look at the message is enough to put the cabinet right.
    #[test]
    fn all_differences_are_told_at_once() {
        let wanted = [("coupler", 1), ("axis", 6), ("doors", 2), ("lamps", 3)];
        let wanted = wanted.map(|(name, product)| expected(name, product));
        let found =
            [("EK".into(), identity(1)), ("DI".into(), identity(2)), ("SD".into(), identity(6))];
        let differences = compare(&expectation(wanted.to_vec()), &found);
        let text: Vec<_> = differences.iter().map(ToString::to_string).collect();
        assert_eq!(
            text,
            [
                "SubDevice 1 (`axis`) shall be vendor 0x00000b1c, product 0x00000006; found `DI`: \
                 vendor 0x00000b1c, product 0x00000002, revision 0x00010000; one as expected is at \
                 position 2",
                "SubDevice 2 (`doors`) shall be vendor 0x00000b1c, product 0x00000002; found `SD`: \
                 vendor 0x00000b1c, product 0x00000006, revision 0x00010000; one as expected is at \
                 position 1",
                "SubDevice 3 (`lamps`) is missing: the line ends before it",
            ]
        );
        let differences = compare(&expectation(wanted[..1].to_vec()), &found[..2]);
        assert_eq!(
            differences[0].to_string(),
            "SubDevice 1 is not expected; found `DI`: vendor 0x00000b1c, product 0x00000002, \
             revision 0x00010000"
        );
    }

    #[test]
    fn process_data_of_another_size_are_told() {
        let mut wanted = expected("axis", 6);
        wanted.process_data = Some((16, 16));
        let differences = compare_process_data(
            &expectation(alloc::vec![wanted]),
            &[SubDevice::fake(0, 0..14, 14..30)],
        );
        assert_eq!(
            differences[0].to_string(),
            "SubDevice 0 (`axis`) shall have 16 bytes of inputs and 16 of outputs; found 14 and 16"
        );
    }
}
