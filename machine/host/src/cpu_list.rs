//! A set of CPUs as plain data, written like the kernel's lists: `"0,2-5"`.

use std::fmt;
use std::str::FromStr;

use quietcore_units::{CPU_LIMIT, CpuId, CpuSet, UnitError};
use serde::{Deserialize, Serialize};

/// A set of CPUs that can be serialized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CpuList(pub CpuSet);

impl CpuList {
    /// Returns `true` if the CPU with this number is in the set.
    pub fn has(&self, number: u32) -> bool {
        CpuId::new(number).is_some_and(|cpu| self.0.contains(cpu))
    }

    /// The numbers in ascending order.
    pub fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().map(CpuId::get)
    }

    /// Reads the kernel's mask notation, `f,00000003`: words of 32 bits, the highest first.
    ///
    /// # Errors
    /// When a word is no hexadecimal number or a CPU lies beyond [`CPU_LIMIT`].
    pub fn from_mask(text: &str) -> Result<Self, UnitError> {
        let mut set = CpuSet::EMPTY;
        for (index, word) in text.trim().rsplit(',').enumerate() {
            if word.is_empty() || word.len() > 8 {
                return Err(UnitError::NotANumber);
            }
            let word = u32::from_str_radix(word, 16).map_err(|_| UnitError::NotANumber)?;
            let first = u32::try_from(index).map_or(CPU_LIMIT, |index| index.saturating_mul(32));
            for bit in (0..32).filter(|bit| word & (1 << bit) != 0) {
                set.insert(CpuId::new(first.saturating_add(bit)).ok_or(UnitError::CpuTooLarge)?);
            }
        }
        Ok(Self(set))
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { f.write_str("none") } else { self.0.fmt(f) }
    }
}

impl FromStr for CpuList {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        // `isolated` and `nohz_full` say `(null)` where nothing was asked for.
        let text = if text.trim() == "(null)" { "" } else { text };
        text.parse().map(Self)
    }
}

impl From<CpuList> for String {
    fn from(list: CpuList) -> Self {
        list.0.to_string()
    }
}

impl TryFrom<String> for CpuList {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map_err(|error| format!("`{text}` is no list of CPUs: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn masks_and_lists_name_the_same_cpus() {
        let list: CpuList = "0-1,35".parse().unwrap();
        assert_eq!(CpuList::from_mask("8,00000003"), Ok(list));
        assert_eq!(CpuList::from_mask(""), Err(UnitError::NotANumber));
        assert_eq!("(null)".parse(), Ok(CpuList::default()));
        assert_eq!(serde_json::to_string(&list).unwrap(), r#""0,1,35""#);
        assert_eq!(serde_json::from_str::<CpuList>(r#""0,1,35""#).unwrap(), list);
        assert!(serde_json::from_str::<CpuList>(r#""many""#).is_err());
    }

    proptest! {
        #[test]
        fn reading_a_mask_never_panics(text in "[0-9a-f,g]{0,400}") {
            let _ = CpuList::from_mask(&text);
        }
    }
}
