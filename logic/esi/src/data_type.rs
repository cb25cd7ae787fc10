//! Types of entries: those of ETG.1020, and those that a device defines itself.

use std::cell::OnceCell;
use std::collections::HashMap;

use roxmltree::Node;

use crate::device::NumberKind;
use crate::read::{child, children, text_of};

/// A type that stands for another that stands for another …, so deep at most.
const ALIASES_MAX: usize = 4;
/// No name of a type is longer.
const NAME_BYTES_MAX: usize = 200;

/// The types that a device's object dictionary defines, looked up only where a name asks for it.
pub(crate) struct DataTypes<'x> {
    device: Node<'x, 'x>,
    own: OnceCell<HashMap<&'x str, &'x str>>,
}

impl<'x> DataTypes<'x> {
    pub(crate) fn of(device: Node<'x, 'x>) -> Self {
        Self { device, own: OnceCell::new() }
    }

    /// The kind of number that an entry of this type and size is. A type that nobody knows is taken
    /// as a number without a sign: its bits are all that is sure.
    pub(crate) fn kind(&self, name: &str, bits: u32) -> Option<NumberKind> {
        if !(1..=64).contains(&bits) {
            return None;
        }
        let mut name = name;
        for _ in 0..ALIASES_MAX {
            if name.len() > NAME_BYTES_MAX {
                break;
            }
            if let Some(known) = standard(name, bits) {
                return known;
            }
            match self.own().get(name) {
                Some(base) => name = base,
                None => break,
            }
        }
        Some(unsigned(bits))
    }

    /// Names of the device's own types with the types that they stand for.
    fn own(&self) -> &HashMap<&'x str, &'x str> {
        self.own.get_or_init(|| {
            let dictionary = child(self.device, "Profile").and_then(|it| child(it, "Dictionary"));
            let types = dictionary.and_then(|it| child(it, "DataTypes"));
            let types = types.into_iter().flat_map(|it| children(it, "DataType"));
            types.filter_map(|it| Some((text_of(it, "Name")?, text_of(it, "BaseType")?))).collect()
        })
    }
}

/// The kind of a type of ETG.1020: `Some(None)` is one that is no number, `None` one that is not in
/// that standard.
fn standard(name: &str, bits: u32) -> Option<Option<NumberKind>> {
    let upper = name.to_ascii_uppercase();
    // `UDINT24`, `BIT3`, `BITARR8`, `STRING(20)`, `ARRAY [0..3] OF BYTE`.
    let stem = upper.trim_end_matches(|c: char| c.is_ascii_digit());
    Some(match stem {
        "BOOL" | "BIT" | "BITARR" | "BYTE" | "WORD" | "DWORD" | "LWORD" | "USINT" | "UINT"
        | "UDINT" | "ULINT" | "UNSIGNED" => Some(unsigned(bits)),
        "SINT" | "INT" | "DINT" | "LINT" | "INTEGER" if bits > 1 => Some(NumberKind::Signed),
        "SINT" | "INT" | "DINT" | "LINT" | "INTEGER" => Some(NumberKind::Bool),
        "REAL" | "LREAL" if matches!(bits, 32 | 64) => Some(NumberKind::Float),
        "REAL" | "LREAL" => None,
        _ if ["STRING", "ARRAY", "OCTET", "UNICODE", "VISIBLE"]
            .iter()
            .any(|it| stem.starts_with(it)) =>
        {
            None
        }
        _ => return None,
    })
}

fn unsigned(bits: u32) -> NumberKind {
    if bits == 1 { NumberKind::Bool } else { NumberKind::Unsigned }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str, bits: u32) -> Option<NumberKind> {
        let text = "<Device><Profile><Dictionary><DataTypes>
            <DataType><Name>DT0800EN08</Name><BaseType>SINT</BaseType></DataType>
            <DataType><Name>Position</Name><BaseType>Count</BaseType></DataType>
            <DataType><Name>Count</Name><BaseType>DINT</BaseType></DataType>
            <DataType><Name>Turning</Name><BaseType>Turning</BaseType></DataType>
            </DataTypes></Dictionary></Profile></Device>";
        let document = roxmltree::Document::parse(text).unwrap();
        DataTypes::of(document.root_element()).kind(name, bits)
    }

    #[test]
    fn the_types_of_the_standard_are_known() {
        use NumberKind::{Bool, Float, Signed, Unsigned};
        for (name, bits, expected) in [
            ("BOOL", 1, Some(Bool)),
            ("BIT", 1, Some(Bool)),
            ("BIT2", 2, Some(Unsigned)),
            ("BITARR8", 8, Some(Unsigned)),
            ("BOOL", 8, Some(Unsigned)),
            ("BYTE", 8, Some(Unsigned)),
            ("INT", 16, Some(Signed)),
            ("INT24", 24, Some(Signed)),
            ("UINT", 16, Some(Unsigned)),
            ("ULINT", 64, Some(Unsigned)),
            ("dint", 32, Some(Signed)),
            ("REAL", 32, Some(Float)),
            ("LREAL", 64, Some(Float)),
            ("REAL", 16, None),
            ("STRING(4)", 32, None),
            ("ARRAY [0..3] OF BYTE", 32, None),
            ("ULINT", 65, None),
            ("UINT", 0, None),
        ] {
            assert_eq!(kind(name, bits), expected, "{name} of {bits} bits");
        }
    }

    #[test]
    fn a_type_of_the_device_is_what_it_stands_for() {
        assert_eq!(kind("DT0800EN08", 8), Some(NumberKind::Signed));
        assert_eq!(kind("Position", 32), Some(NumberKind::Signed));
        for nobody_knows in ["Turning", "DT1234", ""] {
            assert_eq!(kind(nobody_knows, 16), Some(NumberKind::Unsigned), "{nobody_knows}");
            assert_eq!(kind(nobody_knows, 1), Some(NumberKind::Bool), "{nobody_knows}");
        }
    }
}
