//! Reading and writing a number with a unit.
//!
//! A quantity is written as digits, an optional decimal part, an optional space and a unit. The
//! value is computed in integers, so `0.1 ms` is exactly 100 000 ns; digits finer than the base
//! unit are an error instead of being rounded away.

use core::fmt;

/// Digits that a written number may have; more can't be a quantity that someone means.
const DIGITS_MAX: usize = 18;

/// Why a written quantity can't be accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitError {
    /// The text is empty.
    Empty,
    /// It does not start with a decimal number; negative numbers belong here too.
    NotANumber,
    /// The number has no unit behind it; the allowed units are given.
    NoUnit(&'static str),
    /// The unit isn't one of those given.
    UnknownUnit(&'static str),
    /// The value is finer than the base unit (a part of a nanosecond, a byte or a bit).
    TooFine,
    /// The value doesn't fit.
    TooLarge,
    /// A CPU number is at or beyond [`CPU_LIMIT`](crate::CPU_LIMIT).
    CpuTooLarge,
    /// A range of CPUs runs backwards.
    BackwardRange,
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("nothing is written"),
            Self::NotANumber => f.write_str("it does not start with a positive decimal number"),
            Self::NoUnit(units) => write!(f, "the unit is missing; write one of {units}"),
            Self::UnknownUnit(units) => write!(f, "the unit is unknown; write one of {units}"),
            Self::TooFine => f.write_str("it is finer than can be represented"),
            Self::TooLarge => f.write_str("it is larger than can be represented"),
            Self::CpuTooLarge => f.write_str("CPU numbers end at 1023"),
            Self::BackwardRange => f.write_str("the range runs backwards"),
        }
    }
}

impl core::error::Error for UnitError {}

/// A table of units: the spelling and its size in base units.
pub(crate) struct Units {
    pub(crate) table: &'static [(&'static str, u64)],
    pub(crate) spellings: &'static str,
}

/// Reads `text` as a number of base units.
pub(crate) fn parse(text: &str, units: &Units) -> Result<u64, UnitError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(UnitError::Empty);
    }
    let number_end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(number_end);
    let unit = unit.trim_start();
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let well_formed = !whole.is_empty()
        && !fraction.contains('.')
        && (fraction.is_empty() != number.contains('.'));
    if !well_formed {
        return Err(UnitError::NotANumber);
    }
    if unit.is_empty() {
        return Err(UnitError::NoUnit(units.spellings));
    }
    let (_, size) = units
        .table
        .iter()
        .find(|(spelling, _)| *spelling == unit)
        .ok_or(UnitError::UnknownUnit(units.spellings))?;
    scale(whole, fraction.trim_end_matches('0'), *size)
}

/// Computes `whole.fraction × size` exactly.
fn scale(whole: &str, fraction: &str, size: u64) -> Result<u64, UnitError> {
    if whole.len() > DIGITS_MAX {
        return Err(UnitError::TooLarge);
    }
    if fraction.len() > DIGITS_MAX {
        return Err(UnitError::TooFine);
    }
    let whole: u64 = whole.parse().map_err(|_| UnitError::TooLarge)?;
    let whole = u128::from(whole) * u128::from(size);
    let part = if fraction.is_empty() {
        0
    } else {
        let digits: u64 = fraction.parse().map_err(|_| UnitError::TooFine)?;
        let power = 10_u128.pow(fraction.len() as u32);
        let scaled = u128::from(digits) * u128::from(size);
        if !scaled.is_multiple_of(power) {
            return Err(UnitError::TooFine);
        }
        scaled / power
    };
    u64::try_from(whole + part).map_err(|_| UnitError::TooLarge)
}

/// Writes `value` with three significant digits and the largest of `steps` that fits.
pub(crate) fn write_rounded(
    f: &mut fmt::Formatter<'_>,
    value: u64,
    steps: &[(u64, &str)],
) -> fmt::Result {
    let (smallest, base_unit) = steps[0];
    if value < steps.get(1).map_or(u64::MAX, |step| step.0) {
        return write_text(f, format_args!("{} {base_unit}", value / smallest.max(1)));
    }
    let mut chosen = steps[1];
    for step in &steps[1..] {
        // 999.5 µs and more round to 1.00 ms, so the next unit begins there.
        if u128::from(value) * 2000 >= u128::from(step.0) * 1999 {
            chosen = *step;
        }
    }
    let (size, unit) = chosen;
    let scaled = value as f64 / size as f64;
    let decimals = match scaled {
        s if s < 9.995 => 2,
        s if s < 99.95 => 1,
        _ => 0,
    };
    write_text(f, format_args!("{scaled:.decimals$} {unit}"))
}

/// Writes through a small buffer so that width and alignment of the caller apply.
pub(crate) fn write_text(f: &mut fmt::Formatter<'_>, text: fmt::Arguments<'_>) -> fmt::Result {
    let mut buffer = Buffer { bytes: [0; 40], length: 0 };
    fmt::write(&mut buffer, text)?;
    f.pad(core::str::from_utf8(&buffer.bytes[..buffer.length]).map_err(|_| fmt::Error)?)
}

struct Buffer {
    bytes: [u8; 40],
    length: usize,
}

impl fmt::Write for Buffer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        let place = self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?;
        place.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}
