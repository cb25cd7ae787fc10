//! The object dictionary: what can be read and written through SDOs, and its values.

use std::borrow::Cow;
use std::collections::BTreeMap;

use quietcore_units::DataType;
use serde::{Deserialize, Serialize};

use crate::sii::type_code;

/// The type of an object's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ObjectType {
    /// A number of this type, little-endian.
    Number(DataType),
    /// Text without an end mark.
    Text,
    /// Bytes without a meaning of their own.
    Bytes,
}

impl ObjectType {
    /// The number of the type (ETG.1000.6, table of basic types).
    pub(crate) fn code(self) -> u16 {
        match self {
            Self::Number(data_type) => type_code(data_type),
            Self::Text => 0x09,
            Self::Bytes => 0x0A,
        }
    }
}

/// The access rights of a value, as the SDO information tells them (ETG.1000.6, 5.6.3).
///
/// Bits 0 to 2: read in PRE-OP, SAFE-OP, OP; bits 3 to 5: write in them; bit 6: may be mapped
/// into an RxPDO; bit 7: into a TxPDO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectAccess(pub u16);

impl ObjectAccess {
    /// Read in all states.
    pub const READ: Self = Self(0x0007);
    /// Read and written in all states.
    pub const READ_WRITE: Self = Self(0x003F);
    /// Read in all states, written in PRE-OP.
    pub const SETUP: Self = Self(0x000F);
    /// Written by the MainDevice's process data.
    pub const OUTPUT: Self = Self(0x007F);
    /// Sent in the process data.
    pub const INPUT: Self = Self(0x0087);
}

/// One value of an object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectEntry {
    /// Subindex, from 0 to 255.
    pub subindex: u8,
    /// Name in the SDO information.
    pub name: Cow<'static, str>,
    /// Type of the value.
    pub object_type: ObjectType,
    /// Rights in the AL states.
    pub access: ObjectAccess,
    /// The value, little-endian. Texts and bytes may be written up to this length.
    pub value: Vec<u8>,
    /// The most bytes of the value.
    pub capacity: usize,
}

impl ObjectEntry {
    /// Makes an entry that holds a number.
    pub fn number(
        subindex: u8,
        name: impl Into<Cow<'static, str>>,
        data_type: DataType,
        access: ObjectAccess,
        value: u64,
    ) -> Self {
        let bytes = usize::from(data_type.bits().div_ceil(8));
        Self {
            subindex,
            name: name.into(),
            object_type: ObjectType::Number(data_type),
            access,
            value: value.to_le_bytes()[..bytes].to_vec(),
            capacity: bytes,
        }
    }

    /// Makes an entry that holds a text.
    pub fn text(subindex: u8, name: &'static str, access: ObjectAccess, value: &str) -> Self {
        Self {
            subindex,
            name: name.into(),
            object_type: ObjectType::Text,
            access,
            value: value.as_bytes().to_vec(),
            capacity: value.len(),
        }
    }

    /// Bytes; `capacity` is the most that may be written.
    pub fn bytes(
        subindex: u8,
        name: impl Into<Cow<'static, str>>,
        access: ObjectAccess,
        value: &[u8],
        capacity: usize,
    ) -> Self {
        let mut stored = Vec::with_capacity(capacity.max(value.len()));
        stored.extend_from_slice(value);
        Self {
            subindex,
            name: name.into(),
            object_type: ObjectType::Bytes,
            access,
            value: stored,
            capacity: capacity.max(value.len()),
        }
    }

    /// Returns the size of the value in bits.
    pub(crate) fn bits(&self) -> u16 {
        match self.object_type {
            ObjectType::Number(data_type) => data_type.bits(),
            ObjectType::Text | ObjectType::Bytes => (self.capacity * 8).min(0xFFFF) as u16,
        }
    }

    /// The value as a number; longer ones lose their upper bytes.
    pub fn as_u64(&self) -> u64 {
        let mut bytes = [0; 8];
        let length = self.value.len().min(8);
        bytes[..length].copy_from_slice(&self.value[..length]);
        u64::from_le_bytes(bytes)
    }
}

/// The form of an object (ETG.1000.6, 5.6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum ObjectCode {
    /// One value at subindex 0.
    Variable = 7,
    /// Values of one type; subindex 0 holds their number.
    Array = 8,
    /// Values of any type; subindex 0 holds the highest subindex.
    Record = 9,
}

/// An object of the dictionary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Object {
    /// Index of the object, such as 0x6040.
    pub index: u16,
    /// Name in the SDO information.
    pub name: Cow<'static, str>,
    /// Variable, array or record.
    pub code: ObjectCode,
    /// Its values, by rising subindex.
    pub entries: Vec<ObjectEntry>,
}

