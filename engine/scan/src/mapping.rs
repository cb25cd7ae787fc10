//! The conversion between the fieldbus's image and the program's variables.
//!
//! ```text
//! image   … 0b0110_1 …  ── bits as a number ── × scale + shift ──►  variable (inputs)
//! image   … 0b0110_1 …  ◄─ limited to its type ─ − shift ÷ scale ──  variable (outputs)
//! ```
//!
//! Numbers lie in the image with the lowest bit first (ETG.1000.6), and may begin and end within a
//! byte. Whole numbers that are not scaled go through exactly; with a scale they go through a
//! floating-point number of 64 bits. What doesn't fit the other type becomes its nearest value, and
//! what is no number becomes zero: neither side is ever given a value by wrapping around.

pub mod outputs;

use serde::{Deserialize, Serialize};

/// The kind of number that a place holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// False is 0; anything else is true and written as 1.
    Bool,
    /// Signed, in two's complement.
    Signed,
    /// Unsigned, without a sign bit.
    Unsigned,
    /// IEEE 754, of 32 or 64 bits.
    Float,
}

/// A connection between an entry of the fieldbus and a variable.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mapping {
    /// The entry's first bit in the fieldbus's image.
    pub bit: u32,
    /// Its length in bits, 1 to 64.
    pub bits: u8,
    /// Kind of number in the image.
    pub kind: Kind,
    /// The variable's place in the program's data, in bytes.
    pub offset: u32,
    /// The variable's size in bytes: 1, 2, 4 or 8.
    pub bytes: u8,
    /// Kind of number in the variable.
    pub variable: Kind,
    /// Factor: the variable is the entry times this, …
    pub scale: f64,
    /// … plus this summand.
    pub shift: f64,
}

/// A number on its way from one type to another.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Whole(i128),
    Real(f64),
}

impl Mapping {
    /// Returns `true` if both places lie within an image and data of these sizes, and have a size
    /// that their kind of number can have.
    pub fn fits(&self, image_bytes: usize, data_bytes: usize) -> bool {
        let end_bit = u64::from(self.bit) + u64::from(self.bits);
        let end = u64::from(self.offset) + u64::from(self.bytes);
        end_bit <= image_bytes as u64 * 8
            && end <= data_bytes as u64
            && matches!(self.bytes, 1 | 2 | 4 | 8)
            && (1..=64).contains(&self.bits)
            && (self.kind != Kind::Float || matches!(self.bits, 32 | 64))
            && (self.variable != Kind::Float || matches!(self.bytes, 4 | 8))
            && self.scale.is_finite()
            && self.scale != 0.0
            && self.shift.is_finite()
    }

    fn is_scaled(&self) -> bool {
        self.scale != 1.0 || self.shift != 0.0
    }

    /// Returns the variable's bytes for what the image holds, as a number whose lowest `bytes`
    /// count.
    #[inline]
    pub fn input(&self, image: &[u8]) -> u64 {
        let number = decode(self.kind, self.bits, extract(image, self.bit, self.bits));
        let number = if self.is_scaled() {
            Number::Real(real(number) * self.scale + self.shift)
        } else {
            number
        };
        encode(self.variable, self.bytes * 8, number)
    }

    /// Puts the variable's `value` (its lowest `bytes` count) into the image.
    #[inline]
    pub fn output(&self, value: u64, image: &mut [u8]) {
        let number = decode(self.variable, self.bytes * 8, value);
        let number = if self.is_scaled() {
            Number::Real((real(number) - self.shift) / self.scale)
        } else {
            number
        };
        insert(image, self.bit, self.bits, encode(self.kind, self.bits, number));
    }

    /// Puts `value`, as the variable would have it, into the image.
    pub fn substitute(&self, value: f64, image: &mut [u8]) {
        let number = Number::Real((value - self.shift) / self.scale);
        insert(image, self.bit, self.bits, encode(self.kind, self.bits, number));
    }

    /// Makes the entry zero in the image.
    pub fn clear(&self, image: &mut [u8]) {
        insert(image, self.bit, self.bits, 0);
    }
}

