//! The process data of a device for a choice of its PDOs: each entry with its place.
//!
//! PDOs lie one after the other in the SyncManager that they are assigned to, bit by bit, in the
//! order in which they are assigned. SyncManagers follow each other, each from a whole byte on.

use std::collections::BTreeSet;

use quietcore_wording::both;

use crate::device::{Device, Entry, Pdo, SyncManagerUse};

/// Most bytes of inputs, or of outputs, of one device: all that its memory can have.
pub const PROCESS_DATA_BYTES_MAX: u32 = 60 << 10;

/// Most PDOs of one SyncManager: subindices 1 to 254 of its assignment.
const ASSIGNED_MAX: usize = 254;

/// The first object of the PDO assignment; that of a SyncManager follows by its number.
const ASSIGNMENT: u16 = 0x1C10;

/// The process data of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessData {
    /// Entries that the device sends, without padding, in order.
    pub inputs: Vec<PlacedEntry>,
    /// Entries that the device receives, without padding, in order.
    pub outputs: Vec<PlacedEntry>,
    /// Bytes of all inputs.
    pub input_bytes: u32,
    /// Bytes of all outputs.
    pub output_bytes: u32,
    /// The PDOs of each SyncManager that the device has PDOs for.
    pub assignments: Vec<Assignment>,
}

/// An entry and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedEntry {
    /// Name of its PDO.
    pub pdo: String,
    /// The entry as the file has it.
    pub entry: Entry,
    /// Its first bit in the device's inputs or outputs.
    pub bit: u32,
}

/// The PDOs that a SyncManager carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The object by which they are assigned: 0x1C10 and the number of the SyncManager.
    pub object: u16,
    /// Indices of the PDOs, in order.
    pub pdos: Vec<u16>,
}

/// The reason why a choice of PDOs gives no process data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    /// The device has no such PDO.
    #[error("it has no PDO {index:#06x}; it has {}", listed(.known))]
    Unknown {
        /// The index that was chosen.
        index: u16,
        /// Those that there are.
        known: Vec<u16>,
    },
    /// A PDO was chosen twice.
    #[error("PDO {index:#06x} is chosen twice")]
    Twice {
        /// Index of the PDO.
        index: u16,
    },
    /// Two PDOs can't be chosen together.
    #[error("PDO {one:#06x} and PDO {other:#06x} exclude each other")]
    Excluded {
        /// Index of the one that was chosen before.
        one: u16,
        /// Index of the one that excludes it, or is excluded.
        other: u16,
    },
    /// A PDO can't be left out.
    #[error("PDO {index:#06x} (`{name}`) can't be left out")]
    Mandatory {
        /// Index of the PDO.
        index: u16,
        /// Name of the PDO, as the file has it.
        name: String,
    },
    /// The device always has the PDOs that it has.
    #[error("its PDOs can't be chosen: its ESI file offers no PDO assignment")]
    Fixed,
    /// There is no SyncManager for a PDO.
    #[error("no SyncManager of it can carry PDO {index:#06x}")]
    NoSyncManager {
        /// Index of the PDO.
        index: u16,
    },
    /// There are more PDOs than an object can list.
    #[error("a SyncManager of it carries more than {ASSIGNED_MAX} PDOs")]
    TooMany,
    /// There are more bytes than a device can have.
    #[error("its process data have more than {PROCESS_DATA_BYTES_MAX} bytes")]
    TooLarge,
}

fn listed(indices: &[u16]) -> String {
    both(indices.iter().map(|index| format!("{index:#06x}")))
}

impl Device {
    /// The process data for these PDOs, by their indices and in this order; for `None` those that
    /// are assigned by default.
    ///
    /// # Errors
    /// [`ChoiceError`].
    pub fn process_data(&self, chosen: Option<&[u16]>) -> Result<ProcessData, ChoiceError> {
        let carried = match chosen {
            None => self.carried(self.default_pdos())?,
            Some(chosen) => {
                let carried = self.carried(self.chosen(chosen)?)?;
                let is_default = self.carried(self.default_pdos()).is_ok_and(|it| it == carried);
                if !self.assigns_pdos && !is_default {
                    return Err(ChoiceError::Fixed);
                }
                carried
            }
        };
        let managers = carried.chunk_by(|(one, _), (other, _)| one == other);
        if managers.map(<[_]>::len).max() > Some(ASSIGNED_MAX) {
            return Err(ChoiceError::TooMany);
        }
        let (inputs, input_bytes) = placed(&carried, true)?;
        let (outputs, output_bytes) = placed(&carried, false)?;
        let assignments = self.assignments(&carried);
        Ok(ProcessData { inputs, outputs, input_bytes, output_bytes, assignments })
    }

    /// The PDOs that are assigned by default. Of two that exclude each other, though the file
    /// assigns both, it is the first.
    fn default_pdos(&self) -> Vec<&Pdo> {
        let mut pdos: Vec<&Pdo> = Vec::new();
        for pdo in self.pdos.iter().filter(|pdo| pdo.sync_manager.is_some()) {
            if !pdos.iter().any(|other| exclude_each_other(pdo, other)) {
                pdos.push(pdo);
            }
        }
        pdos
    }