impl Object {
    /// An object with one value.
    pub fn variable(index: u16, entry: ObjectEntry) -> Self {
        let name = entry.name.clone();
        Self { index, name, code: ObjectCode::Variable, entries: vec![entry] }
    }

    /// An object with several values; subindex 0 is added.
    pub fn record(
        index: u16,
        name: impl Into<Cow<'static, str>>,
        entries: Vec<ObjectEntry>,
    ) -> Self {
        Self::with_count(index, name, ObjectCode::Record, ObjectAccess::READ, entries)
    }

    /// An object of which only the most bytes that its subindices take are known.
    pub fn of_bytes(index: u16, bytes: &BTreeMap<u8, usize>) -> Self {
        let access = ObjectAccess::READ_WRITE;
        let entry = |(subindex, bytes): (&u8, &usize)| {
            ObjectEntry::bytes(*subindex, "", access, &[], *bytes)
        };
        let parts: Vec<_> = bytes.range(1..).map(entry).collect();
        match bytes.get(&0) {
            Some(bytes) if parts.is_empty() => Self::variable(index, entry((&0, bytes))),
            _ => Self::with_count(index, "", ObjectCode::Record, access, parts),
        }
    }

    /// An object with several values of which subindex 0, with this access, tells the number in
    /// use.
    pub(crate) fn with_count(
        index: u16,
        name: impl Into<Cow<'static, str>>,
        code: ObjectCode,
        count_access: ObjectAccess,
        mut entries: Vec<ObjectEntry>,
    ) -> Self {
        let highest = entries.last().map_or(0, |entry| u64::from(entry.subindex));
        let count = ObjectEntry::number(0, "SubIndex 000", DataType::U8, count_access, highest);
        entries.insert(0, count);
        Self { index, name: name.into(), code, entries }
    }

    /// This record with the values of another one at the subindices that it does not have itself.
    pub(crate) fn beside(&self, other: &Self) -> Self {
        let mut both = self.clone();
        if (self.code, other.code) != (ObjectCode::Record, ObjectCode::Record) {
            return both;
        }
        let is_missing = |entry: &&ObjectEntry| self.entry(entry.subindex).is_none();
        both.entries.extend(other.entries.iter().filter(is_missing).cloned());
        both.entries.sort_by_key(|entry| entry.subindex);
        let highest = both.entries.last().map_or(0, |entry| entry.subindex);
        if let Some(count) = both.entries.first_mut().filter(|entry| entry.subindex == 0) {
            count.value = vec![highest];
        }
        both
    }

    /// The value at a subindex.
    pub fn entry(&self, subindex: u8) -> Option<&ObjectEntry> {
        self.entries.iter().find(|entry| entry.subindex == subindex)
    }

    pub(crate) fn entry_mut(&mut self, subindex: u8) -> Option<&mut ObjectEntry> {
        self.entries.iter_mut().find(|entry| entry.subindex == subindex)
    }

    /// The bytes of all values together, for complete access.
    pub(crate) fn bytes_max(&self) -> usize {
        self.entries.iter().map(|entry| entry.capacity + 1).sum::<usize>() + 2
    }
}

/// All objects, by rising index.
#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    objects: Vec<Object>,
}

impl Dictionary {
    /// A dictionary of these objects; of two with one index the later one counts.
    pub(crate) fn new(mut objects: Vec<Object>) -> Self {
        objects.reverse();
        objects.sort_by_key(|object| object.index);
        objects.dedup_by_key(|object| object.index);
        // Nothing is allocated when a value is written.
        for entry in objects.iter_mut().flat_map(|object| &mut object.entries) {
            entry.value.reserve_exact(entry.capacity.saturating_sub(entry.value.len()));
        }
        Self { objects }
    }

    /// Returns the objects by rising index.
    pub(crate) fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// The object with this index.
    pub(crate) fn object(&self, index: u16) -> Option<&Object> {
        let found = self.objects.binary_search_by_key(&index, |object| object.index).ok()?;
        Some(&self.objects[found])
    }

    pub(crate) fn object_mut(&mut self, index: u16) -> Option<&mut Object> {
        let found = self.objects.binary_search_by_key(&index, |object| object.index).ok()?;
        Some(&mut self.objects[found])
    }

    /// The value at index and subindex.
    pub(crate) fn entry(&self, index: u16, subindex: u8) -> Option<&ObjectEntry> {
        self.object(index)?.entry(subindex)
    }

    /// The number at index and subindex; zero where there is none.
    pub(crate) fn number(&self, index: u16, subindex: u8) -> u64 {
        self.entry(index, subindex).map_or(0, ObjectEntry::as_u64)
    }

    /// The most bytes that one transfer can have.
    pub(crate) fn bytes_max(&self) -> usize {
        self.objects.iter().map(Object::bytes_max).max().unwrap_or(0)
    }
}