/// Returns a mask of the lowest `bits` bits.
const fn mask(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Returns the bytes that `bits` bits from `bit` touch: nine at most. Those beyond the image are
/// left out.
fn touched(bit: u32, bits: u8, image_bytes: usize) -> core::ops::Range<usize> {
    let first = bit as usize / 8;
    let end = (bit as usize + usize::from(bits)).div_ceil(8);
    first.min(image_bytes)..end.min(image_bytes)
}

fn extract(image: &[u8], bit: u32, bits: u8) -> u64 {
    let mut value: u128 = 0;
    for (index, byte) in image[touched(bit, bits, image.len())].iter().enumerate() {
        value |= u128::from(*byte) << (8 * index);
    }
    (value >> (bit % 8)) as u64 & mask(bits)
}

fn insert(image: &mut [u8], bit: u32, bits: u8, value: u64) {
    let shift = bit % 8;
    let keep = !(u128::from(mask(bits)) << shift);
    let value = u128::from(value & mask(bits)) << shift;
    let range = touched(bit, bits, image.len());
    for (index, byte) in image[range].iter_mut().enumerate() {
        *byte = *byte & (keep >> (8 * index)) as u8 | (value >> (8 * index)) as u8;
    }
}

fn decode(kind: Kind, bits: u8, raw: u64) -> Number {
    let raw = raw & mask(bits);
    match kind {
        Kind::Bool => Number::Whole(i128::from(raw != 0)),
        Kind::Unsigned => Number::Whole(i128::from(raw)),
        Kind::Signed => {
            let unused = 64 - u32::from(bits);
            Number::Whole(i128::from(((raw << unused) as i64) >> unused))
        }
        Kind::Float if bits == 32 => Number::Real(f64::from(f32::from_bits(raw as u32))),
        Kind::Float => Number::Real(f64::from_bits(raw)),
    }
}

fn encode(kind: Kind, bits: u8, number: Number) -> u64 {
    let raw = match kind {
        Kind::Bool => u64::from(match number {
            Number::Whole(whole) => whole != 0,
            Number::Real(real) => real != 0.0 && !real.is_nan(),
        }),
        Kind::Unsigned => whole(number).clamp(0, i128::from(mask(bits))) as u64,
        Kind::Signed => {
            let largest = i128::from(mask(bits) >> 1);
            whole(number).clamp(-largest - 1, largest) as i64 as u64
        }
        Kind::Float if bits == 32 => u64::from((real(number) as f32).to_bits()),
        Kind::Float => real(number).to_bits(),
    };
    raw & mask(bits)
}

fn real(number: Number) -> f64 {
    match number {
        Number::Whole(whole) => whole as f64,
        Number::Real(real) => real,
    }
}

/// Returns the nearest whole number, halves away from zero; zero for what is no number.
fn whole(number: Number) -> i128 {
    match number {
        Number::Whole(whole) => whole,
        Number::Real(real) => (if real < 0.0 { real - 0.5 } else { real + 0.5 }) as i128,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mapping(kind: Kind, bit: u32, bits: u8, variable: Kind, bytes: u8) -> Mapping {
        Mapping { bit, bits, kind, offset: 0, bytes, variable, scale: 1.0, shift: 0.0 }
    }

    #[test]
    fn a_scaled_input_becomes_its_unit() {
        let scaled =
            Mapping { scale: 1e-6, shift: 0.5, ..mapping(Kind::Signed, 16, 32, Kind::Float, 8) };
        let mut image = [0; 6];
        image[2..].copy_from_slice(&(-250_000_i32).to_le_bytes());
        assert_eq!(f64::from_bits(scaled.input(&image)), 0.25);
        scaled.output(0.25_f64.to_bits(), &mut image);
        assert_eq!(image[2..], (-250_000_i32).to_le_bytes());
    }

    #[test]
    fn what_does_not_fit_becomes_the_nearest_value() {
        let narrow = mapping(Kind::Signed, 0, 16, Kind::Float, 8);
        let mut image = [0; 2];
        for (value, expected) in
            [(1e9, i16::MAX), (-1e9, i16::MIN), (f64::NAN, 0), (2.5, 3), (-2.5, -3)]
        {
            narrow.output(value.to_bits(), &mut image);
            assert_eq!(i16::from_le_bytes(image), expected, "{value}");
        }
        let unsigned = mapping(Kind::Unsigned, 0, 8, Kind::Signed, 4);
        unsigned.output(-5_i32 as u32 as u64, &mut image);
        assert_eq!(image[0], 0);
    }

    #[test]
    fn a_bit_within_a_byte_leaves_its_neighbours() {
        let bit = mapping(Kind::Bool, 11, 1, Kind::Bool, 1);
        let mut image = [0xff, 0xf7];
        assert_eq!(bit.input(&image), 0);
        bit.output(7, &mut image);
        assert_eq!(image, [0xff, 0xff]);
        bit.clear(&mut image);
        assert_eq!(image, [0xff, 0xf7]);
    }

    #[test]
    fn places_beyond_the_image_or_the_data_do_not_fit() {
        let good = mapping(Kind::Signed, 1, 7, Kind::Signed, 4);
        assert!(good.fits(1, 4));
        assert!(!good.fits(0, 4) && !good.fits(1, 3));
        assert!(!Mapping { bit: u32::MAX, bits: 64, ..good }.fits(1, 4));
        assert!(!Mapping { offset: u32::MAX, ..good }.fits(1, 4));
        assert!(!Mapping { bytes: 3, ..good }.fits(1, 4));
        assert!(!Mapping { kind: Kind::Float, ..good }.fits(1, 4));
        assert!(!Mapping { scale: 0.0, ..good }.fits(1, 4));
        assert!(!Mapping { shift: f64::NAN, ..good }.fits(1, 4));
    }

    fn kinds() -> impl Strategy<Value = Kind> {
        prop_oneof![Just(Kind::Bool), Just(Kind::Signed), Just(Kind::Unsigned)]
    }

    proptest! {
        #[test]
        fn an_output_read_as_an_input_is_the_same(
            kind in prop_oneof![Just(Kind::Signed), Just(Kind::Unsigned)],
            bit in 0_u32..64, bits in 1_u8..=64, value: u64,
        ) {
            let there = mapping(kind, bit, bits, kind, 8);
            let value = match kind {
                Kind::Signed => (((value << (64 - bits)) as i64) >> (64 - bits)) as u64,
                _ => value & mask(bits),
            };
            let mut image = [0xa5; 16];
            there.output(value, &mut image);
            prop_assert_eq!(there.input(&image), value);
            // All other bits are as before.
            insert(&mut image, bit, bits, extract(&[0xa5; 16], bit, bits));
            prop_assert_eq!(image, [0xa5; 16]);
        }

        #[test]
        fn any_numbers_stay_within_their_place(
            kind in kinds(), variable in kinds(), bit: u32, bits: u8, value: u64,
            scale in -1e300_f64..1e300, image in proptest::collection::vec(any::<u8>(), 0..12),
        ) {
            let there = Mapping { scale, ..mapping(kind, bit % 128, 1 + bits % 64, variable, 4) };
            let mut changed = image.clone();
            there.output(value, &mut changed);
            prop_assert!(there.input(&image) <= u64::from(u32::MAX));
        }
    }
}