    fn chosen(&self, chosen: &[u16]) -> Result<Vec<&Pdo>, ChoiceError> {
        let mut pdos: Vec<&Pdo> = Vec::new();
        for index in chosen {
            let index = *index;
            let found = self.pdos.iter().find(|pdo| pdo.index == index);
            let found = found.ok_or_else(|| {
                let known = self.pdos.iter().map(|pdo| pdo.index).collect();
                ChoiceError::Unknown { index, known }
            })?;
            for other in &pdos {
                if other.index == index {
                    return Err(ChoiceError::Twice { index });
                }
                if exclude_each_other(found, other) {
                    return Err(ChoiceError::Excluded { one: other.index, other: index });
                }
            }
            pdos.push(found);
        }
        let left_out = |pdo: &&Pdo| pdo.is_mandatory && !chosen.contains(&pdo.index);
        if let Some(pdo) = self.pdos.iter().find(left_out) {
            return Err(ChoiceError::Mandatory { index: pdo.index, name: pdo.name.clone() });
        }
        Ok(pdos)
    }

    /// PDOs with the numbers of their SyncManagers, in the order of those.
    fn carried<'d>(&self, pdos: Vec<&'d Pdo>) -> Result<Vec<(u8, &'d Pdo)>, ChoiceError> {
        let carried = pdos.into_iter().map(|pdo| Ok((self.carrier(pdo)?, pdo)));
        let mut carried = carried.collect::<Result<Vec<_>, _>>()?;
        // Stable: within a SyncManager the order stays.
        carried.sort_by_key(|(sync_manager, _)| *sync_manager);
        Ok(carried)
    }

    /// The number of the SyncManager that carries a PDO: its own, else the first of its direction.
    fn carrier(&self, pdo: &Pdo) -> Result<u8, ChoiceError> {
        let usage = if pdo.is_input { SyncManagerUse::Inputs } else { SyncManagerUse::Outputs };
        let manager = |number: &u8| self.sync_managers.get(usize::from(*number));
        let says_so = |number: &u8| manager(number).is_some_and(|it| it.usage == usage);
        // Some files call all SyncManagers `Outputs`: the register then decides.
        let register = Some(!pdo.is_input);
        let can = |number: &u8| {
            manager(number).is_some_and(|it| is_data(it.usage) && it.is_written == register)
        };
        let found = match pdo.sync_manager {
            // A device that lists no SyncManagers has them all the same.
            Some(number) if self.sync_managers.is_empty() => Some(number),
            Some(number) => Some(number).filter(|it| says_so(it) || can(it)),
            None => (0..=u8::MAX).find(says_so).or_else(|| (0..=u8::MAX).find(can)),
        };
        found.ok_or(ChoiceError::NoSyncManager { index: pdo.index })
    }

    /// The assignment of each SyncManager of process data; an empty one where all PDOs are left
    /// out, and none where the device has none in that direction: it need not have the object.
    fn assignments(&self, carried: &[(u8, &Pdo)]) -> Vec<Assignment> {
        let numbers: BTreeSet<u8> =
            self.pdos.iter().filter_map(|pdo| self.carrier(pdo).ok()).collect();
        let assignment = |number: u8| {
            let of_it = carried.iter().filter(|(carrier, _)| *carrier == number);
            Assignment {
                object: ASSIGNMENT + u16::from(number),
                pdos: of_it.map(|(_, pdo)| pdo.index).collect(),
            }
        };
        numbers.into_iter().map(assignment).collect()
    }
}

fn is_data(usage: SyncManagerUse) -> bool {
    matches!(usage, SyncManagerUse::Inputs | SyncManagerUse::Outputs)
}

fn exclude_each_other(one: &Pdo, other: &Pdo) -> bool {
    one.excludes.contains(&other.index) || other.excludes.contains(&one.index)
}

/// The entries of one direction with their places, and the bytes of all.
fn placed(carried: &[(u8, &Pdo)], is_input: bool) -> Result<(Vec<PlacedEntry>, u32), ChoiceError> {
    let ours: Vec<_> = carried.iter().filter(|(_, pdo)| pdo.is_input == is_input).collect();
    let mut entries = Vec::new();
    let mut bit: u32 = 0;
    for of_manager in ours.chunk_by(|(one, _), (other, _)| one == other) {
        for (_, pdo) in of_manager {
            for entry in &pdo.entries {
                if !entry.is_padding() {
                    let (pdo, entry) = (pdo.name.clone(), entry.clone());
                    entries.push(PlacedEntry { pdo, entry, bit });
                }
                bit = bit.saturating_add(entry.bits);
                if bit > PROCESS_DATA_BYTES_MAX * 8 {
                    return Err(ChoiceError::TooLarge);
                }
            }
        }
        bit = bit.next_multiple_of(8);
    }
    Ok((entries, bit / 8))
}
