//! Amounts of memory and network rates.

use core::fmt;
use core::str::FromStr;

use crate::quantity::{self, UnitError, Units};

/// An amount of memory, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(u64);

/// A network rate, in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(u64);

/// An amount of network traffic, in bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitCount(u64);

const BYTES: Units = Units {
    table: &[
        ("B", 1),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
    ],
    spellings: "B, KiB, MiB, GiB, TiB, kB, MB, GB",
};

const BIT_RATES: Units = Units {
    table: &[("bit/s", 1), ("kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000)],
    spellings: "bit/s, kbit/s, Mbit/s, Gbit/s",
};

const BITS: Units = Units {
    table: &[("bit", 1), ("kbit", 1_000), ("Mbit", 1_000_000), ("Gbit", 1_000_000_000)],
    spellings: "bit, kbit, Mbit, Gbit",
};

macro_rules! quantity {
    ($name:ident, $units:expr, $what:literal) => {
        impl $name {
            #[doc = concat!("A quantity of `value` ", $what, ".")]
            pub const fn new(value: u64) -> Self {
                Self(value)
            }

            #[doc = concat!("The number of ", $what, ".")]
            pub const fn get(self) -> u64 {
                self.0
            }
        }

        impl FromStr for $name {
            type Err = UnitError;
            fn from_str(text: &str) -> Result<Self, UnitError> {
                quantity::parse(text, &$units).map(Self)
            }
        }

        #[cfg(feature = "serde")]
        serde_as_text!($name, "a number with its unit", |quantity: &$name| {
            let (size, unit) = $units
                .table
                .iter()
                .rev()
                .find(|(_, size)| quantity.0 != 0 && quantity.0.is_multiple_of(*size))
                .map_or((1, $units.table[0].0), |(unit, size)| (*size, *unit));
            (quantity.0 / size, unit)
        });
    };
}

/// Serializes a quantity and reads it back: as exact text with a unit where people may read it, and
/// as its number where they can't.
#[cfg(feature = "serde")]
macro_rules! serde_as_text {
    ($name:ident, $expected:literal, $exact:expr) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                if !to.is_human_readable() {
                    return to.serialize_u64(self.0);
                }
                let exact: fn(&$name) -> (u64, &'static str) = $exact;
                let (value, unit) = exact(self);
                to.collect_str(&format_args!("{value} {unit}"))
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                if !from.is_human_readable() {
                    return u64::deserialize(from).map($name);
                }
                struct Text;
                impl serde::de::Visitor<'_> for Text {
                    type Value = $name;
                    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                        f.write_str($expected)
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                from.deserialize_str(Text)
            }
        }
    };
}
#[cfg(feature = "serde")]
pub(crate) use serde_as_text;

quantity!(ByteSize, BYTES, "bytes");
quantity!(BitRate, BIT_RATES, "bits per second");
quantity!(BitCount, BITS, "bits");

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const STEPS: [(u64, &str); 5] =
            [(1, "B"), (1 << 10, "KiB"), (1 << 20, "MiB"), (1 << 30, "GiB"), (1 << 40, "TiB")];
        quantity::write_rounded(f, self.0, &STEPS)
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const STEPS: [(u64, &str); 4] =
            [(1, "bit/s"), (1_000, "kbit/s"), (1_000_000, "Mbit/s"), (1_000_000_000, "Gbit/s")];
        quantity::write_rounded(f, self.0, &STEPS)
    }
}

impl fmt::Display for BitCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const STEPS: [(u64, &str); 4] =
            [(1, "bit"), (1_000, "kbit"), (1_000_000, "Mbit"), (1_000_000_000, "Gbit")];
        quantity::write_rounded(f, self.0, &STEPS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_rates_are_read_and_written() {
        assert_eq!("64 MiB".parse(), Ok(ByteSize::new(64 << 20)));
        assert_eq!("100 Mbit/s".parse(), Ok(BitRate::new(100_000_000)));
        assert_eq!("1 Mbit".parse(), Ok(BitCount::new(1_000_000)));
        assert_eq!(ByteSize::new(64 << 20).to_string(), "64.0 MiB");
        assert_eq!(BitRate::new(100_000_000).to_string(), "100 Mbit/s");
        assert_eq!("1 Mbit/s".parse::<BitCount>(), Err(UnitError::UnknownUnit(BITS.spellings)));
    }
}
