//! Reading and writing objects: rights, sizes, live process data, PDO assignment and mapping.

use crate::application::Application;
use crate::coe::abort::Abort;
use crate::coe::dictionary::{Dictionary, ObjectEntry, ObjectType};
use crate::esc::al_state::AlState;
use crate::process_data::ProcessImage;

/// Everything that an SDO can reach in a device.
pub(crate) struct Objects<'a> {
    pub(crate) dictionary: &'a mut Dictionary,
    pub(crate) outputs: &'a mut ProcessImage,
    pub(crate) inputs: &'a mut ProcessImage,
    pub(crate) application: &'a mut dyn Application,
    pub(crate) state: AlState,
}

impl Objects<'_> {
    /// Appends the value at index and subindex.
    pub(crate) fn read(&self, index: u16, subindex: u8, out: &mut Vec<u8>) -> Result<(), Abort> {
        let object = self.dictionary.object(index).ok_or(Abort::NO_OBJECT)?;
        let entry = object.entry(subindex).ok_or(Abort::NO_SUBINDEX)?;
        if entry.access.0 & self.read_right() == 0 {
            return Err(Abort::WRITE_ONLY);
        }
        let live = self
            .application
            .upload(index, subindex)
            .or_else(|| self.inputs.value(index, subindex))
            .or_else(|| self.outputs.value(index, subindex));
        match live {
            Some(value) if entry.value.len() <= 8 => {
                out.extend_from_slice(&value.to_le_bytes()[..entry.value.len()]);
            }
            _ => out.extend_from_slice(&entry.value),
        }
        Ok(())
    }

    /// Appends all values from `first` on, which is 0 or 1: the count as two bytes, numbers of less
    /// than a byte packed.
    pub(crate) fn read_all(&self, index: u16, first: u8, out: &mut Vec<u8>) -> Result<(), Abort> {
        let object = self.dictionary.object(index).ok_or(Abort::NO_OBJECT)?;
        if first > 1 {
            return Err(Abort::COMPLETE_ACCESS);
        }
        let mut bit = 0;
        for entry in object.entries.iter().filter(|entry| entry.subindex >= first) {
            let at = out.len();
            let bits = entry.bits();
            if bits < 8 && bit > 0 && bit + bits <= 8 {
                // Goes into the rest of the last byte.
                self.read(index, entry.subindex, out)?;
                let value = out.pop().unwrap_or(0);
                out[at - 1] |= value << bit;
                bit += bits;
                continue;
            }
            self.read(index, entry.subindex, out)?;
            if entry.subindex == 0 && first == 0 && out.len() == at + 1 {
                out.push(0);
            }
            bit = if bits < 8 { bits } else { 0 };
        }
        Ok(())
    }

    fn read_right(&self) -> u16 {
        match self.state {
            AlState::SafeOp => 0x02,
            AlState::Op => 0x04,
            AlState::Init | AlState::PreOp | AlState::Boot => 0x01,
        }
    }

    /// Writes the value at index and subindex.
    pub(crate) fn write(&mut self, index: u16, subindex: u8, data: &[u8]) -> Result<(), Abort> {
        let object = self.dictionary.object(index).ok_or(Abort::NO_OBJECT)?;
        let entry = object.entry(subindex).ok_or(Abort::NO_SUBINDEX)?;
        let rights = entry.access.0;
        if rights & 0x38 == 0 {
            return Err(Abort::READ_ONLY);
        }
        if rights & (self.read_right() << 3) == 0 {
            return Err(Abort::STATE);
        }
        check_length(entry, data)?;
        let mut bytes = [0; 8];
        if data.len() <= 8 {
            bytes[..data.len()].copy_from_slice(data);
        }
        let value = u64::from_le_bytes(bytes);
        match index {
            _ if self.is_assignment(index) => self.check_assignment(index, subindex, value)?,
            0x1600..0x1800 | 0x1A00..0x1C00 => self.check_mapping(index, subindex, value)?,
            _ => self.application.download(index, subindex, data)?,
        }
        self.store(index, subindex, data);
        self.outputs.set(index, subindex, value);
        if subindex == 0 {
            self.remap_after(index);
        }
        Ok(())
    }

    /// Returns `true` for an object by which PDOs are assigned.
    fn is_assignment(&self, index: u16) -> bool {
        index == self.outputs.assignment() || index == self.inputs.assignment()
    }

    fn store(&mut self, index: u16, subindex: u8, data: &[u8]) {
        let entry = self.dictionary.object_mut(index).and_then(|object| object.entry_mut(subindex));
        if let Some(entry) = entry {
            entry.value.clear();
            entry.value.extend_from_slice(data);
        }
    }

    /// Writes all values from `first` on; the count as two bytes, and last.
    pub(crate) fn write_all(&mut self, index: u16, first: u8, data: &[u8]) -> Result<(), Abort> {
        let object = self.dictionary.object(index).ok_or(Abort::NO_OBJECT)?;
        if first > 1 || object.entries.iter().any(|entry| entry.bits() < 8) {
            return Err(Abort::COMPLETE_ACCESS);
        }
        let counted = object.entry(0).is_some_and(|entry| entry.access.0 & 0x38 != 0);
        let (count, mut rest) = match (first, data) {
            (0, [low, _, rest @ ..]) => (Some(*low), rest),
            (0, _) => return Err(Abort::TOO_SHORT),
            _ => (None, data),
        };
        if counted {
            self.write(index, 0, &[0])?;
        }
        let last = self.dictionary.object(index).map_or(0, |object| object.entries.len());
        for position in 1..last {
            let Some((subindex, length)) = self.entry_at(index, position) else {
                break;
            };
            if rest.is_empty() {
                break;
            }
            let is_rest = position + 1 == last && self.takes_less(index, subindex);
            let length = if is_rest { length.min(rest.len()) } else { length };
            let (value, others) = rest.split_at_checked(length).ok_or(Abort::TOO_SHORT)?;
            self.write(index, subindex, value)?;
            rest = others;
        }
        if !rest.is_empty() {
            return Err(Abort::TOO_LONG);
        }
        match count {
            Some(count) if counted => self.write(index, 0, &[count]),
            _ => Ok(()),
        }
    }

    /// Returns `true` for a value that may be shorter than its capacity.
    fn takes_less(&self, index: u16, subindex: u8) -> bool {
        let entry = self.dictionary.entry(index, subindex);
        entry.is_some_and(|entry| entry.object_type == ObjectType::Bytes)
    }

    fn entry_at(&self, index: u16, position: usize) -> Option<(u8, usize)> {
        let entry = self.dictionary.object(index)?.entries.get(position)?;
        Some((entry.subindex, entry.capacity))
    }

    /// Rules for the PDOs assigned to a SyncManager.
    fn check_assignment(&self, index: u16, subindex: u8, value: u64) -> Result<(), Abort> {
        let object = self.dictionary.object(index).ok_or(Abort::NO_OBJECT)?;
        if subindex == 0 {
            let most = object.entries.len() as u64 - 1;
            let exist = value <= most
                && (1..=value as u8)
                    .all(|number| self.is_pdo(index, self.dictionary.number(index, number)));
            return if exist { Ok(()) } else { Err(Abort::TOO_MUCH_MAPPED) };
        }
        if self.dictionary.number(index, 0) != 0 {
            return Err(Abort::COUNT_NOT_ZERO);
        }
        // Zero empties the place again.
        if value == 0 || self.is_pdo(index, value) { Ok(()) } else { Err(Abort::NOT_MAPPABLE) }
    }

    fn is_pdo(&self, assignment: u16, pdo: u64) -> bool {
        let is_received = assignment == self.outputs.assignment();
        let range = if is_received { 0x1600..0x1800 } else { 0x1A00..0x1C00 };
        range.contains(&pdo) && self.dictionary.object(pdo as u16).is_some()
    }

    /// Rules for the entries of a PDO.
    fn check_mapping(&self, index: u16, subindex: u8, value: u64) -> Result<(), Abort> {
        let object = self.dictionary.object(index).ok_or(Abort::NO_OBJECT)?;
        if subindex == 0 {
            let most = object.entries.len() as u64 - 1;
            return if value <= most { Ok(()) } else { Err(Abort::TOO_MUCH_MAPPED) };
        }
        if self.dictionary.number(index, 0) != 0 {
            return Err(Abort::COUNT_NOT_ZERO);
        }
        let image = if index < 0x1A00 { &self.outputs } else { &self.inputs };
        let (object, subindex) = ((value >> 16) as u16, (value >> 8) as u8);
        if image.can_map(object, subindex, value as u16 & 0xFF) {
            Ok(())
        } else {
            Err(Abort::NOT_MAPPABLE)
        }
    }

    /// Takes a changed assignment or mapping over into the process data.
    fn remap_after(&mut self, index: u16) {
        if index == self.outputs.assignment() || (0x1600..0x1800).contains(&index) {
            self.outputs.remap(self.dictionary);
        }
        if index == self.inputs.assignment() || (0x1A00..0x1C00).contains(&index) {
            self.inputs.remap(self.dictionary);
        }
    }
}

fn check_length(entry: &ObjectEntry, data: &[u8]) -> Result<(), Abort> {
    match entry.object_type {
        ObjectType::Number(_) if data.len() < entry.capacity => Err(Abort::TOO_SHORT),
        _ if data.len() > entry.capacity => Err(Abort::TOO_LONG),
        _ => Ok(()),
    }
}
