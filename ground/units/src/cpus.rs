//! Logical CPUs and sets of them, in the kernel's list notation.

use core::fmt;
use core::str::FromStr;

use crate::quantity::UnitError;

/// CPU numbers from here on are refused; the kernel's own affinity masks end there as well.
pub const CPU_LIMIT: u32 = 1024;

const WORDS: usize = (CPU_LIMIT / 64) as usize;

/// A logical CPU as the kernel numbers them, below [`CPU_LIMIT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "u32", into = "u32"))]
pub struct CpuId(u32);

impl CpuId {
    /// The CPU with this number, or `None` at or beyond [`CPU_LIMIT`].
    pub const fn new(number: u32) -> Option<Self> {
        if number < CPU_LIMIT { Some(Self(number)) } else { None }
    }

    /// Returns the kernel's number of the CPU.
    pub const fn get(self) -> u32 {
        self.0
    }
}

#[cfg(feature = "serde")]
impl TryFrom<u32> for CpuId {
    type Error = &'static str;

    fn try_from(number: u32) -> Result<Self, Self::Error> {
        Self::new(number).ok_or("CPUs are numbered below 1024")
    }
}

#[cfg(feature = "serde")]
impl From<CpuId> for u32 {
    fn from(cpu: CpuId) -> Self {
        cpu.0
    }
}

impl fmt::Display for CpuId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A set of CPUs, written like the kernel's lists: `0,2-5`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CpuSet([u64; WORDS]);

impl CpuSet {
    /// The set without a CPU.
    pub const EMPTY: Self = Self([0; WORDS]);

    /// Adds `cpu` to the set.
    pub const fn insert(&mut self, cpu: CpuId) {
        self.0[(cpu.0 / 64) as usize] |= 1 << (cpu.0 % 64);
    }

    /// Takes a CPU away.
    pub const fn remove(&mut self, cpu: CpuId) {
        self.0[(cpu.0 / 64) as usize] &= !(1 << (cpu.0 % 64));
    }

    /// Returns `true` if `cpu` is in the set.
    pub const fn contains(&self, cpu: CpuId) -> bool {
        self.0[(cpu.0 / 64) as usize] & (1 << (cpu.0 % 64)) != 0
    }

    /// The number of CPUs in the set.
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns `true` if no CPU is in the set.
    pub fn is_empty(&self) -> bool {
        *self == Self::EMPTY
    }

    /// The CPUs in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = CpuId> + '_ {
        (0..CPU_LIMIT).map(CpuId).filter(|cpu| self.contains(*cpu))
    }

    /// The CPUs that are in `self` and not in `other`.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a & !b)
    }

    /// The CPUs that are in both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a & b)
    }

    /// The CPUs that are in at least one of the two.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a | b)
    }

    fn combine(&self, other: &Self, each: impl Fn(u64, u64) -> u64) -> Self {
        let mut words = self.0;
        for (word, other) in words.iter_mut().zip(other.0) {
            *word = each(*word, other);
        }
        Self(words)
    }
}

impl Default for CpuSet {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl FromIterator<CpuId> for CpuSet {
    fn from_iter<I: IntoIterator<Item = CpuId>>(cpus: I) -> Self {
        let mut set = Self::EMPTY;
        for cpu in cpus {
            set.insert(cpu);
        }
        set
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cpus = self.iter().map(CpuId::get).peekable();
        let mut separator = "";
        while let Some(first) = cpus.next() {
            let mut last = first;
            while cpus.next_if(|cpu| *cpu == last + 1).is_some() {
                last += 1;
            }
            match last - first {
                0 => write!(f, "{separator}{first}")?,
                1 => write!(f, "{separator}{first},{last}")?,
                _ => write!(f, "{separator}{first}-{last}")?,
            }
            separator = ",";
        }
        Ok(())
    }
}

impl fmt::Debug for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CpuSet({self})")
    }
}

impl FromStr for CpuSet {
    type Err = UnitError;

    /// Reads the kernel's list notation; an empty text is the empty set, as in `isolated`.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let mut set = Self::EMPTY;
        let text = text.trim();
        if text.is_empty() {
            return Ok(set);
        }
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            if last < first {
                return Err(UnitError::BackwardRange);
            }
            set = (first.0..=last.0).map(CpuId).fold(set, |mut set, cpu| {
                set.insert(cpu);
                set
            });
        }
        Ok(set)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for CpuSet {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for CpuSet {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct List;
        impl serde::de::Visitor<'_> for List {
            type Value = CpuSet;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of CPUs, such as `0,2-5`")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<CpuSet, E> {
                text.parse().map_err(E::custom)
            }
        }
        from.deserialize_str(List)
    }
}

fn number(text: &str) -> Result<CpuId, UnitError> {
    let text = text.trim();
    let number: u32 =
        text.parse().map_err(|_| match text.bytes().all(|it| it.is_ascii_digit()) {
            true if !text.is_empty() => UnitError::CpuTooLarge,
            _ => UnitError::NotANumber,
        })?;
    CpuId::new(number).ok_or(UnitError::CpuTooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists_are_read_and_written_like_the_kernel_does() {
        let set: CpuSet = "0,2-5,7,8".parse().unwrap();
        assert_eq!(set.to_string(), "0,2-5,7,8");
        assert_eq!(set.len(), 7);
        assert_eq!("".parse(), Ok(CpuSet::EMPTY));
        assert_eq!("1024".parse::<CpuSet>(), Err(UnitError::CpuTooLarge));
        assert_eq!("0-99999999999".parse::<CpuSet>(), Err(UnitError::CpuTooLarge));
        assert_eq!("5-2".parse::<CpuSet>(), Err(UnitError::BackwardRange));
        assert_eq!("0,,2".parse::<CpuSet>(), Err(UnitError::NotANumber));
    }

    proptest! {
        #[test]
        fn every_set_survives_writing_and_reading(
            numbers in proptest::collection::btree_set(0..CPU_LIMIT, 0..60),
        ) {
            let set: CpuSet = numbers.iter().filter_map(|number| CpuId::new(*number)).collect();
            prop_assert_eq!(set.to_string().parse(), Ok(set));
            prop_assert_eq!(set.len(), numbers.len());
        }
    }
}
