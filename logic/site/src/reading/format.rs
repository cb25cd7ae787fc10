//! The written forms of texts that mean more than their letters.
//!
//! The schema names them in `format`, beside a `pattern` for editors that know nothing of us. The
//! shape walk reads them here, with the errors of `quietcore-units`.

use quietcore_units::{BitCount, BitRate, ByteSize, CpuSet, Nanos, UnitError};
use schemars::{Schema, SchemaGenerator, json_schema};

/// Characters of a name.
pub(crate) const NAME_CHARS_MAX: usize = 64;
/// Characters of a title, description or source.
const LINE_CHARS_MAX: usize = 300;
/// Bytes of a path, as the kernel allows.
const PATH_BYTES_MAX: usize = 4095;
/// Bytes of the name of a network interface, as the kernel allows.
const INTERFACE_BYTES_MAX: usize = 15;

/// A written form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Duration,
    EarlyWake,
    Size,
    BitRate,
    BitCount,
    CpuList,
    NumberList,
    Name,
    Line,
    Path,
    Interface,
}

impl Format {
    /// The form that a schema's `format` names; `None` for a format that isn't ours.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "quietcore-duration" => Self::Duration,
            "quietcore-early-wake" => Self::EarlyWake,
            "quietcore-size" => Self::Size,
            "quietcore-bit-rate" => Self::BitRate,
            "quietcore-bit-count" => Self::BitCount,
            "quietcore-cpu-list" => Self::CpuList,
            "quietcore-number-list" => Self::NumberList,
            "quietcore-name" => Self::Name,
            "quietcore-line" => Self::Line,
            "quietcore-path" => Self::Path,
            "quietcore-interface" => Self::Interface,
            _ => return None,
        })
    }

    /// The form in words, for "should be …".
    pub(crate) const fn expected(self) -> &'static str {
        match self {
            Self::Duration => "a duration with its unit, such as `1 ms`",
            Self::EarlyWake => "`off`, `adaptive` or a duration such as `50 us`",
            Self::Size => "a size with its unit, such as `64 MiB`",
            Self::BitRate => "a rate with its unit, such as `100 Mbit/s`",
            Self::BitCount => "an amount with its unit, such as `1 Mbit`",
            Self::CpuList => "a list of CPUs, such as `0,2-5`",
            Self::NumberList => "a list of numbers, such as `0-5`",
            Self::Name => {
                "a name of lower-case letters, digits, `-` and `_`, at most 64 characters"
            }
            Self::Line => "a line of text, at most 300 characters",
            Self::Path => "a path",
            Self::Interface => "a network interface such as `eth0`, or `sim`",
        }
    }

    /// What a valid text measures in base units (ns, bytes, bits), `None` where it measures
    /// nothing; else what is wrong and what would be right.
    pub(crate) fn read(self, text: &str) -> Result<Option<u64>, (String, String)> {
        match self {
            Self::Duration => self.quantity(text.parse().map(Nanos::get)),
            Self::EarlyWake if matches!(text, "off" | "adaptive") => Ok(None),
            Self::EarlyWake => self.quantity(text.parse().map(Nanos::get)),
            Self::Size => self.quantity(text.parse().map(ByteSize::get)),
            Self::BitRate => self.quantity(text.parse().map(BitRate::get)),
            Self::BitCount => self.quantity(text.parse().map(BitCount::get)),
            Self::CpuList | Self::NumberList => {
                self.quantity(text.parse::<CpuSet>().map(|_| 0)).map(|_| None)
            }
            Self::Name => self.plain(name_fault(text)),
            Self::Line => self.plain(line_fault(text)),
            Self::Path => self.plain(path_fault(text)),
            Self::Interface => self.plain(interface_fault(text)),
        }
    }

    fn quantity(self, value: Result<u64, UnitError>) -> Result<Option<u64>, (String, String)> {
        value.map(Some).map_err(|error| {
            let text = error.to_string();
            match text.split_once("; ") {
                Some((problem, remedy)) => (problem.to_owned(), remedy.to_owned()),
                None => (text, format!("write {}", self.expected())),
            }
        })
    }

    fn plain(self, fault: Option<&str>) -> Result<Option<u64>, (String, String)> {
        match fault {
            Some(fault) => Err((fault.to_owned(), format!("write {}", self.expected()))),
            None => Ok(None),
        }
    }
}

fn name_fault(text: &str) -> Option<&'static str> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    match text {
        "" => Some("a name has at least one character"),
        text if text.chars().count() > NAME_CHARS_MAX => Some("it is too long for a name"),
        text if text.starts_with(['-', '_']) => Some("a name begins with a letter or a digit"),
        text if !text.chars().all(allowed) => Some("it has a character that a name can't have"),
        _ => None,
    }
}

fn line_fault(text: &str) -> Option<&'static str> {
    match text {
        text if text.trim().is_empty() => Some("nothing is written"),
        text if text.chars().count() > LINE_CHARS_MAX => Some("it is too long"),
        text if text.chars().any(char::is_control) => Some("it has a control character"),
        _ => None,
    }
}

fn path_fault(text: &str) -> Option<&'static str> {
    match text {
        "" => Some("nothing is written"),
        text if text.len() > PATH_BYTES_MAX => Some("it is too long"),
        text if text.chars().any(char::is_control) => Some("it has a control character"),
        _ => None,
    }
}

fn interface_fault(text: &str) -> Option<&'static str> {
    let forbidden = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '/' | ':');
    match text {
        "" => Some("nothing is written"),
        "." | ".." => Some("the kernel allows no such interface"),
        text if text.len() > INTERFACE_BYTES_MAX => Some("an interface has at most 15 characters"),
        text if text.chars().any(forbidden) => Some("it has a character that the kernel refuses"),
        _ => None,
    }
}

/// The regular expression for editors; those of lists and lines would say no more than the type.
pub(crate) fn pattern(format: Format) -> Option<&'static str> {
    match format {
        Format::Duration => Some(r"^\s*\d+(\.\d+)?\s*(ns|us|µs|μs|ms|s|m|min|h|d)\s*$"),
        Format::EarlyWake => {
            Some(r"^(off|adaptive|\s*\d+(\.\d+)?\s*(ns|us|µs|μs|ms|s|m|min|h|d)\s*)$")
        }
        Format::Size => Some(r"^\s*\d+(\.\d+)?\s*(B|kB|MB|GB|KiB|MiB|GiB|TiB)\s*$"),
        Format::BitRate => Some(r"^\s*\d+(\.\d+)?\s*(bit|kbit|Mbit|Gbit)/s\s*$"),
        Format::BitCount => Some(r"^\s*\d+(\.\d+)?\s*(bit|kbit|Mbit|Gbit)\s*$"),
        Format::CpuList | Format::NumberList => {
            Some(r"^\s*(\d+\s*(-\s*\d+\s*)?(,\s*\d+\s*(-\s*\d+\s*)?)*)?$")
        }
        Format::Name => Some("^[a-z0-9][a-z0-9_-]{0,63}$"),
        Format::Line | Format::Path | Format::Interface => None,
    }
}

/// The schema of a duration.
pub(crate) fn duration(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "quietcore-duration" })
}

/// The schema of `off`, `adaptive` or a duration.
pub(crate) fn early_wake(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "quietcore-early-wake" })
}

/// The schema of an amount of memory.
pub(crate) fn size(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "quietcore-size" })
}

/// The schema of a network rate.
pub(crate) fn bit_rate(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "quietcore-bit-rate" })
}

/// The schema of an amount of network traffic.
pub(crate) fn bit_count(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "quietcore-bit-count" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_as_names_of_files() {
        for good in ["axis", "plc-b", "a_1", "0"] {
            assert_eq!(Format::Name.read(good), Ok(None), "{good}");
        }
        let long = "x".repeat(65);
        for bad in ["", ".", "..", "a/b", "-rf", "Axis", "ä", "a b", "a\0", &long] {
            assert!(Format::Name.read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_wrong_quantity_says_what_is_wrong_and_what_would_be_right() {
        let (problem, remedy) = Format::Duration.read("5").unwrap_err();
        assert_eq!(problem, "the unit is missing");
        assert_eq!(remedy, "write one of ns, us, ms, s, min, h, d");
        let (problem, remedy) = Format::Size.read("-5 MB").unwrap_err();
        assert_eq!(problem, "it does not start with a positive decimal number");
        assert_eq!(remedy, "write a size with its unit, such as `64 MiB`");
        assert_eq!(Format::EarlyWake.read("adaptive"), Ok(None));
        assert_eq!(Format::EarlyWake.read("50 us"), Ok(Some(50_000)));
    }
}
